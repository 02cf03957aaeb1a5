"""A whole run of `gemx sft`: a model learns by imitation what a policy or a recording says in each situation."""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gem import seeding
from gem.episode import Episode
from gem.errors import TrainingStopped
from gem_train.batch import TokenSequence
from gem_train.build import load_trained
from gem_train.chat.make import make_chat
from gem_train.chat.rewriting import rewriting_warning
from gem_train.distributed.world import ALONE, World
from gem_train.driver import Run, arithmetic, carry_out, opened
from gem_train.learning.liger import find_scorer
from gem_train.learning.updates import warmed_up
from gem_train.models.checks import check_context, context_limit
from gem_train.models.loading import LoadedModel
from gem_train.runs.checkpoints import step_of
from gem_train.runs.display import Display
from gem_train.runs.folder import RunFolder
from gem_train.runs.nonfinite import in_metrics
from gem_train.sft import demonstrations
from gem_train.sft.config import SFTConfig
from gem_train.sft.imitation import Imitator

_STATE = frozenset({"imitator", "before", "seconds"})
"""State in a checkpoint besides the model."""


@dataclass(frozen=True, slots=True)
class SFTSummary:
    """The result of `gemx sft`, as it is written to `summary.json`. Losses are means per token, in nats."""

    id: str | None
    """The environment that was played; None for a recording."""
    recording: str | None
    policy: str | None
    """Policy that played; None for a recording."""
    seed: int
    episodes: int
    """Number of episodes that were trained on."""
    held_out_episodes: int
    cut_episodes: int
    """Number of episodes that lost turns because the model's context is shorter."""
    steps: int
    loss: float
    """Loss of the last step."""
    held_out_loss_before: float | None
    held_out_loss_after: float | None
    """None if nothing was held out."""
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def parse(cls, text: str) -> "SFTSummary":
        """The result in the text of `summary.json`."""
        return cls(**json.loads(text))


def sft(config: SFTConfig, out: Path, display: Display, world: World = ALONE) -> SFTSummary:
    """Carry out, or resume, the imitation that `config` describes; returns the result.

    A run that was stopped at any moment resumes from its last checkpoint and ends with the same weights (on CPU, to the
    last bit): its demonstrations are in the run folder, and the order in which it reads them depends on the seed.

    Arguments are as of `gem_train.train.train`.

    Raises:
        ConfigError: the settings do not fit each other, there is nothing to imitate, or the folder holds another run.
        TrainingStopped: the loss is not finite, memory ran out, the run's files cannot be written, or another process
            of it has ended.
    """
    with opened(config, out, world) as folder:
        summary = folder.summary(SFTSummary.parse)
        if summary is None:
            state = folder.state(_STATE)
            with arithmetic(config):
                summary = carry_out(_prepared(config, folder, display, world), state)
            folder.write_summary(summary.as_json())
        else:
            display.note("this run has finished already; its result:")
        display.result(_in_words(summary, folder))
    return summary


def _prepared(config: SFTConfig, folder: RunFolder, display: Display, world: World) -> "_Imitation":
    """The run, with its demonstrations and its model."""
    checkpoint = folder.newest_checkpoint()
    if checkpoint is None:
        progress = functools.partial(display.measuring, f"{config.data.policy} play")
        episodes, found = demonstrations.demonstrations(config, progress, world)
        display.note(f"imitating {len(episodes)} of {found} episodes")
    else:
        episodes = demonstrations.load(_demonstrations(folder))
    with folder.memory("load the model"):
        loaded = load_trained(config, checkpoint, episodes, world=world)
        check_context(loaded.model, world.context, half=config.dtype == "bfloat16")
    return _Imitation(config, loaded, episodes, folder, display, world)


def _demonstrations(folder: RunFolder) -> Path:
    """The episodes that are imitated: a recording."""
    return folder.path / "demonstrations.jsonl"


