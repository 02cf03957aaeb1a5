"""Policies, and what only looks like one, for the tests of the core."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gem
from gem.rollout.policy import Policy, expert_policy
from gem.rollout.transcript import Transcript

CALLS: list[str] = []
"""What the function below was asked."""


def parrot(transcript: Transcript, word: str = "", fails_at: str = "") -> str:
    observation = str(transcript.observation)
    CALLS.append(observation)
    if fails_at and fails_at in observation:
        raise ConnectionError("503")
    return f"{word}{observation}"


def unclear(messages: object, foo: object, bar: object) -> str:
    return "x"


def make_parrot(word: str) -> Callable[..., str]:
    return lambda observation: f"{word}{observation}"


class Abstract(Policy):
    """Lacks its methods."""


class Breaking(Policy):
    """Breaks after some answers, and can break while it is built."""

    def __init__(self, answers: int = 3, built: bool = True) -> None:
        if not built:
            raise ValueError("no weights\nhere")
        self.left = answers

    def send(self, transcripts: Any) -> None:
        self.asked = list(transcripts)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Any:
        answered, self.asked = self.asked, []
        self.left -= len(answered)
        return {slot: gem.Completion("x") if self.left >= 0 else "just text" for slot in answered}


@dataclass
class Repeating:
    """Answers, and has no hash."""

    word: str = ""

    def __call__(self, observation: str) -> str:
        return self.word or observation


READY = expert_policy()
UNHASHABLE = Repeating()
NOTHING = 3


def nothing() -> str:
    return "no policy"
