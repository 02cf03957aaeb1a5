"""`textarena:NAME`: the games of TextArena for one player."""

import importlib
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from gem.checks import finite
from gem.core import Observation, Step
from gem.errors import ConfigError, DataUnavailable, MissingExtra
from gem.packs.spec import EnvSpec
from gem_interop.envs.base import ForeignEnv, GlobalGenerators, plain, readable
from gem_interop.versions import check

check("textarena", "0.7.0", "0.7.4")

# By name, because type checkers take this module for the library.
textarena: Any = importlib.import_module("textarena")
nltk: Any = importlib.import_module("nltk")
ENV_REGISTRY: dict[str, Any] = importlib.import_module("textarena.envs.registration").ENV_REGISTRY

LIMIT = 200
"""The turn limit, beside that of a game."""
_EXAMPLE = re.compile(r"\[([^\[\]\n]{1,40})\]")
_SPEAKERS = ("GAME", "Player")


class TextArenaEnv(ForeignEnv):
    """A game of TextArena, which reads the whole reply; most of them look for an action in `[square brackets]`.

    The agent reads the messages that are new since its last reply; the first has the rules. A game gives its reward at
    the end, mostly 1 for a win and part of it for a part. What it says of a reply that is not a move costs what its
    rules say: mostly one such reply is forgiven, and the next one loses.

    Args:
        name: its id in TextArena.
        samples: replies for `sample_action`; by default the examples in the rules of the game, so a random game is
            not a good one.
        success_at: the reward that is a success.
        max_turns: replies in an episode, beside the limit of the game.
        kwargs: arguments of the game.
    """

    _unsaved = ForeignEnv._unsaved | {"_generators"}

    def __init__(
        self,
        name: str,
        samples: Sequence[str] = (),
        success_at: float = 1.0,
        max_turns: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._name = name
        self._threshold = finite("success_at", success_at)
        self._samples = self._given_samples = tuple(samples)
        self._generators = GlobalGenerators()
        with self._generators.use(0):
            self._other = _make(name, kwargs)

    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        with self._generators.use(seed):
            self._other.reset(num_players=1, seed=seed)
            text = self._messages()
        if not self._given_samples:
            found = (match[1] for match in _EXAMPLE.finditer(text) if not match[1].startswith(_SPEAKERS))
            self._samples = tuple(f"[{each}]" for each in dict.fromkeys(found)) or ("[1]",)
        return text

    def _answer(self, action: str) -> Step:
        with self._generators.use():
            over, info = self._other.step(action=readable(action))
            text = self._messages()
            rewards, told = self._other.close() if over else (None, {})
        given = {"textarena": plain(info)} if info else {}
        if not over:
            return Step.ongoing(text, **given)
        mine = told.get(0, {})
        reward = float((rewards or {}).get(0) or 0.0)
        if mine.get("invalid_move"):
            given["malformed"] = True
        if reason := mine.get("reason"):
            text = f"{text}\n{readable(str(reason))}".strip()
        return Step.final(text, reward, success=reward >= self._threshold, **given)

    def sample_action(self) -> str:
        return self.action_rng.choice(self._samples or ("[1]",))

    def _messages(self) -> str:
        """Messages of the game since the last reply."""
        _, said = self._other.get_observation()
        if isinstance(said, str):
            return readable(said).strip()
        own = textarena.ObservationType.PLAYER_ACTION
        return readable("\n".join(str(message) for _, message, kind in said if kind is not own)).strip()


def _make(name: str, kwargs: Mapping[str, Any]) -> Any:
    if name not in ENV_REGISTRY:
        raise ConfigError(f"TextArena has no game {name!r} in this process")
    try:
        with _no_downloads():
            made = textarena.make(name, **kwargs)
    except LookupError as error:  # NLTK's
        wanted = " ".join(dict.fromkeys(re.findall(r"nltk\.download\('([\w-]+)'\)", str(error)))) or "words"
        advice = f"python -m nltk.downloader {wanted}"
        raise DataUnavailable(f"'textarena:{name}' needs word lists that are not on this machine: {advice}") from error
    except (ImportError, FileNotFoundError, SyntaxError) as error:
        raise MissingExtra(f"'textarena:{name}' does not work with this TextArena: {error}") from error
    except TypeError as error:
        raise ConfigError(f"'textarena:{name}' does not take {dict(kwargs)}: {error}") from error
    # This wrapper repeats the whole game in every observation; a transcript has it already.
    outer: Any = None
    inner: Any = made
    while isinstance(inner, textarena.Wrapper):
        if type(inner) is textarena.wrappers.LLMObservationWrapper:
            if outer is None:
                return inner.env
            outer.env = inner.env
            break
        outer, inner = inner, inner.env
    return made


@contextmanager
def _no_downloads() -> Generator[None]:
    """Games download word lists when they are imported; only the user does that here."""
    download = nltk.download
    nltk.download = _refused
    try:
        yield
    finally:
        nltk.download = download


def _refused(*_: Any, **__: Any) -> bool:
    return False


def _unfit(name: str) -> str | None:
    """Reason why a game cannot be played here, which only its code says; None if it can."""
    entry_point = ENV_REGISTRY[name].entry_point
    if not isinstance(entry_point, str):  # registered by a program, which knows
        return None
    module = entry_point.partition(":")[0].split(".")
    if module[0] != "textarena":
        return None
    file = Path(textarena.__file__).parent.joinpath(*module[1:]).with_suffix(".py")
    code = file.read_text(encoding="utf-8") if file.is_file() else ""
    if "SinglePlayerState" not in code:
        return "is a game for several players, and an environment here has one agent"
    # A recording from outside may name any game, and this one would spend the user's money.
    return "asks a model at OpenRouter, which has no seed and costs money" if "OpenRouterAgent" in code else None


def resolve(name: str) -> EnvSpec | None:
    """The spec of `textarena:name`, or None. See `gem.EnvSource`.

    Raises:
        ConfigError: it is a game for several players, or asks a model.
    """
    if name not in ENV_REGISTRY:
        return None
    if unfit := _unfit(name):
        raise ConfigError(f"'textarena:{name}' {unfit}")
    return EnvSpec(
        id=f"textarena:{name}",
        entry_point="gem_interop.envs.textarena:TextArenaEnv",
        kwargs={"name": name},
        max_turns=LIMIT,
        description=f"{name} of TextArena {metadata.version('textarena')}",
        tags=("textarena", "multi-turn"),
        notes=(
            "Seeds go to TextArena, which draws from Python's global generator: it has the state of this env while the "
            "game plays, and its own again after that. Games in threads wait for each other.",
            "There are no options of reset; keyword arguments go to the game.",
            "A snapshot is the seed and the replies: restoring it plays them again.",
        ),
    )


def names() -> list[str]:
    """The games for one player, without their variants that only observe differently."""
    return [name for name in ENV_REGISTRY if not name.endswith(("-raw", "-train")) and _unfit(name) is None]
