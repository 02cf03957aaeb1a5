"""Gymnasium's spaces as text: an observation to read, and an action to write."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from gymnasium import spaces

from gem.answers.parsing import boxed
from gem.errors import ConfigError
from gem_interop.envs.base import readable

MOST_NUMBERS = 256
"""Most numbers of an observation: more is an image, not a text."""


def check_readable(space: spaces.Space[Any]) -> None:
    """Check that an observation of this space can be read as text.

    Raises:
        ConfigError: it cannot; the message begins with what it is.
    """
    if isinstance(space, spaces.Dict | spaces.Tuple):
        for each in space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces:
            check_readable(each)
    elif isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
        if np.prod(space.shape) > MOST_NUMBERS:
            raise ConfigError(f"arrays of {' x '.join(map(str, space.shape))} numbers, more than {MOST_NUMBERS}")
    elif not isinstance(space, spaces.Discrete | spaces.Text):
        raise ConfigError(f"of the space {type(space).__name__}")


def shown(space: spaces.Space[Any], value: Any, names: Sequence[str] = ()) -> str:
    """An observation as text: numbers with four digits, rows of arrays and entries of mappings in lines.

    Args:
        space: of which the value is.
        value: the observation.
        names: of its numbers, in their order.
    """
    if isinstance(space, spaces.Text):
        return readable(str(value))
    if isinstance(space, spaces.Dict):
        return "\n".join(f"{key}: {shown(each, value[key])}" for key, each in space.spaces.items())
    if isinstance(space, spaces.Tuple):
        parts = [shown(each, part) for each, part in zip(space.spaces, value, strict=True)]
    else:
        array = np.asarray(value)
        if array.ndim > 1:
            return "\n".join(" ".join(map(_number, row)) for row in array.reshape(-1, array.shape[-1]))
        parts = [_number(each) for each in array.reshape(-1)]
    if len(names) == len(parts):
        parts = [f"{name} {part}" for name, part in zip(names, parts, strict=True)]
    return ", ".join(parts)


def _number(value: Any) -> str:
    return f"{float(value):.4g}" if isinstance(value, np.floating | float) else str(int(value))


class Actions(ABC):
    """Conversion of a reply to an action of a space."""

    how: str
    """The actions and how to answer, for the agent."""

    @abstractmethod
    def read(self, text: str) -> Any:
        """The action that a text is, or None."""

    @abstractmethod
    def sample(self, rng: Random) -> str:
        """A random action, as its text."""

    def of_reply(self, reply: str) -> Any:
        r"""The action of a reply: that of its last `\boxed{…}` that is one, or else of the whole reply; or None."""
        found = boxed(reply, self.read)
        return self.read(reply.strip()) if found is None and "\\boxed" not in reply else found


class _Numbered(Actions):
    """`Discrete`: an action has a number, and a name if there are names."""

    def __init__(self, space: spaces.Discrete, names: Sequence[str], meanings: Sequence[str]) -> None:
        self._first, self._count, self._type = int(space.start), int(space.n), space.dtype.type
        if names and len(names) != self._count:
            raise ConfigError(f"there are {self._count} actions, and {len(names)} names in actions={list(names)!r}")
        self._names = tuple(names)
        self._by_name = {name.casefold(): number for number, name in enumerate(names)}
        numbers = range(self._first, self._first + self._count)
        if names:
            listed = ", ".join(names)
        elif len(meanings) == self._count:
            listed = ", ".join(f"{number} ({what})" for number, what in zip(numbers, meanings, strict=True))
        else:
            listed = f"the numbers from {numbers[0]} to {numbers[-1]}"
        self.how = f"The actions are {listed}. Answer with one of them in \\boxed{{}}, such as {self._text(0)}."

    def read(self, text: str) -> Any:
        name = text.strip().casefold()
        number = self._by_name.get(name)
        if number is None:
            given = _integer(name)
            if given is None or not self._first <= given < self._first + self._count:
                return None
            number = given - self._first
        return self._type(self._first + number)

    def sample(self, rng: Random) -> str:
        return self._text(rng.randrange(self._count))

    def _text(self, number: int) -> str:
        return f"\\boxed{{{self._names[number] if self._names else self._first + number}}}"


class _Numbers(Actions):
    """`MultiDiscrete` and `MultiBinary`: some numbers with spaces or commas between."""

    def __init__(self, space: spaces.MultiDiscrete | spaces.MultiBinary) -> None:
        if isinstance(space, spaces.MultiDiscrete):
            first = np.asarray(space.start).reshape(-1)
            counts = np.asarray(space.nvec).reshape(-1)
        else:
            counts = np.full(int(np.prod(space.shape)), 2)
            first = np.zeros_like(counts)
        self._ranges = [range(int(low), int(low + count)) for low, count in zip(first, counts, strict=True)]
        self._shape, self._dtype = space.shape, space.dtype
        listed = ", ".join(f"{each[0]} to {each[-1]}" for each in self._ranges)
        self.how = (
            f"An action is {len(self._ranges)} integers: {listed}. Answer with them in \\boxed{{}}, such as "
            f"\\boxed{{{' '.join(str(each[0]) for each in self._ranges)}}}."
        )

    def read(self, text: str) -> Any:
        numbers = [_integer(part) for part in re.split(r"[\s,;]+", text.strip(" ()[]\n"))]
        if len(numbers) != len(self._ranges) or any(
            number is None or number not in allowed for number, allowed in zip(numbers, self._ranges, strict=True)
        ):
            return None
        return np.array(numbers, dtype=self._dtype).reshape(self._shape)

    def sample(self, rng: Random) -> str:
        return f"\\boxed{{{' '.join(str(rng.choice(each)) for each in self._ranges)}}}"


class _Texts(Actions):
    """`Text`: the whole reply."""

    how = "Your whole reply is the action."

    def __init__(self, space: spaces.Text) -> None:
        self._space = space

    def read(self, text: str) -> Any:
        return text if self._space.contains(text) else None

    def of_reply(self, reply: str) -> Any:
        return self.read(reply)

    def sample(self, rng: Random) -> str:
        self._space.seed(rng.getrandbits(31))
        return str(self._space.sample())


def actions_of(space: spaces.Space[Any], names: Sequence[str] = (), meanings: Sequence[str] = ()) -> Actions:
    """Conversion of replies to actions of a space.

    Args:
        space: the actions.
        names: of the actions of a `Discrete` space, in their order.
        meanings: what each of them means, for the agent, if they have no names.

    Raises:
        ConfigError: an agent that writes cannot take such actions; the message begins with what they are.
    """
    if isinstance(space, spaces.Discrete):
        return _Numbered(space, names, meanings)
    if names:
        raise ConfigError(f"{type(space).__name__}, and actions= names those of a Discrete space only")
    for kind, make in _KINDS:
        if isinstance(space, kind):
            return make(space)
    raise ConfigError(f"{space}, and only text and discrete actions can be written")


_KINDS: tuple[tuple[type, Callable[[Any], Actions]], ...] = (
    (spaces.MultiDiscrete, _Numbers),
    (spaces.MultiBinary, _Numbers),
    (spaces.Text, _Texts),
)


def _integer(text: str) -> int | None:
    # Not more digits than Python converts, and none of other scripts.
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()) else None
