"""What servers answer: refusals that say what to set, errors with status 200, log-probabilities, unusual contents."""

import asyncio
import json
import math
import time
from email.utils import formatdate

import pytest

import gem
from gem.errors import ConfigError
from gem.http.answers import Answer, NoAnswer
from gem.llm import ChatClient, ChatPolicy
from gem.llm.answers import read_reply, refusal
from gem.llm.errors import AccessRefused, ContextExceeded, RequestRefused, ServerFault, ToolsRefused
from gem.llm.messages import completion_of
from gem.rollout import rollout
from gem.testing.chat_server import Trouble, chat_server

SENT = ("model", "messages", "temperature", "max_tokens", "stop", "tools", "logprobs")


def answering(content, status=200, headers=(), seconds=0.0, requests=1):
    return Answer("http://here", status, "", dict(headers), content, seconds, requests)


def error(**fields):
    return {"error": {"message": "", "param": None, "code": None, **fields}}


# As OpenAI, vLLM, SGLang, Mistral, llama.cpp, DeepSeek and OpenRouter write them.
REFUSALS = [
    (
        400,
        error(
            message="Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
        AccessRefused,
        "the field 'max_tokens' as it is: set max_completion_tokens instead",
    ),
    (
        400,
        error(
            message="Unsupported value: 'temperature' does not support 0.5 with this model.",
            param="temperature",
            code="unsupported_value",
        ),
        AccessRefused,
        "leave temperature out",
    ),
    (404, {"detail": "Not Found"}, AccessRefused, "the address (base_url, which mostly ends in /v1)"),
    (400, error(message="Unsupported parameter: 'stop' is not supported"), AccessRefused, "set stop=false"),
    (
        400,
        {"object": "error", "message": '"auto" tool choice requires --enable-auto-tool-choice', "code": 400},
        ToolsRefused,
        "format=hermes",
    ),
    (
        422,
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]},
        AccessRefused,
        "leave logprobs out",
    ),
    (400, error(message="registry.ollama.ai/library/gemma2 does not support tools"), ToolsRefused, "format=hermes"),
    (500, error(message="tools param requires --jinja flag"), ToolsRefused, "format=hermes"),
    (404, error(message="No endpoints found that support tool use."), ToolsRefused, "format=hermes"),
    (400, error(message="Function is wrong", param="tools[0].function.parameters"), AccessRefused, "the field 'tools'"),
    (400, error(message="invalid model ID", param="model"), AccessRefused, "check the name of the model"),
    (400, error(message="Invalid 'messages[1].content'", param="messages.[1].content"), RequestRefused, "messages"),
    (422, {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "bad"}]}, RequestRefused, "bad"),
    (400, error(message="the word 'stop' was said", code="content_policy_violation"), RequestRefused, "policy"),
    (400, error(message="This model's maximum context length is 9 tokens", param="messages"), ContextExceeded, "9"),
    (400, error(message="the request exceeds the available context size"), ContextExceeded, "context"),
    (402, error(message="Insufficient Balance"), AccessRefused, "Insufficient Balance"),
    (429, error(message="You exceeded your current quota", code="insufficient_quota"), AccessRefused, "quota"),
    (429, error(message="slow down"), NoAnswer, "slow down"),
    (500, "<html>", NoAnswer, "<html>"),
    (400, "not JSON", RequestRefused, "not JSON"),
    (308, "", AccessRefused, "has moved to 'https://there/v1'; set base_url"),
]


@pytest.mark.parametrize(("status", "answer", "kind", "words"), REFUSALS)
def test_a_refusal_says_what_to_set_and_whether_it_concerns_every_request(status, answer, kind, words):
    content = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
    refused = refusal(answering(content, status, {"Location": "https://there/v1"}), SENT)

    assert type(refused) is kind
    assert words in str(refused)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "1e9"}, 60.0),
        ({"Retry-After": formatdate(time.time() + 3600, usegmt=True)}, 60.0),
        ({"Retry-After-Ms": "20", "Retry-After": "1"}, 0.02),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_a_pause_is_a_number_or_a_date(headers, seconds):
    assert refusal(answering(b"", 429, headers), SENT).wait == seconds


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(code=429, message="busy"), NoAnswer),
        (error(code="server_error"), NoAnswer),
        (error(code=401, message="no such key"), AccessRefused),
        (error(code=400, message="maximum context length"), ContextExceeded),
        ({"error": "overloaded"}, NoAnswer),
        ({"choices": []}, NoAnswer),
        ({"choices": [{"message": None}]}, NoAnswer),
        ({"choices": [{"message": {"content": "half"}, "finish_reason": "abort"}]}, NoAnswer),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, RequestRefused),
        ([], NoAnswer),
        *(
            ({"choices": [{"message": {"role": "assistant", "content": "a", **odd}}]}, NoAnswer)
            for odd in [
                *({"content": content} for content in (5, {}, [5])),
                {"refusal": 5},
                *({"tool_calls": calls} for calls in ("x", [5], [{}], [{"function": None}], [{"function": {}}])),
            ]
        ),
        *(
            ({"choices": [{"message": {"content": "a"}, **odd}]}, NoAnswer)
            for odd in [
                {"finish_reason": {}},
                {"logprobs": "x"},
                *({"logprobs": {"content": [each]}} for each in ("x", {}, {"token": "a", "logprob": None})),
                {"logprobs": {"content": [{"token": "a", "logprob": -1.0, "bytes": [300]}]}},
            ]
        ),
        *(
            ({"choices": [{"message": {"content": "a"}}], "usage": usage}, None)
            for usage in [
                *({"prompt_tokens": count} for count in ("?", 7.5, -3, 10**30, True, None)),
                {"prompt_tokens_details": [1]},
                ["prompt_tokens"],
                "7",
            ]
        ),
    ],
)
def test_an_answer_with_status_200_is_a_reply_only_if_it_has_one(answer, kind):
    content = json.dumps(answer).encode()
    if kind is None:
        reply = read_reply(answering(content), SENT)
        assert (reply.message, reply.usage.prompt) == ({"content": "a"}, 0)
    else:
        with pytest.raises(kind):
            read_reply(answering(content), SENT)


