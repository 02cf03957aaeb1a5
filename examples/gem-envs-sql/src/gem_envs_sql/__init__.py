"""Questions that agents answer by querying a database, a pack for GEM. See the pack's README for all."""

__version__ = "0.1.0"
