"""Processes that share each sequence compute what one process computes alone: logits, gradients, scores and updates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from context_processes import CALCULATIONS, MODELS
from spawned import Processes
from torch.utils._pytree import tree_flatten_with_path

from gem.errors import ConfigError
from gem_train.distributed.context import Context
from gem_train.distributed.processes import connect
from gem_train.distributed.world import ALONE


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Two processes that share sequences."""
    with Processes(2, "context_processes", tmp_path_factory.mktemp("two"), 2) as found:
        yield found


def compare(found: Any, expected: Any) -> None:
    """Every number is the same but for rounding: 1e-5 of the largest in its array."""
    pairs = zip(tree_flatten_with_path(found)[0], tree_flatten_with_path(expected)[0], strict=True)
    for (path, ours), (other_path, theirs) in pairs:
        assert path == other_path
        mine, other = (np.asarray(torch.as_tensor(each).double()) for each in (ours, theirs))
        assert mine.shape == other.shape, path
        apart = np.abs(mine - other)
        # Adam divides by the size of a gradient, so rounding weighs most where that is nearly 0.
        largest = apart.mean() if "weights" in str(path) else apart.max(initial=0)
        assert largest <= 1e-5 * max(1e-3, np.abs(other).max(initial=0)), path


@pytest.mark.parametrize("name", [*MODELS, "learning", "imitation"])
def test_two_processes_that_share_sequences_compute_what_one_does(two: Processes, name: str) -> None:
    alone = CALCULATIONS[name](ALONE)
    for each in two[name]:
        compare(each, alone)


def test_a_model_that_cannot_be_computed_by_slices_is_refused(two: Processes) -> None:
    for told in two["refusals"]:
        assert told["grouped"] == "fits"
        assert "2 processes cannot share the 3 heads" in told["three heads"]
        assert "one of 1, 3" in told["three heads"]
        assert "computes something else for slices of a sequence" in told["attention of its own"]


@pytest.mark.full
@pytest.mark.parametrize("context", [2, 4])
def test_four_processes_compute_what_one_does(context: int, tmp_path: Path) -> None:
    """Two groups of two; and four, who share two heads of keys."""
    with Processes(4, "context_processes", tmp_path, context) as four:
        for name in ("grouped", "learning" if context == 2 else "adapter"):
            alone = CALCULATIONS[name](ALONE)
            for each in four[name]:
                compare(without_straggling(each), alone)


def without_straggling(found: dict[str, Any]) -> dict[str, Any]:
    """Without the metric that only groups of processes have."""
    for step in found.values():
        if isinstance(step, dict) and "metrics" in step:
            step["metrics"].pop("straggling", None)
    return found


@pytest.mark.parametrize("size", [1, 3])
def test_processes_that_do_not_divide_into_groups_are_refused(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(size))
    with pytest.raises(ConfigError, match="needs a multiple of 2 processes"), connect("cpu", 1, 2):
        pass


def test_slices_are_the_row_in_order_filled_up() -> None:
    row = torch.arange(1, 8)[None]
    slices = [Context(rank, 3).slice(row) for rank in range(3)]
    assert torch.cat(slices, 1).tolist() == [[1, 2, 3, 4, 5, 6, 7, 0, 0]]
    assert Context(0, 3).starts(torch.tensor([[0, 1, 2, 0, 1, 2, 3]])) == [0, 3, 7, 8, 9]
