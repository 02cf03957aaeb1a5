"""Games for LLM agents under GEM's ids, with right rules. See the pack's README for the table of all."""

__version__ = "0.1.0"
