"""Terms of the tokens of a batch for a loss, besides their scores under the weights that are being changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gem_train.algorithms.base import Scores
from gem_train.algorithms.credit import Credit
from gem_train.batch import Batch, Bools

Columns = Mapping[str, Tensor]
"""Fields of `TokenTerms` by name, ``[ids]`` each."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Columns with a value for every id of every sequence of a batch; those of ids that are not trained are 0."""

    columns: Mapping[str, Sequence[NDArray[Any]]]
    """Fields of `TokenTerms` by name: an array ``[length]`` for each sequence."""
    current: Sequence[Bools]
    """Mask of the ids that may have been sampled under the newest weights."""

    @classmethod
    def of(cls, batch: Batch, scores: Scores, credit: Credit, version: int) -> "TokenTable":
        """Put the columns together.

        Args:
            batch: the sequences.
            scores: from before the weights changed.
            credit: of the actions.
            version: of the newest weights.
        """
        sequences = batch.sequences
        engine = [sequence.logprobs for sequence in sequences]
        shares = np.zeros(len(batch.episodes.env), np.float32)
        for sequence in sequences:
            np.add.at(shares, batch.episode[sequence.turn[sequence.sampled]], 1.0)
        np.divide(1.0, shares, out=shares, where=shares > 0)
        columns: dict[str, Sequence[NDArray[Any]]] = {
            "engine_logprobs": engine,
            "old_logprobs": engine if scores.old_logprobs is None else scores.old_logprobs,
            "advantages": [credit.advantages[sequence.turn] for sequence in sequences],
            "action": [index * batch.num_turns + sequence.turn for index, sequence in enumerate(sequences)],
            "episode_share": [shares[batch.episode[sequence.turn]] for sequence in sequences],
        }
        if scores.reference_logprobs is not None:
            columns["reference_logprobs"] = scores.reference_logprobs
        newest = np.isin(batch.version, (version, -1))
        return cls(columns, [newest[sequence.turn] for sequence in sequences])

    def rows(self, chosen: Sequence[int], device: torch.device) -> Columns:
        """The columns of some sequences, put one after the other."""
        return {
            name: torch.from_numpy(np.concatenate([column[index] for index in chosen])).to(device)
            for name, column in self.columns.items()
        }

    def is_current(self, chosen: Sequence[int], device: torch.device) -> Tensor:
        """Mask of the ids of some sequences, in order, that may have been sampled under the newest weights."""
        return torch.from_numpy(np.concatenate([self.current[index] for index in chosen])).to(device)
