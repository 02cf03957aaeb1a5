"""Detects a run that learns nothing or gets worse, and says what to change.

It reads only the metrics of the steps, so a resumed run is judged as if it had never stopped.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple

from gem_train.config.sections import OptimConfig, RolloutConfig, WarmupConfig, WatchConfig
from gem_train.evaluation import AUTO

NOISE = 0.8
"""Share of ln V, the entropy of a uniform choice among V tokens, from which on replies are noise."""
FROZEN = 0.005
"""Nats per token: below it the policy is nearly deterministic and explores nothing."""


class Finding(NamedTuple):
    """Finding of a watch."""

    kind: Literal["solved", "collapse", "warning"]
    text: str


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on what to change, given the settings of a run."""

    rollout: RolloutConfig
    optim: OptimConfig
    warmup: WarmupConfig
    dtype: str
    has_expert: bool
    """True if the environment has an expert that could be imitated."""

    def better_start(self, *, cut_replies: bool) -> str:
        """Advice for a model that never succeeds; `cut_replies`: most replies reach the limit on their length."""
        advice = ["an easier id, or easier settings of this one (--set env.…)"]
        if self.warmup.steps == 0:
            advice.append("a warm-up (--set warmup.steps=600)")
        elif self.has_expert and self.warmup.policy not in ("expert", AUTO):
            advice.append("a warm-up from the expert (--set warmup.policy=expert)")
        else:
            advice.append(f"a longer warm-up (warmup.steps, now {self.warmup.steps})")
        if cut_replies:
            advice.append(f"longer replies (rollout.max_new_tokens, now {self.rollout.max_new_tokens})")
        advice.append(f"more episodes in a batch (rollout.episodes, now {self.rollout.episodes})")
        return "; ".join(advice)

    def gentler_updates(self, *, less_entropy: bool = False) -> str:
        """Advice for changing the weights less."""
        advice = f"Change the weights more gently: a smaller optim.lr (now {self.optim.lr:g})"
        if self.optim.entropy or less_entropy:
            advice += f", or a smaller optim.entropy (now {self.optim.entropy:g})"
        return advice

    def finite_updates(self) -> str:
        """Advice for keeping weights and gradients finite."""
        advice = f"{self.gentler_updates()}, or a smaller optim.grad_clip (now {self.optim.grad_clip:g})"
        if self.warmup.steps:
            advice += f", or a smaller warmup.lr (now {self.warmup.lr:g}) if the warm-up went wrong already"
        return advice if self.dtype == "float32" else f"{advice}, or dtype=float32 (now {self.dtype})"

    def smaller_gap(self) -> str:
        """Advice for making the sampler compute what the learner computes."""
        advice = "Set dtype=float32 (now bfloat16)" if self.dtype != "float32" else "See `gemx doctor` for the versions"
        return (
            f"{advice}, or try another engine (rollout.engine, now {self.rollout.engine}). A gap that belongs to a "
            "lower precision is allowed by a larger watch.max_engine_gap, and corrected by log-probabilities of the "
            "learner (credit.old_logprobs=learner)"
        )

    def other_engine(self) -> str:
        """Advice where the engine does not do what it must."""
        return f"That is a fault of the engine (rollout.engine, now {self.rollout.engine}): see `gemx doctor`"

    def more_exploration(self) -> str:
        """Advice for keeping replies from becoming all the same."""
        return (
            f"start again with a larger optim.entropy (now {self.optim.entropy:g}) or a smaller optim.lr "
            f"(now {self.optim.lr:g})"
        )


