"""Reading the answer of a chat API: a reply, or why there is none."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from msgspec import Meta, Struct, convert

from gem.episode import Usage
from gem.errors import one_line
from gem.http.answers import RETRIED, Answer, NoAnswer, pause
from gem.llm.errors import AccessRefused, ContextExceeded, RequestRefused, ToolsRefused

_NO_ACCESS = frozenset({401, 402, 403, 404, 405})
_NO_MONEY = ("insufficient_quota", "billing_hard_limit")
_TOO_LONG = (
    "context_length", "context length", "maximum context", "max_model_len", "context size", "context_size",
    "prompt is too long", "input token count",
)  # fmt: skip
"""Words of OpenAI, vLLM, SGLang, llama.cpp, Anthropic and Google about a conversation that does not fit."""
_MOST_TOKENS = 1 << 40
BROKEN_OFF = frozenset({"abort", "error", "cancelled"})
"""Finish reasons of a server that could not complete the reply."""

_IN_TEXT = (
    "use the call format auto, or one in text, such as hermes (`--tool-arg format=hermes`); vLLM takes tools if it "
    "is started with --enable-auto-tool-choice and --tool-call-parser"
)
_NO_TOOLS = ("tool choice requires", "support tool", "tools param", "support function calling")
"""Words of vLLM, Ollama, OpenRouter, llama.cpp and others about a server or a model that does not take tools."""
_INSTEAD: Mapping[str, str] = {
    "max_tokens": "set max_completion_tokens instead",
    "max_completion_tokens": "set max_tokens instead",
    "stop": "set stop=false; what a reply says after a tool call is then dropped",
    "tools": _IN_TEXT,
    "tool_choice": _IN_TEXT,
    "model": "check the name of the model",
}
_UNSUPPORTED = re.compile("support|unrecogni[sz]ed|unknown|permitted|allowed|forbidden|too large", re.IGNORECASE)
"""Words about a field that a server does not take."""


class _Function(Struct):
    name: str


class _Call(Struct):
    function: _Function


class _Message(Struct):
    """What is read of a message, which is kept as the server wrote it."""

    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class TokenLogprob(Struct):
    """A sampled token with its log-probability, and its bytes, if the server says them."""

    token: str
    logprob: float
    bytes: list[Annotated[int, Meta(ge=0, le=255)]] | None = None


class _Logprobs(Struct):
    content: list[TokenLogprob] | None = None


class _Choice(Struct):
    message: dict[str, Any]
    finish_reason: str | None = None
    stop_reason: Any = None
    logprobs: _Logprobs | None = None


class _Completion(Struct):
    choices: Annotated[list[_Choice], Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The answer to one request."""

    message: Mapping[str, Any]
    """The assistant's message: `content`, and `tool_calls` if the model called tools."""
    finish_reason: str
    """`stop`, `length`, `tool_calls`, or another word of the server."""
    stop_reason: str | None
    """The text that ended the reply, which servers leave out of it; None if the server does not say so."""
    usage: Usage
    """Tokens, 0 if the server does not count them; time, and the requests that were made."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """Of each sampled token, if the request asked for `logprobs`."""


def read_reply(answer: Answer, sent: Sequence[str]) -> ChatReply:
    """The reply in an answer; `sent` are the names of the fields of the request.

    Raises:
        NoAnswer: it is not a chat completion, or one that broke off, or the server is busy.
        RequestRefused, ContextExceeded, AccessRefused: it is an error; or the server's filter has removed the reply.
    """
    if answer.status != 200:
        raise refusal(answer, sent)
    try:
        said = json.loads(answer.body)
        if error := _object(said).get("error"):
            raise refusal(answer._replace(status=_status_of(error), headers={}), sent)
        choice = convert(said, _Completion).choices[0]
        convert(choice.message, _Message)
    except (ValueError, RecursionError) as error:
        raise NoAnswer(f"the answer is not a chat completion ({one_line(error)}): {answer.body[:200]!r}") from None
    reason = choice.finish_reason or "stop"
    reply = ChatReply(
        choice.message,
        reason,
        choice.stop_reason if isinstance(choice.stop_reason, str) else None,
        _usage(_object(said.get("usage")), answer.seconds, answer.requests),
        tuple((choice.logprobs.content if choice.logprobs else None) or ()),
    )
    if reason in BROKEN_OFF:
        raise NoAnswer(f"the server ended the reply with {reason!r}")
    if reason == "content_filter":
        raise RequestRefused(f"{answer.url}: the server's filter removed the reply")
    return reply


def _status_of(error: object) -> int:
    code = cast("dict[str, object]", error).get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _usage(counted: Mapping[str, Any], seconds: float, requests: int) -> Usage:
    def tokens(of: Mapping[str, Any], name: str) -> int:
        count = of.get(name)
        return count if type(count) is int and 0 <= count < _MOST_TOKENS else 0

    prompt = tokens(counted, "prompt_tokens")
    return Usage(
        prompt,
        tokens(counted, "completion_tokens"),
        min(prompt, tokens(_object(counted.get("prompt_tokens_details")), "cached_tokens")),
        tokens(_object(counted.get("completion_tokens_details")), "reasoning_tokens"),
        seconds,
        requests,
    )


def refusal(answer: Answer, sent: Sequence[str]) -> Exception:
    """The exception for an answer with another status than 200; `sent` as for `read_reply`."""
    url, status, text = answer.url, answer.status, " ".join(answer.body.decode(errors="replace").split())
    what = f"status {status}: {text[:500]}"
    if 300 <= status < 400:
        return AccessRefused(f"{url} has moved to {answer.headers.get('Location')!r}; set base_url to that address")
    if "tools" in sent and any(words in text.lower() for words in _NO_TOOLS):  # whatever the status
        return ToolsRefused(f"{url} does not take tools: {_IN_TEXT}. It says: {what}", what)
    if status in _NO_ACCESS or any(word in text for word in _NO_MONEY):
        path = "" if status != 404 or "/v1" in url else ", which mostly ends in /v1"
        check = f"check the key, the model and the address (base_url{path})"
        return AccessRefused(f"{url} refuses every request; {check}. It says: {what}")
    if status in RETRIED:
        return NoAnswer(what, pause(answer.headers), limited=status == 429)
    if any(word in text.lower() for word in _TOO_LONG):
        return ContextExceeded(what)
    field = _field(answer.body, text, [name for name in sent if name != "messages"])
    if field is not None:
        instead = _INSTEAD.get(field, f"leave {field} out")
        return AccessRefused(f"{url} does not take the field {field!r} as it is: {instead}. It says: {what}")
    return RequestRefused(f"{url} refuses this request: {what}")


def _field(content: bytes, text: str, fields: Sequence[str]) -> str | None:
    """The field of the request that an error is about, if it is about one and not about the messages."""
    try:
        answer = json.loads(content)
        error = answer.get("error")
        about: dict[str, Any] = cast("dict[str, Any]", error) if isinstance(error, dict) else answer
        at: list[object] = [about.get("param")]
        if isinstance(details := answer.get("detail"), list):  # a server on FastAPI
            at += [part for each in cast("list[Any]", details) for part in each["loc"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        at = []
    named = [re.split(r"[.\[]", str(each))[0] for each in at if each]
    if not named and _UNSUPPORTED.search(text):
        named = re.findall(r"['\"`](\w+)['\"`]", text)
    return next((name for name in named if name in fields), None)
