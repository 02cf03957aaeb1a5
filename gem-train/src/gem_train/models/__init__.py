"""Models: loading and checking them, the tiny one, adapters, devices."""
