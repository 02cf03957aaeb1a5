"""Tasks for the audit that cannot be won, outgrow a context, depend on the world, or have tools for nothing."""

import datetime
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from planted_tasks import Sum

import gem
from gem.errors import ToolError
from gem.tool import ToolCall


class TooFewTurns(gem.TurnEnv):
    """Count to 1 to 9; the episode has five turns."""

    def _reset(self, options):
        self.left = self.most = self.rng.randrange(1, 10)
        self.turns = 0
        return f"Say \\boxed{{1}}, \\boxed{{2}} and so on to \\boxed{{{self.most}}}, one in each reply."

    def _step(self, action):
        self.turns += 1
        if gem.answers.boxed(action) != str(self.turns):
            return gem.Step.final("Wrong.", 0.0, success=False)
        if self.turns == self.most:
            return gem.Step.final("Right.", 1.0, success=True)
        if self.turns == 5:
            return gem.Step.cut_off("There are no turns left.")
        return gem.Step.ongoing(f"You said {self.turns}.")

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(1, 10)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.turns + 1}}}"


class Winnable(TooFewTurns):
    """Count to 1 to 5."""

    def _reset(self, options):
        super()._reset(options)
        self.most = (self.most + 1) // 2
        return f"Say \\boxed{{1}}, \\boxed{{2}} and so on to \\boxed{{{self.most}}}, one in each reply."


class SometimesKnown(Winnable):
    """The expert has no action in some starts."""

    def expert_action(self):
        return None if self.most == 5 else super().expert_action()


class LongRules(Winnable):
    """Each observation has rules of 30,000 characters."""

    def _reset(self, options):
        return super()._reset(options) + "\nOne rule is that nobody lies.\n" * 1000

    def _step(self, action):
        step = super()._step(action)
        return step._replace(observation=step.observation + "\nOne rule is that nobody lies.\n" * 1000)


class Repeats(Winnable):
    """Each observation has all earlier ones in front."""

    def _reset(self, options):
        self.shown = super()._reset(options)
        return self.shown

    def _step(self, action):
        step = super()._step(action)
        self.shown += f"\n{step.observation}"
        return step._replace(observation=self.shown)


class Weekday(Sum):
    """The sum is asked of the day."""

    def _reset(self, options):
        return f"{super()._reset(options)} Today is {datetime.datetime.now(datetime.UTC):%A, %d %B %Y}."


class Midnight(Sum):
    """The info of the last step has the days since 1970."""

    def _step(self, action):
        step = super()._step(action)
        return step._replace(info={**step.info, "day": int(time.time() // 86_400)})


class Utf8(Sum):
    """It reads a file with the encoding of the locale."""

    def _reset(self, options):
        with open(Path(__file__).with_name("planted_worlds.txt")) as file:
            return f"{file.read().strip()} {super()._reset(options)}"


class OfUser(Sum):
    """It greets the user of the machine."""

    def _reset(self, options):
        return f"{os.environ.get('USER', '')}, {super()._reset(options)}"


class Cores(Sum):
    """Its numbers grow with the processors."""

    def _reset(self, options):
        return f"{super()._reset(options)} You have {(os.cpu_count() or 1) * 10} seconds."


class Remembers(Sum):
    """It counts the episodes of an instance."""

    count = 0

    def _reset(self, options):
        self.count += 1
        return f"Question {self.count}: {super()._reset(options)}"


class AsksNetwork(Sum):
    """It asks for an address, and goes on without."""

    def _reset(self, options):
        with suppress(OSError):
            socket.create_connection(("questions.invalid", 80), 1.0).close()
        return super()._reset(options)


class WritesLog(Sum):
    """It keeps a log beside the program."""

    def _step(self, action):
        with Path("sums.log").open("a", encoding="utf-8") as file:
            file.write(f"{action}\n")
        return super()._step(action)


class Calculates(Sum):
    """The sum, with a tool that adds."""

    @gem.tool.tool
    def add(self, first: int, second: int) -> str:
        """Add two numbers."""
        return f"The sum is {first + second}."

    def expert_call(self, results):
        return None if results else ToolCall("add", {"first": self.terms[0], "second": self.terms[1]})


class Weather(Sum):
    """The sum, with a tool that has nothing to do with it."""

    @gem.tool.tool
    def weather(self, town: str) -> str:
        """The weather of a town."""
        return f"It is sunny in {town}."

    def expert_call(self, results):
        return None if results else ToolCall("weather", {"town": "Oslo"})


class Hint(Calculates):
    """The tool tells the sum, whatever it is asked."""

    @gem.tool.tool
    def add(self, first: int, second: int) -> str:
        """Add two numbers."""
        if first > 10**6:
            raise ToolError("these are too large")
        return f"The sum is {self.terms[0] + self.terms[1]}."


class Doors(gem.TurnEnv):
    """Open a door by a tool, then say so: the tool changes the state, and its result tells nothing."""

    def _reset(self, options):
        self.door, self.opened = self.rng.randrange(1, 100), None
        return f"Open door {self.door}, and nothing else. Then say \\boxed{{done}}."

    @gem.tool.tool
    def open_door(self, number: int) -> str:
        """Open a door."""
        self.opened = number
        return "It is done."

    def _step(self, action):
        right = gem.answers.boxed(action) == "done" and self.opened == self.door
        return gem.Step.final("The end.", float(right), success=right)

    def sample_action(self):
        return "\\boxed{done}"

    def expert_action(self):
        return "\\boxed{done}"

    def expert_call(self, results):
        return None if self.opened == self.door else ToolCall("open_door", {"number": self.door})
