"""MultiHop: questions about a fictional world whose answers take several searches."""

from collections.abc import Mapping, Sequence
from typing import Any

from gem.answers.matching import exact_match
from gem.answers.number import read_number
from gem.answers.parsing import boxed, tagged
from gem.checks import check_int
from gem.core import Step
from gem.dataset_env import QuestionEnv
from gem.tool import ToolCall
from gem.wrappers.tool_env import ToolResult
from gem_tools.multi_hop.questions import Question, draw, values
from gem_tools.multi_hop.world import world


class MultiHop(QuestionEnv[str]):
    r"""Answer a question whose answer lies `hops` facts away. One turn; an action is `\boxed{Askby}`.

    The world is fictional and described only in the corpus that ships with gem-tools: put a `ToolEnv` with `search` and
    `fetch` around this env. A question names one thing; the document about it names the next, and only the last one has
    the answer. So a question of two hops takes two searches, and is itself a poor query for the second.

    The question says how to answer. Without a box, an answer inside `<answer>` tags is read. It is right if it equals
    the expected one after both are normalised as in SQuAD (lower case, no punctuation, no articles: `gem.answers`); a
    number if it is the expected one, with or without its unit (`gem.answers` says how it may be written).

    Rewards, as in gem-llm's question environments: 1 for a right answer, 0 for a wrong one or a reply without one.

    Args:
        hops: how many facts there are between the question and its answer, from 1 to 3.
    """

    answer_form = "answer inside \\boxed{}"

    question: Question
    """The question with its answers."""

    def __init__(self, hops: int = 2) -> None:
        super().__init__(format_error_reward=0.0)
        self.hops = check_int("hops", hops, 1, 3)

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.question = draw(self.rng, self.hops)
        return (
            f"{self.question.text}\n"
            "You may think first. Give the name or the number alone, inside \\boxed{}, for example \\boxed{Nowhere} or "
            "\\boxed{1234}; only the last box counts."
        )

    def _read(self, reply: str) -> str | None:
        # An empty box does not hide an answer in tags.
        return boxed(reply) or tagged(reply)

    def _grade(self, answer: str) -> Step:
        success = any(_is_same(answer, expected) for expected in self.question.answers)
        return Step.final("That is right." if success else "That is wrong.", float(success), success=success)

    def sample_call(self) -> ToolCall | None:
        """A search or a fetch for a random thing of the world with probability 2/3; otherwise none."""
        chosen = self.action_rng.choice([("search", "query"), ("fetch", "title"), None])
        if chosen is None:
            return None
        tool, parameter = chosen
        return ToolCall(tool, {parameter: self.action_rng.choice(list(world().things.values())).title})

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """The next search of the plan; None once all are done."""
        searched = {result.call.arguments.get("query") for result in results}
        for hop in self.question.plan:
            if hop.title not in searched:
                return ToolCall("search", {"query": hop.title})
        return None

    def sample_action(self) -> str:
        """A random value of the relation that the question asks for."""
        return f"\\boxed{{{self.action_rng.choice(values(*self.question.last))}}}"

    def expert_action(self) -> str:
        """The right answer. In a `ToolEnv` with `search` it searches first."""
        return f"\\boxed{{{self.question.answers[0]}}}"


def _is_same(answer: str, expected: str) -> bool:
    number, _, unit = expected.partition(" ")
    if number.isdecimal():
        return read_number(answer.strip(" .").lower().removesuffix(unit)) == int(number)
    return exact_match(answer, expected)
