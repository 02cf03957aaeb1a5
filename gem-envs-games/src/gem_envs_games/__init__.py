"""Games for LLM agents under the ids of gem-llm. The pack's README has a table of all."""

__version__ = "0.1.0"
