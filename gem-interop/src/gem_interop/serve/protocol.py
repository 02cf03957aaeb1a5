"""The messages of OpenEnv (0.10.0), from and to JSON. What a client sends is checked here, before anything is done.

A client sends `{"type": "reset" | "step" | "state" | "close", "data": {…}}` and gets an answer of the type
`observation`, `state` or `error`. An action is `{"message": TEXT}`.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

from gem import seeding
from gem.core import Step
from gem.record.format import content_of

Code = Literal[
    "INVALID_JSON",
    "UNKNOWN_TYPE",
    "VALIDATION_ERROR",
    "EXECUTION_ERROR",
    "CAPACITY_REACHED",
    "SESSION_ERROR",
]
"""What an error says it is; OpenEnv's own codes."""

_LONGEST_NAME = 255


class Refused(Exception):
    """What a client asked for is not done; it is told why, and its session continues."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """A client asks for an episode."""

    id: str | None
    """What to play; None if it did not say."""
    seed: int
    options: Mapping[str, Any] | None
    episode_id: str | None
    """The client's own name for the episode."""


def parse(text: str | bytes) -> dict[str, Any]:
    """A JSON object.

    Raises:
        Refused: it is not one.
    """
    try:
        found = _DECODER.decode(text.decode() if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:
        raise Refused("INVALID_JSON", f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Refused("VALIDATION_ERROR", f"a message is a JSON object, not {_shown(cast('object', found))}")
    return cast("dict[str, Any]", found)


def message_of(text: str | bytes) -> tuple[str, dict[str, Any]]:
    """The type and the data of a message.

    Raises:
        Refused: it does not have them.
    """
    message = parse(text)
    kind, data = message.get("type"), message.get("data", {})
    if kind not in ("reset", "step", "state", "close"):
        raise Refused("UNKNOWN_TYPE", f"the type of a message is reset, step, state or close, not {_shown(kind)}")
    if not isinstance(data, dict):
        raise Refused("VALIDATION_ERROR", f"the data of a message are an object, not {_shown(cast('object', data))}")
    return kind, cast("dict[str, Any]", data)


def reset_of(data: Mapping[str, Any]) -> ResetRequest:
    """The data of a reset; without a seed it gets one of its own.

    Raises:
        Refused: they are not valid.
    """
    if unknown := data.keys() - {"id", "seed", "options", "episode_id"}:
        raise Refused(
            "VALIDATION_ERROR",
            f"reset takes id, seed, options and episode_id, not {_shown(min(unknown))}; what an env takes goes into "
            "options",
        )
    id, seed, options, episode = (data.get(name) for name in ("id", "seed", "options", "episode_id"))
    if id is not None and not isinstance(id, str):
        raise Refused("VALIDATION_ERROR", f"an id is text, not {_shown(id)}")
    if options is not None and not isinstance(options, dict):
        raise Refused("VALIDATION_ERROR", f"options are an object, not {_shown(options)}")
    if episode is not None and not (isinstance(episode, str) and len(episode) <= _LONGEST_NAME):
        raise Refused("VALIDATION_ERROR", f"an episode_id is text of at most {_LONGEST_NAME} characters")
    try:
        checked = seeding.fresh() if seed is None else seeding.check_seed(seed)
    except (TypeError, ValueError) as error:
        raise Refused("VALIDATION_ERROR", str(error) if len(str(error)) < _LONGEST_NAME else "not a seed") from error
    return ResetRequest(id, checked, cast("dict[str, Any] | None", options), episode)


def action_of(data: Mapping[str, Any]) -> str:
    """The text of an action, `{"message": TEXT}`.

    A number is its text: verifiers reads the reply `7` of a model as the number.

    Raises:
        Refused: it is not an action.
    """
    if "message" not in data or data.keys() - {"message", "metadata"}:
        names = ", ".join(sorted(map(_shown, data))[:5])
        raise Refused("VALIDATION_ERROR", f'an action is {{"message": TEXT}}, not an object with {names or "nothing"}')
    said = data["message"]
    if isinstance(said, int | float) and not isinstance(said, bool):
        return json.dumps(said)
    if not isinstance(said, str):
        raise Refused("VALIDATION_ERROR", f"the message of an action is text, not {_shown(said)}")
    try:
        said.encode()
    except UnicodeEncodeError as error:
        raise Refused(
            "VALIDATION_ERROR", "the message of an action has half a surrogate pair, and is not text"
        ) from error
    return said


def started(step: Step, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a reset, of which a slot makes a step with the reward 0.

    Raises:
        ValueError: the observation is neither text nor content parts.
    """
    return _answer(step, None, metadata)


def stepped(step: Step) -> dict[str, Any]:
    """The answer to a step.

    Raises:
        TypeError, ValueError: the reward is not a finite number, or the observation is neither text nor content parts.
    """
    reward = float(step.reward)
    if not math.isfinite(reward):
        raise ValueError(f"the env gave the reward {reward}, which JSON does not have")
    return _answer(step, reward, {})


def _answer(step: Step, reward: float | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What `EnvClient` reads. The info is in the metadata, because clients show models the observation as it is."""
    done = bool(step.terminated or step.truncated)
    return {
        "observation": {
            "message": content_of(step.observation),
            "terminated": bool(step.terminated),
            "truncated": bool(step.truncated),
            "success": bool(step.info["success"]) if done else None,
        },
        "reward": reward,
        "done": done,
        "metadata": {**metadata, "info": dict(step.info)},
    }


def error_of(code: Code, message: str) -> dict[str, Any]:
    """The data of an error."""
    return {"message": message, "code": code}


def text_of(kind: str, data: Mapping[str, Any]) -> str:
    """A message as JSON."""
    return dump({"type": kind, "data": data})


def dump(message: dict[str, Any]) -> str:
    """JSON of an answer. Of an info, what JSON does not have is left out, and named in `metadata["not_json"]`."""
    try:
        return _ENCODER.encode(message)
    except (TypeError, ValueError, RecursionError):
        answer = message.get("data", message)
        metadata = answer.get("metadata")
        if metadata is None:
            raise
        info = {name: value for name, value in metadata["info"].items() if isinstance(name, str) and _is_json(value)}
        left_out = sorted(str(name) for name in metadata["info"].keys() - info.keys())
        answer = {**answer, "metadata": {**metadata, "info": info, "not_json": left_out}}
        return _ENCODER.encode({**message, "data": answer} if "data" in message else answer)


def _is_json(value: object) -> bool:
    try:
        _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(allow_nan=False)


def _shown(value: object) -> str:
    """A value of a client, in a message to it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or deep lists
        return f"this {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}…"


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_METADATA = {"type": "object", "default": {}}

SCHEMAS: Mapping[str, Any] = {
    "action": {
        "title": "GemAction",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "message": {**_TEXT, "description": "The whole reply of the agent."},
            "metadata": {**_METADATA, "description": "Ignored."},
        },
        "required": ["message"],
    },
    "observation": {
        "title": "GemObservation",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "message": {
                "description": "What the agent reads: text, or content parts as in chat APIs.",
                "anyOf": [_TEXT, {"type": "array", "items": {"type": "object"}}],
            },
            "terminated": {**_FLAG, "description": "Whether the task itself has ended."},
            "truncated": {**_FLAG, "description": "Whether something else, such as a limit, has ended the episode."},
            "success": {
                "description": "Whether the task was solved; null until the episode is over.",
                "anyOf": [_FLAG, {"type": "null"}],
            },
        },
        "required": ["message", "terminated", "truncated", "success"],
    },
    "state": {
        "title": "GemState",
        "type": "object",
        "properties": {
            "episode_id": {"description": "The client's, or one that was drawn.", "anyOf": [_TEXT, {"type": "null"}]},
            "step_count": {"type": "integer", "minimum": 0, "description": "Actions in this episode."},
            "id": {"description": "What is played.", "anyOf": [_TEXT, {"type": "null"}]},
            "seed": {"description": "Of the episode.", "anyOf": [{"type": "integer"}, {"type": "null"}]},
            "done": {**_FLAG, "description": "Whether a reset is needed before the next step."},
        },
    },
}
"""What `GET /schema` answers."""
