"""Programming tasks for LLM agents, graded by running the program. See the pack's README for all."""

__version__ = "0.1.0"
