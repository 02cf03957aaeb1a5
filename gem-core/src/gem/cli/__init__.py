"""The command `gemx`: each command parses its arguments, calls the library and prints."""
