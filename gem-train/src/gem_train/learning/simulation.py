"""Memory that passes through a model would need, found without it: on tensors that have shapes and no numbers."""

import copy
import weakref
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM, PretrainedConfig

from gem_train.config.sections import LoraConfig
from gem_train.distributed.context import Context
from gem_train.learning.attention import packed_attention
from gem_train.learning.blocks import Blocks
from gem_train.learning.head import Head, chunked_scores
from gem_train.learning.kernels import Kernel, sdpa
from gem_train.learning.optimizer import sum_in_float32
from gem_train.learning.recomputation import recomputed
from gem_train.models.lora import choose_trained

_NAME = "gem_simulated"


class Allocated(TorchDispatchMode):
    """Counts the bytes of the tensors that operations inside it make, while these live.

    Args:
        before: tensors that do not count, nor views of them.
    """

    def __init__(self, before: Iterable[Tensor]) -> None:
        super().__init__()
        self.now = self.most = 0
        self._known: set[weakref.ref[Any]] = {weakref.ref(tensor.untyped_storage()) for tensor in before}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._add(leaf.untyped_storage())
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()

        def free(reference: "weakref.ref[Any]") -> None:
            self._known.discard(reference)
            self.now -= size

        reference = weakref.ref(storage, free)
        if reference in self._known:
            return
        self._known.add(reference)
        self.now += size
        self.most = max(self.most, self.now)


class Passes(NamedTuple):
    """Bytes."""

    parameters: int
    """Number of parameters."""
    weights: int
    trained: int
    """Bytes of the weights that are trained."""
    trained_numbers: int
    """Number of parameters that are trained."""
    update: int
    """The peak of a forward and backward pass, without weights and their gradients."""
    logits: int
    """Bytes of the logits of a chunk of tokens, among these."""
    reading: int
    """The peak of a pass without gradients."""


@contextmanager
def _attention(kernel: Kernel, blocks: Blocks) -> Generator[None]:
    """Attention in a simulation, in which the sequences of a row are known."""
    AttentionInterface.register(_NAME, partial(packed_attention, kernel))

    def mask(**_: Any) -> Blocks:
        return blocks

    AttentionMaskInterface.register(_NAME, mask)
    yield


def _allocate(model: nn.Module, dtype: torch.dtype) -> None:
    """Put new tensors in the place of those of a model; one that is in two places remains one."""
    made: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, old in list(module.named_parameters(recurse=False)):
            if id(old) not in made:
                made[id(old)] = nn.Parameter(torch.empty(old.shape, dtype=dtype), old.requires_grad)
            setattr(module, name, made[id(old)])
        for name, old in list(module.named_buffers(recurse=False)):
            setattr(module, name, torch.empty(old.shape, dtype=old.dtype))


def simulate(
    config: PretrainedConfig,
    *,
    lengths: Sequence[int],
    read: int,
    dtype: torch.dtype = torch.float32,
    weights: torch.dtype = torch.float32,
    lora: LoraConfig | None = None,
    checkpointing: bool = False,
    entropy: bool = False,
    kernel: Kernel = sdpa,
    context: int = 1,
) -> Passes:
    """Simulate an update by one row of sequences, every id of which is trained on.

    Args:
        config: of the model; its weights are not needed.
        lengths: ids of the sequences of the row.
        read: ids of a pass without gradients.
        dtype: of the arithmetic.
        weights: their type.
        lora: the adapter that is trained instead of all weights.
        checkpointing: whether layers keep only their inputs.
        entropy: whether entropies are computed.
        kernel: of the attention.
        context: how many processes compute the row together; of the update, it is the memory of one of them.
    """
    filled = [*lengths, *[1] * (-sum(lengths) % context)]
    starts = [sum(filled[:index]) for index in range(len(filled) + 1)]
    cpu = torch.device("cpu")
    row, short = Blocks(starts, None, cpu, Context(size=context)), Blocks([0, read], None, cpu)
    for blocks in (row, short):
        _ = blocks.ends, blocks.grouped  # made of numbers, so made before
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(copy.deepcopy(config), attn_implementation="sdpa").eval()
        if lora is not None:
            choose_trained(model, lora, 0)
    with FakeTensorMode(allow_non_fake_inputs=True):
        _allocate(model, weights)
        parameters = list(model.parameters())
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        model.config._attn_implementation = _NAME

        def computing() -> AbstractContextManager[Any]:
            return torch.autocast("cpu", torch.bfloat16) if dtype != weights else nullcontext()

        def forward(blocks: Blocks) -> Tensor:
            ids = torch.zeros(1, blocks.starts[-1] // blocks.context.size, dtype=torch.long)
            again = recomputed(model, enabled=checkpointing and torch.is_grad_enabled())
            with _attention(kernel, blocks), again, computing():
                found = model.base_model(input_ids=ids, position_ids=ids, attention_mask=None, use_cache=False)
            return found.last_hidden_state[0]

        sum_in_float32(trained)
        for parameter in trained:
            parameter.grad = torch.zeros_like(parameter, dtype=torch.float32)
        kept = [tensor for each in parameters for tensor in (each, each.grad) if tensor is not None]
        with Allocated(kept) as counted:
            hidden = forward(row)
            before = counted.now
            head: nn.Linear = model.get_output_embeddings()
            chosen = torch.zeros(len(hidden), dtype=torch.long)
            with computing():
                scores = chunked_scores(hidden, Head(head.weight, head.bias), chosen, 1.0, entropy=entropy)
            logits = counted.most - before
            torch.stack([part.sum() for part in scores if part is not None]).sum().backward()
            del hidden, scores
        with torch.no_grad(), Allocated(kept) as reading:
            forward(short)
    return Passes(
        parameters=sum(parameter.numel() for parameter in parameters),
        weights=sum(parameter.nbytes for parameter in parameters),
        trained=sum(parameter.nbytes for parameter in trained),
        trained_numbers=sum(parameter.numel() for parameter in trained),
        update=counted.most,
        logits=max(0, logits),
        reading=reading.most,
    )
