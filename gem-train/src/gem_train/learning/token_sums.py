"""Metrics of an update: sums over its tokens, reported as means."""

from collections.abc import Mapping

import torch
from torch import Tensor

from gem_train.distributed.world import World


class TokenSums:
    """Adds up metrics, on the device until they are asked for."""

    def __init__(self) -> None:
        self.tokens = 0
        self._sums: dict[str, Tensor] = {}
        self._gaps = 0
        self._gap_sum = self._gap_max = torch.zeros(())

    def take(self, metrics: Mapping[str, Tensor], tokens: int) -> None:
        """Add the sums over some more tokens."""
        self.tokens += tokens
        for name, value in metrics.items():
            self._sums[name] = self._sums[name] + value if name in self._sums else value

    def take_gaps(self, gaps: Tensor) -> None:
        """Add differences between the log-probabilities of engine and learner, ``[tokens]``."""
        if len(gaps):
            self._gaps += len(gaps)
            self._gap_sum = self._gap_sum.to(gaps) + gaps.sum()
            self._gap_max = self._gap_max.to(gaps).maximum(gaps.max())

    def add(self, other: "TokenSums") -> None:
        """Add the sums of other tokens."""
        self.take(other._sums, other.tokens)
        self._gaps += other._gaps
        self._gap_sum, self._gap_max = self._gap_sum + other._gap_sum, self._gap_max.maximum(other._gap_max)

    def over(self, world: World) -> "TokenSums":
        """The sums over the tokens of all processes."""
        total = TokenSums()
        for each in world.gather(self._on_cpu()):
            total.add(each)
        return total

    def _on_cpu(self) -> "TokenSums":
        copy = TokenSums()
        copy.tokens, copy._gaps = self.tokens, self._gaps
        copy._sums = {name: value.cpu() for name, value in self._sums.items()}
        copy._gap_sum, copy._gap_max = self._gap_sum.cpu(), self._gap_max.cpu()
        return copy

    def means(self) -> dict[str, float]:
        """The metrics per token; the gaps only if there were any."""
        means = {name: float(value) / max(1, self.tokens) for name, value in self._sums.items()}
        if self._gaps:
            means |= {"engine_gap": float(self._gap_sum) / self._gaps, "engine_gap_max": float(self._gap_max)}
        return means
