"""The training loop: play, score, credit, update, sync. One loop for every algorithm."""

import functools
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from gem import seeding
from gem.errors import TrainingStopped
from gem.rollout import rollout
from gem.rollout.evaluation import Report
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Episode
from gem_train.baselines import baseline, evaluation_seeds, teacher, watched
from gem_train.batch import collate
from gem_train.build import Parts, build
from gem_train.checkpoints import best_checkpoint
from gem_train.config import TrainConfig
from gem_train.display import Display
from gem_train.envs import make_envs
from gem_train.imitation import imitate
from gem_train.interrupts import whole
from gem_train.models import device_named
from gem_train.plot import plot_curve
from gem_train.run_folder import RunFolder
from gem_train.watch import Finding, Watch


def train(config: TrainConfig, out: Path, display: Display) -> dict[str, Any]:
    """Run, or go on with, the training that `config` describes; returns the summary.

    A run that was stopped at any moment goes on from its last checkpoint and ends with the same weights (on CPU, to
    the last bit), because everything random is derived from the seed and the step. Ctrl-C saves a checkpoint first.

    Args:
        config: the settings.
        out: the run folder.
        display: is told what happens.

    Raises:
        ConfigError: the settings do not fit each other, or the folder holds another run.
        TrainingStopped: the run learns nothing or gets worse (see `gem_train.watch`), or its files cannot be written.
    """
    with RunFolder(out, config) as folder:
        finished = folder.summary()
        if finished is not None:
            display.already_finished(finished, folder)
            return finished
        device_named(config.device)  # a wrong one is said before anything is played
        checkpoint = folder.newest_checkpoint()
        before = _baselines(config, display) if checkpoint is None else {}
        with _torch_settings(config), build(config, checkpoint, teacher=before.get("teacher", "random")) as parts:
            folder.claim()
            run = Run(config, folder, display, parts, before)
            try:
                if checkpoint is None:
                    run.begin()
                else:
                    run.resume(checkpoint)
                run.learn()
                return run.finish()
            except KeyboardInterrupt:
                with whole():
                    run.interrupted()
                raise


def _baselines(config: TrainConfig, display: Display) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("random", "expert"):
        found[name] = baseline(config, name, functools.partial(display.measuring, f"{name} play"))
        display.measured(f"{name} play", found[name])
    return {**found, "teacher": teacher(config, found["random"], found["expert"])}


@contextmanager
def _torch_settings(config: TrainConfig) -> Generator[None]:
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(config.threads or threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)


