"""Tasks in a calendar and a to-do list, graded by what these hold in the end."""

from collections.abc import Mapping, Sequence
from typing import Any

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.tool import Content, ToolCall
from gem.tool.content import wrap
from gem.turn_env import TurnEnv
from gem.wrappers.tool_env import ToolResult
from gem_tools.calendar.planner import next_call
from gem_tools.calendar.tasks import MOST_EVENTS, MOST_TASKS, MOST_TODOS, RULES, TITLES, TODOS, draw
from gem_tools.calendar.tools import CalendarTools
from gem_tools.calendar.week import CLOSES, DAYS, OPENS, clock

_DONE = "\\boxed{done}"


class Calendar(CalendarTools, TurnEnv):
    r"""Do tasks in a calendar and a to-do list by calling tools, then say `\boxed{done}`.

    The tools are this env's own: put a `gem.ToolEnv` around it, as the ids do. The agent sees only those parts of the
    calendar that it lists. The first observation has the rules, the tasks and the tools; every further one has the
    result of the call and the tasks, which the prompts call errands. They can be done in the order given; "as early
    as it fits" refers to the calendar at that point.

    Rewards: 1 if at `\boxed{done}` the calendar and the list hold exactly what they should, whichever calls led there;
    0 if they do not. A reply with neither a call nor `\boxed{done}` costs 0.1 and loses. A call that cannot be read, or
    that is refused, is answered with the reason. Every reply takes a turn, calls included.

    Args:
        events: 0 to 16, in the calendar at the beginning.
        todos: 0 to 10, on the list at the beginning.
        tasks: 1 to 8.
        max_turns: replies in an episode.
    """

    def __init__(self, events: int = 6, todos: int = 3, tasks: int = 2, max_turns: int | None = 16) -> None:
        super().__init__(max_turns=max_turns)
        self.sizes = {
            "events": check_int("events", events, 0, MOST_EVENTS),
            "todos": check_int("todos", todos, 0, MOST_TODOS),
            "tasks": check_int("tasks", tasks, 1, MOST_TASKS),
        }
        """Numbers of events, to-dos and tasks of an episode."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.week, self.tasks, self.goal = draw(self.rng, **self.sizes)
        return (
            f"You keep a calendar from Monday to Friday, and a to-do list. {RULES}\n\n"
            f"When the errands are done, say {_DONE} without a call. What counts is what the calendar and the list "
            "then hold: exactly what the errands ask for, and everything else as it was.\n"
            f"{self._limit()}A reply with neither a call nor {_DONE} ends the episode as lost.\n\n"
            f"{self._task_list()}"
        )

    def _limit(self) -> str:
        return "" if self.max_turns is None else f"You have {self.max_turns} replies; each call takes one.\n"

    def _task_list(self) -> str:
        numbered = "\n".join(f"{number}. {task}" for number, task in enumerate(self.tasks, 1))
        return f"The errands, to be done in this order:\n{numbered}"

    def after_call(self, shown: Content) -> Step:
        """Every call takes a turn, and the tasks are shown again."""
        self.turn += 1
        if self.last_turn:
            return Step.cut_off(wrap("", shown, "\n\nThat was your last reply: you lose."))
        return Step.ongoing(wrap("", shown, f"\n\n{self._task_list()}"))

    def _step(self, action: str) -> Step:
        if boxed(action, _is_done) is None:
            return self.malformed(f"At turn {self.turn}, you neither called a tool nor said {_DONE}. You lose.")
        if self.week.facts() == self.goal.facts():
            return Step.final("All errands are done, and nothing else has changed.", 1.0, success=True)
        return Step.final("The calendar and the list do not hold what they should.", 0.0, success=False)

    def sample_call(self) -> ToolCall | None:
        """A call with arguments that exist, which may be refused all the same; now and then none."""
        rng = self.action_rng
        day, start = rng.choice(DAYS), clock(rng.randrange(OPENS, CLOSES))
        calls = [
            ToolCall("list_events", {"day": day}),
            ToolCall("list_todos", {}),
            ToolCall("add_event", {"title": rng.choice(TITLES), "day": day, "start": start}),
            ToolCall("add_todo", {"text": rng.choice(TODOS)}),
        ]
        if self.week.events:
            event = {"event_id": rng.choice(list(self.week.events))}
            calls += [ToolCall("move_event", {**event, "day": day, "start": start}), ToolCall("delete_event", event)]
        if self.week.todos:
            todo = {"todo_id": rng.choice(list(self.week.todos))}
            calls += [ToolCall("complete_todo", todo), ToolCall("delete_todo", todo)]
        number = rng.randrange(len(calls) + 1)
        return calls[number] if number < len(calls) else None

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """A look at what must change, then calls that come nearer to the goal; None once it is reached."""
        call = next_call(self.week, self.goal)
        if call is None:
            return None
        look = "list_events" if call.name.endswith("event") else "list_todos"
        return call if any(result.call.name == look for result in results) else ToolCall(look, {})

    def sample_action(self) -> str:
        r"""`\boxed{done}`, the only reply without a call that means anything."""
        return _DONE

    def expert_action(self) -> str:
        r"""`\boxed{done}`; in a `ToolEnv` it calls tools first."""
        return _DONE


def _is_done(content: str) -> bool | None:
    return content.strip().lower() == "done" or None
