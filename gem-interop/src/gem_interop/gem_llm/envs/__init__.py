"""gem-llm's environments that frameworks derive from, and `register` and `make`."""
