"""Generated programming puzzles: `code:Puzzles-v0`."""
