"""Games of several players for LLM agents. The pack's README has a table of all."""

__version__ = "0.1.0"
