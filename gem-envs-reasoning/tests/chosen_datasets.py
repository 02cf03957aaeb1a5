"""Datasets that `make test` tests; `make test-all` tests all of them."""

import pytest

from gem_envs_reasoning.plugin import NAMES

CHOSEN = (
    # Nothing of ours but the env.
    "chain_sum",
    # The dataset or its module is changed (fixes).
    "bf", "codeio", "isomorphic_strings", "list_functions", "n_queens", "polynomial_multiplication", "pool_matrix",
    "word_ladder",
    # Items come faster (faster_searches); futoshiki and sokoban are in test_faster_searches alone: they take seconds.
    "knight_swap",
    # Built again for each seed; made of other datasets (datasets).
    "acre", "composite",
    # The answer is in the metadata or missing; something else is sampled (reasoning).
    "graph_color", "rush_hour", "intermediate_integration",
    # Scorers of ours (scoring), and a check of full marks (full_marks).
    "countdown", "propositional_logic", "rubiks_cube", "number_sorting",
)  # fmt: skip
"""At least one for each thing that this pack does differently for some datasets."""


def each_dataset(besides=()):
    """Run a test for each dataset, as its argument `name`, but those of `besides`."""
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=() if name in CHOSEN else pytest.mark.full) for name in NAMES if name not in besides],
    )
