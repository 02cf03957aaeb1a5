"""Numbers that are not finite (NaN or infinite), found before they reach a checkpoint.

One of them in the weights is soon in all of them, and a checkpoint that holds it cannot be trained any further.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from gem.episode import Episode
from gem_train.algorithms.credit import Credit
from gem_train.batch import Batch

_JUDGED = ("loss", "norm", "kl", "entropy", "gap", "gap_max")
"""The metrics whose names end so are finite in every sound update; others, of somebody's own algorithm, need not be."""

_MOST = float(np.finfo(np.float32).max)


def in_rewards(episodes: Sequence[Episode]) -> str | None:
    """The first episode with a reward that is not finite in the float32 of a batch, in words; None if there is none."""
    for episode in episodes:
        if episode.failure is None and not all(abs(reward) <= _MOST for reward in episode.rewards):
            return f"a reward of {episode.id}, seed {episode.seed}, is not a finite number of 32 bits"
    return None


def in_batch(batch: Batch, credit: Credit) -> str | None:
    """The input of the update that is not finite, in words; None if all of it is."""
    if not all(np.isfinite(sequence.logprobs).all() for sequence in batch.sequences):
        return "a log-probability of the sampler is not finite"
    return None if np.isfinite(credit.advantages).all() else "an advantage is not finite"


def in_metrics(metrics: Mapping[str, float]) -> str | None:
    """The metrics of an update that are not finite, in words; None if there are none."""
    names = [name for name, value in metrics.items() if name.endswith(_JUDGED) and not math.isfinite(value)]
    return f"{' and '.join(f'{name} = {metrics[name]}' for name in names)} in the update" if names else None


def in_weights(weights: Iterable[tuple[str, Tensor]]) -> str | None:
    """The first parameter with an element that is not finite, in words; None if there is none."""
    with torch.no_grad():
        for name, tensor in weights:
            if not tensor.isfinite().all():
                return f"the weight {name} is not finite"
    return None
