"""Notices a run that learns nothing or gets worse, while it can still be told what to change.

It reads nothing but the metrics of the steps, so a run that goes on after a stop is judged as if it had never stopped.
"""

import math
from collections import deque
from collections.abc import Mapping
from statistics import fmean
from typing import Any, Literal, NamedTuple

from gem_train.config import TrainConfig

NOISE = 0.8
"""Of ln V, the entropy of a uniform choice among V tokens: from here on replies are noise."""
FROZEN = 0.005
"""Nats a token: below it nearly nothing is left to chance, and nothing else is tried."""


class Finding(NamedTuple):
    """What a watch has to say."""

    kind: Literal["solved", "collapse", "warning"]
    text: str


class Watch:
    """Judges one run, step by step.

    Args:
        config: of the run.
        vocabulary: how many tokens the model chooses from.
        expert: whether the env has an expert who could be imitated.
    """

    def __init__(self, config: TrainConfig, vocabulary: int, *, expert: bool) -> None:
        self._config = config
        self._uniform = math.log(vocabulary)
        self._expert = expert
        self._window: deque[Mapping[str, Any]] = deque(maxlen=config.watch.window)
        self._first: Mapping[str, Any] | None = None
        self._best = self._fewest_malformed = math.nan
        self._said: set[str] = set()

    def see(self, metrics: Mapping[str, Any]) -> Finding | None:
        """The metrics of the next step; what is to be said about it, each thing once."""
        self._first = self._first or metrics
        self._window.append(metrics)
        finding = self._noise(metrics) or self._frozen(metrics)
        if len(self._window) == self._window.maxlen:
            finding = finding or self._no_signal() or self._malformed() or self._fallen()
        if finding is None or finding.text.partition(":")[0] in self._said:
            return None
        self._said.add(finding.text.partition(":")[0])
        return finding

    def _mean(self, name: str) -> float:
        return fmean(line[name] for line in self._window)

    def _no_signal(self) -> Finding | None:
        if any(line.get("signal", 1) for line in self._window):
            return None
        success, steps = self._mean("success"), len(self._window)
        if success == 1:
            return Finding("solved", f"every episode of the last {steps} batches succeeded and was rewarded alike")
        return Finding(
            "collapse",
            f"no signal: in each of the last {steps} batches every episode was rewarded alike (success {success:.2f}, "
            f"return {self._mean('return'):.2f}, {self._mean('malformed'):.0%} of the replies malformed), so there is "
            "nothing to learn from, and these batches changed no weights. Give the model a start that sometimes "
            f"succeeds: {self._better_start()}",
        )

    def _better_start(self) -> str:
        warmup, advice = self._config.warmup, ["an easier id, or easier settings of this one (--set env.…)"]
        if warmup.steps == 0:
            advice.append("a warm-up (--set warmup.steps=600)")
        elif self._expert and warmup.policy not in ("expert", "auto"):
            advice.append("a warm-up from the expert (--set warmup.policy=expert)")
        else:
            advice.append(f"a longer warm-up (warmup.steps, now {warmup.steps})")
        if self._mean("cut_replies") > 0.5:
            advice.append(f"longer replies (rollout.max_new_tokens, now {self._config.rollout.max_new_tokens})")
        advice.append(f"more episodes in a batch (rollout.episodes, now {self._config.rollout.episodes})")
        return "; ".join(advice)

    def _noise(self, metrics: Mapping[str, Any]) -> Finding | None:
        assert self._first is not None
        if metrics["entropy"] < NOISE * self._uniform or self._first["entropy"] >= NOISE * self._uniform:
            return None
        return Finding(
            "collapse",
            f"replies became noise: their entropy is {metrics['entropy']:.2f} nats a token, where choosing blindly has "
            f"{self._uniform:.2f}, and it began at {self._first['entropy']:.2f}. {self._gentler(entropy=True)}",
        )

    def _frozen(self, metrics: Mapping[str, Any]) -> Finding | None:
        assert self._first is not None
        if metrics["success"] > 0.9 or metrics["entropy"] > min(FROZEN, 0.1 * self._first["entropy"]):
            return None
        entropy = self._config.optim.entropy
        return Finding(
            "warning",
            f"replies became rigid: their entropy is {metrics['entropy']:.4f} nats a token, and it began at "
            f"{self._first['entropy']:.2f}, so hardly anything new is tried. If success (now "
            f"{metrics['success']:.2f}) stays where it is, start anew with a larger optim.entropy (now {entropy:g}) or "
            f"a smaller optim.lr (now {self._config.optim.lr:g})",
        )

    def _malformed(self) -> Finding | None:
        share = self._mean("malformed")
        self._fewest_malformed = min(share, self._fewest_malformed)
        if share < 0.5 or share < 2 * self._fewest_malformed + 0.1:
            return None
        return Finding(
            "collapse",
            f"replies lost their form: {share:.0%} of them are malformed, and at best {self._fewest_malformed:.0%} "
            f"were. {self._gentler()}",
        )

    def _fallen(self) -> Finding | None:
        """Success far below its best; where success is rare, the return."""
        now = self._mean("success")
        if math.isnan(self._best) or now > self._best:
            self._best = now
        episodes = len(self._window) * self._config.rollout.episodes
        chance = 4 * math.sqrt(2 * self._best * (1 - self._best) / episodes)
        if self._best < 0.05 or self._best - now < max(chance, 0.5 * self._best):
            return None
        text = f"success fell from {self._best:.2f} to {now:.2f} (means of {len(self._window)} batches)"
        if now < 0.1 * self._best:
            return Finding("collapse", f"success is lost: {text}. {self._gentler()}")
        # A curriculum makes the env harder when it is mastered, so this alone stops nothing.
        return Finding("warning", f"success halved: {text}. If the env did not become harder: {self._gentler()}")

    def _gentler(self, *, entropy: bool = False) -> str:
        optim = self._config.optim
        advice = f"Change the weights more gently: a smaller optim.lr (now {optim.lr:g})"
        if optim.entropy or entropy:
            advice += f", or a smaller optim.entropy (now {optim.entropy:g})"
        return advice