class Run:
    """A training run in this process."""

    def __init__(
        self, config: TrainConfig, folder: RunFolder, display: Display, parts: Parts, before: dict[str, Any]
    ) -> None:
        self.config = config
        self.folder = folder
        self.display = display
        self.parts = parts
        self.before = before
        """Reports by name from before the first update: the model's, random play's and the expert's; and `teacher`,
        whose play was imitated."""
        self._started = time.monotonic()
        self._watch: Watch | None = None
        self._since_saved: list[tuple[float, float]] = []
        """Success and return of each step since the last checkpoint."""

    def begin(self) -> None:
        """Warm up, and measure where training starts from."""
        self.folder.rewind(None)
        if self.config.warmup.steps:
            self._warm_up()
        self.before["model"] = self._evaluate("before").as_json()
        self._save()

    def resume(self, checkpoint: Path) -> None:
        """Go on from a checkpoint."""
        state: dict[str, Any] = torch.load(checkpoint / "state.pt", weights_only=True)
        self.parts.learner.restore(state["learner"])
        self.before = state["before"]
        self._started = time.monotonic() - state["seconds"]
        self.folder.rewind(self.parts.learner.step)
        self.display.resumed(self.parts.learner.step)

    def learn(self) -> None:
        """The loop."""
        config, (_, _, policy, envs, algorithm, learner) = self.config, self.parts
        solved = any(self._judge(line) for line in self.folder.metrics("train"))
        for step in range(learner.step, config.steps):
            if solved:
                break
            policy.reseed(seeding.derive(config.seed, "sampling", step))
            seeds = _seeds(config, step)
            episodes = list(rollout(policy, envs, seeds, config.rollout.group_size))
            batch = collate(episodes)
            scores = learner.score(batch, algorithm.needs)
            credit = algorithm.credit(batch, scores)
            with whole():
                metrics = learner.update(batch, scores, credit, algorithm.loss)
                policy.load(learner.weights())
                values = self._report(episodes, metrics)
            solved = self._judge(values, say=True)
            if solved or learner.step % config.checkpoint_every == 0 or learner.step == config.steps:
                self._save()

    def _judge(self, metrics: Mapping[str, Any], *, say: bool = False) -> bool:
        """Whether there is nothing left to learn; says what the watch finds, and stops the run where it is lost."""
        if self._watch is None:
            vocabulary = int(self.parts.loaded.model.config.vocab_size)
            self._watch = Watch(self.config, vocabulary, expert=self.before["expert"] is not None)
        finding = self._watch.see(metrics)
        if finding is None:
            return False
        if say:
            self._say(finding, int(metrics["step"]))
        return finding.kind == "solved" and self.config.watch.stop

    def _say(self, finding: Finding, step: int) -> None:
        if finding.kind == "collapse" and self.config.watch.stop:
            self._draw()
            raise TrainingStopped(f"stopped at step {step}: {finding.text}. {self._offer()}")
        self.display.found(step, finding.text)

    def _offer(self) -> str:
        """What is kept of a run that went wrong, and how to go on."""
        best = best_checkpoint(self.folder.path)
        kept = f"Metrics and episodes are in {self.folder.path}. "
        if best is not None and best[1] > 0.01:
            kept = (
                f"The best checkpoint is kept (success {best[1]:.2f} in training): start a new run from it with "
                f"--config {self.folder.path / 'config.toml'} --model {best[0]} --set warmup.steps=0 and the settings "
                "to change. "
            )
        return f"{kept}`--set watch.stop=false` goes on regardless"

    def interrupted(self) -> None:
        """Ctrl-C: save what there is, between two steps."""
        if "model" not in self.before:
            self.display.interrupted(None, self.folder)
            return
        self._save()
        self.display.interrupted(self.parts.learner.step, self.folder)

    def finish(self) -> dict[str, Any]:
        """Measure again, draw the curve, and write the summary."""
        after = self._evaluate("after").as_json()
        before = self.before["model"]
        random, expert = self.before["random"], self.before["expert"]
        summary: dict[str, Any] = {
            "id": self.config.id,
            "algorithm": self.config.algorithm,
            "seed": self.config.seed,
            "success_before": before["success"],
            "success_before_ci": before["success_ci"],
            "success_after": after["success"],
            "success_after_ci": after["success_ci"],
            "random_success": random and random["success"],
            "random_success_ci": random and random["success_ci"],
            "expert_success": expert and expert["success"],
            "expert_success_ci": expert and expert["success_ci"],
            "warmup_policy": self.before["teacher"] if self.config.warmup.steps else None,
            "steps": self.parts.learner.step,
            "seconds": round(time.monotonic() - self._started, 1),
        }
        if len(self._each) > 1:
            summary["ids"] = [report.as_json() for report in self._each]
        self._draw(after)
        self.folder.write_summary(summary)
        self.display.finished(summary, self.folder)
        return summary

    def _warm_up(self) -> None:
        config = self.config
        self.display.imitating(self.before["teacher"])
        with (
            closing(make_policy(self.before["teacher"])) as player,
            make_envs(config, config.warmup.episodes, player.info_methods) as envs,
        ):
            losses = imitate(self.parts.loaded.model, self.parts.chat, player, envs, config)
            for step, loss in enumerate(losses, start=1):
                self.folder.write_metrics("warmup", step, {"loss": loss})
                self.display.warmed_up(step, loss)

    def _evaluate(self, when: str) -> Report:
        """How the model does on seeds that are never trained on; the same seeds every time."""
        policy, envs = self.parts.policy, self.parts.envs
        policy.reseed(seeding.derive(self.config.seed, "sampling", when))
        played = rollout(policy, envs, evaluation_seeds(self.config))
        progress = functools.partial(self.display.measuring, f"{when} training")
        episodes = list(watched(played, self.config, progress))
        if when == "after":
            for episode in episodes:
                self.folder.write_episode(self.parts.learner.step, episode, phase="evaluation")
            self._each = Report.per_id(episodes, policy=self.config.model, seed=self.config.seed)
        report = Report.of(episodes, id=self.config.id, policy=self.config.model, seed=self.config.seed)
        self.display.measured(f"{when} training", report.as_json())
        return report

    def _report(self, episodes: Sequence[Episode], metrics: dict[str, float]) -> dict[str, Any]:
        step = self.parts.learner.step
        values = {**_play_metrics(episodes, self.config), **metrics, "seconds": time.monotonic() - self._started}
        self.folder.write_metrics("train", step, values)
        for episode in episodes[: self.config.rollout.record]:
            self.folder.write_episode(step, episode, phase="train")
        self._since_saved.append((values["success"], values["return"]))
        self.display.stepped(step, values)
        return {"step": step, **values}

    def _save(self) -> None:
        state = {
            "learner": self.parts.learner.state(),
            "before": self.before,
            "seconds": time.monotonic() - self._started,
        }
        saved = self._since_saved
        went = (fmean(success for success, _ in saved), fmean(total for _, total in saved)) if saved else None
        self.folder.save_checkpoint(self.parts.loaded, state, self.parts.learner.step, went)
        self._since_saved = []
        self._draw()

    def _draw(self, after: Mapping[str, Any] | None = None) -> None:
        """The learning curve so far."""
        lines = self.folder.metrics("train")
        if lines:
            self.folder.draw(lambda path: plot_curve(self.config, lines, {**self.before, "after": after}, path))


def _seeds(config: TrainConfig, step: int) -> Iterator[int]:
    for index in range(config.rollout.episodes // config.rollout.group_size):
        yield seeding.derive(config.seed, "train", step, index)


def _play_metrics(episodes: Sequence[Episode], config: TrainConfig) -> dict[str, float]:
    report = Report.of(episodes, id=config.id, policy=config.model, seed=config.seed)
    each = Report.per_id(episodes, policy=config.model, seed=config.seed)
    turns = [turn for episode in episodes for turn in episode.turns]
    return {
        "success": report.success,
        "return": report.return_mean,
        "turns": report.turns_mean,
        "failures": report.failures,
        "malformed": sum(bool(turn.info.get("malformed")) for turn in turns) / max(1, len(turns)),
        "tokens": sum(len(turn.completion.ids) for turn in turns),
        "cut_replies": sum(turn.completion.finish_reason == "length" for turn in turns) / max(1, len(turns)),
        **({f"success/{report.id}": report.success for report in each} if len(each) > 1 else {}),
    }
