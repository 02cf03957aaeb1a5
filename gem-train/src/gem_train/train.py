"""A whole run of `gemx train`: baselines, warm-up, the loop, the result."""

import functools
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gem.errors import TrainingStopped
from gem.rewards import make_pipeline
from gem.rollout.named_policies import make_policy
from gem_eval.results import Result
from gem_eval.results.floors import FLOORS
from gem_eval.roles import playing
from gem_train.build import Parts, build, make_evaluation, make_rows, make_seats, make_watch
from gem_train.chat.rewriting import rewriting_warning
from gem_train.config.sections import OptimConfig, WarmupConfig
from gem_train.config.training import TrainConfig
from gem_train.distributed.world import ALONE, World
from gem_train.driver import arithmetic, carry_out, opened
from gem_train.evaluation import AUTO, Evaluation, choose_teacher
from gem_train.loop import STATE, Reinforcement, Schedule
from gem_train.runs.display import Display
from gem_train.runs.folder import RunFolder
from gem_train.runs.summary import Summary
from gem_train.selfplay.seats import Seats
from gem_train.sft.imitation import imitate

Results = dict[str, Result]


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
    with opened(config, out, world) as folder:
        summary = folder.summary(Summary.parse)
        if summary is None:
            state = folder.state(STATE)
            with (
                playing(config.models, config.cache, config.rollout.num_envs),
                arithmetic(config),
                _prepared(config, state, folder, display, world) as run,
            ):
                summary = _summary(config, run, carry_out(run, state))
            folder.write_summary(summary.as_json())
        else:
            display.note("this run has finished already; its result:")
        display.finished(summary, folder)
    return summary


@contextmanager
def _prepared(
    config: TrainConfig, state: Mapping[str, Any] | None, folder: RunFolder, display: Display, world: World
) -> Generator[Reinforcement]:
    """The run, with its baselines measured."""
    seats = make_seats(config, world)
    rows = make_rows(config)
    for note in rows.notes:
        display.note(note)
    with ExitStack() as stack:
        reward = stack.enter_context(closing(make_pipeline(config.reward))) if config.reward is not None else None
        evaluation = make_evaluation(config, config.evaluated, rows, world, reward, seats=seats)
        if state is None:
            before, teacher = _measure(config, evaluation, seats, display, world)
        else:
            before = {name: Result.from_json(each) for name, each in state["before"].items()}
            teacher = state["teacher"]
        with folder.memory("load the model"):
            made = build(
                config,
                folder.newest_checkpoint(),
                teacher=teacher,
                rows=rows,
                seats=seats,
                world=world,
                reward=reward,
            )
            parts = stack.enter_context(made)
        display.warn(rewriting_warning(parts.sampler.chat))
        vocabulary = int(parts.loaded.model.config.vocab_size)
        watch = make_watch(config, vocabulary, has_expert="expert" in before)
        schedule = Schedule(
            config.seed,
            config.steps,
            config.checkpoint_every,
            config.keep_checkpoints,
            config.rollout,
            config.eval,
            config.watch.stop,
        )
        warm_up = functools.partial(_warm_up, config.warmup, config.optim, config.seed, parts, teacher, folder, display)
        run = Reinforcement(schedule, parts, evaluation, watch, before, teacher, warm_up, folder, display)
        yield stack.enter_context(closing(run))


def _measure(
    config: TrainConfig, evaluation: Evaluation, seats: Seats | None, display: Display, world: World
) -> tuple[Results, str]:
    """Evaluate random play and the expert, and choose which of them to imitate."""
    floors = own = _floors(evaluation, "", display)
    if config.evaluated != config.trained and config.warmup.steps and config.warmup.policy == AUTO:
        trained = make_evaluation(config, config.trained, world=world, reward=evaluation.reward, seats=seats)
        own = _floors(trained, " in training", display)
    return floors, choose_teacher(config.warmup.policy, own.get("random"), own.get("expert"))


def _floors(evaluation: Evaluation, where: str, display: Display) -> Results:
    """The results of random play and the expert, of those that the environment offers."""
    found: Results = {}
    for name in FLOORS:
        result = evaluation.floor(name, functools.partial(display.measuring, f"{name} play{where}"))
        display.measured(f"{name} play{where}", result)
        if result is not None:
            found[name] = result
    return found


def _warm_up(
    warmup: WarmupConfig, optim: OptimConfig, seed: int, parts: Parts, teacher: str, folder: RunFolder, display: Display
) -> None:
    if not warmup.steps:
        return
    display.note(f"warm-up: imitating {teacher} play")
    parts.sampler.sleep()
    with (
        folder.memory("learn"),
        closing(make_policy(teacher)) as player,
        parts.make_envs(warmup.episodes, player.info_methods) as envs,
    ):
        model, chat = parts.loaded.model, parts.sampler.chat
        losses = imitate(
            model,
            chat,
            player,
            envs,
            warmup=warmup,
            optim=optim,
            seed=seed,
            place=parts.rows.train,
            scorer=parts.learner.scorer,
            world=parts.world,
        )
        for step, loss in enumerate(losses, start=1):
            folder.write_metrics("warmup", step, {"loss": loss})
            if not math.isfinite(loss):
                raise TrainingStopped(
                    f"stopped at step {step} of the warm-up: its loss is {loss}. Nothing of it was saved. Start again "
                    f"with a smaller warmup.lr (now {warmup.lr:g}) or optim.grad_clip (now "
                    f"{optim.grad_clip:g})"
                )
            display.warmed_up(step, warmup.steps, loss)


def _summary(config: TrainConfig, run: Reinforcement, after: Sequence[Result]) -> Summary:
    whole, *each = after
    floors = {name: result for name, result in run.before.items() if name != "model"}
    return Summary(
        id=config.id,
        algorithm=config.algorithm,
        seed=config.seed,
        warmup_policy=run.teacher if config.warmup.steps else None,
        steps=run.step,
        seconds=round(run.seconds, 1),
        before=replace(run.before["model"], floors=floors),
        after=whole,
        ids=tuple(each) if len(each) > 1 else (),
    )
