"""The format of a recording: JSON lines, one object per episode."""

import json
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from gem import __version__
from gem.core import Info
from gem.errors import RecordError
from gem.packs.component_ref import ComponentRef
from gem.packs.discovery import CORE, how_to_install
from gem.packs.hookspecs import API_VERSION
from gem.rollout.transcript import Completion, Episode, FinishReason, TokenTexts, Usage

VERSION = 1
"""The version of the format that this gem-core writes and reads."""

PREFIX = f'{{"gem_record": {VERSION}, '.encode()
"""The beginning of every line."""

SUGGESTIONS = frozenset({"sample_action", "expert_action"})
"""Keys of an `info` that are not recorded: results of `info_methods`."""

Content = str | list[dict[str, Any]]
"""An observation: text, or a list of content parts."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackVersion(_Record):
    """The `distribution` of the env, and its `version`."""

    distribution: str
    version: str


class TokensRecord(_Record):
    """The tokens of a reply (see `gem.rollout.transcript.TokenTexts`)."""

    text: tuple[str, ...]
    logprobs: tuple[float, ...] = ()
    """With four digits after the point."""
    mask: tuple[Literal[0, 1], ...] = ()
    prompt: str | None = None

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        TokenTexts(self.text, self.logprobs, self.mask)  # raises ConfigError, a ValueError
        return self


class TurnRecord(_Record):
    """One turn: the `observation`, the `action` of the agent, and the `reward`."""

    observation: Content
    action: str
    reward: float
    info: dict[str, Any]
    """The `info` of the step, without `SUGGESTIONS` and values that are not JSON."""
    finish_reason: FinishReason = "stop"
    """How the reply ended."""
    weight_versions: tuple[int, ...] = ()
    """The versions of the weights under which the reply was sampled."""
    tokens: TokensRecord | None = None
    """Its tokens, if the policy gave them."""
    usage: Usage | None = None
    """What a server counted for the reply."""
    reasoning: str = ""
    """What the model wrote before the reply, where that is not a part of it."""


class FailureRecord(_Record):
    """Why the episode failed."""

    error: str
    traceback: str
    action: str | None
    """The action at which the env failed; None if it failed at its reset."""


class EpisodeRecord(_Record):
    """One episode, with everything that is needed to replay it.

    `gem_record` is the version of the format. The env: `id`, `kwargs`, `max_turns` and `wrappers` (the outermost one
    last). `group` is the index among the episodes from this `seed` and `options`. It `started` at a time, took
    `seconds`, has `turns`, and ended `terminated` or `truncated`, with `success`, or with a `failure`.
    """

    gem_record: Literal[1] = VERSION
    id: str
    entry_point: str | None
    """`"module:Class"`; None if the env was built by hand, and so cannot be rebuilt."""
    kwargs: dict[str, Any]
    max_turns: int | None
    wrappers: tuple[ComponentRef, ...]
    seed: int
    group: int
    pack: PackVersion | None
    """None if no pack provides the env."""
    gem_core: str
    """The version of gem-core."""
    api: int
    """The version of the hooks."""
    policy: ComponentRef | None = None
    """The policy, by name or with settings; None if it is not known."""
    started: datetime | None
    seconds: float
    turns: tuple[TurnRecord, ...]
    observation: Content
    """The last observation, without a reply."""
    terminated: bool
    truncated: bool
    success: bool
    failure: FailureRecord | None
    cut_off: bool = False
    """Whether the rollout truncated it, and not the env."""
    out_of_context: bool = False
    """Whether it did so because the conversation filled the model's context."""
    options: dict[str, Any] | None = None
    """The options of the reset."""
    labels: dict[str, Any] = {}
    """Further data of the recording program, such as the phase and the step of a training run."""

    @classmethod
    def of(
        cls,
        episode: Episode,
        pack: PackVersion | None = None,
        policy: ComponentRef | None = None,
        labels: Mapping[str, Any] | None = None,
    ) -> Self:
        """The record of an episode.

        Raises:
            RecordError: the kwargs of the env or the labels are not JSON, or see `content_of`.
        """
        return cls.model_validate(_fields(episode, pack, policy, labels, _recordable))

    @classmethod
    def parse(cls, line: bytes, where: str) -> Self:
        """The record in `line`.

        Raises:
            RecordError: there is none, or one of another version; the message begins with `where`.
        """
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:  # the latter for thousands of nested brackets
            raise RecordError(f"{where}: this is not JSON: {error}") from error
        if not isinstance(content, dict) or "gem_record" not in content:
            raise RecordError(f"{where}: this is not an episode that gem-core recorded")
        version = cast("dict[str, Any]", content)["gem_record"]
        if version != VERSION:
            raise RecordError(
                f"{where}: this episode has version {version!r} of the format, and this gem-core reads version "
                f"{VERSION}; {how_to_install(CORE)}"
            )
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            fault = error.errors()[0]
            field = ".".join(str(part) for part in fault["loc"])
            raise RecordError(f"{where}: {field}: {fault['msg']}") from error


