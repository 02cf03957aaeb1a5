"""Tool calls of a chat API: the env's tools go with the request, and calls and results have the form of the API."""

import json
from contextlib import closing
from functools import partial

import pytest
import tool_samples
from chat_samples import PICTURE, call, calling, look, play
from tool_samples import Talk

import gem
from gem.episode import Completion
from gem.llm import ChatPolicy
from gem.llm.errors import ToolsRefused
from gem.llm.messages import api_tools, messages_of
from gem.rollout import rollout
from gem.rollout.transcript import Transcript
from gem.testing.chat_server import chat_server
from gem.wrappers.tool_env import ToolEnv


def test_calls_and_results_travel_in_the_fields_of_the_api():
    answers = [
        calling(call("c1", "now"), call("c2", "book", '{"day": 1, "hour": 9}'), content="Let me see."),
        calling(call("c3", "search", '{"query": "hats"}')),
        "A hat.",
    ]
    episode, [first, second, third] = play(answers, [tool_samples.now, tool_samples.book, tool_samples.search])

    assert (episode.success, episode.failure) == (True, None)
    assert [each["function"]["name"] for each in first["tools"]] == ["now", "book", "search"]
    assert first["tools"][1]["function"]["parameters"]["required"] == ["day", "hour"]
    assert first["messages"] == [{"role": "user", "content": "What is there?\n\nYou have 10 calls."}]
    assert second["messages"][1:] == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": answers[0]["message"]["tool_calls"]},
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "tool", "tool_call_id": "c2", "content": "booked 1, 9:00"},
    ]
    assert third["messages"][4:] == [
        {"role": "assistant", "content": None, "tool_calls": answers[1]["message"]["tool_calls"]},
        {"role": "tool", "tool_call_id": "c3", "content": "3 documents on hats"},
    ]
    assert first["tools"] == second["tools"] == third["tools"]
    assert [turn.info["tool_use_counter"] for turn in episode.turns] == [2, 3, 3]
    assert episode.turns[0].observation.startswith("What is there?\n\nYou can call these tools")


def test_each_call_of_a_message_has_its_answer_also_if_it_is_refused():
    bad = [call("a", "nothing"), call("b", "search", '{"query"'), call("c", "now"), call("c", "now", "")]
    episode, [_, second] = play([calling(*bad), "A hat."], [tool_samples.now, tool_samples.search])

    assistant, *results = second["messages"][1:]
    assert [each["function"]["arguments"] for each in assistant["tool_calls"]] == ["{}", "{}", "{}", "{}"]
    assert [each["tool_call_id"] for each in results] == ["a", "b", "c", "c"]
    assert "There is no tool 'nothing'" in results[0]["content"]
    assert "I could not read your call" in results[1]["content"]
    assert [each["content"] for each in results[2:]] == ["noon", "noon"]
    info = episode.turns[0].info
    assert (info["tool_use_counter"], info["tool_refused_counter"]) == (2, 2)
    assert [each["status"] for each in info["calls"]] == ["unknown", "malformed", "ok", "ok"]


def test_calls_beyond_the_budget_are_refused_and_the_episode_ends_at_its_limit_of_refused_calls():
    with ToolEnv(Talk(), tool_samples.now, format="openai", max_calls=2, max_refused=2, tool_reward=0.25) as env:
        env.reset(seed=0)
        step = env.step(json.dumps(calling(*(call(str(number), "now") for number in range(9)))["message"]))

    assert [each["status"] for each in step.info["calls"]] == ["ok", "ok", "over_budget", "over_budget"]
    assert step.truncated
    assert step.reward == 0.5


def test_a_message_with_calls_of_two_tool_envs_is_refused():
    inner = ToolEnv(Talk(), tool_samples.now, format="openai")
    with ToolEnv(inner, tool_samples.book, format="openai") as env:
        _, info = env.reset(seed=0)
        both = calling(call("1", "now"), call("2", "book", '{"day": 1, "hour": 9}'))
        refused = env.step(json.dumps(both["message"]))
        passed = env.step(json.dumps(calling(call("1", "now"), call("2", "now"))["message"]))

    assert [each["function"]["name"] for each in info["tools"]] == ["now", "book"]
    assert [each["status"] for each in refused.info["calls"]] == ["doubled", "doubled"]
    assert [each["answer"] for each in passed.info["calls"]] == ["noon", "noon"]


def test_pictures_in_results_follow_in_a_message_of_the_user():
    first = calling(call("a", "look", '{"where": "here"}'), call("b", "look", '{"where": "there"}'))
    _, [_, second] = play([first, "A hat."], look)

    assert second["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "This is here."},
        {"role": "tool", "tool_call_id": "b", "content": "This is there."},
        {"role": "user", "content": [PICTURE, PICTURE]},
    ]


