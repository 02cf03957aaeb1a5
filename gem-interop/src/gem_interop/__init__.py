"""GEM's environments in the trainers of others: one module per framework, which is not installed with this package."""

__version__ = "0.1.0"
