"""Reading a model that is divided among processes: each of them reads its part."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from transformers import PreTrainedModel
from transformers.distributed.configuration_utils import DistributedConfig


@contextmanager
def divided(divide: Callable[[PreTrainedModel], None]) -> Generator[dict[str, Any]]:
    """Arguments of `from_pretrained` with which it calls `divide` when the model has no weights yet.

    Before it reads weights, transformers divides a model by plans of its own (of which this asks for none), and then
    reads of each weight what this process holds, whatever the names and the layout in the files are. Its plans sum
    gradients in the type of the weights, and most architectures have none.

    Args:
        divide: given the model, whose weights are on the device meta.
    """

    def distribute(_: type[PreTrainedModel], model: PreTrainedModel, *__: Any) -> PreTrainedModel:
        model.tie_weights()  # transformers does so when it has read them, but what is divided once must be one then
        divide(model)
        vars(model.config).pop("distributed_config", None)  # it asked for nothing, and would be copied with the model
        return model

    kind: Any = PreTrainedModel
    kind.maybe_distribute_model = classmethod(distribute)
    try:
        yield {"distributed_config": DistributedConfig()}
    finally:
        del kind.maybe_distribute_model  # which leaves that of its base
