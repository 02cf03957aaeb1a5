"""A whole run: baselines, warm-up, the loop, the result. The only module besides `build` that reads all settings."""

import functools
import math
from contextlib import ExitStack, closing
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from gem.errors import ConfigError, TrainingStopped, Unreachable
from gem.rollout.named_policies import make_policy
from gem.rollout.report import Report
from gem_train.build import (
    Parts,
    build,
    make_envs,
    make_evaluation,
    make_rows,
    make_training_evaluation,
    make_watch,
)
from gem_train.chat.rewriting import rewriting_warning
from gem_train.config.training import TrainConfig
from gem_train.distributed.spectator import Spectator
from gem_train.distributed.world import ALONE, World
from gem_train.evaluation import AUTO, Baselines, Evaluation, choose_teacher
from gem_train.learning.kernels import find_kernel
from gem_train.learning.liger import find_scorer
from gem_train.loop import STATE, Run, Schedule
from gem_train.models.devices import find_device, torch_settings
from gem_train.models.lora import check_peft
from gem_train.runs.display import Display
from gem_train.runs.folder import RunFolder
from gem_train.runs.interrupts import defer_interrupts
from gem_train.runs.memory import enough_memory
from gem_train.runs.summary import Summary
from gem_train.sft.imitation import imitate


def train(config: TrainConfig, out: Path, display: Display, world: World = ALONE) -> Summary:
    """Carry out, or resume, the training that `config` describes; returns the result.

    A run that was stopped at any moment resumes from its last checkpoint and ends with the same weights (on CPU, to
    the last bit), because everything random is derived from the seed and the step. Ctrl-C saves a checkpoint first.

    Args:
        config: the settings.
        out: the run folder.
        display: gets the events of the run.
        world: the processes of the run; each of them calls this.

    Raises:
        ConfigError: the settings do not fit each other, or the folder holds another run.
        TrainingStopped: the run learns nothing or gets worse (see `gem_train.runs.watch`), its files cannot be
            written, or another process of it has ended.
    """
    advice = f"The same command with --out {out} resumes from the newest checkpoint"
    with world.guarded(advice), _folder(out, config, world) as folder:
        finished = folder.summary()
        if finished is not None:
            display.already_finished(finished, folder)
            return finished
        device = find_device(config.device)  # a wrong one is an error before anything is played
        find_kernel(config.attention, device)
        find_scorer(config.optim.log_probs, device)
        if config.lora.rank:
            check_peft()
        rows = make_rows(config)
        evaluation = make_evaluation(config, rows, world)
        state = _newest_state(folder)
        if state is None:
            baselines = _measure(config, evaluation, display, world)
        else:
            baselines = Baselines.from_json(state["before"])
        memory = functools.partial(enough_memory, config=config, resume_command=folder.resume_command)
        with torch_settings(config.threads), ExitStack() as stack:
            with memory("load the model"):
                newest = folder.newest_checkpoint()
                made = build(config, newest, teacher=baselines.teacher, rows=rows, world=world)
                parts = stack.enter_context(made)
            folder.claim()
            cost = rewriting_warning(parts.sampler.chat)
            if cost is not None:
                display.warn(cost)
            vocabulary = int(parts.loaded.model.config.vocab_size)
            watch = make_watch(config, vocabulary, has_expert=baselines.expert is not None)
            schedule = Schedule(
                config.seed,
                config.steps,
                config.checkpoint_every,
                config.keep_checkpoints,
                config.rollout,
                config.eval,
                config.watch.stop,
            )
            run = Run(schedule, parts, evaluation, watch, baselines, folder, display, memory)
            try:
                if state is None:
                    folder.rewind(None)
                    if config.warmup.steps:
                        with memory("learn"):
                            _warm_up(config, parts, baselines.teacher, folder, display)
                    run.begin()
                else:
                    run.resume(state)
                run.learn()
                return _finish(config, run)
            except KeyboardInterrupt:
                with defer_interrupts():
                    run.interrupted()
                raise
            except Unreachable as error:
                raise TrainingStopped(
                    f"{error}. What was saved is kept; once it can be reached, resume with: {folder.resume_command}"
                ) from error


