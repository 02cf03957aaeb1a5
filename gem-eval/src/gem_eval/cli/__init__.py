"""The commands of gem-eval."""
