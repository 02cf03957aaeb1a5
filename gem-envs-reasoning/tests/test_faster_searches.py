"""The searches that replace reasoning-gym's find the same solutions."""

import subprocess
import sys

import pytest

from gem_envs_reasoning import datasets, fixes

DATASETS = ("futoshiki", "knight_swap", "sokoban")
REASONING_GYM_ALONE = """
import sys, reasoning_gym
from reasoning_gym.games import knight_swap
class Sorted(frozenset):
    def __iter__(self):
        return iter(sorted(super().__iter__()))
knight_swap.frozenset = Sorted
for name in sys.argv[1].split():
    for seed in map(int, sys.argv[2:]):
        print(repr(reasoning_gym.create_dataset(name, seed=seed, size=1)[0]))
"""


@pytest.mark.full
@pytest.mark.parametrize("seeds", [(1,), pytest.param((0, 5, 8, 11), marks=pytest.mark.full)])
def test_items_are_those_of_reasoning_gym(seeds):
    alone = subprocess.run(
        [sys.executable, "-c", REASONING_GYM_ALONE, " ".join(DATASETS), *map(str, seeds)],
        capture_output=True,
        text=True,
        check=True,
    )
    ours = ""
    for name in DATASETS:
        dataset = datasets.build(name, datasets.configure(name, None, {}))
        ours += "".join(f"{datasets.draw(dataset, name, seed)!r}\n" for seed in seeds)
    assert ours == alone.stdout


def test_a_sorted_set_iterates_in_order():
    assert list(fixes.SortedSet("qwerty") - {"e"}) == ["q", "r", "t", "w", "y"]
