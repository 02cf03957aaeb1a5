"""Memory that runs out is one line that says what to change; the errors are those of the allocators."""

import numpy as np
import pytest
import torch

from gem.errors import TrainingStopped
from gem_train.config.sources import flat
from gem_train.config.training import load_config, may_change
from gem_train.engines.hf import HFSampler
from gem_train.learning.learner import Learner
from gem_train.models.loading import LoadedModel
from gem_train.runs.checkpoints import checkpoints
from gem_train.runs.display import Display
from gem_train.runs.memory import _LOWER, advice, enough_memory, is_out_of_memory
from gem_train.train import train

SMALL = {
    "id": "core:Echo-v0",
    "steps": 3,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 8},
    "warmup": {"steps": 1, "episodes": 4},
    "eval": {"episodes": 8},
    "watch": {"stop": False},
}


def allocate(*_: object, **__: object) -> None:
    """More than any machine has."""
    torch.empty(1 << 50, dtype=torch.float64)


def exhaust_gpu() -> None:
    """What PyTorch raises for a GPU."""
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 8 GiB")


@pytest.mark.parametrize(
    ("allocation", "size"),
    [(allocate, "8388608.00 GiB"), (exhaust_gpu, "2.50 GiB"), (lambda: np.empty(1 << 50), "8.00 PiB")],
)
def test_an_error_of_any_allocator_names_the_settings_that_memory_depends_on(allocation, size):
    config = load_config([SMALL])
    with pytest.raises(TrainingStopped) as stopped, enough_memory("play", config.as_data(), "gemx train x --out run"):
        allocation()
    reason = str(stopped.value)
    for part in (f"({size} more did not fit)", "a smaller rollout.num_envs (now 8)", "--out run --estimate 4096"):
        assert part in reason
    assert reason.index("rollout.num_envs") < reason.index("otherwise, start again") < reason.index("max_new_tokens")


def test_other_errors_pass_unchanged():
    with pytest.raises(ZeroDivisionError), enough_memory("play", load_config([SMALL]).as_data(), ""):
        _ = 1 / 0
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))


@pytest.mark.parametrize("doing", _LOWER)
def test_every_setting_of_the_advice_exists_with_the_value_that_is_named(doing):
    config = load_config([{**SMALL, "model": "some/model"}])
    settings = flat(config.model_dump())
    now, restart = advice(doing, config.as_data())
    assert now or restart
    for text in now + restart:
        [key] = [key for key in settings if key in text]
        assert text.endswith(f"(now {settings[key]})")
        assert (text in now) == may_change(key)


@pytest.mark.parametrize(
    ("owner", "method", "doing", "kept"),
    [
        (HFSampler, "recv", "play", []),
        (Learner, "update", "learn", ["step-0"]),
        (Learner, "score", "learn", ["step-0"]),
        (LoadedModel, "__new__", "load the model", []),
    ],
)
def test_a_run_that_runs_out_of_memory_ends_in_one_line_and_keeps_its_checkpoint(
    tmp_path, monkeypatch, owner, method, doing, kept
):
    out = tmp_path / "run"
    monkeypatch.setattr(owner, method, allocate)
    with Display(quiet=True) as display, pytest.raises(TrainingStopped, match=f"^out of memory, trying to {doing} "):
        train(load_config([SMALL]), out, display)
    assert [folder.name for folder in checkpoints(out)] == kept


def test_settings_that_change_no_result_may_differ_on_resuming(tmp_path, monkeypatch):
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "update", allocate)
        with Display(quiet=True) as display, pytest.raises(TrainingStopped):
            train(load_config([SMALL]), out, display)
    load, left = HFSampler.load, []

    def loading(self: HFSampler, *args: object) -> None:
        left.extend(parameter for parameter in self.model.parameters() if parameter.grad is not None)
        load(self, *args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(HFSampler, "load", loading)
    changed = {"rollout": {"num_envs": 4}, "optim": {"micro_tokens": 8}, "watch": {"window": 5}, "checkpoint_every": 2}
    with Display(quiet=True) as display:
        assert train(load_config([SMALL, changed]), out, display).steps == 3
    assert not left, "the engine plays while gradients need memory"
