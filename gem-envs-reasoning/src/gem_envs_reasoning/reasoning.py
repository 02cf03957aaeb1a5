"""Every dataset of reasoning-gym: one item, one answer, reasoning-gym's own score."""

import json
from collections.abc import Mapping
from typing import Any

from gem.answers.parsing import boxed, tagged
from gem.core import Env, Step
from gem.dataset_env import QuestionEnv
from gem.turn_env import FORMAT_ERROR_REWARD
from gem.work.fork_pool import WorkersFailed
from gem_envs_reasoning import datasets, scoring

INSTRUCTION = (
    "You may think first. Give the answer itself between <answer> and </answer>, in the form that is asked for above; "
    "what stands between the last such tags is graded, and nothing else."
)
_ANSWER_FIELDS = {
    "graph_color": "possible_answer",
    "propositional_logic": "example_answer",
    "rubiks_cube": "example_correct_answer",
}
"""Datasets whose items have the answer in a field of the metadata: the name of that field."""
_SAMPLED_FIELDS = {"intermediate_integration": "variable"}
"""Datasets whose stored answers sympy writes differently in different processes: the field of the metadata that
`sample_action` gives instead."""
_SAMPLED_ITEMS = 8


class Reasoning(QuestionEnv[str]):
    r"""One item of a dataset of reasoning-gym. One turn; an action is `<answer>42</answer>`.

    The env's generator draws the item, without a limit on how many there are. The question ends with how to answer. The
    last complete pair of tags counts; in a reply without one, the last `\boxed{}`, which is gem-llm's form.

    Rewards: reasoning-gym's `score_answer`, from 0 to 1; many datasets give partial credit. Success is a score of 1. A
    reply without an answer earns 0, or -0.1 with ``use_format_error_reward``; so does an answer that is too long, or is
    not an expression where one is asked for (`gem_envs_reasoning.scoring`).

    Args:
        dataset: its name, such as "chain_sum".
        level: a level of its curriculum, from 0, where reasoning-gym has one: each setting at its value there.
        use_format_error_reward: whether a reply without an answer costs 0.1.
        settings: fields of the dataset's configuration, except `seed` and `size`; they override the level's.
    """

    answer_form = "answer between <answer> and </answer> that can be graded"
    _unsaved = Env._unsaved | {"_dataset"}

    def __init__(
        self, dataset: str, level: int | None = None, use_format_error_reward: bool = False, **settings: Any
    ) -> None:
        super().__init__(format_error_reward=FORMAT_ERROR_REWARD if use_format_error_reward else 0.0)
        self.name = dataset
        """The dataset's name."""
        self._dataset = datasets.build(dataset, datasets.configure(dataset, level, settings))
        self.item: dict[str, Any] = {}
        """The question, its answer and metadata, as reasoning-gym gives them."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.item = datasets.draw(self._dataset, self.name, self.rng.getrandbits(32))
        return f"{self.item['question']}\n\n{INSTRUCTION}"

    def _read(self, reply: str) -> str | None:
        answer = tagged(reply)
        if answer is None:
            answer = boxed(reply)
        if answer is None:
            return None
        answer = answer.strip()
        return None if scoring.is_refused(self.item["metadata"]["source_dataset"], answer, self.item) else answer

    def _grade(self, answer: str) -> Step:
        scorer = datasets.source_of(self._dataset, self.item)
        try:
            score = scoring.score(scorer, answer, self.item)
        except WorkersFailed:
            raise
        except Exception:
            # Some scorers raise on an answer that they cannot read. One that raises on the right answer is broken.
            scorer.score_answer(_stored_answer(self.item), self.item)
            score = 0.0
        if score >= 1:
            return Step.final("That is right.", 1.0, success=True)
        partly = f" It scores {score:.2g} of 1." if score > 0 else ""
        return Step.final(f"That is not right.{partly}", score, success=False)

    def sample_action(self) -> str:
        """The answer to one of a few other items; a word of the question if the dataset does not store answers."""
        if self.name in _SAMPLED_FIELDS:
            return f"<answer>{self.item['metadata'][_SAMPLED_FIELDS[self.name]]}</answer>"
        answer = _stored_answer(datasets.draw(self._dataset, self.name, self.action_rng.randrange(_SAMPLED_ITEMS)))
        if answer is None:
            answer = self.action_rng.choice(self.item["question"].split())
        return f"<answer>{answer}</answer>"

    def expert_action(self) -> str | None:
        """The answer that is stored with the item, if it gets full marks."""
        answer = _stored_answer(self.item)
        if answer is None or self._read(f"<answer>{answer}</answer>") is None:
            return None
        return f"<answer>{answer}</answer>" if self._grade(answer.strip()).info["success"] else None


def _stored_answer(item: Mapping[str, Any]) -> str | None:
    metadata = item["metadata"]
    answer = (
        item["answer"] if item["answer"] is not None else metadata.get(_ANSWER_FIELDS.get(metadata["source_dataset"]))
    )
    return answer if isinstance(answer, str) or answer is None else json.dumps(answer)
