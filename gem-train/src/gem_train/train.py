"""The training loop: play, score, credit, update, sync. One loop for every algorithm."""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from gem import seeding
from gem.errors import HintMissing
from gem.evaluate import Report
from gem.registry import find_policy
from gem.rollout import rollout
from gem.transcript import Episode
from gem_train.batch import collate
from gem_train.build import Parts, build
from gem_train.config import TrainConfig
from gem_train.display import Display
from gem_train.envs import make_envs
from gem_train.imitation import imitate
from gem_train.plot import plot_curve
from gem_train.run_folder import RunFolder


def train(config: TrainConfig, out: Path, display: Display) -> dict[str, Any]:
    """Run, or go on with, the training that `config` describes; returns the summary.

    A run that was stopped at any moment goes on from its last checkpoint and ends with the same weights (on CPU, to
    the last bit), because everything random is derived from the seed and the step.

    Args:
        config: the settings.
        out: the run folder.
        display: is told what happens.

    Raises:
        ConfigError: the settings do not fit each other, or the folder holds another run.
    """
    with RunFolder(out, config) as folder:
        finished = folder.summary()
        if finished is not None:
            display.already_finished(finished, folder)
            return finished
        checkpoint = folder.newest_checkpoint()
        with _torch_settings(config), build(config, checkpoint) as parts:
            folder.claim()
            run = Run(config, folder, display, parts)
            if checkpoint is None:
                run.begin()
            else:
                run.resume(checkpoint)
            run.learn()
            return run.finish()


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

    def __init__(self, config: TrainConfig, folder: RunFolder, display: Display, parts: Parts) -> None:
        self.config = config
        self.folder = folder
        self.display = display
        self.parts = parts
        self.before: dict[str, Any] = {}
        """Reports by name from before the first update: the model's, random play's and the expert's."""
        self._started = time.monotonic()

    def begin(self) -> None:
        """Warm up, and measure where training starts from."""
        self.folder.rewind(None)
        if self.config.warmup.steps:
            self._warm_up()
        self.before = {
            "random": _baseline(self.config, "random"),
            "expert": _baseline(self.config, "expert"),
            "model": self._evaluate("before").as_json(),
        }
        self.display.evaluated("before", self.before["model"])
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
        for step in range(learner.step, config.steps):
            policy.reseed(seeding.derive(config.seed, "sampling", step))
            seeds = _seeds(config, step)
            episodes = list(rollout(policy, envs, seeds, config.rollout.group_size))
            batch = collate(episodes)
            scores = learner.score(batch, algorithm.needs)
            credit = algorithm.credit(batch, scores)
            metrics = learner.update(batch, scores, credit, algorithm.loss)
            policy.load(learner.weights())
            self._report(episodes, metrics)
            if learner.step % config.checkpoint_every == 0 or learner.step == config.steps:
                self._save()

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
            "steps": self.parts.learner.step,
            "seconds": round(time.monotonic() - self._started, 1),
        }
        plot_curve(self.folder.metrics("train"), summary, self.folder.curve)
        self.folder.write_summary(summary)
        self.display.finished(summary, self.folder)
        return summary

    def _warm_up(self) -> None:
        config = self.config
        teacher = find_policy(config.warmup.policy)()
        with make_envs(config, config.warmup.episodes, teacher.hints) as envs:
            losses = imitate(self.parts.loaded.model, self.parts.chat, teacher, envs, config)
            for step, loss in enumerate(losses, start=1):
                self.folder.write_metrics("warmup", step, {"loss": loss})
                self.display.warmed_up(step, loss)

    def _evaluate(self, when: str) -> Report:
        """How the model does on seeds that are never trained on; the same seeds every time."""
        policy, envs = self.parts.policy, self.parts.envs
        policy.reseed(seeding.derive(self.config.seed, "sampling", when))
        episodes = list(rollout(policy, envs, _evaluation_seeds(self.config)))
        if when == "after":
            for episode in episodes:
                self.folder.write_episode(self.parts.learner.step, episode, phase="evaluation")
        return Report.of(episodes, id=self.config.id, policy=self.config.model, seed=self.config.seed)

    def _report(self, episodes: Sequence[Episode], metrics: dict[str, float]) -> None:
        step = self.parts.learner.step
        values = {**_play_metrics(episodes, self.config), **metrics, "seconds": time.monotonic() - self._started}
        self.folder.write_metrics("train", step, values)
        for episode in episodes[: self.config.rollout.record]:
            self.folder.write_episode(step, episode, phase="train")
        self.display.stepped(step, values)

    def _save(self) -> None:
        state = {
            "learner": self.parts.learner.state(),
            "before": self.before,
            "seconds": time.monotonic() - self._started,
        }
        self.folder.save_checkpoint(self.parts.loaded, state, self.parts.learner.step)


def _seeds(config: TrainConfig, step: int) -> Iterator[int]:
    for index in range(config.rollout.episodes // config.rollout.group_size):
        yield seeding.derive(config.seed, "train", step, index)


def _evaluation_seeds(config: TrainConfig) -> Iterator[int]:
    return (seeding.derive(config.seed, "evaluation", index) for index in range(config.eval.episodes))


def _baseline(config: TrainConfig, name: str) -> dict[str, Any] | None:
    """How a policy that needs no model does on the evaluation's seeds; None where the env knows no expert."""
    policy = find_policy(name)()
    with make_envs(config, config.rollout.num_envs, policy.hints) as envs:
        try:
            episodes = list(rollout(policy, envs, _evaluation_seeds(config)))
        except HintMissing:
            return None
    return Report.of(episodes, id=config.id, policy=name, seed=config.seed).as_json()


def _play_metrics(episodes: Sequence[Episode], config: TrainConfig) -> dict[str, float]:
    report = Report.of(episodes, id=config.id, policy=config.model, seed=config.seed)
    turns = [turn for episode in episodes for turn in episode.turns]
    return {
        "success": report.success,
        "return": report.return_mean,
        "turns": report.turns_mean,
        "failures": report.failures,
        "malformed": sum(bool(turn.info.get("malformed")) for turn in turns) / len(episodes),
        "tokens": sum(len(turn.completion.ids) for turn in turns),
        "cut_replies": sum(turn.completion.finish_reason == "length" for turn in turns) / max(1, len(turns)),
    }
