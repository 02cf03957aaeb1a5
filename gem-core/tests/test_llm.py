"""`gem.llm`: the client and the policy, against a server that answers by a function and fails as it is told."""

import asyncio
import json
import sys
import time

import pytest

import gem
from gem.errors import ConfigError, MissingExtra
from gem.llm import ChatClient, ChatPolicy, Usage
from gem.llm.errors import AccessRefused, RequestRefused, ServerFault
from gem.llm.messages import completion_of
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.rollout.transcript import Transcript
from gem.testing.chat_server import Trouble, chat_server

ECHO = "core:Echo-v0"


def say_it_back(messages):
    """The right answer of `core:Echo-v0`."""
    env = gem.make(ECHO)
    for seed in range(1000):
        if env.reset(seed=seed)[0] == messages[-1]["content"]:
            return env.expert_action()
    raise AssertionError(f"no seed asks this: {messages}")


def ask(url, *bodies, **settings):
    async def run():
        client = ChatClient(url, **settings)
        try:
            return await asyncio.gather(*(client.chat(body) for body in bodies), return_exceptions=True), client
        finally:
            await client.close()

    return asyncio.run(run())


BODY = {"model": "any", "messages": [{"role": "user", "content": "three little words"}]}


def test_a_reply_has_its_message_its_tokens_and_its_time():
    with chat_server(lambda messages: f"You said {messages[0]['content']}.") as server:
        [reply], _ = ask(server.url, BODY)

    assert reply.message == {"role": "assistant", "content": "You said three little words."}
    assert (reply.finish_reason, reply.usage.requests) == ("stop", 1)
    assert (reply.usage.prompt, reply.usage.completion) == (3, 5)
    assert reply.usage.seconds > 0
    assert server.bodies == [BODY]


