"""Pipelines by name: of a pack, of a module, or of a file of the user."""

import inspect
from typing import Any

from gem.errors import ConfigError, PackError
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.importing import check_arguments, import_file, is_file_path, parameters_of
from gem.packs.lookup import find_named
from gem.rewards.pipeline import RewardPipeline
from gem.rewards.score import Reward, reward


def make_pipeline(given: ComponentRef) -> RewardPipeline:
    """The pipeline that a reference names.

    Args:
        given: a registered name, `"module:name"`, or `"folder/file.py:name"`, alone or as `{"name": …}` with settings.
            It names a `RewardPipeline`, a `Reward`, a function that can be one (see `gem.reward`), a list of these, or
            a function that makes any of them of settings.

    Raises:
        UnknownId: there is no such reward, or no such file.
        PackError: it cannot be imported, or is none.
        SpecError, ConfigError: a setting is wrong.
    """
    name, settings = name_and_settings(given)
    what = f"the reward {name!r}"
    found = import_file("reward", name) if is_file_path(name) else find_named("reward", name)
    if inspect.isfunction(found) and parameters_of(found).needed - settings.keys() and not settings:
        found = reward(found)
    elif callable(found) and not isinstance(found, Reward):
        check_arguments(what, found, settings)
        found, settings = found(**settings), {}
    if settings:
        raise ConfigError(f"{what} takes no settings, such as {next(iter(settings))!r}")
    if isinstance(found, RewardPipeline):
        return found
    rewards: list[Any] = list(found) if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
    for each in rewards:
        if not isinstance(each, Reward) and not inspect.isfunction(each):
            raise PackError(f"{what} is a {type(each).__name__}, not a reward: see gem.reward")
    return RewardPipeline(rewards)
