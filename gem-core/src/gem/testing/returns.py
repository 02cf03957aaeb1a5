"""Checks of the types of results, of the end of an episode, and of sampled actions."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import cast

from gem.core import Step
from gem.errors import ContractViolation
from gem.testing.play import random_action
from gem.testing.subject import Subject

_CONTENT = {"text": str, "image_url": Mapping}
"""The type of a content part → the Python type of its field of that name."""


def check_types(subject: Subject) -> None:
    """`reset` and `step` return the types that `gem.Env` declares."""
    for seed in subject.seeds(subject.episodes):
        with subject.make() as env:
            _check_reset(env.reset(seed=seed), f"reset(seed={seed})")
            for turn in range(1, subject.turns + 1):
                step = env.step(random_action(env))
                _check_step(step, f"step() at {_place(turn, seed)}")
                if step.done:
                    break


def check_endings(subject: Subject) -> None:
    """An episode ends for one reason, and its last step has `info["success"]`."""
    for play in subject.ended():
        for turn, taken in enumerate(play.transitions[1:], start=1):
            _, _, terminated, truncated, info = taken.raw
            where = f"The step at {_place(turn, play.seed)}"
            if terminated and truncated:
                raise ContractViolation(
                    f"{where} is terminated and truncated at once.",
                    "Return Step.final(…) if the task ended, and Step.cut_off(…) if a limit was reached.",
                )
            if taken.over and not isinstance(info.get("success"), bool):
                given = f"success={info['success']!r}" if "success" in info else "no success"
                raise ContractViolation(
                    f"{where} is the last, and its info holds {given}.",
                    "Put a bool into info['success'] of every last step, as Step.final and Step.cut_off do.",
                )


def check_sample_action(subject: Subject) -> None:
    """`sample_action` returns text that the env can read."""
    for play in subject.reference:
        for turn, taken in enumerate(play.transitions[1:], start=1):
            if not isinstance(taken.action, str):
                raise ContractViolation(
                    f"sample_action() at {_place(turn, play.seed)} gives {taken.action!r}, which is not text.",
                    "Return the text of one whole reply.",
                )
            if taken.raw[4].get("malformed"):
                raise ContractViolation(
                    f"The env calls its own sample_action() malformed at {_place(turn, play.seed)}: {taken.action!r}.",
                    "sample_action() must return what _step() can read, in every state.",
                )


def _place(turn: int, seed: int) -> str:
    return f"turn {turn} of the episode from seed {seed}"


def _check_reset(returned: object, where: str) -> None:
    if not isinstance(returned, tuple) or len(cast("tuple[object, ...]", returned)) != 2:
        raise ContractViolation(f"{where} returns {returned!r}, not a pair.", "Return (observation, info).")
    observation, info = cast("tuple[object, object]", returned)
    _check_observation(observation, where)
    _check_info(info, where)


def _check_step(step: object, where: str) -> None:
    if not isinstance(step, Step):
        raise ContractViolation(
            f"{where} returns {_kind(step)}, not a gem.Step.",
            "Return Step.ongoing(…), Step.final(…) or Step.cut_off(…); a Step unpacks like a tuple of five.",
        )
    _check_observation(step.observation, where)
    reward: object = step.reward
    if isinstance(reward, bool) or not isinstance(reward, Real) or not math.isfinite(reward):
        raise ContractViolation(
            f"{where} gives the reward {reward!r} ({_kind(reward)}).",
            "A reward is a finite number: float(…) makes one of a bool.",
        )
    for name in ("terminated", "truncated"):
        flag: object = getattr(step, name)
        if not isinstance(flag, bool):
            raise ContractViolation(
                f"{where} has {name}={flag!r} ({_kind(flag)}).",
                "Both flags are Python's own bool: bool(…) makes one of a number or of NumPy's.",
            )
    _check_info(step.info, where)


def _check_observation(observation: object, where: str) -> None:
    if isinstance(observation, str):
        return
    fix = "An observation is text, or a list of parts such as {'type': 'text', 'text': '…'}."
    if not isinstance(observation, list):
        raise ContractViolation(f"{where} gives {_kind(observation)} for an observation.", fix)
    parts = cast("list[object]", observation)
    for number, part in enumerate(parts):
        fields: Mapping[str, object] = cast("Mapping[str, object]", part) if isinstance(part, Mapping) else {}
        kind = fields.get("type")
        if not isinstance(kind, str) or not isinstance(fields.get(kind), _CONTENT.get(kind, object)):
            raise ContractViolation(f"{where} gives an observation whose part {number} is {part!r}.", fix)


def _check_info(info: object, where: str) -> None:
    fix = "info is a dict whose keys are strings."
    if not isinstance(info, dict):
        raise ContractViolation(f"{where} gives {_kind(info)} for an info.", fix)
    for key in cast("dict[object, object]", info):
        if not isinstance(key, str):
            raise ContractViolation(f"{where} gives an info with the key {key!r}.", fix)


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"
