--- The plugin's version: the program's version must be the same.
return '0.1.0'
