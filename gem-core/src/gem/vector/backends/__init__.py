"""Where the envs of a vector run: one file each, behind one protocol."""
