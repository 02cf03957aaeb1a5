"""The tools and the grades of Storeroom."""

import gem
from gem.tool import ToolCall

ID = "{{ cookiecutter.namespace }}:Storeroom-v0"


def call(name, **arguments):
    import json

    return "<tool_call>" + json.dumps({"name": name, "arguments": arguments}) + "</tool_call>"


def test_the_expert_moves_the_thing_and_says_that_it_is_done():
    env = gem.make(ID)
    for seed in range(20):
        env.reset(seed=seed)
        while not (step := env.step(env.expert_action())).done:
            pass
        assert step.info["success"]


def test_a_look_shows_what_is_on_a_shelf():
    env = gem.make(ID)
    env.reset(seed=0)
    state = env.unwrapped
    for shelf in ("top", "middle", "bottom"):
        shown = env.step(call("look", shelf=shelf)).observation
        assert all((thing in shown) == (on == shelf) for thing, on in state.shelf_of.items())


def test_moving_the_wrong_thing_is_not_a_success():
    env = gem.make(ID)
    env.reset(seed=0)
    state = env.unwrapped
    other = next(thing for thing in state.shelf_of if thing != state.wanted)
    shelf = next(shelf for shelf in ("top", "bottom") if shelf != state.shelf_of[other])
    env.step(call("move", thing=other, shelf=shelf))
    expert = env.unwrapped.expert_call([])
    assert isinstance(expert, ToolCall)
    env.step(call(expert.name, **expert.arguments))
    assert env.step("\\boxed{done}").info["success"] is False


def test_a_shelf_that_does_not_exist_is_answered_with_those_that_do():
    env = gem.make(ID)
    env.reset(seed=0)
    assert "there are: top, middle, bottom" in env.step(call("look", shelf="left")).observation
