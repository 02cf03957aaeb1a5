"""Imitation: `gemx sft`, and the warm-up of `gemx train`."""
