"""Mathematics for LLM agents: questions with answers that are graded exactly. See the pack's README for all."""

__version__ = "0.1.0"
