import sys


def greet(name):
    return "Hello " + name


def main():
    # The name could come from the command line.
    print(greet("world"))


if __name__ == "__main__":
    sys.exit(main())
