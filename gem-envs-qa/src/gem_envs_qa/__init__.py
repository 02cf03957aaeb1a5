"""Questions and rule reasoning for LLM agents, with short answers that are graded as text. See the pack's README."""

__version__ = "0.1.0"
