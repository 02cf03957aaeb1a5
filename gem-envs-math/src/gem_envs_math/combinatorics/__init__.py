"""`math:Combinatorics-v0`: counting and probability."""
