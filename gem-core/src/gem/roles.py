"""Roles that chat models play, such as `judge` and `user`: the model of each, for this process and its workers.

`gem.use_models` sets them, and `gem.chat_model` finds them; this module holds what both share with the vector, which
hands them to its workers and brings back what these have used.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from gem.episode.turn import Usage

RoleModel = str | Mapping[str, Any] | Callable[..., Any]
"""The model of a role: a reference as of a policy, or a function that answers."""


class Asked(Struct, frozen=True, omit_defaults=True):
    """What a role has been asked for; these can be added, and an earlier one subtracted."""

    usage: Usage = Usage()
    """Tokens, seconds and requests, those of answers that could not be used included."""
    replies: int = 0
    """Replies of the model."""
    cached: int = 0
    """Answers that the cache had, which use nothing."""
    failed: int = 0
    """Questions without a usable answer."""

    def __add__(self, other: "Asked") -> "Asked":
        return Asked(
            self.usage + other.usage,
            self.replies + other.replies,
            self.cached + other.cached,
            self.failed + other.failed,
        )

    def __sub__(self, earlier: "Asked") -> "Asked":
        used, before = self.usage, earlier.usage
        return Asked(
            Usage(*(getattr(used, name) - getattr(before, name) for name in used.__struct_fields__)),
            self.replies - earlier.replies,
            self.cached - earlier.cached,
            self.failed - earlier.failed,
        )


class RoleSettings(NamedTuple):
    """The settings of roles, for a worker."""

    models: Mapping[str, RoleModel]
    cache: str | None


class Roles:
    """Models by role, with what each has been asked for. Any thread may call its methods."""

    def __init__(self, settings: RoleSettings, *, in_worker: bool = False) -> None:
        self.settings = settings
        self.in_worker = in_worker
        """Whether this is a worker of a vector, which has less room than the process that started it."""
        self.lock = threading.Lock()
        self.built: dict[str, Any] = {}
        """The models that have been built, by role; `gem.llm.models` makes them."""
        self._asked: dict[str, Asked] = {}

    @property
    def asked(self) -> dict[str, Asked]:
        """What each role has been asked for so far, by workers too."""
        with self.lock:
            return dict(self._asked)

    def count(self, asked: Mapping[str, Asked]) -> None:
        """Add what roles have been asked for."""
        with self.lock:
            for role, more in asked.items():
                self._asked[role] = self._asked.get(role, Asked()) + more

    def close(self) -> None:
        """Let the models be found no longer, and close those that have been built."""
        _in_use[:] = [each for each in _in_use if each is not self]
        with self.lock:
            built, self.built = self.built, {}
        for each in built.values():
            each.close()

    def take(self) -> dict[str, Asked]:
        """What roles have been asked for since the last call, for the process that started this worker."""
        with self.lock:
            asked, self._asked = self._asked, {}
        return asked


_in_use: list[Roles] = []
"""The roles of this process, the newest last."""


def use(roles: Roles) -> None:
    """Let models be found in `roles`, before those that were set earlier."""
    _in_use.append(roles)


def current() -> Roles | None:
    """The roles that were set last."""
    return _in_use[-1] if _in_use else None


def settings() -> RoleSettings | None:
    """The settings of the roles that were set last, for a process that this one starts."""
    return _in_use[-1].settings if _in_use else None


def take_over(settings: RoleSettings | None) -> None:
    """Let the process that another one has started use the roles of that one."""
    if settings is not None and (not _in_use or _in_use[-1].settings != settings):
        use(Roles(settings, in_worker=True))
