"""Tools and an env to try them on. Other processes import this file, so it imports no other test file."""

import asyncio

import gem
from gem.core import Step
from gem.rollout.policy import Completion, Policy
from gem.tool import Resource, Tool, ToolCall, ToolError, tool
from gem.wrappers import TurnLimit
from gem.wrappers.tool_env import ToolEnv


def call_many(runtime, calls, session=None):
    """The result of each call, or the exception it raised; all are made at once, in this order."""

    async def main():
        each = (runtime.acall(tool, arguments, session) for tool, arguments in calls)
        return await asyncio.gather(*each, return_exceptions=True)

    return asyncio.run(main())


RAN: list[tuple[str, object]] = []
"""Every call that reached one of these tools, in this process."""


@tool
def python(code: str) -> str:
    """Run a program."""
    RAN.append(("python", code))
    return f"ran {code}"


@tool
def search(query: str, top: int = 3) -> str:
    """Look something up.

    Args:
        query: what to look for.
        top: how many documents.
    """
    RAN.append(("search", (query, top)))
    if not query.isascii():
        raise ToolError("only English is indexed")
    return f"{top} documents on {query}"


@tool
async def book(day: int, hour: int) -> str:
    """Book a room."""
    RAN.append(("book", (day, hour)))
    return f"booked {day}, {hour}:00"


@tool
def now() -> str:
    """What time it is."""
    RAN.append(("now", ()))
    return "noon"


@tool
def broken(how: str) -> str:
    """Fail by a fault of its own."""
    raise KeyError(how)


def greeter(word: str = "hello") -> Tool:
    """A tool that depends on a setting."""
    return Tool(name="greet", description="Greet.", parameters={}, function=lambda: word)


class Caller(Policy):
    """Calls twice, once in vain, and gives up."""

    SAYS = ("<python>1</python>", "<python></python>", "<python>2</python>", "I give up.")

    def __init__(self):
        self._ready = {}

    def send(self, transcripts):
        self._ready |= {slot: Completion(self.SAYS[len(said.turns)]) for slot, said in transcripts.items()}

    def recv(self, min_results=1, timeout=None):
        ready, self._ready = self._ready, {}
        return ready


def shouter(word: str) -> Tool:
    """A tool that cannot do without a setting."""
    return greeter(word.upper())


def pair(last: str = "second") -> list[Tool]:
    """Two tools under one name."""
    return [Tool(name=name, description="Greet.", parameters={}, function=str) for name in ("first", last)]


def impatient(env: gem.Env) -> gem.Env:
    """A wrapper that can be named: two turns."""
    return TurnLimit(env, max_turns=2)


class Notes(Resource[list[str]]):
    """Lines of an episode."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    def open(self) -> list[str]:
        self.opened += 1
        return []

    def close(self, state: list[str]) -> None:
        self.closed += 1

    def snapshot(self, state: list[str]) -> bytes:
        return "\n".join(state).encode()

    def restore(self, state: list[str], saved: bytes) -> None:
        state[:] = saved.decode().split("\n")


notes = Notes()


@tool(resource=notes)
def note(lines: list[str], text: str) -> str:
    """Write a line down, and read all of them."""
    if text == "fault":
        raise OSError("the disk is gone")
    lines.append(text)
    return " | ".join(lines)


class Listener(gem.TurnEnv):
    """Counts three replies; the third ends the episode. It keeps the replies."""

    def _reset(self, options):
        self.replies = []
        return "Say something."

    def _step(self, action):
        self.replies.append(action)
        if action == "crash":
            raise RuntimeError("the env is broken")
        if len(self.replies) == 3:
            return Step.final("Enough.", 1.0, success=True)
        return Step.ongoing(f"Heard {len(self.replies)}.")

    def sample_action(self):
        return self.action_rng.choice(["yes", "no"])

    def expert_action(self):
        return "yes"


class Talk(gem.TurnEnv):
    """Ends with the first thing that is said."""

    def _reset(self, options):
        return "What is there?"

    def _step(self, action):
        return Step.final("", 1.0, success=action == "A hat.")

    def sample_action(self):
        return "A hat."


class Asks(Listener):
    """Calls tools now and then in random play; its expert calls one, once."""

    def sample_call(self):
        words = self.action_rng.choice(["a", None])
        name = self.action_rng.choice(["search", "note"])
        return ToolCall(name, {"query" if name == "search" else "text": words}) if words else None

    def expert_call(self, results):
        return ToolCall("search", {"query": "x"}) if not results else None


def with_tools(env: gem.Env) -> gem.Env:
    """A wrapper that can be named: tools without and with a state."""
    return ToolEnv(env, [search, note], max_calls=3)


class Lamp(gem.TurnEnv):
    """Turn the lamp to the brightness that is asked for, and say that it is done. Calls take turns, too."""

    def __init__(self, max_turns: int | None = 6) -> None:
        super().__init__(max_turns=max_turns)

    def _reset(self, options):
        self.brightness, self.wanted = 0, self.rng.randint(2, 4)
        return f"Turn the lamp to {self.wanted}."

    @tool
    def brighten(self, by: int = 1) -> str:
        """Turn the lamp up.

        Args:
            by: how many steps.
        """
        if self.brightness + by > 5:
            raise ToolError("it is not that bright")
        self.brightness += by
        return "The lamp is brighter."

    @tool
    async def dim(self, by: int = 1) -> str:
        """Turn the lamp down."""
        self.brightness = max(0, self.brightness - by)
        return "The lamp is darker."

    def after_call(self, shown):
        self.turn += 1
        if self.brightness == 5:
            return Step.final(f"{shown} The bulb is gone.", -1.0, success=False)
        if self.last_turn:
            return Step.cut_off(f"{shown} It is late.")
        return Step.ongoing(f"{shown} It is at {self.brightness}.")

    def _step(self, action):
        return Step.final(
            "You are done.", float(self.brightness == self.wanted), success=self.brightness == self.wanted
        )

    def sample_call(self):
        name = self.action_rng.choice(["brighten", "dim", None])
        return ToolCall(name, {"by": self.action_rng.randint(1, 2)}) if name else None

    def expert_call(self, results):
        return ToolCall("brighten", {}) if self.brightness < self.wanted else None

    def sample_action(self):
        return "Done."

    def expert_action(self):
        return "Done."
