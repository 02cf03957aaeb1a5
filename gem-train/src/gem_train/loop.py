"""The training loop: play, score, credit, update, sync. One loop for every algorithm."""

import functools
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from gem import seeding
from gem.errors import ConfigError, GemError, TrainingStopped
from gem.rollout.report import Report
from gem.rollout.transcript import Episode
from gem_train.batch import Batch, collate
from gem_train.build import Parts
from gem_train.config.sections import EvalConfig, RolloutConfig
from gem_train.distributed.world import flat
from gem_train.evaluation import Baselines, Evaluation
from gem_train.play import Play, Played, drawn
from gem_train.runs import nonfinite
from gem_train.runs.checkpoints import best_checkpoint, step_of
from gem_train.runs.display import Display
from gem_train.runs.folder import RunFolder, Score
from gem_train.runs.interrupts import defer_interrupts
from gem_train.runs.plot import plot_curve
from gem_train.runs.step_metrics import StepClock, play_metrics
from gem_train.runs.token_texts import trained_ids, with_token_texts
from gem_train.runs.watch import Finding, Watch

STATE = frozenset({"learner", "play", "before", "seconds", "score"})
"""What a checkpoint holds besides the model."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long a run is, and what each of its steps plays."""

    seed: int
    steps: int
    checkpoint_every: int
    keep: int
    """How many of the newest checkpoints are kept."""
    rollout: RolloutConfig
    eval: EvalConfig
    stop: bool
    """Whether a run that learns nothing or gets worse is stopped."""


