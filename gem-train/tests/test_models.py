"""Folders of models by others: no code in them is run."""

import json
import os
import pickle
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from safetensors.torch import load_file, save_file

from gem.errors import ConfigError
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.vector import make_vec
from gem_train.models.loading import load_model, make_tiny
from gem_train.policies.checkpoint import checkpoint_policy

CODE = """
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile
Path({mark!r}).touch()
from transformers import Qwen3Config as Own, Qwen3ForCausalLM as Model
"""


class Touch:
    """A pickle that creates a file when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize(
    "door", ["code beside the model", "code of a tokenizer", "weights that are a pickle", "a kernel of the hub"]
)
def test_no_code_in_a_model_folder_is_run_even_if_the_user_would_agree(
    door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, folder = tmp_path / "mark", tmp_path / "model"
    folder.mkdir()
    (folder / "own.py").write_text(CODE.format(mark=str(mark)))
    config = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 8, "num_hidden_layers": 1}
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast"}
    if door == "code beside the model":
        config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Model"}}
    elif door == "code of a tokenizer":
        tokenizer |= {"auto_map": {"AutoTokenizer": ["own.Model", "own.Model"]}, "tokenizer_class": "Own"}
    elif door == "a kernel of the hub":
        config |= {"_attn_implementation": "somebody/kernel"}
    else:
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Touch(mark), protocol=2))
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": []})
    )
    monkeypatch.setattr("builtins.input", lambda _: "y")

    why = "which is code of the hub" if door == "a kernel of the hub" else "cannot load the model"
    with pytest.raises(ConfigError, match=why):
        load_model(str(folder), device="cpu")
    assert not mark.exists()


def test_an_adapter_names_no_kernel_through_its_base_and_no_module(tmp_path: Path) -> None:
    base, folder = tmp_path / "base", tmp_path / "adapter"
    base.mkdir()
    folder.mkdir()
    (base / "config.json").write_text(json.dumps({"model_type": "qwen3", "_attn_implementation": "somebody/kernel"}))
    settings = {"peft_type": "LORA", "base_model_name_or_path": str(base)}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    with pytest.raises(ConfigError, match="names the kernel 'somebody/kernel', which is code of the hub"):
        load_model(str(folder), device="cpu")
    imports = {"megatron_config": {"any": 1}, "megatron_core": "planted"}
    (folder / "adapter_config.json").write_text(json.dumps({**settings, **imports}))
    with pytest.raises(ConfigError, match="its megatron_core is a module to import"):
        load_model(str(folder), device="cpu")
    for larger in ({"r": 10**5}, {"layer_replication": [[0, 1]] * 10**4}):
        (folder / "adapter_config.json").write_text(json.dumps({**settings, **larger}))
        with pytest.raises(ConfigError, match="its rank is more than 8,192, or it repeats layers"):
            load_model(str(folder), device="cpu")


def test_weights_of_a_few_bytes_that_unpack_to_gigabytes_are_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "pytorch_model.bin", "w", ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", b"\x80\x02" + b"]" * 1000 + b".")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    with pytest.raises(ConfigError, match="parts of it are compressed, which PyTorch does not do"):
        load_model(str(tmp_path), device="cpu")
    (tmp_path / "pytorch_model.bin").unlink()
    os.truncate(tmp_path / "config.json", 20 << 30)
    with pytest.raises(ConfigError, match=r"config\.json has more than 1,048,576 bytes"):
        load_model(str(tmp_path), device="cpu")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3", "num_labels": 10**7}))
    with pytest.raises(ConfigError, match="its config has 10,000,000 labels"):
        load_model(str(tmp_path), device="cpu")


def test_a_model_without_some_of_its_weights_is_refused_and_so_is_a_base_that_is_too_large(tmp_path: Path) -> None:
    model, base, adapter = tmp_path / "model", tmp_path / "base", tmp_path / "adapter"
    tiny = make_tiny(
        rollout(make_policy("random"), make_vec("core:Echo-v0", 1, info_methods=("sample_action",)), [0]),
        0,
        device="cpu",
    )
    for part in (tiny.model, tiny.tokenizer):
        part.save_pretrained(model)  # pyright: ignore[reportUnknownMemberType]
    load_model(str(model), device="cpu")
    weights = load_file(model / "model.safetensors")
    del weights["model.layers.0.mlp.up_proj.weight"]
    save_file(weights, model / "model.safetensors", {"format": "pt"})
    with pytest.raises(ConfigError, match=r"1 of its weights are missing, such as model\.layers\.0\.mlp\.up_proj"):
        load_model(str(model), device="cpu")

    model.rename(base)
    os.truncate(base / "generation_config.json", 20 << 30)
    adapter.mkdir()
    settings = {"peft_type": "LORA", "base_model_name_or_path": str(base)}
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    with pytest.raises(ConfigError, match=r"generation_config\.json has more than 1,048,576 bytes"):
        load_model(str(adapter), device="cpu")


def test_a_run_folder_as_a_policy_imports_nothing_that_its_settings_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "planted_algorithm.py").write_text(f"from pathlib import Path\nPath({str(mark)!r}).touch()\n")
    monkeypatch.syspath_prepend(tmp_path)
    model = tmp_path / "run" / "checkpoint" / "step-1" / "model"
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (tmp_path / "run" / "config.toml").write_text(
        'id = "planted_algorithm:Door"\nalgorithm = "planted_algorithm:Own"\n'
    )
    with pytest.raises(ConfigError, match="cannot load the model"):
        checkpoint_policy(str(tmp_path / "run"))
    assert not mark.exists()
