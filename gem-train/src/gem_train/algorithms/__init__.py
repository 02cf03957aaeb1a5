"""One algorithm per file: its settings, which scores it needs, how actions get their credit, and the loss."""
