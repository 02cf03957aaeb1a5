"""GEM's environments for programs that are written for Gymnasium."""

# ruff: noqa: E402

import string
from typing import Any, NoReturn

from gem_interop.versions import check

check("gymnasium", "1.1.0", "1.4.0")

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import create_shared_memory  # pyright: ignore[reportUnknownVariableType]

from gem.checks import check_int
from gem.core import Env, Info, Observation
from gem.errors import ConfigError, ResetNeeded
from gem.tool.content import text_of


class AnyText(gymnasium.spaces.Text):
    """Texts of any characters; samples are short and of ASCII's, and almost never well-formed actions."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is None and probability is None:
            mask = (int(self.np_random.integers(min(self.max_length, 64) + 1)), None)
        return super().sample(mask, probability)

    def character_index(self, char: str) -> NoReturn:
        raise ConfigError("a text of any characters cannot be flattened to places in a list of characters")


@create_shared_memory.register(AnyText)
def _refuse(*_: Any, **__: Any) -> NoReturn:
    """AsyncVectorEnv reads a text from shared memory once, before the first reset, and would return that for ever."""
    raise CustomSpaceError("texts cannot be observed through shared memory")


class ToGymnasium(gymnasium.Env[str, str]):
    """A GEM env as a `gymnasium.Env` whose actions and observations are text; closing it closes `env`.

    Args:
        env: any env with text observations, such as `gem.make(id)`.
        render_mode: "ansi": `render()` returns the latest observation; None: it returns None.
        max_length: the longest action and observation, in characters.

    Raises:
        ConfigError: an argument is wrong, or later: an observation has an image, or is longer than `max_length`.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - typed as an instance's there

    def __init__(self, env: Env, render_mode: str | None = None, max_length: int = 2**20) -> None:
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: people try an id
            raise ConfigError(f"ToGymnasium takes an env, such as gem.make(id), not {env!r}")
        if render_mode not in (None, "ansi"):
            raise ConfigError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        self.gem_env = env
        """The GEM env, with its `sample_action`, `expert_action`, snapshots and the rest."""
        self.render_mode = render_mode
        self.max_length = check_int("max_length", max_length, 1)
        self.observation_space = AnyText(self.max_length)
        self.action_space = AnyText(self.max_length)
        self._latest: str | None = None

        def another(**settings: Any) -> "ToGymnasium":
            copy = env.rebuild()
            copy.spec = env.spec
            return ToGymnasium(copy, settings.get("render_mode"), max_length)

        name = type(env.unwrapped).__name__ if env.spec is None else env.spec.id
        # For Gymnasium to make another env like this one. Without it, its checker does not compare episodes.
        self.spec = EnvSpec(f"gem/{name}", another)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, Info]:
        super().reset(seed=seed)
        observation, info = self.gem_env.reset(seed=seed, options=options)
        self._latest = self._text(observation)
        return self._latest, info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        observation, reward, terminated, truncated, info = self.gem_env.step(action)
        self._latest = self._text(observation)
        return self._latest, reward, terminated, truncated, info

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]: frames of any type there
        if self.render_mode is None:
            return None
        if self._latest is None:
            raise ResetNeeded("call reset() before the first render()")
        return self._latest

    def close(self) -> None:
        self.gem_env.close()

    def _text(self, observation: Observation) -> str:
        if not isinstance(observation, str):
            kinds = {part["type"] for part in observation} - {"text"}
            if kinds:
                name = type(self.gem_env.unwrapped).__name__
                raise ConfigError(f"{name} observes {', '.join(sorted(kinds))}, and ToGymnasium takes text only")
            observation = text_of(observation)
        if len(observation) > self.max_length:
            raise ConfigError(
                f"an observation has {len(observation)} characters: ToGymnasium(env, max_length=…) sets the limit, "
                f"now {self.max_length}"
            )
        return observation
