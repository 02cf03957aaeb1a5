"""`evaluate`: an evaluation in one call."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gem.errors import ConfigError
from gem.packs.component_ref import ComponentRef
from gem.rewards import RewardPipeline
from gem.rollout.function_policy import FunctionPolicy, PolicyFunction
from gem.rollout.policy import Policy
from gem.vector import BackendName
from gem_eval.evaluation import Evaluation
from gem_eval.settings import Budget, Group, Settings, in_words
from gem_eval.suite import make_group


def evaluate(
    ids: str | Sequence[str] | Sequence[Group],
    model: ComponentRef | Policy | PolicyFunction,
    *,
    episodes: int | None = None,
    k: int = 1,
    each_row: bool = False,
    max_turns: int | None = None,
    wrappers: Any = (),
    env_kwargs: Mapping[str, Any] | None = None,
    reward: ComponentRef | RewardPipeline | None = None,
    seed: int = 0,
    num_envs: int | None = None,
    backend: BackendName = "sync",
    floors: bool = True,
    budget: Budget | None = None,
    max_episodes: int | None = None,
    widest: bool = False,
    models: Mapping[str, ComponentRef] | None = None,
    cache: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Evaluation:
    """Measure a model on environments; what `gemx eval` does.

    Args:
        ids: ids and patterns, such as `"game:*-easy"`, or groups of them, such as those of `read_suite`, which have
            the next six arguments themselves.
        model: what `--model` takes, with or without settings, or a policy, or a function that answers.
        episodes: items of each id; see `Group`.
        k: attempts at each item.
        each_row: whether to play every row of data sets, however many.
        max_turns: cuts episodes off.
        wrappers: around the environments, the last one outermost: names, or `{"name": …}` with settings.
        env_kwargs: arguments of the environments.
        reward: scores the episodes besides their environments: what `--reward` takes, or a pipeline.
        seed: gives every item its own seed.
        num_envs: most episodes at once; by default 16, and with `openai` its `concurrency`.
        backend: where the environments run.
        floors: whether to play random and the expert on the same items.
        budget: ends the evaluation when it is spent.
        max_episodes: ends it after so many episodes of the model, too.
        widest: whether the next item is of the id whose interval of success is the widest; otherwise ids take turns.
        models: those that play roles in environments and rewards, such as `{"judge": "openai:NAME"}`, with `prices` of
            their own if they have others; then the floors are not played.
        cache: a folder that keeps the answers of these models.
        out: a folder to keep it in; what that holds already is not played again.

    Returns:
        The evaluation, played: its `total()` and its `summaries()`, one per id.

    Raises:
        GemError: a name does not exist, or a setting is refused.
        OSError: the folder cannot be written.
    """
    groups = tuple(ids) if not isinstance(ids, str) and ids and isinstance(ids[0], Group) else None
    fields = {"episodes": episodes, "k": k, "each_row": each_row, "max_turns": max_turns, "wrappers": wrappers}
    if groups is None:
        groups = (make_group("", {"ids": ids, "kwargs": env_kwargs or {}, **fields}),)
    elif given := [
        name for name, value in {**fields, "env_kwargs": env_kwargs}.items() if value not in (None, 1, False, ())
    ]:
        raise ConfigError(f"groups have {given[0]} of their own: leave it out")
    with ExitStack() as opened:
        policy = None
        if isinstance(model, Policy):
            policy, model = model, type(model).__qualname__
        elif callable(model):
            policy = opened.enter_context(closing(FunctionPolicy(model)))
            model = f"{model.__module__}:{getattr(model, '__qualname__', type(model).__qualname__)}"
        pipeline = reward if isinstance(reward, RewardPipeline) else None
        settings = make_settings(
            model=model,
            reward=", ".join(each.name for each in pipeline.rewards) if pipeline else reward,
            groups=groups,
            seed=seed,
            num_envs=num_envs,
            backend=backend,
            floors=floors,
            budget=budget or Budget(),
            max_episodes=max_episodes,
            widest=widest,
            models=models or {},
            cache=None if cache is None else os.fspath(cache),
        )
        evaluation = Evaluation(settings, None if out is None else Path(out), policy, pipeline)
        deque(evaluation.play(), maxlen=0)
    return evaluation


def make_settings(**fields: Any) -> Settings:
    """The settings of an evaluation.

    Raises:
        ConfigError: one is invalid.
    """
    try:
        return Settings.model_validate(fields)
    except ValidationError as error:
        raise ConfigError(in_words(error, "", Settings.model_fields)) from error
