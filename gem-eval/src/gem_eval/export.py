"""Recorded episodes as rows of a data set, for the trainers of others."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from gem.episode import ApiTools, Episode, Trace
from gem.episode.codec import PREFIXES
from gem.errors import MissingExtra, RecordError, one_line
from gem.files import replacing
from gem.llm.messages import Message, joined_system, messages_of
from gem.rollout.transcript import Transcript
from gem.tool.content import parts_of, text_of
from gem.tool.formats.openai import described_in
from gem_eval.results import item_of

ExportFormat = Literal["sft", "dpo", "messages", "parquet"]
"""`sft`: conversations; `dpo`: pairs of attempts at the same item with different outcomes; `messages`: conversations
with rewards and how they ended; `parquet`: the same as a Parquet file."""

Row = dict[str, Any]

_EXPORTED = ("id", "seed", "group", "options", "success", "terminated", "truncated", "observation", "labels")
"""Fields of an episode that its row of messages has."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


@dataclass
class Export:
    """Makes rows of recorded episodes, and counts those that it leaves out.

    Failed episodes and those without a reply are never exported. `sft` and `dpo` also leave out episodes with a reply
    that was cut off: a chat template would write the end of a message after it, which the model did not say.
    """

    format: ExportFormat
    success: bool = False
    """Keep only episodes with success; of a pair the chosen one."""
    min_return: float | None = None
    """The least return of an episode that is kept; of a pair the chosen one."""
    reasoning: bool = False
    """Give replies their `reasoning_content`."""
    unwanted: int = 0
    """Episodes that `success` and `min_return` have left out."""
    cut: int = 0
    """Episodes that were left out because a reply was cut off."""

    def rows(self, records: Iterable[tuple[str, Episode]]) -> Iterator[Row]:
        """The rows of episodes, each with where it is recorded, such as `"runs/expert:17"`.

        Raises:
            RecordError: `sft` or `dpo`, and an observation has a picture; or content is not what environments write.
        """
        usable = self._usable(records)
        if self.format == "dpo":
            yield from self._pairs(usable)
            return
        row = _conversation if self.format == "sft" else _with_rewards
        for each in usable:
            if self._is_wanted(each):
                yield row(each)
            else:
                self.unwanted += 1

    def _usable(self, records: Iterable[tuple[str, Episode]]) -> Iterator["_Attempt"]:
        for source, record, trace in _traces(records):
            for_text = self.format in ("sft", "dpo")
            if for_text and any(turn.completion.finish_reason != "stop" for turn in trace.turns):
                self.cut += 1
                continue
            try:
                attempt = _Attempt(source, record, trace, *_said_and_tools(record, trace, self.reasoning))
                if for_text:
                    _check_text(attempt)
            except (LookupError, TypeError, AttributeError) as error:
                raise RecordError(
                    f"{source} has content parts or calls that no environment writes: {error!r}"
                ) from error
            yield attempt

    def _is_wanted(self, attempt: "_Attempt") -> bool:
        success, total = attempt.outcome
        return (self.min_return is None or total >= self.min_return) and (success or not self.success)

    def _pairs(self, attempts: Iterable["_Attempt"]) -> Iterator[Row]:
        """The best attempt at an item with the worst, the second best with the second worst, and so on."""
        items: dict[str, list[_Attempt]] = {}
        for each in attempts:
            items.setdefault(each.item, []).append(each)
        for of_item in items.values():
            ranked = sorted(of_item, key=lambda each: each.outcome, reverse=True)
            for better, worse in zip(ranked[: len(ranked) // 2], reversed(ranked), strict=False):
                if better.outcome > worse.outcome and (row := _pair(better, worse)):
                    if self._is_wanted(better):
                        yield row
                    else:
                        self.unwanted += 1


def _traces(records: Iterable[tuple[str, Episode]]) -> Iterator[tuple[str, Episode, Trace]]:
    """The conversation of each player in each episode that did not fail."""
    for source, record in records:
        if record.failure is None:
            yield from ((source, record, trace) for trace in record.traces if trace.turns)


@dataclass(frozen=True)
class _Attempt:
    """The trace of a player, and its messages up to the last reply."""

    source: str
    record: Episode
    trace: Trace
    messages: list[Message]
    tools: list[Row] | None
    """Messages of a chat API."""

    @property
    def outcome(self) -> tuple[bool, float]:
        return self.record.success, self.trace.total_reward

    @property
    def item(self) -> str:
        """The start of an episode: the item, and everything else that the env was built with."""
        spec = self.record.spec
        env = (item_of(self.record), self.trace.player, spec and (spec.kwargs, spec.max_turns, spec.wrappers))
        return json.dumps(env, sort_keys=True, default=repr)


def _said_and_tools(episode: Episode, trace: Trace, reasoning: bool) -> tuple[list[Message], list[Row] | None]:
    first = trace.turns[0].observation
    tools = trace.turns[0].completion.tools
    if tools is None:  # or a policy that makes no requests has written messages, as the observation says
        functions, described = described_in(text_of(first))
        tools = ApiTools(tuple(functions), tuple(described)) if functions else None
    of_policy = trace.policy.get("system") if isinstance(trace.policy, Mapping) else None
    system = joined_system(of_policy if isinstance(of_policy, str) else None, trace.system)
    transcript = Transcript(first, {"system": system})
    following = [*(turn.observation for turn in trace.turns[1:]), episode.observation]
    for turn, observation in zip(trace.turns, following, strict=True):
        transcript.add(turn.completion, turn.reward, observation, turn.info)
    messages = messages_of(transcript, tools, reasoning=reasoning)
    while messages[-1]["role"] != "assistant":
        messages.pop()
    for message in messages:
        for call in message.get("tool_calls", ()):  # chat templates expect an object, where servers expect its text
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return messages, list(tools.functions) if tools else None


def _check_text(attempt: _Attempt) -> None:
    for message in attempt.messages:
        for part in parts_of(message["content"] or ""):
            if part["type"] != "text":
                raise RecordError(
                    f"{attempt.source} has a part of the type {part['type']!r} in a message, and these rows are for "
                    "models of text: use --format messages or parquet"
                )


def _conversation(attempt: _Attempt) -> Row:
    return {"messages": attempt.messages, "tools": attempt.tools}


def _with_rewards(attempt: _Attempt) -> Row:
    record, trace = attempt.record, attempt.trace
    return {
        **_conversation(attempt),
        "rewards": list(trace.rewards),
        "return": trace.total_reward,
        "finish_reasons": [turn.completion.finish_reason for turn in trace.turns],
        "kwargs": dict(record.spec.kwargs) if record.spec else {},
        "policy": trace.policy,
        **({"player": trace.player} if len(record.traces) > 1 else {}),
        **{name: getattr(record, name) for name in _EXPORTED},
        "recorded_in": attempt.source,
    }


def _pair(better: _Attempt, worse: _Attempt) -> Row | None:
    """The row of two attempts; None if they do not part at a reply."""
    shared = len(list(takewhile(lambda both: both[0] == both[1], zip(better.messages, worse.messages, strict=False))))
    chosen, rejected = better.messages[shared:], worse.messages[shared:]
    if not shared or any(not rest or rest[0]["role"] != "assistant" for rest in (chosen, rejected)):
        return None
    (_, best), (_, worst) = better.outcome, worse.outcome
    return {
        "prompt": better.messages[:shared],
        "chosen": chosen,
        "rejected": rejected,
        "tools": better.tools,
        "chosen_return": best,
        "rejected_return": worst,
        "chosen_recorded_in": better.source,
        "rejected_recorded_in": worse.source,
    }


def _encodable(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as `gem.chat` reads them: half of a surrogate pair, which UTF-8 does not have, becomes U+FFFD."""
    for row in rows:
        text = json.dumps(row, ensure_ascii=False)
        yield json.loads(_HALF_A_PAIR.sub("\ufffd", text)) if _HALF_A_PAIR.search(text) else row


def write_json_lines(path: Path, rows: Iterable[Row]) -> int:
    """Write rows as one JSON object per line; see `replace`.

    Raises:
        RecordError: a number is NaN or infinite.
    """

    def write(file: BinaryIO, rows: Iterable[Row]) -> int:
        count = 0
        for count, row in enumerate(rows, start=1):
            try:
                file.write(json.dumps(row, allow_nan=False).encode("ascii") + b"\n")
            except ValueError as error:
                source = row.get("recorded_in", f"row {count}")
                raise RecordError(
                    f"{source} has NaN or Infinity, which JSON does not have: use --format parquet"
                ) from error
        return count

    return replace(path, rows, write)


def write_parquet(path: Path, rows: Iterable[Row]) -> int:
    """Write rows as a Parquet file, with what differs from row to row as JSON; see `replace`.

    Raises:
        MissingExtra: `datasets` is not installed, or too old.
        RecordError: it cannot hold a value, such as an integer of more than 64 bits.
    """
    try:
        import datasets  # pyright: ignore[reportMissingTypeStubs]

        datasets.Json  # noqa: B018 - older versions do not have it
    except (ImportError, AttributeError) as error:
        raise MissingExtra(
            f"Parquet files need datasets, with its feature Json: pip install --upgrade 'gem-core[data]' ({error})"
        ) from error

    def write(file: BinaryIO, rows: Iterable[Row]) -> int:
        found = list(rows)
        datasets.disable_progress_bars()
        try:
            table = cast("Any", datasets.Dataset).from_list(found, on_mixed_types="use_json")
        except (ValueError, TypeError, ArithmeticError) as error:  # those of pyarrow are among them
            raise RecordError(
                f"the rows do not fit into a Parquet file ({one_line(error)}): use --format messages"
            ) from error
        table.to_parquet(file)
        return len(found)

    return replace(path, rows, write)


def replace(path: Path, rows: Iterable[Row], write: Callable[[BinaryIO, Iterable[Row]], int]) -> int:
    """Have rows written into a file that replaces `path` at once, unless there are none; returns their number.

    Raises:
        RecordError: there is a recording, or something else that is not a file.
        OSError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        raise RecordError(f"{path} is not a file that an export could replace; choose another, such as rows.jsonl")
    path = path.resolve()  # of a link, what it points to is replaced
    if path.is_file():
        with path.open("rb") as file:
            if file.read(max(map(len, PREFIXES))).startswith(PREFIXES):
                raise RecordError(f"{path} is a recording, which an export must not replace; choose another file")
    encodable = _encodable(rows)
    first = next(encodable, None)
    if first is None:
        return 0
    with replacing(path) as file:
        return write(file, chain([first], encodable))
