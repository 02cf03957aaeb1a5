"""`math:Geometry-v0`: plane figures."""
