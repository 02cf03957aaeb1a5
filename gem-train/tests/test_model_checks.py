"""Models whose attention GEM would compute wrongly are set right or refused, before they play."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from gem.errors import ConfigError
from gem.rollout.transcript import Transcript
from gem_train.chat import ChatEncoder
from gem_train.engines.hf import HFSampler
from gem_train.engines.kv_cache import SlotCache
from gem_train.model_checks import context_limit, use_packed_attention
from gem_train.tiny import tiny_tokenizer

MakeModel = Callable[..., PreTrainedModel]
WINDOW = 16
WINDOWED = ["Mistral", "Phi3", "Mixtral", "Starcoder2"]


@torch.no_grad()
def cached_logits(model: PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """The logits of ``[1, length]`` ids through the cache of the engine hf, a few ids at a time."""
    cache = SlotCache(model.config.num_hidden_layers)
    positions = torch.arange(ids.shape[1])[None]
    pieces = zip(ids.split(5, 1), positions.split(5, 1), strict=True)
    return torch.cat(
        [
            model(
                input_ids=piece,
                position_ids=places,
                attention_mask=cache.use(torch.tensor([0]), places),
                past_key_values=cache,
                use_cache=True,
            ).logits[0]
            for piece, places in pieces
        ]
    )


@pytest.mark.parametrize("name", WINDOWED)
def test_a_conversation_ends_where_the_window_of_the_model_would_make_the_engine_wrong(
    make_model: MakeModel, name: str
) -> None:
    model = make_model(name, sliding_window=WINDOW)
    use_packed_attention(model)
    ids = torch.randint(4, 512, (1, 2 * WINDOW), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = model(input_ids=ids, use_cache=False).logits[0]
    difference = (cached_logits(model, ids) - expected).abs().amax(-1)
    limit = context_limit(model.config)
    assert limit == WINDOW
    assert difference[:limit].max() < 1e-4
    assert difference[limit:].min() > 1e-2
    assert context_limit(make_model(name, sliding_window=None).config) == 128


def test_the_engine_asks_for_that_limit(make_model: MakeModel) -> None:
    sampler = HFSampler(make_model("Mistral", sliding_window=WINDOW), ChatEncoder(tiny_tokenizer([])), max_new_tokens=4)
    sampler.send({0: Transcript("x" * WINDOW)})
    completion = sampler.recv()[0]
    assert (completion.finish_reason, len(completion.ids)) == ("context", 0)


@dataclass
class Layers:
    """The part of a config that says of which kinds the layers are."""

    max_position_embeddings: int = 128
    layer_types: tuple[str, ...] | None = None
    attention_layers: tuple[str, ...] | None = None
    sliding_window: int | None = None


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        (Layers(layer_types=("full_attention",), sliding_window=WINDOW), 128),
        (Layers(layer_types=("sliding_attention",), sliding_window=WINDOW), WINDOW),
        (Layers(layer_types=("full_attention", "sliding_attention"), sliding_window=WINDOW), None),
        (Layers(layer_types=("linear_attention",)), None),
        (Layers(layer_types=("chunked_attention",)), None),
        (Layers(attention_layers=("global", "local")), None),
        (Layers(sliding_window=512), 128),
    ],
)
def test_only_models_whose_layers_are_all_alike_are_sampled_from(config: Any, limit: int | None) -> None:
    if limit is None:
        with pytest.raises(ConfigError, match="layers of this model are of the kinds"):
            context_limit(config)
    else:
        assert context_limit(config) == limit


@pytest.mark.parametrize("name", ["Qwen3", "Llama", "GPT2"])
def test_a_model_with_eager_attention_follows_the_masks_of_the_engine(make_model: MakeModel, name: str) -> None:
    model = make_model(name, "eager")
    ids = torch.randint(4, 512, (1, 12), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = model(input_ids=ids, use_cache=False).logits[0]
    assert (cached_logits(model, ids) - expected).abs().max() > 0.1
    use_packed_attention(model)
    assert (cached_logits(model, ids) - expected).abs().max() < 1e-4


@pytest.mark.parametrize(
    ("name", "attention", "reason"),
    [
        ("OPT", "sdpa", "does not keep the sequences of a packed row apart"),
        ("Falcon", "sdpa", "does not keep the sequences of a packed row apart"),
        ("Bloom", "eager", "does not take positions and a mask"),
        ("Gemma2", "eager", "has \\['softcap'\\]"),
        ("GptOss", "eager", "has \\['s_aux'\\]"),
    ],
)
def test_a_model_whose_attention_cannot_be_packed_is_refused(
    make_model: MakeModel, name: str, attention: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        use_packed_attention(make_model(name, attention))


def test_the_cache_of_the_engine_keeps_keys_in_the_type_of_the_arithmetic(make_model: MakeModel) -> None:
    model = make_model("Qwen3")
    use_packed_attention(model)
    ids = torch.randint(4, 512, (1, 12), generator=torch.Generator().manual_seed(1))
    cache = SlotCache(2)
    positions = torch.arange(12)[None]
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        expected = model(input_ids=ids, use_cache=False).logits
        mask = cache.use(torch.tensor([0]), positions)
        found = model(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True).logits
    assert {cache.layers[0]._keys.dtype, cache.layers[0]._values.dtype} == {torch.bfloat16}
    assert (found - expected).abs().max() < 0.05 * expected.abs().max()