def line_of(
    episode: Episode,
    pack: PackVersion | None = None,
    policy: ComponentRef | None = None,
    labels: Mapping[str, Any] | None = None,
) -> bytes:
    """The record of an episode as a line of ASCII, with NaN and Infinity as in Python's `json`.

    Raises:
        RecordError: see `EpisodeRecord.of`.
    """
    try:  # nearly every info is JSON; it is filtered only if that fails
        line = json.dumps(_fields(episode, pack, policy, labels, _recorded_info))
    except (TypeError, ValueError, RecursionError):
        line = json.dumps(_fields(episode, pack, policy, labels, _recordable))
    return line.encode() + b"\n"


def _fields(
    episode: Episode,
    pack: PackVersion | None,
    policy: ComponentRef | None,
    labels: Mapping[str, Any] | None,
    info_of: Callable[[Info], Info],
) -> dict[str, Any]:
    """The fields of an `EpisodeRecord`, in order."""
    spec, failure = episode.spec, episode.failure
    kwargs = dict(spec.kwargs) if spec else {}
    if not _is_json(kwargs):
        raise RecordError(
            f"{episode.id!r} cannot be recorded, because it could not be rebuilt: its kwargs are not JSON: {kwargs!r}"
        )
    if labels and not _is_json(dict(labels)):
        raise RecordError(f"labels of an episode must be JSON, not {dict(labels)!r}")
    if episode.options is not None and not _is_json(dict(episode.options)):
        raise RecordError(f"{episode.id!r} cannot be recorded: its reset has options that are not JSON")
    action = episode.failed_on.text if episode.failed_on else None
    return {
        "gem_record": VERSION,
        "id": episode.id,
        "entry_point": spec.entry_point if spec else None,
        "kwargs": kwargs,
        "max_turns": spec.max_turns if spec else None,
        "wrappers": [each if _is_json(each) else repr(each) for each in spec.wrappers] if spec else [],
        "seed": episode.seed,
        "group": episode.group,
        "pack": pack.model_dump() if pack else None,
        "gem_core": __version__,
        "api": API_VERSION,
        "policy": policy,
        "started": episode.started.isoformat() if episode.started else None,
        "seconds": episode.seconds,
        "turns": [
            {
                "observation": content_of(turn.observation),
                "action": turn.action,
                "reward": float(turn.reward),
                "info": info_of(turn.info),
                **_sampled(turn.completion),
            }
            for turn in episode.turns
        ],
        "observation": content_of(episode.observation),
        "terminated": bool(episode.terminated),
        "truncated": bool(episode.truncated),
        "success": bool(episode.success),
        "failure": {"error": failure.error, "traceback": failure.traceback, "action": action} if failure else None,
        "cut_off": bool(episode.cut_off),
        **({"out_of_context": True} if episode.out_of_context else {}),
        **({"options": dict(episode.options)} if episode.options is not None else {}),
        "labels": dict(labels or {}),
    }


def _sampled(completion: Completion) -> dict[str, Any]:
    """What is recorded of how a reply was sampled, as far as it differs from the defaults of a `TurnRecord`."""
    usage = completion.usage
    how: dict[str, Any] = {
        "finish_reason": completion.finish_reason,
        "weight_versions": completion.weight_versions,
        "tokens": _tokens(completion.tokens) if completion.tokens is not None else None,
        "usage": {name: value for name, value in asdict(usage).items() if value} if usage is not None else None,
        "reasoning": completion.reasoning,
    }
    return {name: value for name, value in how.items() if value and value != "stop"}


def _tokens(tokens: TokenTexts) -> dict[str, Any]:
    logprobs = tuple(round(float(value), 4) for value in tokens.logprobs)
    fields = {"text": tokens.text, "logprobs": logprobs, "mask": tokens.mask, "prompt": tokens.prompt}
    return {name: value for name, value in fields.items() if name == "text" or value not in ((), None)}


def content_of(observation: object) -> Content:
    """An observation as it is recorded.

    Raises:
        RecordError: it is neither text nor a list of content parts, or it is not JSON.
    """
    if isinstance(observation, str):
        return observation
    if isinstance(observation, list):
        parts = cast("list[object]", observation)
        content = [dict(cast("Mapping[str, Any]", part)) for part in parts if isinstance(part, Mapping)]
        if len(content) == len(parts) and _is_json(content):
            return content
    shown = reprlib.repr(cast("object", observation))
    raise RecordError(f"an observation must be text or a list of content parts in JSON, not {shown}")


def same_json(one: object, other: object) -> bool:
    """Whether two values are equal as JSON: a list equals a tuple, 0.0 is not -0.0, and NaN equals NaN."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


def _recorded_info(info: Info) -> Info:
    return {name: value for name, value in info.items() if name not in SUGGESTIONS}


def _recordable(info: Info) -> Info:
    return {name: value for name, value in info.items() if name not in SUGGESTIONS and _is_json(value)}


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
