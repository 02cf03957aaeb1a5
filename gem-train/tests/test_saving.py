"""A checkpoint is written while the run goes on, and appears when it is complete."""

import errno
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter

from gem.errors import TrainingStopped
from gem_train.config.training import load_config
from gem_train.distributed.shards import _files, fill
from gem_train.models.loading import LoadedModel, make_tiny
from gem_train.runs.checkpoints import checkpoints
from gem_train.runs.folder import RunFolder

SETTINGS = load_config([{"id": "core:Echo-v0", "log": {"tensorboard": False}}]).as_data()


@pytest.fixture
def loaded() -> LoadedModel:
    return make_tiny([], 0, device="cpu")


def before_saving(monkeypatch: pytest.MonkeyPatch, loaded: LoadedModel, act: Callable[[], object]) -> None:
    """Do something between the parts of a checkpoint, before its model is written."""
    save = loaded.model.save_pretrained

    def acting(*args: Any, **settings: Any) -> None:
        act()
        save(*args, **settings)

    monkeypatch.setattr(loaded.model, "save_pretrained", acting)


def before_writing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something before any tensor of a checkpoint is written."""
    write = HuggingFaceStorageWriter.write_data

    def acting(*args: Any) -> Any:
        act()
        return write(*args)

    monkeypatch.setattr(HuggingFaceStorageWriter, "write_data", acting)


def test_a_checkpoint_holds_what_was_there_when_it_was_begun_and_replaces_the_last_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: LoadedModel
) -> None:
    may_go_on = Event()
    weight, moments = loaded.model.get_input_embeddings().weight, [torch.arange(6.0).view(2, 3), torch.ones(2, 3)]
    with RunFolder(tmp_path, SETTINGS) as folder:
        folder.save_checkpoint(loaded, {"moments": moments, "step": 1}, 1, None, keep=1)
        folder.settle()
        before_writing(monkeypatch, lambda: may_go_on.wait(20))
        expected = weight.detach().clone()
        folder.save_checkpoint(loaded, {"moments": moments, "step": 2}, 2, None, keep=1)
        with torch.no_grad():
            weight.add_(1)
            for moment in moments:
                moment.add_(1)
        assert [path.name for path in checkpoints(tmp_path)] == ["step-1"]
        state = folder.state({"step"})
        assert state is not None
        assert state["step"] == 1
        may_go_on.set()
        folder.settle()
        assert [path.name for path in checkpoints(tmp_path)] == ["step-2"]
        state = folder.state({"moments"})
        assert state is not None
        assert state["step"] == 2
        found = torch.empty(2, 3)
        for moment, stored in zip(moments, state["moments"], strict=True):
            fill(found, stored)
            assert torch.equal(found + 1, moment)
    [saved] = (tmp_path / "checkpoint" / "step-2" / "model").glob("*.safetensors")
    assert torch.equal(load_file(saved)["model.embed_tokens.weight"], expected)


def test_the_end_of_a_run_waits_for_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: LoadedModel
) -> None:
    slow = Event()
    before_saving(monkeypatch, loaded, lambda: slow.wait(0.3))
    with RunFolder(tmp_path, SETTINGS) as folder:
        folder.save_checkpoint(loaded, {}, 1, (0.5, 0.5), keep=1)
        assert not checkpoints(tmp_path)
    assert [path.name for path in checkpoints(tmp_path)] == ["step-1"]
    assert (tmp_path / "checkpoint" / "best").resolve() == checkpoints(tmp_path)[0].resolve()


def test_the_best_checkpoint_is_kept_besides_the_newest_and_of_equal_ones_the_last(
    tmp_path: Path, loaded: LoadedModel
) -> None:
    with RunFolder(tmp_path, SETTINGS) as folder:
        for step, success in enumerate((0.5, 0.9, 0.9, 0.1, 0.2), start=1):
            folder.save_checkpoint(loaded, {}, step, (success, 0.0), keep=1)
    assert [path.name for path in checkpoints(tmp_path)] == ["step-3", "step-5"]
    assert (tmp_path / "checkpoint" / "best").resolve().name == "step-3"


@pytest.mark.parametrize("saves_again", [False, True])
def test_a_checkpoint_that_cannot_be_written_stops_the_run_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: LoadedModel, saves_again: bool
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before_saving(monkeypatch, loaded, full)
    with RunFolder(tmp_path, SETTINGS) as folder:
        folder.save_checkpoint(loaded, {}, 1, None, keep=1)
        next_call = (lambda: folder.save_checkpoint(loaded, {}, 2, None, keep=1)) if saves_again else folder.settle
        with pytest.raises(TrainingStopped, match=r"No space left on device.*starts from the beginning"):
            next_call()
    assert not list((tmp_path / "checkpoint").iterdir())


def test_tensors_share_files_of_a_limited_size() -> None:
    """Of 128 MiB; only a tensor that is larger alone has a larger one."""
    sizes = {"half": 2**26, "other half": 2**26, "small": 4, "large": 2**28, "next": 4, "last": 4}
    tensors = {name: torch.empty(size, dtype=torch.uint8, device="meta") for name, size in sizes.items()}
    assert _files(tensors) == {"half": 1, "other half": 1, "small": 2, "large": 3, "next": 4, "last": 4}
