"""Folders of models by others: no code in them is run."""

import json
import pickle
from pathlib import Path

import pytest

from gem.errors import ConfigError
from gem_train.models.loading import load_model

CODE = """
from pathlib import Path
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
