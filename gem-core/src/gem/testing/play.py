"""Playing an episode for a check, and comparing two of them.

A played episode is kept as text, one line for `reset` and one for each turn, so that episodes from other processes
compare as well as our own, and what an env changes in a returned object afterwards does not count.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, cast

from gem.core import Env
from gem.errors import ContractViolation

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_BEFORE, _AFTER = 40, 60
"""Characters of a line shown before and after the place where two lines part."""

ActionChooser = Callable[[Env], str]
"""What says the next action in the env's present state."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A reset (`action` is None) or a turn: what it brought, as text and as the env returned it."""

    action: str | None
    line: str
    raw: Any = None

    @property
    def over(self) -> bool:
        """Whether the episode ended here."""
        return self.action is not None and bool(self.raw[2] or self.raw[3])


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """One episode, as far as it was played."""

    seed: int
    transitions: tuple[Transition, ...]

    @property
    def ended(self) -> bool:
        """Whether the episode came to its end, and not only to the most turns that a check plays."""
        return self.transitions[-1].over

    @property
    def actions(self) -> list[str]:
        """What was said, turn by turn."""
        return [step.action for step in self.transitions if step.action is not None]

    def without_raw(self) -> "PlayedEpisode":
        """The same without the env's own objects, which may not go through a pipe."""
        return PlayedEpisode(self.seed, tuple(replace(step, raw=None) for step in self.transitions))


def random_action(env: Env) -> str:
    """The env's own random action."""
    return env.sample_action()


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
    """An episode as it is played: the reset, then up to `turns` turns."""
    yield start(env, seed)
    for _ in range(turns):
        step = act(env, choose(env))
        yield step
        if step.over:
            return


def play(env: Env, seed: int, turns: int, choose: ActionChooser = random_action) -> PlayedEpisode:
    """A whole episode, or its first `turns` turns."""
    return PlayedEpisode(seed, tuple(transitions(env, seed, turns, choose)))


def difference(expected: Sequence[Transition], got: Sequence[Transition], first_turn: int = 0) -> str | None:
    """Where two episodes from one seed part first, as a clause with both sides; None where they are the same.

    The first moments are those of `first_turn`; that of turn 0 is the reset.
    """
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
    """Compare two episodes as `difference` does.

    Raises:
        ContractViolation: they part; it says `fault` and where, and how to `fix` it.
    """
    found = difference(expected, got, first_turn)
    if found:
        raise ContractViolation(f"{fault}: {found}.", fix)


def as_line(raw: object) -> str:
    """What an env returned, as text that is the same in every process: keys and sets are sorted."""
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
    if hasattr(value, "tolist"):  # an array or a number of NumPy's
        return _plain(cast("Any", value).tolist())
    return _ADDRESS.sub("", repr(value))


def _excerpts(left: str, right: str) -> tuple[str, str]:
    """Both texts around the place where they part."""
    shorter = min(len(left), len(right))
    place = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    begin, end = max(0, place - _BEFORE), place + _AFTER
    return _shown(left, begin, end), _shown(right, begin, end)


def _shown(text: str, begin: int, end: int) -> str:
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
