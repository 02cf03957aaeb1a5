"""`math:Algebra-v0`: equations, polynomials, sequences."""
