"""What two processes compute together, over gloo on the CPU, is what one computes alone: every sum and every part.

The processes are started once, without torchrun; `test_distributed.py` has whole runs with it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import two_processes
from spawned import Processes
from torch.utils._pytree import tree_flatten_with_path

from gem_train.distributed.world import ALONE


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Two processes."""
    with Processes(2, "two_processes", tmp_path_factory.mktemp("two")) as found:
        yield found


def compare(ours: Any, theirs: Any, within: float = 1e-4) -> None:
    """Every number is the same, but for rounding: relative to the sizes in its array."""
    pairs = zip(tree_flatten_with_path(ours)[0], tree_flatten_with_path(theirs)[0], strict=True)
    for (path, mine), (other_path, other) in pairs:
        assert path == other_path
        if isinstance(mine, torch.Tensor | np.ndarray | float):
            found, expected = (torch.as_tensor(each).double() for each in (mine, other))
            assert found.shape == expected.shape, path
            # Adam divides by the size of a gradient, so rounding weighs most where that is nearly 0.
            assert (found - expected).abs().mean() <= within * expected.abs().mean() + 1e-9, path
        else:
            assert mine == other, path


def test_the_processes_exchange_what_each_of_them_has(two: Processes) -> None:
    each = two["exchanged"]
    assert [one["rank"] for one in each] == [(0, 2), (1, 2)]
    for one in each:
        assert one["gather"] == one["together"] == ["of 0", "of 1"]
        assert one["first"] == "of 0"
        assert one["error"] == "ZeroDivisionError('integer division or modulo by zero')"
        assert one["interrupt"] == "KeyboardInterrupt()"
        assert one["sum"].tolist() == [3, 30]


def test_a_divided_model_is_put_together_as_it_was(two: Processes) -> None:
    first, second = two["divided"]
    for each in (first, second):
        for name, tensor in each["start"].items():
            assert torch.equal(each["whole"][name], tensor)
            assert torch.equal(each["again"][name], tensor)
    assert all(torch.equal(first["collected"][name], tensor) for name, tensor in first["start"].items())
    assert not second["collected"]
    count = sum(tensor.numel() for tensor in first["start"].values())
    assert 0.4 * count < first["held"] < 0.6 * count
    assert first["held"] + second["held"] == count


def test_processes_that_read_their_parts_of_a_model_compute_what_one_does_that_reads_all(two: Processes) -> None:
    alone = two_processes.CALCULATIONS["reading"](ALONE)
    assert all(0.4 * alone["held"] < each.pop("held") < 0.6 * alone["held"] for each in two["reading"])
    for each in two["reading"]:
        compare({**each, "held": alone["held"]}, alone, within=1e-5)


def test_a_checkpoint_is_complete_when_each_process_has_written_its_part(two: Processes) -> None:
    for each in two["saved"]:
        assert all(torch.equal(each["saved"][name], tensor) for name, tensor in each["start"].items())


@pytest.mark.parametrize("name", ["float32", "imitation"])
def test_two_processes_score_and_learn_what_one_does(two: Processes, name: str) -> None:
    """Scores, values, metrics, weights and the state for a checkpoint, over two updates."""
    alone = two_processes.CALCULATIONS[name](ALONE)
    for each in two[name]:
        compare(each, alone)


def test_weights_in_bfloat16_are_learned_by_two_processes_as_by_one(two: Processes) -> None:
    alone = two_processes.CALCULATIONS["bfloat16"](ALONE)["first"]
    for each, before in zip(two["bfloat16"], two["divided"], strict=True):
        ours, theirs = each["first"]["weights"], alone["weights"]
        start = {name: before["start"][name].bfloat16() for name in theirs}
        apart = sum(float((ours[name] - theirs[name]).float().abs().sum()) for name in start)
        moved = sum(float((theirs[name] - start[name]).float().abs().sum()) for name in start)
        assert apart < 0.1 * moved
        compare(each["first"]["metrics"], alone["metrics"], within=0.05)


@pytest.mark.parametrize("name", ["float32", pytest.param("resumed bfloat16", marks=pytest.mark.full)])
def test_a_learner_of_two_processes_resumes_from_the_parts_that_both_stored(two: Processes, name: str) -> None:
    for each in two[name]:
        compare(each["resumed"], each["second"], within=1e-6)
