"""Every dataset of reasoning-gym for LLM agents. See the pack's README for all."""

__version__ = "0.1.0"
