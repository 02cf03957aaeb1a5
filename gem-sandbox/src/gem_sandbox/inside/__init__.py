"""The program inside a slot, which imports the standard library and nothing else of this package."""