class Watch:
    """Judges one run, step by step.

    Args:
        settings: how many steps in a row are judged together, and the largest engine gap.
        vocabulary: how many tokens the model chooses from.
        advice: what to change.
    """

    def __init__(self, settings: WatchConfig, vocabulary: int, advice: Advice) -> None:
        self.advice = advice
        # In float32 a gap is of rounding, about 1e-6, or an engine has other weights.
        self._max_engine_gap = settings.max_engine_gap or (0.01 if advice.dtype == "float32" else 0.1)
        self._uniform = math.log(vocabulary)
        self._window: deque[Mapping[str, Any]] = deque(maxlen=settings.window)
        self._first: Mapping[str, Any] | None = None
        self._best = self._fewest_malformed = math.nan
        self._best_level = 0.0
        """The mean level of the curriculum at the best."""
        self._reported: set[str] = set()

    def see(self, metrics: Mapping[str, Any]) -> Finding | None:
        """Take the metrics of the next step; returns what they show, each finding only once."""
        self._first = self._first or metrics
        self._window.append(metrics)
        finding = self._engine_gap(metrics) or self._noise(metrics) or self._frozen(metrics)
        if len(self._window) == self._window.maxlen:
            finding = finding or self._no_signal() or self._malformed() or self._fallen()
        if finding is None or finding.text.partition(":")[0] in self._reported:
            return None
        self._reported.add(finding.text.partition(":")[0])
        return finding

    def _mean(self, name: str) -> float:
        return fmean(line[name] for line in self._window)

    def _level(self) -> float:
        return fmean(line.get("level", 0.0) for line in self._window)

    def _engine_gap(self, metrics: Mapping[str, Any]) -> Finding | None:
        gap = metrics.get("engine_gap")
        # No reply is of the newest weights: with max_lag alone, see `gem_train.play.check_lag`.
        if gap is None or gap <= self._max_engine_gap:
            return None
        most = metrics.get("engine_gap_max", math.nan)
        return Finding(
            "collapse",
            f"engine gap: the sampler's log-probabilities are {gap:.3g} nats from the learner's on average (at most "
            f"{most:.3g}; allowed is watch.max_engine_gap, now {self._max_engine_gap:g}), so it samples from another "
            "model than the one that is trained: it computes otherwise, or did not take the newest weights. "
            f"{self.advice.smaller_gap()}",
        )

    def _no_signal(self) -> Finding | None:
        # With a critic, or without a baseline, advantages are not 0 even where all episodes were rewarded alike.
        if any(line.get("signal", 1) and not line.get("alike", 0) for line in self._window):
            return None
        success, steps = self._mean("success"), len(self._window)
        if success == 1 and self._window[-1].keys() & {"level", "opponents"}:
            return None  # a curriculum will make the env harder, and a pool the opponents
        if success == 1:
            return Finding("solved", f"every episode of the last {steps} batches succeeded and was rewarded alike")
        kept = "" if any(line.get("signal", 1) for line in self._window) else ", and these batches changed no weights"
        return Finding(
            "collapse",
            f"no signal: in each of the last {steps} batches every episode (with groups, every episode of a group) was "
            f"rewarded alike (success {success:.2f}, return {self._mean('return'):.2f}, "
            f"{self._mean('malformed'):.0%} of the replies malformed), so there is nothing to learn from{kept}. Give "
            "the model a start that sometimes succeeds: "
            f"{self.advice.better_start(cut_replies=self._mean('cut_replies') > 0.5)}",
        )

    def _noise(self, metrics: Mapping[str, Any]) -> Finding | None:
        assert self._first is not None
        if "entropy" not in metrics or self._first["entropy"] >= NOISE * self._uniform:
            return None
        entropy = metrics["entropy"]
        if entropy < NOISE * self._uniform:
            return None
        return Finding(
            "collapse",
            f"replies became noise: their entropy is {entropy:.2f} nats per token, {self._uniform:.2f} is "
            f"that of a uniform choice, and it began at {self._first['entropy']:.2f}. "
            f"{self.advice.gentler_updates(less_entropy=True)}",
        )

    def _frozen(self, metrics: Mapping[str, Any]) -> Finding | None:
        assert self._first is not None
        if "entropy" not in metrics or metrics["success"] > 0.9:
            return None
        entropy = metrics["entropy"]
        if entropy > min(FROZEN, 0.1 * self._first["entropy"]):
            return None
        return Finding(
            "warning",
            f"replies became rigid: their entropy is {entropy:.4f} nats per token, and it began at "
            f"{self._first['entropy']:.2f}, so hardly anything new is tried. If success (now "
            f"{metrics['success']:.2f}) does not rise, {self.advice.more_exploration()}",
        )

    def _malformed(self) -> Finding | None:
        share = self._mean("malformed")
        self._fewest_malformed = min(share, self._fewest_malformed)
        if share < 0.5 or share < 2 * self._fewest_malformed + 0.1:
            return None
        return Finding(
            "collapse",
            f"replies lost their form: {share:.0%} of them are malformed, and at best {self._fewest_malformed:.0%} "
            f"were. {self.advice.gentler_updates()}",
        )

    def _fallen(self) -> Finding | None:
        """Success far below its best. Against a pool it is a share of games won, whose opponents get better, too; by
        learnability tasks that are solved are played no more."""
        if self._window[-1].keys() & {"opponents", "learnability"}:
            return None
        now = self._mean("success")
        if math.isnan(self._best) or now > self._best:
            self._best, self._best_level = now, self._level()
        episodes = len(self._window) * self.advice.rollout.episodes
        chance = 4 * math.sqrt(2 * self._best * (1 - self._best) / episodes)
        if self._best < 0.05 or self._best - now < max(chance, 0.5 * self._best):
            return None
        text = f"success fell from {self._best:.2f} to {now:.2f} (means of {len(self._window)} batches)"
        gentler = self.advice.gentler_updates()
        if now < 0.1 * self._best and self._level() <= self._best_level:
            return Finding("collapse", f"success is lost: {text}. {gentler}")
        # A curriculum makes the env harder when it is mastered, so this alone stops nothing.
        return Finding("warning", f"success halved: {text}. If the env did not become harder: {gentler}")
