"""`skyrl:NAME`: the environments in skyrl_gym's registry, on rows of a data set in SkyRL's form."""

# ruff: noqa: E402

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar, cast

from gem_interop.versions import check

check("skyrl-gym", "0.4.0", "0.4.0")

import skyrl_gym  # pyright: ignore[reportMissingImports]
from omegaconf import OmegaConf  # pyright: ignore[reportMissingImports]

from gem.checks import finite
from gem.core import Observation, Step
from gem.data import open_table
from gem.data.source import Data
from gem.errors import ConfigError, MissingExtra
from gem.packs.spec import EnvSpec
from gem_interop.envs.base import ForeignEnv, chosen_row, plain, readable


class SkyRLEnv(ForeignEnv):
    """An environment of SkyRL: an episode is a row, which the seed chooses, or the option `index` of reset.

    The agent reads the prompt of the row, system message included, as one text, and answers as it asks. The whole reply
    goes to the environment. An episode is a success if its last reward is at least `success_at`.

    Args:
        name: its id in skyrl_gym.
        data: rows with `prompt` (messages, or a text) and what the environment wants beside it, such as `reward_spec`.
        config: the settings that SkyRL gives the environment (`env_config`).
        samples: replies for `sample_action`.
        success_at: the reward that is a success.
        max_turns: the most replies; the environment is told, and most of them have a limit of their own.
    """

    reset_options: ClassVar[tuple[str, ...]] = ("index",)
    _unsaved = ForeignEnv._unsaved | {"_rows"}

    def __init__(
        self,
        name: str,
        data: Data,
        config: Mapping[str, Any] | None = None,
        samples: Sequence[str] = ("#### 1", "\\boxed{1}"),
        success_at: float = 1.0,
        max_turns: int | None = None,
    ) -> None:
        super().__init__(max_turns=max_turns)
        if name not in skyrl_gym.registry:
            raise ConfigError(f"skyrl_gym has no environment {name!r} in this process")
        self._name = name
        self._rows = open_table(data)
        self._config = dict(config or {})
        self._samples = tuple(samples)
        self._threshold = finite("success_at", success_at)
        self._other = None

    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        self.close()
        row = chosen_row(self._rows, seed, options)
        if "prompt" not in row:
            raise ConfigError(f"a row of SkyRL has a prompt, and this one has only {', '.join(row)}")
        extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}
        if self.max_turns is not None:
            extras.setdefault("max_turns", self.max_turns)
        prompt = row["prompt"]
        if isinstance(prompt, str):
            prompt = [{"role": "user", "content": prompt}]
        try:
            self._other = skyrl_gym.make(self._name, env_config=OmegaConf.create(self._config), extras=extras)
        except ImportError as error:
            raise MissingExtra(f"'skyrl:{self._name}' needs more: {error}") from error
        except AssertionError as error:
            raise ConfigError(f"'skyrl:{self._name}' refuses a row with {', '.join(row)}: {error}") from error
        messages, _ = self._other.init([dict(each) for each in cast("list[dict[str, str]]", prompt)])
        return _text(messages)

    def _answer(self, action: str) -> Step:
        assert self._other is not None
        output = self._other.step(action)
        text, reward = _text(output["observations"]), float(output["reward"])
        info = {"skyrl": plain(output["metadata"])} if output.get("metadata") else {}
        if output["done"]:
            return Step.final(text, reward, success=reward >= self._threshold, **info)
        return Step.ongoing(text, reward, **info)

    def sample_action(self) -> str:
        return self.action_rng.choice(self._samples)

    def close(self) -> None:
        other, self._other = self._other, None
        if other is not None:
            other.close()


def _text(messages: Sequence[Mapping[str, Any]]) -> str:
    return readable("\n\n".join(str(message["content"]) for message in messages))


def resolve(name: str) -> EnvSpec | None:
    """The spec of `skyrl:name`, or None. See `gem.EnvSource`."""
    if name not in skyrl_gym.registry:
        return None
    notes = [
        "It needs rows in SkyRL's form: data=, such as --arg data=train.parquet.",
        "SkyRL has no seeds: the seed chooses the row. What an environment draws itself does not come out the same.",
        "A snapshot is the row and the replies: restoring it plays them again.",
    ]
    if name in ("lcb", "searchcode"):
        notes.append("It runs the agent's programs on this machine, without a sandbox.")
    if name == "text2sql":
        notes.append("The order of a query's rows differs between processes, and so do episodes that show it.")
    return EnvSpec(
        id=f"skyrl:{name}",
        entry_point="gem_interop.envs.skyrl:SkyRLEnv",
        kwargs={"name": name},
        description=f"{name} of skyrl_gym {metadata.version('skyrl-gym')}",
        tags=("skyrl", "needs-data"),
        notes=tuple(notes),
    )


def names() -> list[str]:
    """Names that are registered with skyrl_gym."""
    return list(skyrl_gym.registry)
