"""gem-llm's names of the wrappers."""
