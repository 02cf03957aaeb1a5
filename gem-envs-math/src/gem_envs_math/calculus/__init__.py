"""`math:Calculus-v0`: derivatives, integrals, series."""
