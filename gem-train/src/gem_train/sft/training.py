"""A whole run of `gemx sft`: a model learns by imitation what a policy or a recording says in each situation."""

import functools
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gem import seeding
from gem.errors import TrainingStopped
from gem.rollout.transcript import Episode
from gem_train.batch import TokenSequence
from gem_train.chat.make import make_chat
from gem_train.chat.rewriting import rewriting_warning
from gem_train.distributed.spectator import Spectator
from gem_train.distributed.world import ALONE, World
from gem_train.learning.kernels import find_kernel
from gem_train.learning.liger import find_scorer
from gem_train.models.checks import context_limit
from gem_train.models.devices import find_device, torch_settings
from gem_train.models.loading import LoadedModel, blocks_of, load_model, make_tiny
from gem_train.models.lora import check_peft, choose_trained
from gem_train.preflight import TINY
from gem_train.runs.checkpoints import step_of
from gem_train.runs.display import Display
from gem_train.runs.interrupts import defer_interrupts
from gem_train.runs.memory import enough_memory
from gem_train.sft import demonstrations
from gem_train.sft.config import SFTConfig
from gem_train.sft.folder import SFTFolder, SFTSummary
from gem_train.sft.imitation import Imitator


def sft(config: SFTConfig, out: Path, display: Display, world: World = ALONE) -> SFTSummary:
    """Carry out, or resume, the imitation that `config` describes; returns the result.

    A run that was stopped at any moment resumes from its last checkpoint and ends with the same weights (on CPU, to the
    last bit): its demonstrations are in the run folder, and the order in which it reads them depends on the seed.

    Args:
        config: the settings.
        out: the run folder.
        display: gets the events of the run.
        world: the processes of the run; each of them calls this.

    Raises:
        ConfigError: the settings do not fit each other, there is nothing to imitate, or the folder holds another run.
        TrainingStopped: the loss is not finite, memory ran out, the run's files cannot be written, or another process
            of it has ended.
    """
    kind = _Spectator if world.rank else SFTFolder
    advice = f"The same command with --out {out} resumes from the newest checkpoint"
    with world.guarded(advice), kind(out, config.as_data(), world) as folder:
        summary = folder.result()
        if summary is not None:
            display.note("this run has finished already; its result:")
        else:
            device = find_device(config.device)  # a wrong one is an error before anything is played
            find_kernel(config.attention, device)
            find_scorer(config.optim.log_probs, device)
            if config.lora.rank:
                check_peft()
            with torch_settings(config.threads):
                summary = _Run(config, folder, display, world).carry_out()
        display.result(_in_words(summary, folder))
        return summary


class _Spectator(Spectator, SFTFolder):
    """The run folder as the other processes see it."""


