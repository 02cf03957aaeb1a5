"""A transcript as the messages of a chat API, and an API's reply as a completion."""

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gem.core import Info, Observation
from gem.episode import ApiTools, Completion, FinishReason, TokenTexts, Turn
from gem.llm.answers import ChatReply, TokenLogprob
from gem.rollout.transcript import Transcript
from gem.tool.content import map_texts, parts_of

Message = dict[str, Any]


def api_tools(transcript: Transcript, *, optional: bool) -> ApiTools | None:
    """The tools that a request has; None for tools that are called in text. They are those of the conversation so far.

    Args:
        transcript: the conversation.
        optional: whether a new conversation has those of the call format `auto` there, which text can call too.
    """
    if transcript.turns:
        return transcript.turns[0].completion.tools
    info = transcript.first_info
    functions = (*info.get("tools", ()), *(info.get("optional_tools", ()) if optional else ()))
    return ApiTools(functions, tuple(info.get("tools_text", ()))) if functions else None


def joined_system(of_policy: str | None, of_env: str) -> str:
    """One system message, where both a policy and an env have one: many chat templates take no second one."""
    return "\n\n".join(filter(None, (of_policy, of_env)))


def messages_of(transcript: Transcript, tools: ApiTools | None, *, reasoning: bool = False) -> list[Message]:
    """The conversation as messages, after the system message of the env, if it has one.

    Where the request has the env's tools, calls and results have the API's form: an assistant's message with
    `tool_calls`, and after it one `tool` message for each; the description of the tools is left out of the observation.

    Args:
        transcript: the conversation.
        tools: those of the request.
        reasoning: whether to send the reasoning of earlier replies back, as `reasoning_content`.
    """
    history = ChatHistory(tools, reasoning=reasoning)
    begin: list[Message] = [{"role": "system", "content": transcript.system}] if transcript.system else []
    earlier = begin + [message for turn in transcript.turns for message in history.add(turn)]
    return earlier + history.asked(transcript.observation)


class ChatHistory:
    """The messages of a conversation that grows: of each turn once; see `messages_of`."""

    def __init__(self, tools: ApiTools | None, *, reasoning: bool = False) -> None:
        self.tools = tools
        self.turns = 0
        """Number of turns so far."""
        self._reasoning = reasoning
        self._described: Sequence[str] = tools.text if tools else ()
        self._calls: Sequence[Message] = ()
        self._info: Info = {}

    def add(self, turn: Turn) -> list[Message]:
        """The messages of the next turn: its observation and the reply."""
        said: Message = _said(turn.action) if self.tools else {"role": "assistant", "content": turn.action}
        if self._reasoning and turn.completion.reasoning:
            said["reasoning_content"] = turn.completion.reasoning
        messages = [*self.asked(turn.observation), said]
        self._calls, self._info, self._described = said.get("tool_calls", ()), turn.info, ()
        self.turns += 1
        return messages

    def asked(self, observation: Observation) -> list[Message]:
        """The messages of an observation that waits for a reply."""
        return _seen(_without(observation, self._described), self._calls, self._info)


def _without(observation: Observation, described: Sequence[str]) -> Observation:
    for text in described:
        observation = map_texts(observation, lambda shown, text=text: shown.replace(f"\n\n{text}", "", 1))
    return observation


def _seen(observation: Observation, calls: Sequence[Message], info: Info) -> list[Message]:
    """The messages of an observation that follows these calls."""
    if not calls:
        return [{"role": "user", "content": observation}]
    listed = info.get("calls")
    if len(calls) == 1 or not isinstance(listed, list):
        answers: list[Observation] = [observation, *["See above."] * (len(calls) - 1)]
    else:  # an episode ends if it cannot carry out the others, so none is missing
        answers = [each["answer"] for each in cast("list[dict[str, Any]]", listed)]
    messages: list[Message] = []
    pictures: list[Any] = []
    for call, answer in zip(calls, answers, strict=False):
        texts = [part.get("text", "") for part in parts_of(answer) if part["type"] == "text"]
        pictures += [part for part in parts_of(answer) if part["type"] != "text"]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "\n".join(texts)})
    # A tool's message holds text only.
    return [*messages, {"role": "user", "content": pictures}] if pictures else messages


def _said(action: str) -> Message:
    """The assistant's message with this text, or with these calls."""
    if action.lstrip().startswith("{") and '"tool_calls"' in action:
        try:
            message = json.loads(action)
            calls = [_call(call, number) for number, call in enumerate(message["tool_calls"])]
            if calls:
                return {"role": "assistant", "content": message.get("content"), "tool_calls": calls}
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # a model's own JSON: ToolEnv has answered it with what was wrong
    return {"role": "assistant", "content": action}


def _call(call: Mapping[str, Any], number: int) -> Message:
    """A call as servers take it back: with an id, and with the text of a JSON object as its arguments."""
    function = dict(call["function"])
    arguments = function.get("arguments") or "{}"
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    try:
        sound = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        sound = False
    function["arguments"] = arguments if sound else "{}"
    return {**call, "type": "function", "id": call.get("id") or f"call_{number}", "function": function}


def completion_of(reply: ChatReply, stop: Sequence[str]) -> Completion:
    """A reply of a chat API as a completion; `stop` are the texts at which it was to stop.

    A message with tool calls becomes its JSON, as the call format `openai` reads it.
    """
    message = reply.message
    text, thoughts = _text_of(message)
    if calls := cast("list[Message]", message.get("tool_calls")):
        for call in calls:
            if call["function"].get("arguments") == "":  # so some servers write that there are none
                call["function"]["arguments"] = "{}"
        text = json.dumps({"content": text or None, "tool_calls": calls}, ensure_ascii=False)
    elif reply.finish_reason == "stop":
        text += reply.stop_reason or _ending(text, stop)
    reason: FinishReason = "length" if reply.finish_reason == "length" else "stop"
    return Completion(text, finish_reason=reason, tokens=_tokens(reply.logprobs), usage=reply.usage, reasoning=thoughts)


def _text_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a message, and the reasoning before it, where the server keeps the two apart."""
    content = message.get("content") or message.get("refusal") or ""
    named = (message.get(name) for name in ("reasoning_content", "reasoning"))
    thoughts = next((each for each in named if isinstance(each, str)), "")
    if isinstance(content, str):
        return content, thoughts
    parts = cast("list[dict[str, Any]]", content)
    return "".join(str(part["text"]) for part in parts if "text" in part), thoughts


def _tokens(logprobs: Sequence[TokenLogprob]) -> TokenTexts | None:
    """The texts and log-probabilities of tokens. Tokens may share a character, which the last one then has."""
    if not logprobs:
        return None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = [each.token if each.bytes is None else decoder.decode(bytes(each.bytes)) for each in logprobs]
    return TokenTexts(tuple(texts), tuple(min(0.0, each.logprob) for each in logprobs))


def _ending(text: str, stop: Sequence[str]) -> str:
    """The stop text that must have ended `text`: the one of a tag that is open, or of a fence; `""` if none is."""
    for each in stop:
        if each.startswith("</") and text.count(f"<{each[2:]}") > text.count(each):
            return each
        if each.strip().startswith("```") and sum(line.startswith("```") for line in text.splitlines()) % 2:
            return each
    return ""
