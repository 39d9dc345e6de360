//! What goes wrong around the program: the machine, the disk, the editor.
