"""A LoRA adapter in vLLM: served as an adapter, over a base that never changes, and not merged into it."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

from gem_train.models.lora import ADAPTER


class VLLMAdapter:
    """The adapter of a model, for one engine.

    vLLM reads adapters from a folder, so new weights go through a temporary one. They are small.

    Args:
        model: with an adapter, from a base that has a folder or a name of its own.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        settings: Any = model.peft_config[ADAPTER]
        self.base = str(settings.base_model_name_or_path or model.name_or_path)
        self.rank = int(settings.r)
        self._folder = TemporaryDirectory(prefix="gem-vllm-adapter-")
        settings.save_pretrained(self._folder.name)

    def arguments(self) -> dict[str, Any]:
        """What vLLM's engine needs to know."""
        from vllm.config.lora import MaxLoRARanks  # pyright: ignore[reportMissingImports]

        fitting = [rank for rank in get_args(MaxLoRARanks) if rank >= self.rank]
        rank = min(fitting, default=self.rank)
        return {"model": self.base, "enable_lora": True, "max_loras": 1, "max_lora_rank": rank}

    def request(self, *, anew: bool = False) -> Any:
        """What a request for a reply names the adapter with; `anew` reads its files again."""
        from vllm.lora.request import LoRARequest  # pyright: ignore[reportMissingImports]

        return LoRARequest("gem", 1, self._folder.name, load_inplace=anew)

    def load(self, engine: Any, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Take new weights, by the names of the model's parameters."""
        tensors = {_name_in_a_file(name): tensor.detach().cpu().contiguous() for name, tensor in weights}
        save_file(tensors, Path(self._folder.name) / "adapter_model.safetensors")
        engine.add_lora(self.request(anew=True))

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()


def _name_in_a_file(parameter: str) -> str:
    return f"base_model.model.{parameter.replace(f'.{ADAPTER}.', '.')}"
