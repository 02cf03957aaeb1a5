"""gem-llm's helpers that frameworks import."""
