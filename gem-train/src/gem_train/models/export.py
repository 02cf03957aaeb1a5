"""A trained model as a folder of Hugging Face's layout, for programs that know nothing of GEM."""

import shutil
from pathlib import Path
from typing import Any, cast

import torch

from gem.errors import ConfigError
from gem_train.models.loading import OWN_TYPE, load_tokenizer, own_type, read_model
from gem_train.models.lora import base_of, check_adapter
from gem_train.runs.checkpoints import holds_model, model_folder


def export_model(source: str, out: Path) -> str:
    """Write the model of a run folder, a checkpoint or a folder with a model to `out`, which it makes.

    The weights have the type that those of the model had from which training began, and an adapter is merged into them.
    One copy of the weights is in memory.

    Returns:
        The type of the weights.

    Raises:
        ConfigError: there is no model in `source`, it cannot be loaded, or `out` exists or cannot be written.
    """
    if out.exists():
        raise ConfigError(f"{out} exists; choose another folder, or remove it first")
    folder = Path(model_folder(source)).absolute()
    if not holds_model(folder):
        raise ConfigError(f"there is no model in {source}: give a run folder, a checkpoint, or a folder with a model")
    check_adapter(folder)
    base = base_of(folder)
    dtype = own_type(base or str(folder))
    model, tokenizer = read_model(base or str(folder), getattr(torch, dtype))
    if base is not None:
        import peft  # an extra, which check_adapter has found

        # It computes the change of a weight in the type of the adapter, which is float32, one layer after the other.
        adapted: Any = peft.PeftModel.from_pretrained(cast("Any", model), str(folder), torch_device="cpu")
        model = adapted.merge_and_unload()
        tokenizer = load_tokenizer(str(folder))[0]
    delattr(model.config, OWN_TYPE)
    partial = out.with_name(f".{out.name}.part")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        model.save_pretrained(partial)
        tokenizer.save_pretrained(str(partial))
        partial.rename(out)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise ConfigError(f"cannot write {out}: {error.strerror}") from error
    return dtype
