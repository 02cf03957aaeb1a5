"""New weights for vLLM's workers, through vLLM's own interface for reinforcement learning.

An engine in the learner's process gets the tensors themselves; a server on a CPU, for which vLLM has no way of its own,
reads them from files. Imported only where vLLM is installed; a server imports it as the module of its worker extension.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor
from vllm.distributed.weight_transfer.base import (  # pyright: ignore[reportMissingImports]
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.distributed.weight_transfer.factory import (  # pyright: ignore[reportMissingImports]
    WeightTransferEngineFactory,
)
from vllm.model_executor.layers.vocab_parallel_embedding import (  # pyright: ignore[reportMissingImports]
    ParallelLMHead,
)
from vllm.model_executor.model_loader.reload import (  # pyright: ignore[reportMissingImports]
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)
from vllm.platforms import current_platform  # pyright: ignore[reportMissingImports]

from gem.errors import ConfigError

BACKEND, FILES = "gem", "gem-files"
"""The names of `SameProcessTransfer` and `FileTransfer` among vLLM's weight transfer engines."""


@dataclass
class Nothing(WeightTransferInitInfo):  # pyright: ignore[reportUntypedBaseClass]
    """Nothing has to be set up between two ends in the same process."""


@dataclass
class Weights(WeightTransferUpdateInfo):  # pyright: ignore[reportUntypedBaseClass]
    """Names, as in a checkpoint, and tensors."""

    weights: Sequence[tuple[str, Tensor]] = field(default_factory=tuple)


@dataclass
class File(WeightTransferUpdateInfo):  # pyright: ignore[reportUntypedBaseClass]
    """A file with some of the weights, in the format safetensors."""

    path: str = ""
    last: bool = False
    """True if the others have come before."""


class _LayerwiseTransfer(WeightTransferEngine[Nothing, Any]):  # pyright: ignore[reportUntypedBaseClass]
    """Loads weights layer by layer, as vLLM reloads a checkpoint, and requires that none is missing."""

    init_info_cls = Nothing

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._names = {name for name, _ in self.model.named_parameters()}
        self._loaded: set[str] = set()

    def init_transfer_engine(self, init_info: Nothing) -> None:
        """Nothing to do."""

    def start_weight_update(self) -> None:
        """Prepare every layer for new weights."""
        self._loaded.clear()
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """Load new weights, and wait until they are in place."""
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def _load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        self._loaded |= self.model.load_weights(weights)

    def _require_all(self) -> None:
        """Raises ConfigError if some weights of vLLM's model were not among those that came: an update that is refused
        here ends, and one that is refused while it is finished would remain open for ever.
        """
        missing = sorted(self._names - self._loaded)
        if missing:
            raise ConfigError(
                f"vLLM's model has {len(missing)} weights that the trained model does not, such as {missing[0]!r}; use "
                "--set rollout.engine=hf for this model"
            )

    def finish_weight_update(self) -> None:
        """Complete the layers that got their weights, and those that share them."""
        finalize_layerwise_reload(self.model, self.model_config)
        if current_platform.is_cpu():
            # Its kernels keep a packed copy of each matrix, also of one that is another layer's.
            for layer in self.model.modules():
                if isinstance(layer, ParallelLMHead):
                    layer.quant_method.process_weights_after_loading(layer)

    def shutdown(self) -> None:
        """Nothing to do."""


class SameProcessTransfer(_LayerwiseTransfer):
    """Loads tensors of this process."""

    update_info_cls = Weights

    def receive_weights(self, update_info: Weights) -> None:
        """Load the new weights.

        Raises:
            ConfigError: some weights of vLLM's model are not among them.
        """
        self._load(update_info.weights)
        self._require_all()


class FileTransfer(_LayerwiseTransfer):
    """Loads tensors from files that the learner writes."""

    update_info_cls = File

    def receive_weights(self, update_info: File) -> None:
        """Load some of the new weights.

        Raises:
            ConfigError: these are the last of them, and some weights of vLLM's model were not among them.
        """
        with safe_open(update_info.path, "pt") as file:
            names = file.keys()
            self._load((name, file.get_tensor(name)) for name in names)
        if update_info.last:
            self._require_all()


class Extension:
    """A worker extension without methods: vLLM's workers import this module to find it, and so know `FileTransfer`."""


WeightTransferEngineFactory.register_engine(BACKEND, SameProcessTransfer)
WeightTransferEngineFactory.register_engine(FILES, FileTransfer)
