"""Questions with short answers: rows of a data set, graded by exact match or F1."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, cast, get_args

from gem.answers.matching import exact_match, f1
from gem.core import Step
from gem.data import Data
from gem.data.golds import Gold, golds_of
from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError
from gem.tool import ToolCall
from gem.wrappers.tool_env import ToolResult
from gem_envs_qa.reading import FORMS, Form, check_form, read_answer, write_answer

Score = Literal["exact", "f1"]
"""The score of an answer."""


class Row(NamedTuple):
    """One question."""

    question: str
    answers: tuple[str, ...]
    """Right answers; each is as good as another."""
    titles: tuple[str, ...]
    """The titles of the documents that lead to the answer, in order; empty if they are not known."""


class Question(DatasetEnv[Row, str]):
    r"""Answer a question in a few words. One turn, or as many as `max_attempts`.

    The question is followed by how to answer: between `<answer>` and `</answer>`, or in `\boxed{}`. In a reply without
    that, the other form is read; the last answer that is not empty counts.

    An answer is right if it equals one of the row's answers once both are normalised as in SQuAD: upper and lower case,
    punctuation and articles do not count (`gem.answers` has the rules, and their source). The reward is 1 for a right
    answer, and for another one 0; with ``score="f1"`` it is the best F1 with one of the row's answers, and success is
    still an exact match. A reply without an answer earns `format_error_reward`, by default 0 as in gem-llm.

    In a `ToolEnv` with `search` over a corpus in which the answers are, the expert searches for the documents of the
    row first, where the row names them.

    Args:
        data: where the rows come from: see `gem.data.DataSource`. The column `question` has a text; `answer` a text, a
            number, a list of them, or a mapping with aliases as in SQuAD and TriviaQA.
        form: "tags" or "box": which form of answer is asked for.
        score: "exact" or "f1".
        instruction: see `gem.dataset_env.DatasetEnv`.
        max_attempts: see `gem.dataset_env.DatasetEnv`.
        format_error_reward: see `gem.dataset_env.DatasetEnv`.
    """

    columns: ClassVar[Mapping[str, str | tuple[str, ...]]] = {
        "question": ("question", "problem", "query", "prompt"),
        "answer": ("answer", "answers", "golden_answers", "possible_answers", "ground_truth"),
    }

    def __init__(
        self,
        data: Data | None = None,
        *,
        form: Form = "tags",
        score: Score = "exact",
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        self.form: Form = check_form(form)
        if score not in get_args(Score):
            raise ConfigError(f"score is one of {', '.join(map(repr, get_args(Score)))}, not {score!r}")
        super().__init__(
            data,
            instruction=self._how_to_answer() if instruction is True else instruction,
            max_attempts=max_attempts,
            format_error_reward=format_error_reward,
        )
        self.score: Score = score
        self.answer_form = f"answer {FORMS[self.form]}"

    def _how_to_answer(self) -> str:
        return (
            "You may think first. Then give the answer alone, as a name, a number or a few words, "
            f"{FORMS[self.form]}; only the last one counts."
        )

    def _row(self, values: Any) -> Row:
        row = cast("Mapping[str, Any]", values)
        try:
            answers = texts(row["answer"])
            others = texts(row["answer_aliases"]) if row.get("answer_aliases") else ()  # as in MuSiQue
            titles = texts(row["titles"]) if row.get("titles") else ()
        except ValueError as error:
            raise ConfigError(f"the row of {row['question']!r:.80}: {error}") from error
        return Row(str(row["question"]), tuple(dict.fromkeys([*answers, *others])), titles)

    def _question(self, row: Row) -> str:
        return row.question

    def _read(self, reply: str) -> str | None:
        return read_answer(reply, self.form)

    def _grade(self, answer: str) -> Step:
        golds = self.row.answers
        success = any(exact_match(answer, gold) for gold in golds)
        reward = best(f1, answer, golds) if self.score == "f1" else float(success)
        return Step.final("That is right." if success else "That is wrong.", reward, success=success)

    def _gold(self, row: Row) -> str:
        return write_answer(row.answers[0], self.form)

    def sample_action(self) -> str:
        """The answer to a random question of the data set."""
        return self._gold(self._row(self.action_rng.choice(self.rows)))

    def sample_call(self) -> ToolCall | None:
        """A search with probability 1/2, for the question or for a document of a random row; otherwise none."""
        if self.action_rng.random() < 0.5:
            return None
        row = self._row(self.action_rng.choice(self.rows))
        return ToolCall("search", {"query": self.action_rng.choice([self.row.question, *row.titles])})

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """A search for the next document that leads to the answer; None once all were searched for."""
        searched = {result.call.arguments.get("query") for result in results}
        left = [title for title in self.row.titles if title not in searched]
        return ToolCall("search", {"query": left[0]}) if left else None


def best(scored: Callable[[str, str], float], answer: str, golds: Sequence[str]) -> float:
    """The highest score of an answer with any of the right ones."""
    return max(scored(answer, gold) for gold in golds)


def texts(answer: Any) -> tuple[str, ...]:
    """The right answers in a column as texts: see `gem.data.golds`.

    >>> texts("Paris"), texts(["5", 5.0, 2.5, True]), texts({"value": "Paris", "aliases": ["Lutetia"]})
    (('Paris',), ('5', '2.5', 'True'), ('Paris', 'Lutetia'))

    Raises:
        ValueError: there is none, or what there is cannot be read.
    """
    return tuple(dict.fromkeys(map(_text, golds_of(answer))))


def _text(gold: Gold) -> str:
    return str(int(gold) if isinstance(gold, float) and gold.is_integer() else gold)
