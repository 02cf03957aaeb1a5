"""Errands in a calendar and a to-do list, graded by what these hold in the end."""

from collections.abc import Mapping
from typing import Any

from gem.checks import whole_number
from gem.core import Info, Observation, Step
from gem.errors import BadArguments, ToolError
from gem.parsing import boxed
from gem.tool import BadCall, ToolCall, find_format
from gem.turn_env import TurnEnv
from gem_tools.calendar.errands import MOST_ERRANDS, MOST_EVENTS, MOST_TODOS, RULES, TITLES, TODOS, draw
from gem_tools.calendar.planner import next_call
from gem_tools.calendar.tools import TOOLS
from gem_tools.calendar.week import CLOSES, DAYS, OPENS, clock

_DONE = "\\boxed{done}"


class Calendar(TurnEnv):
    r"""Do errands in a calendar and a to-do list by calling tools, then say `\boxed{done}`.

    The calendar is behind the tools: the agent sees of it what it lists. The first observation has the rules and the
    tools, and each one has the errands and the answer to the last call. The errands can be done in the order in which
    they stand, and how early or late an event fits is meant at its turn.

    Rewards: 1 if at `\boxed{done}` the calendar and the list hold exactly what they should, whichever calls led there;
    0 if they do not. A reply with neither a call nor `\boxed{done}` costs 0.1 and loses. A call that cannot be read, or
    that is refused, is answered with the reason; like every reply, it takes a turn.

    The info has `stop` (the texts with which a call ends), and for a call `tool` with its name and how it went.

    Args:
        events: 0 to 16, in the calendar at the beginning.
        todos: 0 to 10, on the list at the beginning.
        errands: 1 to 8.
        format: how calls look: a name from `gem.tool.FORMATS`.
        max_turns: replies in an episode.
    """

    _unsaved = TurnEnv._unsaved | {"_format"}

    def __init__(
        self,
        events: int = 6,
        todos: int = 3,
        errands: int = 2,
        format: str = "hermes",
        max_turns: int | None = 16,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self.sizes = {
            "events": whole_number("events", events, 0, MOST_EVENTS),
            "todos": whole_number("todos", todos, 0, MOST_TODOS),
            "errands": whole_number("errands", errands, 1, MOST_ERRANDS),
        }
        self._format = find_format(format)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "stop": list(self._format.stops(TOOLS))}

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.week, self.errands, self.goal = draw(self.rng, **self.sizes)
        self._looked: set[str] = set()
        return (
            f"You keep a calendar from Monday to Friday, and a to-do list. {RULES}\n\n"
            f"{self._format.describe(TOOLS)}\n\n"
            f"When the errands are done, say {_DONE} without a call. What counts is what the calendar and the list "
            "then hold: exactly what the errands ask for, and everything else as it was.\n"
            f"{self._limit()}A reply with neither a call nor {_DONE} ends the episode as lost.\n\n"
            f"{self._board()}"
        )

    def _limit(self) -> str:
        return "" if self.max_turns is None else f"You have {self.max_turns} replies; each call takes one.\n"

    def _board(self) -> str:
        listed = "\n".join(f"{number}. {errand}" for number, errand in enumerate(self.errands, 1))
        return f"The errands, to be done in this order:\n{listed}"

    def _step(self, action: str) -> Step:
        heard = self._format.read(action, TOOLS)
        if isinstance(heard, ToolCall):
            return self._call(heard)
        if isinstance(heard, BadCall):
            return self._answered(heard.message, None, heard.problem)
        if boxed(action, _is_done) is None:
            return self.malformed(f"At turn {self.turn}, you neither called a tool nor said {_DONE}. You lose.")
        if self.week.facts() == self.goal.facts():
            return Step.final("All errands are done, and nothing else has changed.", 1.0, success=True)
        return Step.final("The calendar and the list do not hold what they should.", 0.0, success=False)

    def _call(self, call: ToolCall) -> Step:
        tool = TOOLS[call.name]
        try:
            said = tool.function(self.week, **tool.validate(call.arguments))
        except BadArguments as error:
            return self._answered(f"{call.name} was not called: {error}.", call.name, "arguments")
        except ToolError as error:
            return self._answered(str(error), call.name, "error")
        assert isinstance(said, str)
        self._looked.add(call.name)
        return self._answered(said, call.name, "ok")

    def _answered(self, said: str, tool: str | None, status: str) -> Step:
        info: Info = {"stop": list(self._format.stops(TOOLS)), "tool": {"name": tool, "status": status}}
        shown = self._format.format_result(said)
        if self.last_turn:
            return Step.cut_off(f"{shown}\n\nThat was your last reply: you lose.", **info)
        return Step.ongoing(f"{shown}\n\n{self._board()}", **info)

    def sample_action(self) -> str:
        r"""A call with arguments that exist, which may be refused all the same, or now and then `\boxed{done}`."""
        rng = self.action_rng
        day, start = rng.choice(DAYS), clock(rng.randrange(OPENS, CLOSES))
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("list_events", {"day": day}),
            ("list_todos", {}),
            ("add_event", {"title": rng.choice(TITLES), "day": day, "start": start}),
            ("add_todo", {"text": rng.choice(TODOS)}),
        ]
        if self.week.events:
            event = {"event_id": rng.choice(list(self.week.events))}
            kinds += [("move_event", {**event, "day": day, "start": start}), ("delete_event", event)]
        if self.week.todos:
            todo = {"todo_id": rng.choice(list(self.week.todos))}
            kinds += [("complete_todo", todo), ("delete_todo", todo)]
        number = rng.randrange(len(kinds) + 1)
        return _DONE if number == len(kinds) else self._say(*kinds[number])

    def expert_action(self) -> str:
        r"""A look at what must change, calls that come nearer to the goal, and in the end `\boxed{done}`."""
        call = next_call(self.week, self.goal)
        if call is None:
            return _DONE
        look = "list_events" if call.tool.endswith("event") else "list_todos"
        return self._say(*call) if look in self._looked else self._say(look, {})

    def _say(self, tool: str, arguments: Mapping[str, Any]) -> str:
        return self._format.write(ToolCall(tool, arguments), TOOLS)


def _is_done(content: str) -> bool | None:
    return content.strip().lower() == "done" or None
