"""Chat models as parts: roles, structured answers, the cache, and other policies than an API, against a real server."""

import asyncio
import json
import pickle
import subprocess
import sys
from typing import Literal

import msgspec
import pydantic
import pytest
from click.testing import CliRunner
from pydantic_core import to_jsonable_python
from role_envs import wanting

import gem
from gem.cli.main import main
from gem.errors import ConfigError, Fault, Unreachable
from gem.llm.errors import UnusableAnswer
from gem.rollout import rollout
from gem.testing.chat_server import Trouble, chat_server


class Verdict(pydantic.BaseModel):
    right: bool
    points: int = pydantic.Field(ge=0, le=10)


class Struct(msgspec.Struct):
    right: bool
    points: int


SCHEMA = {
    "type": "object",
    "properties": {"right": {"type": "boolean"}, "points": {"type": "integer", "maximum": 10}},
    "required": ["right", "points"],
}
SHOP, FUNCTION = "role_envs:Shop", "role_envs:wanting"
GOOD = '{"right": true, "points": 7}'


def model_at(server, **settings):
    return {"name": "openai", "model": "m", "base_url": server.url, **settings}


@pytest.mark.parametrize("schema", [Verdict, Struct, SCHEMA], ids=["pydantic", "msgspec", "JSON schema"])
def test_an_answer_has_the_type_of_its_schema_which_the_server_is_told(schema):
    with chat_server(lambda messages: GOOD) as server, gem.chat_model(model_at(server)) as model:
        answer = model.ask_sync(
            [{"role": "system", "content": "Judge."}, {"role": "user", "content": "2"}], schema=schema
        )

    assert to_jsonable_python(answer.value, fallback=msgspec.to_builtins) == json.loads(GOOD)
    [body] = server.bodies
    told = body["response_format"]["json_schema"]["schema"]
    assert told["type"] == "object"
    assert set(told["properties"]) == {"right", "points"}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (answer.usage.requests, answer.usage.completion, answer.cached) == (1, 4, False)


