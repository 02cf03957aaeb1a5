"""Environments for programs that are written for Gymnasium, which is imported when it is needed."""

from typing import TYPE_CHECKING

from gem.core import Env
from gem.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from gem.gymnasium.env import GymnasiumEnv


def to_gymnasium(env: Env, *, render_mode: str | None = None, max_length: int = 2**20) -> "GymnasiumEnv":
    """`env` as a `gymnasium.Env` whose actions and observations are text; closing it closes `env`.

    Args:
        env: any env with text observations, such as `gem.make(id)`.
        render_mode: "ansi": `render()` returns the latest observation; None: it returns None.
        max_length: the longest action and observation, in characters.

    Raises:
        MissingExtra: Gymnasium is not installed.
        ConfigError: an argument is wrong, or later: an observation has an image, or is longer than `max_length`.
    """
    if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]: people try an id
        raise ConfigError(f"to_gymnasium takes an env, such as gem.make(id), not {env!r}")
    try:
        from gem.gymnasium.env import GymnasiumEnv
    except ModuleNotFoundError as error:
        raise MissingExtra(f"to_gymnasium needs gymnasium ({error}): pip install 'gem-core[gymnasium]'") from error
    return GymnasiumEnv(env, render_mode, max_length)
