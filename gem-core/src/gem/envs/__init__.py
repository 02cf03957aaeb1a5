"""The core's own environments."""