@pytest.mark.parametrize("sent_back", [False, True])
def test_reasoning_is_kept_apart_and_sent_back_by_choice(sent_back):
    answers = [calling(call("a", "now"), reasoning_content="I need the time."), "A hat."]
    episode, [_, second] = play(answers, tool_samples.now, return_reasoning=sent_back)

    assert episode.turns[0].completion.reasoning == "I need the time."
    assert "reasoning" not in episode.turns[0].action
    assert second["messages"][1].get("reasoning_content") == ("I need the time." if sent_back else None)


def test_tools_in_another_format_are_text():
    answers = ["<now></now>", "A hat."]
    episode, [first, second] = play(answers, tool_samples.now, format="tags")

    assert episode.success
    assert "tools" not in first
    assert "You can call" in first["messages"][0]["content"]
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "user"]


def test_a_server_that_takes_tools_is_given_those_of_the_format_auto_and_no_text_about_them():
    answers = [calling(call("a", "now")), "A hat."]
    episode, [first, second] = play(answers, tool_samples.now, format="auto")

    assert episode.success
    assert [each["function"]["name"] for each in first["tools"]] == ["now"]
    assert first["messages"] == [{"role": "user", "content": "What is there?\n\nYou have 10 calls."}]
    assert "stop" not in first
    assert second["messages"][2] == {"role": "tool", "tool_call_id": "a", "content": "noon"}
    assert [list(turn.completion.tools.functions) for turn in episode.turns[:1]] == [first["tools"]]
    assert episode.turns[1].completion.tools is None


def test_a_server_that_refuses_tools_is_asked_in_text_from_then_on(caplog):
    def answer(messages):
        return "A hat." if "noon" in messages[-1]["content"] else "<now></now>"

    wrappers = [partial(ToolEnv, tools=tool_samples.now)]
    with (
        chat_server(answer, tools=False) as server,
        closing(ChatPolicy("any", base_url=server.url)) as policy,
        gem.make_vec("tool_samples:Talk", 1, wrappers=wrappers) as envs,
    ):
        episodes = list(rollout(policy, envs, starts=[0, 1]))

    assert [episode.success for episode in episodes] == [True, True]
    [told] = caplog.messages
    assert told.startswith("Tools are called in text, because the server takes none; it says: status 400: ")
    refused, *others = server.bodies
    assert "tools" in refused
    assert len(others) == 4
    for body in others:
        assert "tools" not in body
        assert body["stop"] == ["</now>"]
        assert "<now></now>" in body["messages"][0]["content"]
        assert {each["role"] for each in body["messages"]} <= {"user", "assistant"}
    assert episodes[0].turns[0].completion.tools is None


def test_a_conversation_with_tools_keeps_them_when_the_server_refuses_those_of_another():
    transcript = Transcript("What is there?", {"optional_tools": [{"type": "function"}], "tools_text": ["Tools."]})
    given = api_tools(transcript, optional=True)
    transcript.add(Completion("A hat.", tools=given), 0.0, "Is there?", {})
    in_text = Transcript("What is there?", transcript.first_info)
    in_text.add(Completion("A hat."), 0.0, "Is there?", {})

    assert given is not None
    assert api_tools(transcript, optional=False) is given
    assert api_tools(in_text, optional=True) is None


def test_a_field_that_the_user_gave_and_the_server_refuses_is_not_sent_again():
    with (
        chat_server(lambda messages: "A hat.", tools=False) as server,
        closing(ChatPolicy("any", base_url=server.url, extra={"tools": []})) as policy,
        gem.make_vec("tool_samples:Talk", 1) as envs,
        pytest.raises(ToolsRefused),
    ):
        list(rollout(policy, envs, starts=[0]))
    assert len(server.bodies) == 2


def test_tools_that_the_format_asks_for_and_the_server_refuses_end_the_rollout():
    with (
        chat_server(lambda messages: "A hat.", tools=False) as server,
        closing(ChatPolicy("any", base_url=server.url)) as policy,
        gem.make_vec(
            "tool_samples:Talk", 1, wrappers=[partial(ToolEnv, tools=tool_samples.now, format="openai")]
        ) as envs,
        pytest.raises(ToolsRefused, match="--tool-arg format=hermes"),
    ):
        list(rollout(policy, envs, starts=[0]))


def test_a_conversation_without_tools_keeps_the_json_that_a_model_writes():
    transcript = Transcript("Write a call.")
    said = json.dumps(calling(call("a", "now"))["message"])
    transcript.add(Completion(said), 0.0, "More.", {})

    assert [each["content"] for each in messages_of(transcript, None)] == ["Write a call.", said, "More."]
