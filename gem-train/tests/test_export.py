"""`gemx export-model` writes what was trained, in the type that it had before."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from gem.cli.main import main
from gem_train.config.sections import LoraConfig
from gem_train.models.loading import load_model, make_tiny, saved_weights
from gem_train.models.lora import choose_trained

IDS = torch.arange(40, 60)[None]


def checkpoint(base: Path, folder: Path, rank: int) -> Path:
    """A checkpoint of a training of `base`, as a run writes it; every trained weight has changed."""
    loaded = load_model(str(base), device="cpu")
    choose_trained(loaded.model, LoraConfig(rank=rank), 0)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter), alpha=0.05)
    loaded.model.save_pretrained(folder / "model", state_dict=saved_weights(loaded.model))
    loaded.tokenizer.save_pretrained(str(folder / "model"))
    return folder


@pytest.mark.parametrize("rank", [0, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_exported_model_is_the_trained_one_in_its_own_type(tmp_path: Path, rank: int, dtype: torch.dtype) -> None:
    tiny = make_tiny([], 0, device="cpu")
    tiny.model.to(dtype).save_pretrained(tmp_path / "base")
    tiny.tokenizer.save_pretrained(str(tmp_path / "base"))
    # Also of a training that began from a checkpoint, which holds float32.
    first = checkpoint(tmp_path / "base", tmp_path / "first", 0)
    trained = checkpoint(first / "model", tmp_path / "second", rank)
    done = CliRunner().invoke(main, ["export-model", str(trained), str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {"model": str(tmp_path / "out"), "dtype": str(dtype).removeprefix("torch.")}
    weights = load_file(tmp_path / "out" / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {dtype}
    assert len(weights) == len(list(tiny.model.parameters()))
    assert "gem" not in (tmp_path / "out" / "config.json").read_text()

    expected = load_model(str(trained), device="cpu").model
    found = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    assert found.dtype == dtype
    if not rank:
        # What a checkpoint holds is rounded once; a base and its adapter are rounded one by one. Buffers are not.
        for parameter in expected.parameters():
            parameter.data = parameter.data.to(dtype)
    with torch.no_grad():
        before, after = (model.float()(input_ids=IDS).logits for model in (expected, found))
    assert (before - after).abs().max() < (0.1 if rank and dtype == torch.bfloat16 else 1e-5)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.chat_template == tiny.tokenizer.chat_template


def test_nothing_is_overwritten_and_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    for words, reason in (
        (["here", "here"], "here exists; choose another folder"),
        (["here", "out"], "there is no model in"),
    ):
        paths = [str(tmp_path / word) for word in words]
        done = CliRunner().invoke(main, ["export-model", *paths])
        assert (done.exit_code, reason in done.stderr) == (1, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
