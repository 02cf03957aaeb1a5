"""Tools for LLM agents. See the pack's README for what it holds."""

__version__ = "0.1.0"
