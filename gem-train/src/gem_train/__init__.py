"""Train LLM agents in GEM environments: play becomes better weights.

`train.py` holds the loop; read it first. Importing this package imports nothing heavy.
"""

__version__ = "0.1.0"
