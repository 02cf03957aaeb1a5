"""One algorithm a file. An algorithm says what it must know, and how turns get their credit."""

ALGORITHMS: dict[str, str] = {
    "reinforce": "gem_train.algorithms.reinforce:Reinforce",
    "rebn": "gem_train.algorithms.rebn:ReBN",
}
"""Where each one stands, so that a name can be checked without importing torch."""
