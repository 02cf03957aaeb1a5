"""`gymnasium:NAME`: the environments in Gymnasium's registry whose observations can be read and actions written."""

# ruff: noqa: E402

import inspect
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from gem_interop.versions import check

check("gymnasium", "1.0.0", "1.4.0")

import gymnasium
from gymnasium.envs.registration import find_highest_version, load_env_creator, parse_env_id

from gem.checks import finite
from gem.core import Observation, Step
from gem.errors import ConfigError, MissingExtra
from gem.packs.spec import EnvSpec
from gem_interop.envs.base import ForeignEnv, plain, readable
from gem_interop.envs.gymnasium_words import WORDS, Words
from gem_interop.envs.spaces import Actions, actions_of, check_readable, shown

LIMIT = 200
"""The turn limit of an environment that Gymnasium sets none for."""
_MOST_RULES = 2000
_COLOURED = re.compile(r"\x1b\[([\d;]*)m(.*?)\x1b\[0m", re.DOTALL)
_BRACKETS = {"4": "[{}]", "34": "({})", "35": "{{{}}}"}
"""Brackets in place of colours: any background, and the two foregrounds of Taxi."""


class GymnasiumEnv(ForeignEnv):
    r"""An environment of Gymnasium. The first observation has its rules, its actions and how to answer.

    A reply is an action if its last `\boxed{…}`, or all of it, is the name or number of one; with several numbers, they
    have spaces or commas between. Any other reply ends the episode, which fails, with the reward 0.

    An episode is a success if the environment says so (`info["is_success"]`), if its return reaches the threshold that
    is registered with the environment, or, where there is none, if it ends with a return above 0.

    Args:
        name: its id in Gymnasium.
        actions: names of its actions, in their order, if they are `Discrete`; by default those that are known here.
        rules: what it is about, for the agent; by default what is known here, or else its own description.
        success_at: the return that is a success, in place of the registered one.
        max_turns: by default the limit on steps that is registered.
        kwargs: arguments of the environment, for `gymnasium.make`.
    """

    def __init__(
        self,
        name: str,
        actions: Sequence[str] | None = None,
        rules: str | None = None,
        success_at: float | None = None,
        max_turns: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._other = _make(name, kwargs)
        try:
            words = WORDS.get(parse_env_id(name)[1], Words("")) if "/" not in name else Words("")
            described = inspect.cleandoc(type(self._other.unwrapped).__doc__ or "")
            self._labels = words.numbers
            self._actions = _actions(name, self._other, words.actions if actions is None else actions, described)
            rules = rules or words.rules or _section(described, "Description")[:_MOST_RULES].strip()
        except BaseException:
            self.close()
            raise
        self._introduction = "\n\n".join(filter(None, (f"You play {name}. {rules}".strip(), self._actions.how)))
        known = (success_at, self._other.spec.reward_threshold, words.success_at)
        self._threshold = next((finite("success_at", each) for each in known if each is not None), None)
        self._total = 0.0

    _unsaved = ForeignEnv._unsaved | {"_actions"}

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Any: they are those of the environment."""

    def _begin(self, seed: int, options: Mapping[str, Any]) -> Observation:
        observation, _ = self._other.reset(seed=seed, options=dict(options) or None)
        self._total = 0.0
        return f"{self._introduction}\n\n{self._shown(observation)}"

    def _answer(self, action: str) -> Step:
        move = self._actions.of_reply(action)
        if move is None:
            return self.malformed(f"I found no action in your reply. {self._actions.how}", reward=0.0)
        observation, reward, terminated, truncated, info = self._other.step(move)
        self._total += float(reward)
        text, info = self._shown(observation), {"gymnasium": plain(info)}
        if not (terminated or truncated):
            return Step.ongoing(text, float(reward), **info)
        told = info["gymnasium"].get("is_success")
        if told is None:
            told = self._total > 0 if self._threshold is None else self._total >= self._threshold
        if terminated:
            return Step.final(text, float(reward), success=bool(told), **info)
        return Step.cut_off(text, float(reward), **info)

    def sample_action(self) -> str:
        return self._actions.sample(self.action_rng)

    def close(self) -> None:
        self._other.close()

    def _shown(self, observation: Any) -> str:
        text = shown(self._other.observation_space, observation, self._labels)
        if self._other.render_mode != "ansi":
            return text
        picture = _COLOURED.sub(_bracketed, str(self._other.render()))
        return f"{text}\n\n{readable(picture).strip()}"


def _bracketed(match: re.Match[str]) -> str:
    colours = match[1].split(";")
    background = any(len(each) == 2 and each[0] == "4" for each in colours)
    form = _BRACKETS["4"] if background else next((_BRACKETS[each] for each in colours if each in _BRACKETS), "{}")
    return form.format(match[2])


def _make(name: str, kwargs: Mapping[str, Any]) -> Any:
    spec = gymnasium.registry.get(name)
    if spec is None:
        raise ConfigError(f"Gymnasium has no environment {name!r} in this process")
    try:
        creator: Any = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
        # A picture of letters shows what a number does not.
        text = "ansi" in getattr(creator, "metadata", {}).get("render_modes", ())
        picture = {"render_mode": "ansi"} if text and "render_mode" not in kwargs else {}
        # TurnEnv has the limit on steps; -1 keeps Gymnasium from adding it too.
        made: Any = gymnasium.make(name, max_episode_steps=-1, disable_env_checker=True, **picture, **kwargs)
    except ImportError as error:
        raise MissingExtra(f"'gymnasium:{name}' needs more: {error}") from error
    except gymnasium.error.DependencyNotInstalled as error:
        raise MissingExtra(f"'gymnasium:{name}' needs more: {error}") from error
    except TypeError as error:
        raise ConfigError(f"'gymnasium:{name}' does not take {dict(kwargs)}: {error}") from error
    return made


def _actions(name: str, made: Any, names: Sequence[str], described: str) -> Actions:
    try:
        check_readable(made.observation_space)
    except ConfigError as error:
        raise ConfigError(f"'gymnasium:{name}' cannot be read as text: its observations are {error}") from error
    # Atari's environments have names of actions, others say in their docstrings what each number means.
    own = getattr(made.unwrapped, "get_action_meanings", None)
    if own is not None and not names:
        names = [str(each) for each in own()]
    meanings = re.findall(r"^\s*- \d+: (.+?)\s*$", _section(described, "Action Space"), re.MULTILINE)
    try:
        return actions_of(made.action_space, names, meanings)
    except ConfigError as error:
        raise ConfigError(f"'gymnasium:{name}' cannot be played by writing: its actions are {error}") from error


def _section(docstring: str, title: str) -> str:
    """A section of a docstring, without code and pictures."""
    parts = re.split(r"^\s*## (.*)$", docstring, flags=re.MULTILINE)
    found = dict(zip((part.strip() for part in parts[1::2]), parts[2::2], strict=True)).get(title, "")
    return inspect.cleandoc(re.sub(r"```.*?```|!\[.*?\]\(.*?\)", "", found, flags=re.DOTALL)).strip()


def resolve(name: str) -> EnvSpec | None:
    """The spec of `gymnasium:name`, or None. See `gem.EnvSource`."""
    found = gymnasium.registry.get(name)
    if found is None:
        return None
    limit = found.max_episode_steps
    notes = [
        "Seeds, options of reset and keyword arguments go to Gymnasium.",
        "A snapshot is the seed and the actions: restoring it plays them again.",
    ]
    if limit is None:
        notes.append(f"Gymnasium sets no limit on steps; here it is {LIMIT}, unless max_turns is given.")
    if found.nondeterministic:
        notes.append("Gymnasium registers it as not deterministic: its episodes may not come out the same again.")
    return EnvSpec(
        id=f"gymnasium:{name}",
        entry_point="gem_interop.envs.gymnasium:GymnasiumEnv",
        kwargs={"name": name},
        max_turns=limit or LIMIT,
        description=f"{name} of Gymnasium {gymnasium.__version__}",
        tags=("gymnasium",),
        notes=tuple(notes),
    )


def names() -> list[str]:
    """The newest version of each environment that can be made and played here. Takes a second."""
    found: list[str] = []
    for name in list(gymnasium.registry):
        space, short, version = parse_env_id(name)
        if version is not None and version != find_highest_version(space, short):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                GymnasiumEnv(name).close()
        except Exception:  # it is not for us, or its library is not here
            continue
        found.append(name)
    return found
