"""Storeroom: move a thing to another shelf with tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from gem import Step, TurnEnv
from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.tool import Content, ToolCall, ToolError, tool
from gem.tool.content import wrap
from gem.wrappers.tool_env import ToolResult

SHELVES = ("top", "middle", "bottom")
THINGS = ("apples", "books", "candles", "lamps", "nails", "paint", "rope", "towels")

_DONE = "\\boxed{done}"


class Storeroom(TurnEnv):
    r"""Find a thing in a storeroom and move it to a shelf by calling tools, then say `\boxed{done}`.

    The tools are this env's own: put a `gem.ToolEnv` around it, as the ids do. The first observation has the task and
    the tools; every further one has the result of the call.

    Rewards: 1 if at `\boxed{done}` every thing is where it should be, otherwise 0. A reply with neither a call nor
    `\boxed{done}` costs 0.1 and loses. Every reply takes a turn, calls included.

    Args:
        things: in the storeroom, from 1 to 8.
        max_turns: replies in an episode.
    """

    def __init__(self, things: int = 4, max_turns: int | None = 16) -> None:
        super().__init__(max_turns=max_turns)
        self.things = check_int("things", things, 1, len(THINGS))
        self.shelf_of: dict[str, str] = {}
        """Thing → the shelf that it is on."""
        self.goal: dict[str, str] = {}
        """The same, at the end of a successful episode."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.shelf_of = {thing: self.rng.choice(SHELVES) for thing in self.rng.sample(THINGS, self.things)}
        self.wanted = self.rng.choice(sorted(self.shelf_of))
        target = self.rng.choice([shelf for shelf in SHELVES if shelf != self.shelf_of[self.wanted]])
        self.goal = {**self.shelf_of, self.wanted: target}
        return (
            f"A storeroom has three shelves: {', '.join(SHELVES)}. Move the {self.wanted} to the {target} shelf, and "
            f"leave everything else where it is. You have {self.max_turns} replies; each call takes one.\n"
            f"When it is done, say {_DONE} without a call. A reply with neither a call nor {_DONE} loses."
        )

    @tool
    def look(self, shelf: str) -> str:
        """List the things on a shelf.

        Args:
            shelf: top, middle or bottom.
        """
        _check_shelf(shelf)
        return ", ".join(thing for thing, on in self.shelf_of.items() if on == shelf) or "nothing"

    @tool
    def move(self, thing: str, shelf: str) -> str:
        """Move a thing to a shelf.

        Args:
            thing: its name.
            shelf: top, middle or bottom.
        """
        _check_shelf(shelf)
        if thing not in self.shelf_of:
            raise ToolError(f"There is no {thing!r} in this storeroom.")
        self.shelf_of[thing] = shelf
        return f"The {thing} are on the {shelf} shelf now."

    def after_call(self, shown: Content) -> Step:
        """Every call takes a turn."""
        self.turn += 1
        if self.last_turn:
            return Step.cut_off(wrap("", shown, "\n\nThat was your last reply: you lose."))
        return Step.ongoing(shown)

    def _step(self, action: str) -> Step:
        if (boxed(action) or "").strip() != "done":
            return self.malformed(f"You neither called a tool nor said {_DONE}. You lose.")
        success = self.shelf_of == self.goal
        text = "Everything is where it should be." if success else "Not everything is where it should be."
        return Step.final(text, float(success), success=success)

    def sample_call(self) -> ToolCall | None:
        """A call with arguments that exist; now and then none."""
        shelf = self.action_rng.choice(SHELVES)
        thing = self.action_rng.choice(sorted(self.shelf_of))
        calls = (ToolCall("look", {"shelf": shelf}), ToolCall("move", {"thing": thing, "shelf": shelf}), None)
        return self.action_rng.choice(calls)

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """Moves the thing, unless it is there already."""
        if self.shelf_of == self.goal:
            return None
        return ToolCall("move", {"thing": self.wanted, "shelf": self.goal[self.wanted]})

    def sample_action(self) -> str:
        r"""`\boxed{done}`, the only reply without a call that means anything."""
        return _DONE

    def expert_action(self) -> str:
        r"""`\boxed{done}`; in a `ToolEnv` it calls tools first."""
        return _DONE


def _check_shelf(shelf: str) -> None:
    if shelf not in SHELVES:
        raise ToolError(f"There is no shelf {shelf!r}; there are: {', '.join(SHELVES)}.")
