"""The randomness of sampling: every token has a number of its own, whatever is sampled beside it or before it.

A run in which episodes arrive in another order, as with tools on threads, so samples the same replies again.
"""

import hashlib

import numpy as np
import torch
from torch import Tensor

from gem.episode import Start

_BLOCK = 64
"""Numbers that are made at once."""


class Noise:
    """The numbers of one reply, uniform in [0, 1): ``noise[token]`` is that of its token with this index.

    Args:
        seed: of the sampler.
        start: of the episode.
        turn: the index of the reply in it.
    """

    def __init__(self, seed: int, start: Start, turn: int) -> None:
        self._key = repr((seed, start.id, start.seed, start.group, turn))
        self._blocks: list[list[float]] = []

    def __getitem__(self, token: int) -> float:
        block, place = divmod(token, _BLOCK)
        while block >= len(self._blocks):
            text = f"{self._key} {len(self._blocks)}"
            bits = np.frombuffer(hashlib.shake_128(text.encode()).digest(8 * _BLOCK), "<u8")
            self._blocks.append(((bits >> 11) * 2.0**-53).tolist())
        return self._blocks[block][place]


def draw(logits: Tensor, temperature: float, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Draw a token per row: the first whose cumulative probability exceeds the row's number.

    Args:
        logits: ``[rows, vocabulary]``.
        temperature: of the distribution; at 0 the most likely token is taken.
        noise: ``[rows]`` float64, uniform in [0, 1).

    Returns:
        The tokens, of probability above 0, and their log-probabilities at this temperature (at 0 those of the model,
        as at 1), ``[rows]`` each.
    """
    logprobs = (logits.float() / (temperature or 1.0)).log_softmax(-1)
    if temperature == 0:
        most, chosen = logprobs.max(-1)
        return chosen, most
    cumulative = logprobs.exp().double().cumsum(-1)
    total = cumulative[:, -1:]
    # Rounding must not reach the sum itself: no token exceeds it.
    below = torch.minimum(noise[:, None] * total, torch.nextafter(total, torch.zeros_like(total)))
    # Of logits that are not numbers any token is drawn; its log-probability shows it.
    chosen = torch.searchsorted(cumulative, below, right=True).clamp_(max=logits.shape[-1] - 1)
    return chosen[:, 0], logprobs.gather(-1, chosen)[:, 0]