class _Imitation(Run[SFTSummary]):
    """One run in this process."""

    def __init__(
        self,
        config: SFTConfig,
        loaded: LoadedModel,
        episodes: list[Episode],
        folder: RunFolder,
        display: Display,
        world: World,
    ) -> None:
        super().__init__(loaded, config.steps, config.keep_checkpoints, folder, display)
        self._config, self._episodes, self._world = config, episodes, world
        optim, model = config.optim, loaded.model
        scorer = find_scorer(optim.log_probs, model.device, half=config.dtype == "bfloat16")
        self._imitator = Imitator(model, optim, optim.loss, scorer, world)
        self._step = 0
        self._before: float | None = None
        chat = make_chat(loaded, config.rollout)
        display.warn(rewriting_warning(chat))
        parts = demonstrations.split(episodes, config.data.held_out, config.seed)
        limit = context_limit(model.config)
        trained, held_out = (demonstrations.encode(part, chat, limit) for part in parts)
        self._cut = trained.cut + held_out.cut
        if self._cut:
            display.warn(f"{self._cut} of {len(episodes)} episodes are longer than the model's context: cut off")
        self._trained = [sequences for sequences in trained.episodes if sequences]
        self._held_out = [sequence for sequences in held_out.episodes for sequence in sequences]
        self._counts = len(self._trained), sum(bool(sequences) for sequences in held_out.episodes)
        if not self._trained:
            raise TrainingStopped("nothing fits into the model's context, not even the first turn of an episode")

    @property
    def step(self) -> int:
        return self._step

    def begin(self) -> None:
        """Keep the demonstrations, and measure the model before the first step."""
        if not self._world.rank:
            demonstrations.save(_demonstrations(self.folder), self._episodes, self._config)
        self._before = self._measure()
        if self._before is not None:
            self.folder.write_metrics("sft", 0, {"held_out_loss": self._before})

    def restore(self, state: Mapping[str, Any]) -> None:
        newest = self.folder.newest_checkpoint()
        assert newest is not None
        self._imitator.restore(state["imitator"])
        self._step, self._before = step_of(newest), state["before"]

    def state(self) -> dict[str, Any]:
        return {"imitator": self._imitator.state(), "before": self._before}

    def learn(self) -> None:
        config, steps = self._config, self.steps
        advice = f"Change the weights more gently: a smaller optim.lr (now {config.optim.lr:g})"
        for batch in self._batches():
            self._world.together(lambda: None)  # where Ctrl-C interrupts all processes of the run
            with self.folder.memory("learn"), self.changing_weights():
                lr = warmed_up(config.optim.lr * (1 - self._step / steps), self._step, config.optim.warmup_steps)
                values = {**self._imitator.step(batch, lr), "lr": lr}
                self.require_finite(self._step + 1, in_metrics(values), advice)
                self._step += 1
            measured = self._measure() if self._step % config.eval_every == 0 or self._step == steps else None
            values |= {} if measured is None else {"held_out_loss": measured}
            self.folder.write_metrics("sft", self._step, {**values, "seconds": self.seconds})
            self.display.imitated(self._step, steps, values)
            if self._step % config.checkpoint_every == 0 or self._step == steps:
                self.save()

    def finish(self) -> SFTSummary:
        """The result, with the losses of the last step."""
        config, recording = self._config, self._config.data.recording
        last = self.folder.metrics("sft")[-1]
        return SFTSummary(
            id=config.id or None,
            recording=recording or None,
            policy=None if recording else config.data.policy,
            seed=config.seed,
            episodes=self._counts[0],
            held_out_episodes=self._counts[1],
            cut_episodes=self._cut,
            steps=self._step,
            loss=last["loss"],
            held_out_loss_before=self._before,
            held_out_loss_after=last.get("held_out_loss"),
            seconds=round(self.seconds, 1),
        )

    def _batches(self) -> Iterator[list[TokenSequence]]:
        """The batches of the steps that are left: passes over all episodes, each in an order of its own."""
        size, count = self._config.optim.episodes, len(self._trained)
        for step in range(self._step, self.steps):
            places = range(step * size, (step + 1) * size)
            chosen = (self._order(place // count)[place % count] for place in places)
            yield [sequence for index in chosen for sequence in self._trained[index]]

    @functools.lru_cache(maxsize=4)  # noqa: B019 - one run per process, and it lives as long
    def _order(self, epoch: int) -> list[int]:
        rng = np.random.default_rng(seeding.derive(self._config.seed, "sft", "order", epoch))
        return rng.permutation(len(self._trained)).tolist()

    def _measure(self) -> float | None:
        """The loss of the held-out episodes; None if there are none."""
        with self.folder.memory("learn"):
            return self._imitator.loss(self._held_out) if self._held_out else None


def _in_words(summary: SFTSummary, folder: RunFolder) -> str:
    before, after = summary.held_out_loss_before, summary.held_out_loss_after
    lines = [f"\n{folder.title}"]
    if before is not None and after is not None:
        lines.append(f"loss of {summary.held_out_episodes} held-out episodes: {before:.3f} before, {after:.3f} after")
    lines.append(f"loss of the last step: {summary.loss:.3f}")
    lines.append(f"{summary.steps} steps on {summary.episodes} episodes in {summary.seconds:.0f} s")
    lines.append(f"run folder: {folder.path} (a --model for gemx eval and gemx train)")
    return "\n".join(lines)