@pytest.mark.parametrize("schema", [Verdict, SCHEMA], ids=["pydantic", "JSON schema"])
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Seven of ten.", "not JSON"),
        ('{"right": true}', "points"),
        ('{"right": true, "points": 11}', "10"),
        ('{"right": true, "points": NaN}', "NaN"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "several fences"),
        ({"message": {"content": GOOD}, "finish_reason": "length"}, "cut off"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_again_with_what_was_wrong(schema, said, why):
    replies = iter([said, f"Well:\n```json\n{GOOD}\n```\n"])
    with chat_server(lambda messages: next(replies)) as server, gem.chat_model(model_at(server)) as model:
        answer = model.ask_sync("2 + 2 = 4?", schema=schema)

    assert dict(answer.value)["points"] == 7
    assert answer.usage.requests == 2
    first, again = (body["messages"] for body in server.bodies)
    assert again[: len(first)] == first
    assert [message["role"] for message in again[len(first) :]] == ["assistant", "user"]
    assert why in again[-1]["content"]
    assert '"points"' in again[-1]["content"]


def test_a_model_that_never_fits_fails_after_three_replies_that_are_counted():
    with (
        chat_server(lambda messages: "no") as server,
        gem.use_models({"judge": model_at(server)}) as used,
        pytest.raises(UnusableAnswer, match=r"'judge' gave no usable answer.*JSON"),
    ):
        gem.chat_model("judge").ask_sync("?", schema=Verdict)

    assert issubclass(UnusableAnswer, Fault)
    assert server.requests == 3
    assert (used.asked["judge"].replies, used.asked["judge"].failed, used.asked["judge"].usage.completion) == (3, 1, 3)


def test_a_server_that_takes_no_schema_has_it_in_the_prompt_from_then_on():
    with chat_server(lambda messages: GOOD, schemas=False) as server, gem.chat_model(model_at(server)) as model:
        assert [model.ask_sync(text, schema=Verdict).value.points for text in ("one", "two")] == [7, 7]

    assert [("response_format" in body) for body in server.bodies] == [True, False, False]
    assert '"points"' in server.bodies[1]["messages"][-1]["content"]
    assert server.answered == 2


def test_calls_of_tools_come_with_the_message():
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    reply = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    with chat_server(lambda messages: reply) as server, gem.chat_model(model_at(server)) as model:
        answer = model.ask_sync("Look.", tools=[tool], schema=Verdict)

    assert answer.message["tool_calls"] == [call]
    assert (answer.text, answer.value) == ("", None)
    assert server.bodies[0]["tools"] == [tool]


def test_what_the_server_refuses_to_everybody_is_unreachable():
    with (
        chat_server(lambda messages: {"message": {}, "finish_reason": "content_filter"}) as server,
        gem.chat_model(model_at(server)) as model,
        pytest.raises(Fault, match="filter"),
    ):
        model.ask_sync("?")
    gone = {"name": "openai", "model": "m", "base_url": server.url, "timeout": 1, "retries": 0}
    with gem.chat_model(gone) as model, pytest.raises(Unreachable, match="there is no server"):
        model.ask_sync("?")


def test_many_ask_at_once_from_any_loop_and_thread_within_one_limit():
    async def ask_all(model):
        return await asyncio.gather(*(model.ask(f"{number}") for number in range(40)))

    trouble = Trouble(fail=0.1, latency=lambda rng: 0.02, seed=3)
    with (
        chat_server(lambda messages: messages[-1]["content"], trouble) as server,
        gem.chat_model(model_at(server, concurrency=8)) as model,
    ):
        for _ in range(2):  # another event loop
            assert [answer.text for answer in asyncio.run(ask_all(model))] == [str(n) for n in range(40)]
        assert model.ask_sync("last").text == "last"
    assert server.most <= 8
    assert server.answered == 81


def test_the_cache_answers_what_was_asked_before_in_any_process_and_at_no_cost(tmp_path):
    program = (
        "import sys, gem\n"
        "model = {'name': 'openai', 'model': 'm', 'base_url': sys.argv[1]}\n"
        "with gem.use_models({'judge': model}, cache=sys.argv[2]) as used:\n"
        "    for text in 'abc':\n"
        "        print(gem.chat_model('judge').ask_sync(text).text)\n"
        "    print(used.asked['judge'].cached)\n"
    )

    def others(server):
        command = [sys.executable, "-c", program, server.url, str(tmp_path)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        return [process.communicate()[0].split() for process in running]

    with chat_server(lambda messages: messages[-1]["content"] * 2) as server:
        for texts in others(server):
            assert texts[:3] == ["aa", "bb", "cc"]
        asked = server.requests
        assert 3 <= asked <= 6
        with gem.use_models({"judge": model_at(server, timeout=5)}, cache=tmp_path) as used:
            judge = gem.chat_model("judge")
            assert judge.ask_sync("a").cached
            assert used.asked["judge"].usage.requests == 0
            assert server.requests == asked
            judge.ask_sync("a", sample=1)  # another sample, another schema and another setting are other questions
            with pytest.raises(UnusableAnswer):
                judge.ask_sync("a", schema=Verdict)
            assert server.requests == asked + 4
        with gem.use_models({"judge": model_at(server, temperature=1)}, cache=tmp_path):
            assert not gem.chat_model("judge").ask_sync("a").cached
    for file in tmp_path.rglob("*.json"):
        file.write_bytes(file.read_bytes()[:20])
    with chat_server(lambda messages: "new") as server, gem.use_models({"judge": model_at(server)}, cache=tmp_path):
        assert gem.chat_model("judge").ask_sync("a").text == "new"
    assert not list(tmp_path.rglob("*.part"))


def test_an_answer_that_is_cut_off_is_not_kept(tmp_path):
    cut = {"message": {"content": "Well"}, "finish_reason": "length"}
    with chat_server(lambda messages: cut) as server, gem.use_models({"user": model_at(server)}, cache=tmp_path):
        assert [gem.chat_model("user").ask_sync("?").text for _ in range(2)] == ["Well", "Well"]

    assert server.requests == 2


def grade(messages) -> str:
    """A function that plays a part: it reads the schema in the prompt."""
    system, last = messages[0], messages[-1]["content"]
    assert system["role"] == "system", messages
    if "points" not in last:
        return "42"
    return GOOD if len(messages) > 2 else "hm"


def test_a_function_plays_a_part_and_reads_systems_and_schemas():
    messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "x"}]
    with gem.use_models({"judge": grade}) as used:
        judge = gem.chat_model("judge")
        assert judge.ask_sync(messages).text == "42"
        assert judge.ask_sync(messages, schema=Verdict).value.points == 7
        with pytest.raises(ConfigError, match="takes tools"):
            judge.ask_sync("?", tools=[{}])

    assert used.asked["judge"].replies == 3