class _Run:
    """One run in this process."""

    def __init__(self, config: SFTConfig, folder: SFTFolder, display: Display, world: World) -> None:
        self._config, self._folder, self._display, self._world = config, folder, display, world
        memory = functools.partial(enough_memory, config=config, resume_command=folder.resume_command)
        checkpoint = folder.newest_checkpoint()
        if checkpoint is None:
            progress = functools.partial(display.measuring, f"{config.data.policy} play")
            episodes, found = demonstrations.demonstrations(config, progress, world)
            display.note(f"imitating {len(episodes)} of {found} episodes")
        else:
            episodes = demonstrations.load(folder.demonstrations)
        with memory("load the model"):
            settings: Any = config.model_dump(include={"device", "dtype", "weights", "attention"})
            if config.model == TINY and checkpoint is None:
                self._loaded = make_tiny(episodes, config.seed, **settings)
            else:
                self._loaded = load_model(config.model if checkpoint is None else str(checkpoint), **settings)
            choose_trained(self._loaded.model, config.lora, config.seed)
            world.shard(self._loaded.model, blocks_of(self._loaded.model))
        self._memory = memory("learn")
        half = config.dtype == "bfloat16"
        scorer = find_scorer(config.optim.log_probs, self._loaded.model.device, half=half)
        self._imitator = Imitator(self._loaded.model, config.optim, config.optim.loss, scorer, world)
        self._started = time.monotonic()
        self._step = 0
        self._before: float | None = None
        self._changing = False
        folder.claim()
        if checkpoint is None:
            folder.rewind(None)
            if not world.rank:
                demonstrations.save(folder.demonstrations, episodes, config)
        else:
            self._resume(torch.load(checkpoint / "state.pt", weights_only=True), step_of(checkpoint))
        self._encode(self._loaded, episodes)

    def _resume(self, state: Mapping[str, Any], step: int) -> None:
        self._imitator.restore(state["imitator"])
        self._step, self._before = step, state["before"]
        self._started -= state["seconds"]
        self._folder.rewind(step)
        self._display.resumed(step)

    def _encode(self, loaded: LoadedModel, episodes: list[Episode]) -> None:
        config = self._config
        chat = make_chat(loaded, config.rollout)
        cost = rewriting_warning(chat)
        if cost is not None:
            self._display.warn(cost)
        limit = context_limit(loaded.model.config)
        parts = demonstrations.split(episodes, config.data.held_out, config.seed)
        trained, held_out = (demonstrations.encode(part, chat, limit) for part in parts)
        self._cut = trained.cut + held_out.cut
        if self._cut:
            self._display.warn(f"{self._cut} of {len(episodes)} episodes are longer than the model's context: cut off")
        self._trained = [sequences for sequences in trained.episodes if sequences]
        self._held_out = [sequence for sequences in held_out.episodes for sequence in sequences]
        self._counts = len(self._trained), sum(bool(sequences) for sequences in held_out.episodes)
        if not self._trained:
            raise TrainingStopped("nothing fits into the model's context, not even the first turn of an episode")

    def carry_out(self) -> SFTSummary:
        """Make the steps that are left, and write the result."""
        try:
            with self._memory:
                values = self._learn()
        except KeyboardInterrupt:
            self._interrupted()
            raise
        summary = SFTSummary(
            id=self._config.id or None,
            recording=self._config.data.recording or None,
            policy=None if self._config.data.recording else self._config.data.policy,
            seed=self._config.seed,
            episodes=self._counts[0],
            held_out_episodes=self._counts[1],
            cut_episodes=self._cut,
            steps=self._step,
            loss=values["loss"],
            held_out_loss_before=self._before,
            held_out_loss_after=values.get("held_out_loss"),
            seconds=round(self._seconds, 1),
        )
        self._folder.write_result(summary)
        return summary

    def _learn(self) -> Mapping[str, float]:
        config, steps = self._config, self._config.steps
        if not self._step:
            self._before = self._measure()
            if self._before is not None:
                self._folder.write_metrics("sft", 0, {"held_out_loss": self._before})
        values: dict[str, Any] = {}
        for batch in self._batches():
            self._world.together(lambda: None)  # where Ctrl-C interrupts all processes of the run
            with defer_interrupts():
                self._changing = True
                lr = config.optim.lr * (1 - self._step / steps)
                values = {**self._imitator.step(batch, lr), "lr": lr}
                self._require_finite(values)
                self._step += 1
                self._changing = False
            measured = self._measure() if self._step % config.eval_every == 0 or self._step == steps else None
            values |= {} if measured is None else {"held_out_loss": measured}
            self._folder.write_metrics("sft", self._step, {**values, "seconds": self._seconds})
            self._display.imitated(self._step, steps, values)
            if self._step % config.checkpoint_every == 0 or self._step == steps:
                self._save()
        return values or self._folder.metrics("sft")[-1]

    def _batches(self) -> Iterator[list[TokenSequence]]:
        """The batches of the steps that are left: passes over all episodes, each in an order of its own."""
        size, count = self._config.optim.episodes, len(self._trained)
        for step in range(self._step, self._config.steps):
            places = range(step * size, (step + 1) * size)
            chosen = (self._order(place // count)[place % count] for place in places)
            yield [sequence for index in chosen for sequence in self._trained[index]]

    @functools.lru_cache(maxsize=4)  # noqa: B019 - one run per process, and it lives as long
    def _order(self, epoch: int) -> list[int]:
        rng = np.random.default_rng(seeding.derive(self._config.seed, "sft", "order", epoch))
        return rng.permutation(len(self._trained)).tolist()

    def _measure(self) -> float | None:
        """The loss of the held-out episodes; None if there are none."""
        return self._imitator.loss(self._held_out) if self._held_out else None

    def _require_finite(self, values: Mapping[str, float]) -> None:
        if all(map(math.isfinite, values.values())):
            return
        newest = self._folder.newest_checkpoint()
        kept = f"the checkpoint of step {step_of(newest)} is kept" if newest else "no checkpoint was written yet"
        raise TrainingStopped(
            f"stopped at step {self._step + 1}: the loss or its gradient is not finite (loss {values['loss']:g}, norm "
            f"{values['grad_norm']:g}); {kept}. Start a new run with a lower optim.lr"
        )

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _save(self) -> None:
        state = {"imitator": self._imitator.state(), "before": self._before, "seconds": self._seconds}
        self._folder.save_checkpoint(self._loaded, state, self._step)
        self._folder.rank_checkpoint(self._step, None, self._config.keep_checkpoints)

    def _interrupted(self) -> None:
        """Ctrl-C: save a checkpoint, unless a second one cut off an update."""
        if self._changing or not self._step:
            newest = self._folder.newest_checkpoint()
            kept = f"resumes from step {step_of(newest)}" if newest else "starts from the beginning"
            self._display.note(f"stopped; this {kept}:\n{self._folder.resume_command}")
            return
        with defer_interrupts():
            self._save()
        self._display.interrupted(self._step, self._config.steps, self._folder.resume_command)


def _in_words(summary: SFTSummary, folder: SFTFolder) -> str:
    before, after = summary.held_out_loss_before, summary.held_out_loss_after
    lines = [f"\n{folder.title}"]
    if before is not None and after is not None:
        lines.append(f"loss of {summary.held_out_episodes} held-out episodes: {before:.3f} before, {after:.3f} after")
    lines.append(f"loss of the last step: {summary.loss:.3f}")
    lines.append(f"{summary.steps} steps on {summary.episodes} episodes in {summary.seconds:.0f} s")
    lines.append(f"run folder: {folder.path} (a --model for gemx eval and gemx train)")
    return "\n".join(lines)
