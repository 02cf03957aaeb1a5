"""What runs inside a slot: a program of its own, which imports the standard library and nothing else of GEM."""
