"""Packed attention gives each sequence what it gets alone: results and gradients, on several architectures."""

from collections.abc import Callable

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import PreTrainedModel

from gem_train.learning.attention import NAME, packed_attention
from gem_train.learning.blocks import Blocks
from gem_train.learning.kernels import sdpa, varlen

LENGTHS = 1, 40, 7, 64, 33, 17, 50, 12
"""Two rows of 112."""


def sequences() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(4, 512, (length,), generator=generator) for length in LENGTHS]


def gradient(model: PreTrainedModel, scores: torch.Tensor) -> torch.Tensor:
    model.zero_grad()
    scores.square().mean().backward()
    found = [parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]
    return torch.cat(found)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Qwen3", {}),
        ("Llama", {}),
        ("GPT2", {}),
        ("Phi3", {"sliding_window": None}),
        ("Mistral", {"sliding_window": None}),
        ("Mistral", {"sliding_window": 16}),
        ("Granite", {"attention_multiplier": 0.1}),  # scores are not divided by the root of head_dim
    ],
)
def test_each_sequence_of_a_packed_row_is_computed_as_if_alone(
    make_model: Callable[..., PreTrainedModel], name: str, settings: dict[str, int | None], rows: int
) -> None:
    model = make_model(name, **settings)
    given = sequences()
    alone = torch.cat([model(input_ids=ids[None], use_cache=False).logits[0] for ids in given])
    expected = gradient(model, alone)
    model.set_attn_implementation(NAME)
    positions = torch.cat([torch.arange(len(ids)) for ids in given])
    packed = torch.cat(given).view(rows, -1), positions.view(rows, -1)
    found = model(input_ids=packed[0], position_ids=packed[1], use_cache=False).logits.flatten(0, 1)
    assert (found - alone).abs().max() < 1e-5 * alone.abs().max()
    assert (gradient(model, found) - expected).abs().max() < 1e-5 * expected.abs().max()


def test_no_mask_of_a_row_times_a_row_is_made() -> None:
    """A row of 16,384 ids would have a mask of 268 million entries; a block holds its own sequence only."""
    blocks = Blocks(range(0, 16384 + 1, 64), None, torch.device("cpu"))
    assert sum(read.numel() for read, _, _ in blocks.grouped.groups) == 16384
    assert [(number, length) for _, number, length in blocks.grouped.groups] == [(256, 64)]


def test_padding_within_a_group_of_similar_lengths_is_bounded() -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 500, (200,), generator=generator)
    starts = [0, *lengths.cumsum(0).tolist()]
    blocks = Blocks(starts, None, torch.device("cpu"))
    assert sum(number for _, number, _ in blocks.grouped.groups) == 200
    assert sum(read.numel() for read, _, _ in blocks.grouped.groups) < 1.25 * int(lengths.sum())
    assert len(blocks.grouped.groups) < 20


def test_dropout_is_refused() -> None:
    tensor = torch.zeros(1, 1, 2, 4)
    with pytest.raises(ValueError, match="dropout"):
        packed_attention(sdpa, torch.nn.Module(), tensor, tensor, tensor, None, dropout=0.1)


@pytest.mark.parametrize("window", [None, 4])
def test_the_kernel_of_gpus_takes_what_it_is_given(window: int | None) -> None:
    """Its arguments and shapes are checked without a GPU; what it computes is not."""
    blocks = Blocks([0, 3, 10], window, torch.device("cpu"))
    with FakeTensorMode(allow_non_fake_inputs=True):
        query, key = (torch.empty(10, heads, 8, dtype=torch.bfloat16) for heads in (4, 2))
        assert varlen(query, key, key, blocks, 0.3).shape == query.shape
