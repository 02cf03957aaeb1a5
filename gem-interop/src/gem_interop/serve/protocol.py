"""The messages of OpenEnv (0.10.0), from and to JSON. What a client sends is checked here, before anything is done.

A client sends `{"type": "reset" | "step" | "state" | "close", "data": {…}}` and gets an answer of the type
`observation`, `state` or `error`. An action is `{"message": TEXT}`.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NoReturn, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from gem import seeding
from gem.core import Step
from gem.episode.codec import content_of

Code = Literal[
    "INVALID_JSON",
    "UNKNOWN_TYPE",
    "VALIDATION_ERROR",
    "EXECUTION_ERROR",
    "CAPACITY_REACHED",
    "SESSION_ERROR",
]
"""Kinds of errors: OpenEnv's own codes."""


class Refused(Exception):
    """Refusal of a request; the client is told why, and its session continues."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """The request that a client's data are.

        Raises:
            Refused: they are not valid.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            raise Refused(
                "VALIDATION_ERROR",
                f"{_shown(first['loc'][0])}: {first['msg']}, not {_shown(first['input'])}; there are "
                f"{', '.join(cls.model_fields)}",
            ) from error


class ResetRequest(_Checked):
    """The data of a reset: which episode a client asks for. What an env takes goes into the options."""

    id: str | None = None
    """Id of the env; None if the client did not say."""
    seed: int | None = Field(None, ge=0, lt=seeding.SEEDS)
    """Seed of the episode; None for one that the server draws."""
    options: dict[str, Any] | None = None
    """Options of the reset."""
    episode_id: str | None = Field(None, max_length=255)
    """The client's own name for the episode."""


def _encodable(text: str) -> str:
    text.encode()  # raises for half a surrogate pair, which JSON can write
    return text


class Action(_Checked):
    """The data of a step. A number is its text: verifiers reads the reply `7` of a model as the number."""

    message: Annotated[
        Annotated[str, AfterValidator(_encodable)] | int | float,
        WithJsonSchema({"type": "string", "description": "The whole reply of the agent."}),
    ]
    """The whole reply: a text, or a number."""
    metadata: Annotated[Any, WithJsonSchema({"type": "object", "description": "Ignored."})] = None
    """Ignored."""

    @property
    def text(self) -> str:
        """The whole reply as text."""
        return self.message if isinstance(self.message, str) else json.dumps(self.message)


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
    """Data for `EnvClient`. The info is in the metadata, because clients show models the observation as it is."""
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


class _Observation(BaseModel):
    message: str | list[dict[str, Any]] = Field(
        description="What the agent reads: text, or content parts as in chat APIs."
    )
    terminated: bool = Field(description="Whether the task itself has ended.")
    truncated: bool = Field(description="Whether something else, such as a limit, has ended the episode.")
    success: bool | None = Field(description="Whether the task was solved; null until the episode is over.")


class State(BaseModel):
    """The data of a state: what is being played."""

    episode_id: str | None = Field(default=None, description="The client's, or one that was drawn.")
    step_count: int = Field(default=0, ge=0, description="Actions in this episode.")
    id: str | None = Field(default=None, description="What is played.")
    seed: int | None = Field(default=None, description="Of the episode.")
    done: bool = Field(default=True, description="Whether a reset is needed before the next step.")


SCHEMAS: Mapping[str, Any] = {
    "action": Action.model_json_schema() | {"title": "GemAction"},
    "observation": _Observation.model_json_schema() | {"title": "GemObservation"},
    "state": State.model_json_schema() | {"title": "GemState"},
}
"""The answer to `GET /schema`."""
