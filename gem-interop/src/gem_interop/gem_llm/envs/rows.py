"""What gem-llm's environments of data sets share; those of GEM are made by their ids."""

import random
from typing import Any

from gem.errors import ConfigError
from gem_interop.gem_llm.core import Env
from gem_interop.gem_llm.utils.constants import TERMINAL_STATE


class RowsEnv(Env):
    """Asks a row of a data set of Hugging Face's `datasets`; the episode is one answer.

    Without a seed, rows are asked in an order that `seed` shuffles, each once and then anew; a seed draws one.

    Args:
        dataset_name: on the hub or a folder, loaded by `datasets.load_dataset`; or else
        dataset: the data set itself.
        split: of the data set, if it has several.
        question_key: the column with the question.
        answer_key: the column with the answer, or with a list of answers, each of which is right.
        seed: of the order.
        settings: other settings of gem-llm's, which are ignored.
    """

    def __init__(
        self,
        dataset_name: str = "",
        split: str | None = None,
        dataset: Any = None,
        question_key: str = "question",
        answer_key: str = "answer",
        seed: int = 0,
        **settings: Any,
    ) -> None:
        self.seed = seed
        self.question_key = question_key
        self.answer_key = answer_key
        self.dataset = _rows(dataset_name, split, dataset).shuffle(seed=seed)
        self.idx = self.epoch = 0
        self.first_obs = ""
        """The question of this episode."""
        self.answer: Any = None
        """Its answer, or a list of right answers."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed)
        if seed is not None:
            self.idx = random.randrange(len(self.dataset))
        elif self.idx >= len(self.dataset):
            self.epoch += 1
            self.dataset = self.dataset.shuffle(seed=self.seed + self.epoch)
            self.idx = 0
        row = self.dataset[self.idx]
        self.idx += 1
        self.first_obs, self.answer = row[self.question_key], row[self.answer_key]
        return self.first_obs, {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        correct = self.is_right(action)
        return TERMINAL_STATE, float(correct), True, True, {"correct": correct}

    def is_right(self, action: str) -> bool:
        """Whether an action answers the question."""
        raise NotImplementedError


def _rows(name: str, split: str | None, dataset: Any) -> Any:
    if dataset is None:
        if not name:
            raise ConfigError("give a dataset_name or a dataset")
        from datasets import load_dataset  # pyright: ignore[reportMissingTypeStubs]

        dataset = load_dataset(name)
    if not hasattr(dataset, "keys"):
        return dataset
    if split is None and len(dataset) > 1:
        raise ConfigError(f"the data set {name} has the splits {', '.join(dataset)}: say which, with split=")
    return dataset[next(iter(dataset)) if split is None else split]


def golds(answer: Any) -> list[str]:
    """The right answers as text."""
    return [str(each) for each in answer] if isinstance(answer, list) else [str(answer)]
