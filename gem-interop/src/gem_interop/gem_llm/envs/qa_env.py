"""gem-llm's `QaEnv`, matched by `gem.matching`."""

from collections.abc import Callable
from typing import Any

from gem.matching import exact_match
from gem.parsing import boxed, tagged
from gem_interop.gem_llm.envs.rows import RowsEnv, golds

_PROMPT = (
    "Reason step by step between <think> and </think>, and then give your answer between <answer> and </answer>.\n\n"
    "Question: {question}\n"
)


class QaEnv(RowsEnv):
    r"""A question with a short answer, in `<answer>` tags or with `extract_boxed` in a `\boxed{}`. See `RowsEnv`.

    The column of questions asks for the tags, as gem-llm's does in other words.
    """

    def __init__(self, *args: Any, extract_boxed: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.extractor: Callable[[str], str | None] = boxed if extract_boxed else tagged
        """From a reply to the answer in it."""
        self.dataset = self.dataset.map(self._asked)
        """The rows, whose questions say how to answer."""

    def _asked(self, row: dict[str, Any]) -> dict[str, Any]:
        return {self.question_key: _PROMPT.format(question=row[self.question_key])}

    def is_right(self, action: str) -> bool:
        answer = self.extractor(action)
        return answer is not None and self.check_correct(answer, self.answer)

    @staticmethod
    def check_correct(model_answer: str, gt_answer: Any) -> bool:
        """Whether an answer matches one of the right ones."""
        return any(exact_match(model_answer, gold) for gold in golds(gt_answer))

    def sample_random_action(self) -> str:
        return "<answer>Hello World!</answer>"