def test_a_policy_that_fails_fails_what_it_was_asked_and_goes_on():
    def fragile(observation: str) -> str:
        if observation == "no":
            raise RuntimeError("it broke")
        return observation

    async def ask(model):
        return await asyncio.gather(*map(model.ask, ["yes", "no", "yes"]), return_exceptions=True)

    with gem.use_models({"user": fragile}):
        first, failed, last = asyncio.run(ask(gem.chat_model("user")))
        assert (first.text, last.text) == ("yes", "yes")
        assert isinstance(failed, Fault)
        assert "it broke" in str(failed)
        assert gem.chat_model("user").ask_sync("more").text == "more"


def test_a_role_that_nobody_set_says_how_to_set_it():
    with pytest.raises(ConfigError, match=r"no model plays the role 'judge'.*--role judge=openai:NAME.*use_models"):
        gem.chat_model("judge")
    with gem.use_models({"user": grade}):
        with pytest.raises(ConfigError, match="those that are set: user"):
            gem.chat_model("judge")
        with gem.use_models({"judge": grade}):
            assert {gem.chat_model(role).name for role in ("user", "judge")} == {"user", "judge"}
    with pytest.raises(ConfigError, match="no model plays"):
        gem.chat_model("user")


def test_a_model_is_not_asked_with_nothing_or_after_its_own_words():
    with gem.use_models({"user": grade}):
        for messages in ([], [{"role": "assistant", "content": "I"}]):
            with pytest.raises(ConfigError, match="is asked with messages"):
                gem.chat_model("user").ask_sync(messages)
        with pytest.raises(ConfigError, match="a schema is a type"):
            gem.chat_model("user").ask_sync("?", schema="json")


@pytest.mark.parametrize(
    ("backend", "workers"),
    [("sync", None), ("thread", None), ("process", 2), pytest.param("ray", 2, marks=pytest.mark.full)],
)
def test_envs_ask_the_model_of_a_role_on_every_backend_and_their_use_is_counted_here(backend, workers, tmp_path):
    if backend == "ray":
        pytest.importorskip("ray")
    with (
        chat_server(wanting) as server,
        gem.use_models({"user": model_at(server)}, cache=tmp_path) as used,
        gem.make_vec(SHOP, 4, backend=backend, num_workers=workers) as envs,
    ):
        episodes = list(rollout(lambda observation: observation, envs, range(8)))
        assert [episode.failure for episode in episodes] == [None] * 8
        assert all(episode.success for episode in episodes)
        asked = used.asked["user"]
        assert server.url not in str([episode.spec for episode in episodes])

    assert asked.replies == server.answered == 16
    assert asked.usage.requests == 16
    assert asked.usage.prompt == sum(len(body["messages"][-1]["content"].split()) for body in server.bodies)


def test_a_snapshot_of_an_env_finds_the_model_of_its_role_again():
    with chat_server(wanting) as server, gem.use_models({"user": model_at(server)}):
        env = gem.make(SHOP)
        env.reset(seed=1)
        [copy] = env.fork(1)
        assert copy.step(env.wish) == env.step(env.wish)
        assert pickle.loads(pickle.dumps(gem.chat_model("user"))) is gem.chat_model("user")


def test_a_server_that_fails_a_role_fails_the_episode_and_counts():
    with (
        chat_server(wanting, Trouble(fail=1.0)) as server,
        gem.use_models({"user": model_at(server, retries=0)}) as used,
        gem.make_vec(SHOP, 2) as envs,
    ):
        episodes = list(rollout(lambda observation: observation, envs, range(4)))

    assert all("ServerFault" in episode.failure.error for episode in episodes)
    assert used.asked["user"].failed == 4


Choice = Literal["a", "b"]


def test_schemas_may_be_any_type():
    with chat_server(lambda messages: '"b"') as server, gem.chat_model(model_at(server)) as model:
        assert model.ask_sync("?", schema=Choice).value == "b"


def test_the_checks_of_a_pack_ask_the_models_that_the_command_or_the_tests_set():
    refused = CliRunner().invoke(main, ["check", SHOP, "--episodes", "2"])
    assert refused.exit_code == 1
    assert "no model plays the role 'user'" in refused.output
    passed = CliRunner().invoke(main, ["check", SHOP, "--episodes", "2", "--role", f"user={FUNCTION}"])
    assert passed.exit_code == 0, passed.output
    with gem.use_models({"user": FUNCTION}):
        assert CliRunner().invoke(main, ["check", SHOP, "--episodes", "2"]).exit_code == 0
    assert "ROLE=MODEL" in CliRunner().invoke(main, ["check", SHOP, "--role", "user"]).output
