"""What runs inside a slot: a separate program, which imports the standard library and nothing else of this package."""
