"""Every dataset of reasoning-gym: one item, one answer, reasoning-gym's own score."""

import json
from collections.abc import Mapping
from typing import Any

from gem.core import Env, Step
from gem.dataset_env import QuestionEnv
from gem.parsing import boxed, tagged
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_reasoning import datasets, graders, grading

INSTRUCTION = (
    "You may think first. Give the answer itself between <answer> and </answer>, in the form that is asked for above; "
    "what stands between the last such tags is graded, and nothing else."
)
_ELSEWHERE = {
    "graph_color": "possible_answer",
    "propositional_logic": "example_answer",
    "rubiks_cube": "example_correct_answer",
}
"""Datasets that keep an answer among an item's metadata: the name of it."""
_SAMPLED = {"intermediate_integration": "variable"}
"""Datasets whose stored answers are written differently in different processes (sympy's choice), and what among the
metadata is sampled instead."""
_POOL = 8


class Reasoning(QuestionEnv[str]):
    r"""One item of a dataset of reasoning-gym. One turn; an action is `<answer>42</answer>`.

    The item is drawn by the env's generator, from endlessly many; the question ends with how to answer. The last
    complete pair of tags counts, and in a reply without one the last `\boxed{}`, which is GEM's form.

    Rewards: what reasoning-gym's `score_answer` says, from 0 to 1; many datasets give partial credit. Success is a
    score of 1. A reply without an answer earns 0, or -0.1 with ``use_format_error_reward``; so does one that is too
    long to be read, or should be an expression and is something else (`gem_envs_reasoning.grading`).

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
        self._dataset = datasets.build(dataset, datasets.check(dataset, level, settings))
        self.item: dict[str, Any] = {}

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
        return None if grading.is_refused(self.item["metadata"]["source_dataset"], answer, self.item) else answer

    def _grade(self, answer: str) -> Step:
        scorer = datasets.part(self._dataset, self.item)
        try:
            score = grading.grade(self, scorer, answer, self.item)
        except graders.GraderLost:
            raise
        except Exception:
            # Some scorers raise where they cannot read an answer. One that raises at the right answer is broken.
            scorer.score_answer(_stored(self.item), self.item)
            score = 0.0
        if score >= 1:
            return Step.final("That is right.", 1.0, success=True)
        partly = f" It scores {score:.2g} of 1." if score > 0 else ""
        return Step.final(f"That is not right.{partly}", score, success=False)

    def sample_action(self) -> str:
        """The answer to one of a few other items; a word of the question where the dataset stores no answers."""
        if self.name in _SAMPLED:
            return f"<answer>{self.item['metadata'][_SAMPLED[self.name]]}</answer>"
        answer = _stored(datasets.draw(self._dataset, self.name, self.action_rng.randrange(_POOL)))
        if answer is None:
            answer = self.action_rng.choice(self.item["question"].split())
        return f"<answer>{answer}</answer>"

    def close(self) -> None:
        graders.leave(self)
        super().close()

    def expert_action(self) -> str | None:
        """The answer that is stored with the item, where it gets full marks."""
        answer = _stored(self.item)
        if answer is None or self._read(f"<answer>{answer}</answer>") is None:
            return None
        return f"<answer>{answer}</answer>" if self._grade(answer.strip()).info["success"] else None


def _stored(item: Mapping[str, Any]) -> str | None:
    metadata = item["metadata"]
    answer = item["answer"] if item["answer"] is not None else metadata.get(_ELSEWHERE.get(metadata["source_dataset"]))
    return answer if isinstance(answer, str) or answer is None else json.dumps(answer)
