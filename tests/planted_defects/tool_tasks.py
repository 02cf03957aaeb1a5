"""Sound tasks with tools: the bases of the planted defects."""

from gem import Step, TurnEnv
from gem.answers import boxed, read_number
from gem.dataset_env import QuestionEnv
from gem.errors import ToolError
from gem.tool import tool
from gem.tool.formats import ToolCall
from planted_defects.questions import FACTS, Capitals


class Bays(QuestionEnv[str]):
    """Say how many crates two bays of a store have together; a tool counts those of one bay."""

    answer_form = "number inside \\boxed{}"

    def _reset(self, options):
        self.counts = {bay: self.rng.randint(100, 999) for bay in "ABCDEF"}
        self.asked, self.counted = self.rng.sample(sorted(self.counts), 2), []
        return self._text()

    def _text(self):
        return (
            f"How many crates do the bays {self.asked[0]} and {self.asked[1]} have together? "
            "Answer with a number inside \\boxed{}."
        )

    @property
    def gold(self):
        return sum(self.counts[bay] for bay in self.asked)

    @tool
    def count(self, bay: str) -> str:
        """Count the crates of a bay.

        Args:
            bay: its letter.
        """
        if bay not in self.counts:
            raise ToolError("There is no such bay.")
        return str(self.counts[bay])

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        right = read_number(answer) == self.gold
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(200, 1998)}}}"

    def sample_call(self):
        return ToolCall("count", {"bay": self.action_rng.choice("ABCDEF")}) if self.action_rng.random() < 0.5 else None

    def expert_call(self, results):
        self.counted = [read_number(str(each.content)) or 0 for each in results]
        return ToolCall("count", {"bay": self.asked[len(results)]}) if len(results) < 2 else None

    def expert_action(self):
        return f"\\boxed{{{int(sum(self.counted))}}}"


class Orders(TurnEnv):
    """Cancel those of four orders that are not shipped yet, and no other: 1 if that is what happened."""

    number = 4

    def _reset(self, options):
        self.shipped = {}
        for order in self.rng.sample(range(10000, 99999), self.number):
            self.shipped[str(order)] = self.rng.random() < 0.5
        self.cancelled = set()
        if not self._accepted():
            return self._reset(options)
        return (
            f"A customer wants to cancel: {', '.join(self.shipped)}. An order that is shipped stays as it is; cancel "
            "the others. Then say that you are done."
        )

    def _accepted(self):
        return len(set(self.shipped.values())) == 2

    @tool
    def status(self, order: str) -> str:
        """Look up whether an order is shipped."""
        if order not in self.shipped:
            raise ToolError("There is no such order.")
        return "shipped" if self.shipped[order] else "open"

    @tool
    def cancel(self, order: str) -> str:
        """Cancel an order."""
        if order not in self.shipped:
            raise ToolError("There is no such order.")
        self.cancelled.add(order)
        return "cancelled"

    def _step(self, action):
        right = self.cancelled == {order for order, shipped in self.shipped.items() if not shipped}
        return Step.final("Thank you.", float(right), success=right)

    def sample_action(self):
        return "Done."

    def sample_call(self):
        order = self.action_rng.choice(sorted(self.shipped))
        name = self.action_rng.choice(["status", "cancel", ""])
        return ToolCall(name, {"order": order}) if name else None

    def expert_call(self, results):
        known = {each.call.arguments["order"]: each.content for each in results if each.call.name == "status"}
        for order in self.shipped:
            if order not in known:
                return ToolCall("status", {"order": order})
            if known[order] == "open" and order not in self.cancelled:
                return ToolCall("cancel", {"order": order})
        return None

    def expert_action(self):
        return "Done."


class Library(Capitals):
    """Name a capital; a tool looks it up."""

    @tool
    def look_up(self, country: str) -> str:
        """Look up the capital of a country.

        Args:
            country: its name in English.
        """
        if country not in FACTS:
            raise ToolError("I know no such country.")
        return FACTS[country]

    def sample_call(self):
        return None
