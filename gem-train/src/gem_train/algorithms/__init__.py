"""One algorithm per file: which scores it needs, and how turns get their credit."""

ALGORITHMS: dict[str, str] = {
    "reinforce": "gem_train.algorithms.reinforce:Reinforce",
    "rebn": "gem_train.algorithms.rebn:ReBN",
}
"""Name → 'module:class', so that a name can be checked without importing torch."""
