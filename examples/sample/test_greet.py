from greet import greet

assert "Ada" in greet("Ada"), "the name must be in the greeting"
print("1 test passed:", greet("Ada"))