def _folder(out: Path, config: TrainConfig, world: World) -> RunFolder:
    """The run folder; only the first process writes it."""
    kind = Spectator if world.rank else RunFolder
    return kind(out, config.as_data(), world)


def _newest_state(folder: RunFolder) -> dict[str, Any] | None:
    """What the newest checkpoint holds besides the model.

    Raises:
        ConfigError: it cannot be read, or lacks something that a run needs to continue exactly.
    """
    checkpoint = folder.newest_checkpoint()
    if checkpoint is None:
        return None
    try:
        state: dict[str, Any] = torch.load(checkpoint / "state.pt", weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise ConfigError(
            f"cannot read the checkpoint {checkpoint}: {str(error).splitlines()[0]}. Remove that folder, and the run "
            "resumes from the one before it"
        ) from error
    if missing := STATE - state.keys():
        raise ConfigError(
            f"the checkpoint {checkpoint} lacks {', '.join(sorted(missing))}: another version of gem-train wrote it, "
            f"so it cannot be resumed exactly. Start a new run from its model: --model {checkpoint}"
        )
    return state


def _measure(config: TrainConfig, evaluation: Evaluation, display: Display, world: World) -> Baselines:
    """Evaluate random play and the expert, and choose which of them to imitate."""
    random, expert = _baselines(evaluation, "", display)
    own = (random, expert)
    if config.evaluated != config.trained and config.warmup.steps and config.warmup.policy == AUTO:
        own = _baselines(make_training_evaluation(config, world), " in training", display)
    return Baselines(random, expert, teacher=choose_teacher(config.warmup.policy, *own))


def _baselines(evaluation: Evaluation, where: str, display: Display) -> tuple[Report | None, Report | None]:
    """How random play and the expert do; None for one that the environment does not offer."""
    reports: list[Report | None] = []
    for name in ("random", "expert"):
        progress = functools.partial(display.measuring, f"{name} play{where}")
        reports.append(evaluation.baseline(name, progress))
        display.measured(f"{name} play{where}", reports[-1])
    return reports[0], reports[1]


def _warm_up(config: TrainConfig, parts: Parts, teacher: str, folder: RunFolder, display: Display) -> None:
    display.imitating(teacher)
    parts.sampler.sleep()
    with (
        closing(make_policy(teacher)) as player,
        make_envs(config, config.warmup.episodes, player.info_methods, parts.world) as envs,
    ):
        model, chat = parts.loaded.model, parts.sampler.chat
        losses = imitate(
            model,
            chat,
            player,
            envs,
            warmup=config.warmup,
            optim=config.optim,
            seed=config.seed,
            place=parts.rows.train,
            scorer=parts.learner.scorer,
            world=parts.world,
        )
        for step, loss in enumerate(losses, start=1):
            folder.write_metrics("warmup", step, {"loss": loss})
            if not math.isfinite(loss):
                raise TrainingStopped(
                    f"stopped at step {step} of the warm-up: its loss is {loss}. Nothing of it was saved. Start again "
                    f"with a smaller warmup.lr (now {config.warmup.lr:g}) or optim.grad_clip (now "
                    f"{config.optim.grad_clip:g})"
                )
            display.warmed_up(step, config.warmup.steps, loss)


def _finish(config: TrainConfig, run: Run) -> Summary:
    """Evaluate the model, and write the result."""
    after = run.finish()
    summary = Summary.of(
        id=config.id,
        algorithm=config.algorithm,
        seed=config.seed,
        warmup_policy=run.baselines.teacher if config.warmup.steps else None,
        baselines=run.baselines,
        after=after,
        steps=run.parts.learner.step,
        seconds=run.seconds,
    )
    run.folder.write_summary(summary)
    run.display.finished(summary, run.folder)
    return summary