class Run:
    """A training run in this process.

    Args:
        schedule: its steps.
        parts: what plays and learns.
        evaluation: of the model, before, after and between.
        watch: judges the steps.
        baselines: what was measured before.
        folder: its files.
        display: gets the events of the run.
        memory: around "play" and "learn": says what to change when memory runs out (see `gem_train.runs.memory`).
    """

    def __init__(
        self,
        schedule: Schedule,
        parts: Parts,
        evaluation: Evaluation,
        watch: Watch,
        baselines: Baselines,
        folder: RunFolder,
        display: Display,
        memory: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        self.schedule = schedule
        self.parts = parts
        self.evaluation = evaluation
        self.baselines = baselines
        self.folder = folder
        self.display = display
        self._watch = watch
        self._memory = memory
        self._clock = StepClock()
        play = schedule.rollout
        self._play = Play(
            parts.sampler,
            parts.envs,
            seed=schedule.seed,
            steps=schedule.steps,
            episodes=play.episodes,
            group_size=play.group_size,
            max_lag=play.max_lag,
            place=parts.rows.train,
            groups=parts.world.share(range(play.episodes // play.group_size)),
        )
        self._started = time.monotonic()
        self._weights_are_changing = False
        self._since_saved: list[tuple[float, float]] = []
        """Success and return of each step since the last checkpoint."""

    @property
    def seconds(self) -> float:
        """How long the run has taken, all of its processes together."""
        return time.monotonic() - self._started

    def begin(self) -> None:
        """Evaluate the model before the first step."""
        self._require_finite(self.parts.learner.step, nonfinite.in_weights(self.parts.learner.weights()))
        self._sync()  # the warm-up changed the weights
        [report, *_] = self.evaluate("before training")
        self.baselines = replace(self.baselines, model=report)
        self._save()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Resume from the state in a checkpoint; the model already has its weights.

        Raises:
            ConfigError: it does not fit.
        """
        try:
            self.parts.learner.restore(state["learner"])
            self._play.resume(state["play"], self.parts.world, self.parts.learner.step)
        except (KeyError, ValueError) as error:
            if isinstance(error, GemError):
                raise
            raise ConfigError(
                f"the newest checkpoint of {self.folder.path} does not fit this version of gem-train ({error}), so its "
                "run cannot be resumed exactly. Start a new run from its model, with --model and another --out"
            ) from error
        self._sync()
        self._started = time.monotonic() - state["seconds"]
        self.folder.rewind(self.parts.learner.step)
        # It may have been killed right after the checkpoint was written.
        self.folder.rank_checkpoint(self.parts.learner.step, state["score"], self.schedule.keep)
        self.display.resumed(self.parts.learner.step)

    def learn(self) -> None:
        """The loop."""
        schedule, (_, sampler, _, algorithm, learner, _, world) = self.schedule, self.parts
        solved = any(self._judge(line) for line in self.folder.metrics("train"))
        for step in range(learner.step, schedule.steps):
            if solved:
                break
            if self._evaluate_if_due():  # where Ctrl-C came between an update and its evaluation
                self.folder.rank_checkpoint(step, self._score(), schedule.keep)
            sampler.reseed(seeding.derive(schedule.seed, "sampling", step))
            with self._doing("play"):
                shares = world.together(functools.partial(self._play.step, step))
            played = Played(flat(each.episodes for each in shares), flat(each.failed for each in shares))
            in_rewards = nonfinite.in_rewards(played.episodes)
            self._require_finite(step + 1, in_rewards, "`gemx check` finds such faults of an env")
            batch = algorithm.prepare(collate(played.episodes or played.failed))
            with self._doing("learn"):
                sampler.sleep()
                scores = learner.score(batch, algorithm.needs)
            credit = algorithm.credit(batch, scores)
            self._require_finite(step + 1, nonfinite.in_batch(batch, credit))
            with self._changing_weights():
                with self._doing("learn"):
                    metrics = learner.update(batch, scores, credit, algorithm.loss)
                    learner.free_gradients()
                broken = nonfinite.in_metrics(metrics)
                if broken is None:
                    with self._clock.of("sync"):
                        self._sync()
                values = self._report(played, batch, metrics)
                self._require_finite(step + 1, broken)
            solved = self._judge(values, show=True)
            due = self._evaluate_if_due()
            if due or solved or learner.step % schedule.checkpoint_every == 0 or learner.step == schedule.steps:
                self._save()

    def evaluate(self, when: str) -> list[Report]:
        """Evaluate the model, on the same seeds every time: the report of all episodes, then of each id."""
        step, sampler, settings = self.parts.learner.step, self.parts.sampler, self.schedule.eval
        self.parts.world.together(self._play.drain)
        sampler.reseed(seeding.derive(self.schedule.seed, "sampling", "evaluation"))
        usual = sampler.temperature
        sampler.temperature = usual if settings.temperature is None else settings.temperature
        try:
            with self._memory("play"):
                episodes = self.evaluation.play(sampler, functools.partial(self.display.measuring, when))
        finally:
            sampler.temperature = usual
        if when == "after training":
            for number, episode in enumerate(episodes):
                self._record(number, episode, phase="evaluation")
        if not self._is_evaluated():
            self.folder.write_metrics("eval", step, self.evaluation.metrics(episodes))
        report = self.evaluation.report(episodes)
        self.display.measured(when, report)
        return [report, *self.evaluation.report_per_id(episodes)]

    def finish(self) -> list[Report]:
        """Evaluate the model after the last step, and draw the curve; returns what `evaluate` does."""
        reports = self.evaluate("after training")
        if self.schedule.eval.every:
            self.folder.rank_checkpoint(self.parts.learner.step, self._score(), self.schedule.keep)
        self.draw()
        return reports

    def draw(self) -> None:
        """Draw the learning curve so far."""
        lines, evaluations = self.folder.metrics("train"), self.folder.metrics("eval")
        if lines:
            self.folder.draw(lambda path, title: plot_curve(path, title, lines, evaluations, self.baselines))

    def interrupted(self) -> None:
        """Ctrl-C: save a checkpoint, unless a second one has cut off an update of the weights."""
        if self.baselines.model is None:
            self.display.interrupted_early()
            return
        step, newest = self.parts.learner.step, self.folder.newest_checkpoint()
        if self._weights_are_changing and newest is not None:
            self.display.interrupted_update(step + 1, self.schedule.steps, step_of(newest), self.folder.resume_command)
            return
        self._save()
        self.display.interrupted(step, self.schedule.steps, self.folder.resume_command)

    @contextmanager
    def _changing_weights(self) -> Generator[None]:
        """Around an update: Ctrl-C waits for its end; what a second one cuts off is not fit to be saved."""
        with defer_interrupts():
            self._weights_are_changing = True
            yield
            self._weights_are_changing = False

    @contextmanager
    def _doing(self, what: str) -> Generator[None]:
        """Around "play" and "learn": its time is measured, and memory that runs out gets advice."""
        with self._clock.of(what), self._memory(what):
            yield

    def _require_finite(self, step: int, found: str | None, advice: str | None = None) -> None:
        """Stop a run in which a number is not finite, before it is saved."""
        if found is None:
            return
        advice = advice or self._watch.advice.finite_updates()
        newest = self.folder.newest_checkpoint()
        kept = "No checkpoint was written yet"
        if newest is not None:
            kept = (
                f"Nothing of it was saved: the checkpoint of step {step_of(newest)} is from before. Start a new run "
                f"from it with {self._from_checkpoint(newest)}"
            )
        raise TrainingStopped(f"stopped at step {step}: {found}. {advice}. {kept}")

    def _from_checkpoint(self, checkpoint: Path) -> str:
        """The options of a new run from a checkpoint."""
        config = self.folder.path / "config.toml"
        return f"--config {config} --model {checkpoint} --set warmup.steps=0 and the settings to change"

    def _evaluate_if_due(self) -> bool:
        """Evaluate every so many steps; whether that was now. (After the last step, `finish` does.)"""
        step, every = self.parts.learner.step, self.schedule.eval.every
        if not every or step % every or step == self.schedule.steps or self._is_evaluated():
            return False
        self.evaluate(f"at step {step}")
        return True

    def _is_evaluated(self) -> bool:
        return any(line["step"] == self.parts.learner.step for line in self.folder.metrics("eval"))

    def _score(self) -> Score | None:
        """How good the weights are: by their evaluation, or else by the batches since the last checkpoint."""
        if self.schedule.eval.every:
            lines = [line for line in self.folder.metrics("eval") if line["step"] == self.parts.learner.step]
            return (lines[0]["success"] or 0.0, lines[0]["return"] or 0.0) if lines else None
        saved = self._since_saved
        return (fmean(success for success, _ in saved), fmean(total for _, total in saved)) if saved else None

    def _sync(self) -> None:
        """Give the learner's weights to the sampler."""
        self.parts.sampler.wake()
        self.parts.sampler.load(self.parts.learner.weights(), self.parts.learner.step)

    def _judge(self, metrics: Mapping[str, Any], *, show: bool = False) -> bool:
        """Whether nothing is left to learn; `show` reports what the watch finds, and stops a run that collapsed."""
        finding = self._watch.see(metrics)
        if finding is None:
            return False
        if show:
            self._show(finding, int(metrics["step"]))
        return finding.kind == "solved" and self.schedule.stop

    def _show(self, finding: Finding, step: int) -> None:
        if finding.kind == "collapse" and self.schedule.stop:
            self.draw()
            raise TrainingStopped(f"stopped at step {step}: {finding.text}. {self._what_is_kept()}")
        self.display.found(step, finding.text)

    def _what_is_kept(self) -> str:
        """What is kept of a run that went wrong, and how to continue."""
        best = best_checkpoint(self.folder.path)
        kept = f"Metrics and episodes are in {self.folder.path}. "
        by = "in its evaluation" if self.schedule.eval.every else "in training"
        if best is not None and best[1] > 0.01:
            kept = (
                f"The best checkpoint is kept (success {best[1]:.2f} {by}): start a new run from it with "
                f"{self._from_checkpoint(best[0])}. "
            )
        return f"{kept}`--set watch.stop=false` continues regardless"

    def _report(self, played: Played, batch: Batch, metrics: dict[str, float]) -> dict[str, Any]:
        step = self.parts.learner.step
        episodes = [*played.episodes, *played.failed]
        found = play_metrics(episodes, version=step - 1)
        values = {**found, **metrics, **self._clock.metrics(found["tokens"]), "seconds": self.seconds}
        self.folder.write_metrics("train", step, values)
        seed = seeding.derive(self.schedule.seed, "record", step)
        chosen = drawn(len(episodes), self.schedule.rollout.record, seed)
        for number, index in enumerate(chosen):
            trained = trained_ids(batch, index) if index < len(played.episodes) else None
            self._record(number, episodes[index], phase="train", trained=trained)
        self._since_saved.append((values["success"], values["return"]))
        self.display.stepped(step, self.schedule.steps, values)
        return {"step": step, **values}

    def _record(self, number: int, episode: Episode, *, phase: str, trained: Sequence[int] | None = None) -> None:
        """Append an episode to the recording; the first ones of a step with their tokens."""
        if number < self.schedule.rollout.record_tokens:
            episode = with_token_texts(episode, self.parts.loaded.tokenizer, trained)
        self.folder.write_episode(self.parts.learner.step, episode, phase=phase)

    def _save(self) -> None:
        self._require_finite(self.parts.learner.step, nonfinite.in_weights(self.parts.learner.weights()))
        score = self._score()
        state = {
            "learner": self.parts.learner.state(),
            "play": self.parts.world.gather(self._play.state(self.parts.learner.step)),
            "before": self.baselines.as_json(),
            "seconds": self.seconds,
            "score": score,
        }
        self.folder.save_checkpoint(self.parts.loaded, state, self.parts.learner.step)
        self.folder.rank_checkpoint(self.parts.learner.step, score, self.schedule.keep)
        self._since_saved = []
        self.draw()
