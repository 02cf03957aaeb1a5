"""Playing episodes for the checks, and comparing them.

Episodes are compared as text, one line for `reset` and one per turn, so that episodes of other processes can be
compared, and later changes of returned objects do not matter.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, cast

from gem.core import Env
from gem.errors import ContractViolation
from gem.tool.content import text_of

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_BEFORE, _AFTER = 40, 60
"""Characters shown before and after the first difference of two lines."""

ActionChooser = Callable[[Env], str]
"""Chooses the next action in the current state of the env."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A reset (`action` is None) or a turn: its result as text and as it was returned."""

    action: str | None
    line: str
    raw: Any = None

    @property
    def over(self) -> bool:
        """Whether the episode ended here."""
        return self.action is not None and bool(self.raw[2] or self.raw[3])


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """One episode, as far as it was played. What it returned is known in the process that has played it."""

    seed: int
    transitions: tuple[Transition, ...]

    @property
    def ended(self) -> bool:
        """Whether the episode ended by itself, and not at the turn limit of a check."""
        return self.transitions[-1].over

    @property
    def actions(self) -> list[str]:
        """The action of each turn."""
        return [step.action for step in self.transitions if step.action is not None]

    @property
    def lines(self) -> tuple[str, ...]:
        """All that the env returned, as text."""
        return tuple(step.line for step in self.transitions)

    @property
    def won(self) -> bool:
        """Whether it ended in success."""
        return self.ended and bool(self.transitions[-1].raw[4].get("success"))

    @property
    def reward(self) -> float:
        """The sum of the rewards."""
        return sum(step.raw[1] for step in self.transitions if step.action is not None)

    @property
    def observations(self) -> list[str]:
        """The texts of the observations, that of the reset first."""
        return [text_of(step.raw[0]) for step in self.transitions]

    @property
    def infos(self) -> list[Mapping[str, Any]]:
        """The infos, that of the reset first."""
        return [step.raw[-1] for step in self.transitions]

    def without_raw(self) -> "PlayedEpisode":
        """The same without the returned objects, which may not be picklable."""
        return PlayedEpisode(self.seed, tuple(replace(step, raw=None) for step in self.transitions))


def random_action(env: Env) -> str:
    """`env.sample_action()`."""
    return env.sample_action()


def expert_or_random(env: Env) -> str:
    """`env.expert_action()`, and where the env has none, random play."""
    action = env.expert_action()
    return env.sample_action() if action is None else action


def replay_actions(actions: Iterable[str]) -> ActionChooser:
    """The given actions, one after the other."""
    left = iter(actions)
    return lambda _: next(left)


def start(env: Env, seed: int) -> Transition:
    """Reset `env`."""
    raw = env.reset(seed=seed)
    return Transition(None, as_line(raw), raw)


def act(env: Env, action: str) -> Transition:
    """Step `env`."""
    raw = env.step(action)
    return Transition(action, as_line(raw), raw)


def transitions(env: Env, seed: int, turns: int, choose: ActionChooser = random_action) -> Iterator[Transition]:
    """The steps of an episode while it is played: the reset, then up to `turns` turns."""
    yield start(env, seed)
    for _ in range(turns):
        step = act(env, choose(env))
        yield step
        if step.over:
            return


def play(env: Env, seed: int, turns: int, choose: ActionChooser = random_action) -> PlayedEpisode:
    """An episode of at most `turns` turns."""
    return PlayedEpisode(seed, tuple(transitions(env, seed, turns, choose)))


def difference(expected: Sequence[Transition], got: Sequence[Transition], first_turn: int = 0) -> str | None:
    """The first difference of two episodes as a clause, or None. Both begin with `first_turn`; turn 0 is the reset."""
    for turn, (left, right) in enumerate(zip(expected, got, strict=False), start=first_turn):
        where = f"turn {turn}" if turn else "the reset"
        if left.action != right.action:
            first, second = _excerpts(repr(left.action), repr(right.action))
            return f"at {where} the action is {second} instead of {first}"
        if left.line != right.line:
            first, second = _excerpts(left.line, right.line)
            return f"{where} gives {second} instead of {first}"
    if len(expected) != len(got):
        return f"the episode has {len(got) - 1} turns instead of {len(expected) - 1}"
    return None


def expect_same(
    expected: Sequence[Transition], got: Sequence[Transition], fault: str, fix: str, first_turn: int = 0
) -> None:
    """Raise `ContractViolation` with `fault`, the difference and `fix`, if two episodes differ; see `difference`."""
    found = difference(expected, got, first_turn)
    if found:
        raise ContractViolation(f"{fault}: {found}.", fix)


def as_line(raw: object) -> str:
    """The result of an env as text that is the same in every process: keys and sets are sorted."""
    return json.dumps(_plain(raw), sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, AbstractSet):
        return sorted((_plain(item) for item in cast("AbstractSet[object]", value)), key=repr)
    if hasattr(value, "tolist"):  # a NumPy array or number
        return _plain(cast("Any", value).tolist())
    return _ADDRESS.sub("", repr(value))


def _excerpts(left: str, right: str) -> tuple[str, str]:
    """Both texts around their first difference."""
    shorter = min(len(left), len(right))
    place = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    begin, end = max(0, place - _BEFORE), place + _AFTER
    return _shown(left, begin, end), _shown(right, begin, end)


def _shown(text: str, begin: int, end: int) -> str:
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