@pytest.mark.parametrize("kind", ["fail", "limit", "truncate", "garble", "error", "hang_up", "stall"])
def test_what_may_pass_is_tried_again(kind, monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    with chat_server(lambda messages: "yes", Trouble(**{kind: 0.5}, seed=1)) as server:
        replies, client = ask(server.url, *[BODY] * 20, retries=30, timeout=0.2 if kind == "stall" else 30)

    assert [reply.message["content"] for reply in replies] == ["yes"] * 20
    late = server.answered - 20  # answers that a busy machine has not given in time
    assert late == 0 or (kind == "stall" and late > 0)
    assert server.requests == 20 + late + server.troubles[kind]
    assert client.http.repeated == late + server.troubles[kind]
    assert max(reply.usage.requests for reply in replies) > 1


def test_a_call_fails_with_the_last_trouble_when_its_retries_are_used_up(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    with chat_server(lambda messages: "yes", Trouble(fail=1.0)) as server:
        [failed], _ = ask(server.url, BODY, retries=2)

    assert isinstance(failed, ServerFault)
    assert "was asked 3 times without an answer: status 500" in str(failed)
    assert "the server is on fire" in str(failed)
    assert server.requests == 3


def test_where_there_is_no_server_that_is_said_at_once(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    [failed], client = ask("http://127.0.0.1:9/v1", BODY)

    assert isinstance(failed, AccessRefused)
    assert "there is no server at http://127.0.0.1:9/v1/chat/completions: start it, or set base_url" in str(failed)
    assert client.http.repeated == 2


def test_requests_at_once_never_exceed_the_limit(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    with chat_server(lambda messages: "yes", Trouble(fail=0.1, limit=0.1, latency=lambda rng: 0.01)) as server:
        replies, _ = ask(server.url, *[BODY] * 100, concurrency=7, retries=30)

    assert len(replies) == 100 == server.answered
    assert server.most == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base_url": "localhost:8000"}, "is like http"),
        ({"concurrency": 0}, "at_once"),
        ({"retries": -1}, "retries"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        ChatClient(**{"base_url": "http://localhost", **settings})


def play(server, episodes, **settings):
    policy = make_policy({"name": "openai", "model": "any", "base_url": server.url, **settings})
    try:
        with gem.make_vec(ECHO, 8) as envs:
            return list(rollout(policy, envs, starts=range(episodes)))
    finally:
        policy.close()


@pytest.mark.parametrize(
    ("episodes", "slots", "limit"), [(60, 16, 5), pytest.param(2000, 256, 64, marks=pytest.mark.full)]
)
def test_a_server_that_fails_at_a_fifth_of_the_requests_costs_no_episode(episodes, slots, limit, monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    kinds = ("fail", "limit", "truncate", "garble", "error", "hang_up", "stall")
    trouble = Trouble(**dict.fromkeys(kinds, 0.2 / len(kinds)), seed=5, latency=lambda rng: rng.expovariate(200))
    policy = {"name": "openai", "model": "any", "timeout": 2.0, "retries": 30, "concurrency": limit}
    with chat_server(say_it_back, trouble) as server:
        made = make_policy({**policy, "base_url": server.url})
        with gem.make_vec(ECHO, slots) as envs:
            played = list(rollout(made, envs, starts=range(episodes)))
        made.close()

    assert sorted(episode.seed for episode in played) == list(range(episodes))
    assert all(episode.success and episode.failure is None for episode in played)
    assert server.answered == episodes  # each reply was used, once
    assert len(server.troubles) >= (len(kinds) if episodes > 1000 else 4)
    assert server.requests == episodes + sum(server.troubles.values())
    assert server.most <= limit
    used = sum((episode.turns[0].completion.usage for episode in played), start=Usage())
    assert used.requests == server.requests
    assert used.completion == episodes


def test_a_server_that_never_answers_fails_episodes_and_scores_none(monkeypatch):
    monkeypatch.setattr("gem.http.client.FIRST_WAIT", 0.001)
    with chat_server(say_it_back, Trouble(fail=1.0)) as server:
        episodes = play(server, 8, retries=1)

    assert [episode.failure is not None for episode in episodes] == [True] * 8


def refusing(status, text):
    from aiohttp import web

    async def answer(request):
        return web.Response(status=status, text=text)

    return answer


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [(401, "wrong key", AccessRefused), (404, "no such model", AccessRefused), (400, "bad words", RequestRefused)],
)
def test_a_refusal_is_not_tried_again(monkeypatch, status, text, expected):
    monkeypatch.setattr("gem.testing.chat_server._Handler._respond", lambda self, request: refusing(status, text)(0))
    with chat_server(say_it_back) as server:
        [failed], client = ask(server.url, BODY)
        assert isinstance(failed, expected)
        assert text in str(failed)
        assert client.http.repeated == 0
        if expected is AccessRefused:
            with pytest.raises(AccessRefused, match="check the key"):
                play(server, 4)
        else:
            assert all(episode.failure for episode in play(server, 4))


def test_a_conversation_beyond_the_context_truncates_its_episode(monkeypatch):
    text = json.dumps({"error": {"code": "context_length_exceeded"}})
    monkeypatch.setattr("gem.testing.chat_server._Handler._respond", lambda self, request: refusing(400, text)(0))
    with chat_server(say_it_back) as server:
        [episode] = play(server, 1)

    assert episode.out_of_context
    assert episode.failure is None


def test_the_request_has_the_settings_the_system_message_and_the_stop_texts():
    with chat_server(lambda messages: "<divide>1</divide>") as server:
        policy = ChatPolicy(
            "small", base_url=server.url, system="Be brief.", temperature=0.5, max_tokens=9, extra={"seed": 4}
        )
        with gem.make_vec(ECHO, 1, wrappers=[{"name": "tool_env", "tools": "calculator", "format": "tags"}]) as envs:
            next(rollout(policy, envs, starts=[0], max_turns=1))
        policy.close()

    body = server.bodies[0]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert {name: value for name, value in body.items() if name != "messages"} == {
        "model": "small", "temperature": 0.5, "max_tokens": 9, "seed": 4, "stop": ["</calculator>"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "stop", "completed"),
    [
        ("I look: <search>who", ["</search>"], "I look: <search>who</search>"),
        ("<search>a</search> and <search>b", ["</search>"], "<search>a</search> and <search>b</search>"),
        ("no call", ["</search>"], "no call"),
        ("<search>a</search>", ["</search>"], "<search>a</search>"),
        ("```python\nprint(1)", ["\n```\n"], "```python\nprint(1)\n```\n"),
        ("```python\nprint(1)\n```", ["\n```\n"], "```python\nprint(1)\n```"),
    ],
)
def test_the_text_that_stopped_a_call_is_put_back(text, stop, completed):
    def answer(messages):
        return text

    with chat_server(answer) as server:
        [reply], _ = ask(server.url, BODY)

    assert completion_of(reply, stop).text == completed


def test_finish_reasons_and_tool_calls_are_read():
    calls = [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]
    choices = iter(
        [
            {"message": {"role": "assistant", "content": "cut <s>"}, "finish_reason": "length"},
            {"message": {"role": "assistant", "content": None, "tool_calls": calls}, "finish_reason": "tool_calls"},
            {"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop", "stop_reason": "</s>"},
        ]
    )
    with chat_server(lambda messages: next(choices)) as server:
        completions = []
        for _ in range(3):
            [reply], _ = ask(server.url, BODY)
            completions.append(completion_of(reply, ["</s>"]))

    assert [(each.text, each.finish_reason) for each in completions[::2]] == [("cut <s>", "length"), ("a</s>", "stop")]
    assert json.loads(completions[1].text)["tool_calls"] == calls


def test_closing_a_policy_in_the_middle_of_calls_gives_them_up():
    with chat_server(say_it_back, Trouble(stall=1.0)) as server:
        policy = ChatPolicy("any", base_url=server.url)
        policy.send({slot: Transcript("Say something.") for slot in range(20)})
        until = time.monotonic() + 30
        while server.now < 20 and time.monotonic() < until:
            policy.recv(timeout=0.01)
        assert server.now == 20

        policy.close()
        while server.now and time.monotonic() < until:
            time.sleep(0.01)

    assert (server.now, server.requests) == (0, 20)


def test_the_server_for_tests_says_how_to_install_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with (
        pytest.raises(MissingExtra, match=r"the chat server needs aiohttp .*: pip install 'gem-core\[http\]'"),
        chat_server(lambda messages: "yes"),
    ):
        pass
