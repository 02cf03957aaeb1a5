"""Packs: how they are found, what they offer, and from an id to an environment."""
