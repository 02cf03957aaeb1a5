"""New weights for vLLM's workers, through vLLM's own interface for reinforcement learning.

The engine is in the learner's process, so the tensors themselves are handed over: nothing goes through a file or
a socket. Imported only where vLLM is installed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
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

BACKEND = "gem"
"""The name of `SameProcessTransfer` among vLLM's weight transfer engines."""


@dataclass
class Nothing(WeightTransferInitInfo):  # pyright: ignore[reportUntypedBaseClass]
    """Nothing has to be set up between two ends in the same process."""


@dataclass
class Weights(WeightTransferUpdateInfo):  # pyright: ignore[reportUntypedBaseClass]
    """Names, as in a checkpoint, and tensors."""

    weights: Sequence[tuple[str, Tensor]] = field(default_factory=tuple)


class SameProcessTransfer(WeightTransferEngine[Nothing, Weights]):  # pyright: ignore[reportUntypedBaseClass]
    """Loads tensors of this process, layer by layer, as vLLM reloads a checkpoint."""

    init_info_cls = Nothing
    update_info_cls = Weights

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._names = {name for name, _ in self.model.named_parameters()}

    def init_transfer_engine(self, init_info: Nothing) -> None:
        """Nothing to do."""

    def start_weight_update(self) -> None:
        """Prepare every layer for new weights."""
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """Load new weights, and wait until they are in place."""
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def receive_weights(self, update_info: Weights) -> None:
        """Load new weights.

        Raises:
            ConfigError: some weights of vLLM's model are not among them.
        """
        loaded = self.model.load_weights(update_info.weights)
        missing = sorted(self._names - loaded)
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


WeightTransferEngineFactory.register_engine(BACKEND, SameProcessTransfer)
