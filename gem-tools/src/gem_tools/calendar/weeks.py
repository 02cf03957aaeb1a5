"""Weeks as the state of a session: what the calendar's tools work on where no environment holds it."""

import json
from random import Random

from gem.tool import Resource
from gem_tools.calendar.errands import draw
from gem_tools.calendar.week import Week


class Weeks(Resource[Week]):
    """A week of the session's own, filled from a seed: every session with that seed begins with the same one."""

    def __init__(self, seed: int = 0, *, events: int = 6, todos: int = 3) -> None:
        self.seed, self.events, self.todos = seed, events, todos

    def open(self) -> Week:
        return draw(Random(self.seed), events=self.events, todos=self.todos, errands=0).week

    def close(self, state: Week) -> None:
        """A week holds nothing to give back."""

    def snapshot(self, state: Week) -> bytes:
        return json.dumps(state.state()).encode()

    def restore(self, state: Week, saved: bytes) -> None:
        state.become(json.loads(saved))
