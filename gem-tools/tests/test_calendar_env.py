"""The calendar's environment: graded on what the calendar holds, and lenient with calls that cannot be carried out."""

import json
from contextlib import closing

import pytest

import gem
from gem.llm import ChatPolicy
from gem.rollout import rollout
from gem.testing.chat_server import chat_server
from gem.tool import FORMATS, ToolCall
from gem.wrappers.tool_env import tool_envs
from gem_tools.calendar.env import Calendar
from gem_tools.calendar.planner import next_call


def calendar(format="hermes", **settings):
    return gem.ToolEnv(Calendar(**settings), format=format, max_calls=None, max_refused=None)


def say(name, **arguments):
    return FORMATS["hermes"].write(ToolCall(name, arguments), {})


def play_expert(env, seed):
    """The last step of the expert's episode."""
    env.reset(seed=seed)
    while not (step := env.step(env.expert_action())).done:
        pass
    return step


@pytest.mark.parametrize("variant", ["tools:Calendar-v0-easy", "tools:Calendar-v0", "tools:Calendar-v0-hard"])
def test_the_expert_does_every_task_of_every_variant_within_its_turns(variant):
    with gem.make(variant) as env:
        for seed in range(30):
            assert play_expert(env, seed).info["success"], seed


@pytest.mark.parametrize("format", FORMATS)
def test_the_tools_can_be_called_in_every_format(format):
    env = calendar(format)
    for seed in range(3):
        step = play_expert(env, seed)
        assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)


def test_the_expert_names_no_id_that_it_has_not_been_shown():
    env = calendar(tasks=8, events=16, max_turns=None)
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        seen = observation
        while (call := next_call(env.week, env.goal)) is not None:
            action = env.expert_action()
            for name in ("event_id", "todo_id"):
                if f'"{name}"' in action:
                    assert f"{call.arguments[name]}: " in seen
            seen += env.step(action).observation


def all_but_last(env):
    """Make all of the expert's calls but the last one, which is returned."""
    actions = []
    env.reset(seed=3)
    while next_call(env.week, env.goal) is not None:
        actions.append(env.expert_action())
        env.step(actions[-1])
    env.reset(seed=3)
    for action in actions[:-1]:
        env.step(action)
    return actions[-1]


def test_the_state_is_graded_and_not_the_reply():
    env = calendar(tasks=3)
    all_but_last(env)
    lost = env.step("All errands are done: \\boxed{done}")
    assert (lost.reward, lost.terminated, lost.info["success"]) == (0.0, True, False)
    env.step(all_but_last(env))
    won = env.step("I am not sure at all. \\boxed{Done}")
    assert (won.reward, won.terminated, won.info["success"]) == (1.0, True, True)


def test_a_change_that_was_not_asked_for_loses_and_can_be_undone():
    env = calendar(max_turns=None)
    last = all_but_last(env)
    env.step(last)
    env.step(say("add_todo", text="nobody asked"))
    assert env.expert_action() != "\\boxed{done}"
    saved = env.snapshot()
    assert not env.step("\\boxed{done}").info["success"]
    env.restore(saved)
    while (action := env.expert_action()) != "\\boxed{done}":
        env.step(action)
    assert env.step(action).info["success"]


def test_other_calls_that_lead_to_the_same_state_win_as_well():
    env = calendar(events=1, todos=0, tasks=1, max_turns=None)
    seed = next(seed for seed in range(100) if "Move" in env.reset(seed=seed)[0].split("this order:")[1])
    env.reset(seed=seed)
    (goal,) = env.goal.events.values()
    env.step(say("delete_event", event_id="e1"))
    env.step(say("add_event", title=goal.title, day=goal.day, start=f"{goal.start:02}:00", hours=goal.hours))
    assert env.step("\\boxed{done}").info["success"]


@pytest.mark.parametrize(
    ("reply", "name", "status", "reason"),
    [
        ('<tool_call>{"name": "add_event", }</tool_call>', None, "malformed", "could not read your call"),
        ('<tool_call>{"name": "ad_event", "arguments": {}}</tool_call>', None, "unknown", "no tool 'ad_event'"),
        (say("list_todos") * 2, None, "doubled", "more than one call"),
        (say("add_event", title="x"), "add_event", "arguments", "'day' is missing"),
        (say("list_events", day="Sunday"), "list_events", "arguments", "the argument 'day'"),
        (say("list_todos", week=1), "list_todos", "arguments", "no argument 'week'"),
        (say("delete_event", event_id="e99"), "delete_event", "error", "no event 'e99'"),
        (say("add_todo", text="a\nb"), "add_todo", "error", "one line"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_answered_and_the_episode_continues(reply, name, status, reason):
    env = calendar()
    env.reset(seed=0)
    before = env.week.facts()
    step = env.step(reply)
    assert reason in step.observation
    assert step.info["tool"] == {"name": name, "status": status}
    assert (step.reward, step.done, env.week.facts()) == (0.0, False, before)


def test_a_reply_with_neither_a_call_nor_done_loses():
    env = calendar()
    env.reset(seed=0)
    step = env.step("It is all done!")
    assert (step.reward, step.terminated, step.info["success"]) == (-0.1, True, False)


def test_every_observation_has_the_tasks_until_the_turns_are_used_up():
    env = calendar(max_turns=3)
    observation, info = env.reset(seed=0)
    assert info["stop"] == ["</tool_call>"]
    assert "You have 3 replies" in observation
    for _ in range(2):
        assert all(task in observation for task in env.tasks)
        observation = env.step(say("list_todos")).observation
    step = env.step(say("list_todos"))
    assert step.truncated
    assert "That was your last reply" in step.observation


def experts_replies(messages):
    """What the expert says next, as calls of a chat API unless the conversation describes calls in text."""
    asked = messages[0]["content"]
    env = gem.make("tools:Calendar-v0-easy")
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        if asked.startswith(observation.partition("\n\nYou can call")[0]):
            break
    else:
        raise AssertionError(f"no seed asks this: {asked}")
    for _ in range(sum(message["role"] == "assistant" for message in messages)):
        env.step(env.expert_action())
    reply = env.expert_action()
    call = FORMATS["hermes"].read(reply, next(tool_envs(env)).tools)
    if call is None or "<tool_call>" in asked:
        return reply
    return {"message": json.loads(FORMATS["openai"].write(call, {})), "finish_reason": "tool_calls"}


@pytest.mark.parametrize("native", [True, False])
def test_a_server_with_tool_calls_and_one_without_solve_the_same_tasks_each_in_one_format(native):
    with (
        chat_server(experts_replies, tools=native) as server,
        gem.make_vec("tools:Calendar-v0-easy", 3) as envs,
        closing(ChatPolicy("any", base_url=server.url)) as policy,
    ):
        episodes = list(rollout(policy, envs, [0, 1, 2]))

    assert [(episode.success, episode.failure) for episode in episodes] == [(True, None)] * 3
    with_tools = [body for body in server.bodies if "tools" in body]
    # The first request of each conversation may be refused, as they may be under way at the same time.
    assert len(with_tools) == len(server.bodies) if native else 1 <= len(with_tools) <= 3
    for body in with_tools if native else [body for body in server.bodies if "tools" not in body]:
        assert ("<tool_call>" in json.dumps(body["messages"])) == (not native)
        later = {message["role"] for message in body["messages"][1:]}
        assert later <= ({"assistant", "tool"} if native else {"assistant", "user"})
    for episode in episodes:
        assert (episode.turns[0].completion.tools is not None) == native
