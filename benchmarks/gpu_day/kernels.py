"""Kernels of the learner compile, and compute in bfloat16 what float32 does."""

import numpy as np
import torch
from gpu_day.learner import random_sequence
from gpu_day.place import SIZES, Case, Row

from gem.errors import ConfigError, MissingExtra
from gem_train.learning.blocks import Blocks
from gem_train.learning.head import Head, chunked_scores
from gem_train.learning.kernels import find_kernel, sdpa, shape_of
from gem_train.learning.liger import find_scorer
from gem_train.learning.packing import pack
from gem_train.learning.scoring import score_tokens

KERNELS = ("sdpa", "varlen", "flash_attention_2", "flash_attention_3")
_LENGTHS = (1, 7, 130, 600)


def off(found, reference):
    """The largest difference of some tensors from others, of their largest value."""
    pairs = zip(found, reference, strict=True)
    return max(float((one.float() - other).abs().max() / other.abs().max()) for one, other in pairs)


def attention(place):
    """Results and gradients of each kernel, with the heads of each model, against attention in float32."""
    starts = [sum(_LENGTHS[:index]) for index in range(len(_LENGTHS) + 1)]
    blocks = Blocks(starts, None, place.device)
    for name in KERNELS:
        try:
            kernel = find_kernel(name, place.device)
        except ConfigError as error:
            yield Row(f"attention {name}", f"not here: {error}")
            continue
        for size in SIZES:
            shape = shape_of(place.config(size))
            torch.manual_seed(0)
            inputs = [
                torch.randn(starts[-1], heads, shape.head_dim, device=place.device).bfloat16()
                for heads in (shape.heads, shape.kv_heads, shape.kv_heads)
            ]
            by = torch.randn(inputs[0].shape, device=place.device).bfloat16()

            def run(kernel, dtype, inputs=inputs, by=by):
                own = [each.to(dtype, copy=True).requires_grad_() for each in inputs]
                result = kernel(*own, blocks, None)
                return [result.detach(), *torch.autograd.grad(result, own, by.to(dtype))]

            yield Row(
                f"attention {name}, {size}: off from float32",
                off(run(kernel, torch.bfloat16), run(sdpa, torch.float32)),
            )


def log_probs(place):
    """Log-probabilities and their gradients, by GEM's code and by liger-kernel, against float32."""
    config = place.config("1.7B")
    torch.manual_seed(0)
    hidden = torch.randn(256, config.hidden_size, device=place.device).bfloat16()
    weight = (0.02 * torch.randn(config.vocab_size, config.hidden_size, device=place.device)).bfloat16()
    chosen = torch.randint(config.vocab_size, (256,), device=place.device)

    def run(scorer, dtype):
        own = [each.to(dtype, copy=True).requires_grad_() for each in (hidden, weight)]
        scores = scorer(own[0], Head(own[1], None), chosen, 1.0).logprobs
        return [scores.detach(), *torch.autograd.grad(scores.sum(), own)]

    reference = run(chunked_scores, torch.float32)
    for name in ("chunked", "liger"):
        try:
            scorer = find_scorer(name, place.device, half=True)
        except (ConfigError, MissingExtra) as error:
            yield Row(f"log-probabilities {name}", f"not here: {error}")
            continue
        yield Row(f"log-probabilities {name}: off from float32", off(run(scorer, torch.bfloat16), reference))


def whole_model(place):
    """Log-probabilities of the whole 0.6B in bfloat16, with the kernel that `auto` chooses, against float32."""
    rng = np.random.default_rng(0)
    sequences = [random_sequence(rng, place.config("0.6B").vocab_size, ids) for ids in (300, 40, 1000)]
    found = []
    for dtype in ("float32", "bfloat16"):
        model = place.load("0.6B", dtype).model
        [row] = pack(sequences, 2048)
        with torch.no_grad():
            found.append(score_tokens(model, row.to(place.device), 1.0).logprobs.float())
    yield Row(
        "log-probabilities of 0.6B: mean difference from float32", float((found[1] - found[0]).abs().mean()), "nats"
    )


CASES = {"attention": Case(attention, 180), "log-probabilities": Case(log_probs, 120), "model": Case(whole_model, 120)}