def completed(choice, stop=(), **answer):
    content = json.dumps({"choices": [choice], **answer}).encode()
    return completion_of(read_reply(answering(content, seconds=0.5, requests=2), SENT), stop)


def test_tokens_and_time_of_a_reply_reach_the_completion():
    usage = completed(
        {"message": {"content": "yes"}},
        usage={
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    ).usage

    assert usage is not None
    assert (usage.prompt, usage.cached, usage.completion, usage.reasoning) == (9, 8, 5, 4)
    assert (usage.seconds, usage.requests) == (0.5, 2)


def test_no_more_tokens_of_a_prompt_are_cached_than_it_has_or_a_reply_would_cost_less_than_nothing():
    odd = {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10**6}}

    assert (usage := completed({"message": {"content": "yes"}}, usage=odd).usage) is not None
    assert (usage.prompt, usage.cached) == (9, 9)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": None, "refusal": "I will not."}, "I will not.", ""),
        ({"content": [{"type": "thinking"}, {"type": "text", "text": "So"}, {"type": "text", "text": "."}]}, "So.", ""),
        ({"content": "", "reasoning_content": "On and on"}, "", "On and on"),
        ({"content": "4", "reasoning": "2 + 2"}, "4", "2 + 2"),
        ({}, "", ""),
    ],
)
def test_text_and_reasoning_are_told_apart(message, text, reasoning):
    completion = completed({"message": message, "finish_reason": "length"})

    assert (completion.text, completion.reasoning, completion.finish_reason) == (text, reasoning, "length")
    assert not completion.out_of_context


def test_tokens_that_share_a_character_have_their_texts_joined_to_the_reply():
    tokens = [
        {"token": "\\xf0\\x9f", "bytes": [0xF0, 0x9F], "logprob": -0.5},
        {"token": "\\x98\\x80", "bytes": [0x98, 0x80], "logprob": 0.0},
        {"token": "!", "bytes": None, "logprob": -9999.0},
    ]
    kept = completed({"message": {"content": "😀!"}, "logprobs": {"content": tokens}}).tokens

    assert kept is not None
    assert kept.text == ("", "😀", "!")
    assert kept.logprobs == (-0.5, 0.0, -9999.0)


def test_log_probabilities_are_asked_for_and_reach_the_episode():
    tokens = [{"token": "42", "bytes": [52, 50], "logprob": math.log(0.5)}]
    answer = {"message": {"role": "assistant", "content": "42"}, "logprobs": {"content": tokens}}
    with chat_server(lambda messages: answer) as server:
        policy = ChatPolicy("any", base_url=server.url, logprobs=True, max_completion_tokens=5)
        with gem.make_vec("core:Echo-v0", 1) as envs:
            [episode] = rollout(policy, envs, starts=[0])
        policy.close()

    kept = episode.turns[0].completion.tokens
    assert (kept.text, kept.logprobs) == (("42",), (math.log(0.5),))
    assert (server.bodies[0]["logprobs"], server.bodies[0]["max_completion_tokens"]) == (True, 5)


def test_a_rate_limit_uses_up_no_retries_while_other_calls_are_answered(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)

    async def run(client):
        answers = {1: NoAnswer("slow", None, limited=True), 0: NoAnswer("fails")}

        async def request(method, url, data, timeout, requests):
            client.http.reached = True
            client.http.answered += data == b'"limited"'  # another call was answered meanwhile
            if requests < 50:
                raise answers[data == b'"limited"']
            return answering(b'{"choices": [{"message": {}}]}', requests=requests)

        monkeypatch.setattr(client.http, "_request", request)
        assert (await client.chat("limited")).usage.requests == 50
        with pytest.raises(ServerFault, match="asked 9 times"):
            await client.chat("failing")
        await client.close()

    asyncio.run(run(ChatClient("http://localhost")))


def test_a_text_that_is_not_unicode_is_sent_all_the_same():
    with chat_server(lambda messages: messages[0]["content"]) as server:

        async def run():
            client = ChatClient(server.url)
            try:
                return await client.chat({"model": "é", "messages": [{"role": "user", "content": "é\ud800😀"}]})
            finally:
                await client.close()

        assert asyncio.run(run()).message["content"] == "é?😀"


def test_without_a_key_of_openai_that_is_said_before_anything_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="set the variable OPENAI_API_KEY, or base_url"):
        ChatPolicy("any")
    monkeypatch.setenv("OURS", "secret")
    ChatPolicy("any", key_variable="OURS").close()


def test_a_server_that_closes_connections_costs_no_pause(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 1000.0)
    with chat_server(lambda messages: "yes", Trouble(hang_up=0.3, seed=10)) as server:

        async def run():
            client = ChatClient(server.url)
            try:
                async with asyncio.timeout(30):
                    return [await client.chat({"model": "any", "messages": []}) for _ in range(20)]
            finally:
                await client.close()

        replies = asyncio.run(run())

    assert [reply.message["content"] for reply in replies] == ["yes"] * 20
    assert max(reply.usage.requests for reply in replies) == 2
    assert server.troubles["hang_up"] == 6
