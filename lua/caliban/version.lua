--- The plugin's version. The program has to have the same version.
return '0.1.0'
