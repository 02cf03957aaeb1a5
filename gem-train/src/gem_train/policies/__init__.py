"""Policies of this pack: `checkpoint`, a trained model."""
