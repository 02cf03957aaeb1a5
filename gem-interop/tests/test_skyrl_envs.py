"""`skyrl:NAME`: skyrl_gym's environments, compared with what skyrl_gym itself plays."""

import json
import random
import sqlite3
from pathlib import Path

import pytest
import skyrl_gym
from omegaconf import OmegaConf
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError, SpecError, UnknownId

QUESTIONS = [(f"What is {a} + {b}?", a + b) for a in range(3) for b in range(4)]
REPLIES = {
    "gsm8k": ["#### 3", "it is 3", "#### 4", ""],
    "gsm8k_multi_turn": ["#### 3", "let me think", "#### 1"],
    "aime": ["Answer: 3", "Answer: \\boxed{4}", "no"],
    "lcb": ["```python\nprint(int(input()) + 1)\n```", "```python\nprint(0)\n```", "no code"],
    "text2sql": [
        "<sql>SELECT name FROM pets</sql>",
        "<sql>SELECT broken FROM</sql>",
        "<think>so</think>\n<solution>SELECT name FROM pets WHERE age > 3</solution>",
        "nothing",
    ],
}
IDS = [f"skyrl:{name}" for name in REPLIES]


def row(question, **fields):
    prompt = [{"role": "system", "content": "You answer."}, {"role": "user", "content": question}]
    return {"prompt": prompt, "env_class": "any", "extra_info": {"max_turns": 3}, **fields}


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    """The arguments of each environment, rows among them, which are files as in SkyRL."""
    folder = tmp_path_factory.mktemp("skyrl")
    database = folder / "spider" / "database" / "pets" / "pets.sqlite"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as pets:
        pets.execute("CREATE TABLE pets (name TEXT, age INTEGER)")
        pets.executemany("INSERT INTO pets VALUES (?, ?)", [("Rex", 3), ("Mia", 5), ("Tom", 9)])
    pets.close()
    tests = json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}])
    sql = "SELECT name FROM pets WHERE age > 3"
    rows = {
        "gsm8k": [row(ask, reward_spec={"method": "rule", "ground_truth": str(is_)}) for ask, is_ in QUESTIONS],
        "gsm8k_multi_turn": [row(ask, reward_spec={"ground_truth": str(is_)}) for ask, is_ in QUESTIONS],
        "aime": [row(ask, reward_model={"ground_truth": str(is_)}) for ask, is_ in QUESTIONS],
        "lcb": [row(f"{n}: add 1", reward_spec={"ground_truth": tests}) for n in range(3)],
        "text2sql": [
            row(f"{n}: who?", db_id="pets", data="spider", reward_spec={"ground_truth": sql}, max_turns=4)
            for n in range(3)
        ],
    }
    given = {}
    for name, made in rows.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in made))
        given[name] = {"data": str(path), "samples": REPLIES[name]}
    given["text2sql"]["config"] = {"db_path": str(folder)}
    return given


def theirs(name, given, index, replies):
    """An episode as skyrl_gym plays it."""
    rows = [json.loads(line) for line in Path(given["data"]).read_text().splitlines()]
    extras = {key: value for key, value in rows[index].items() if key not in ("prompt", "env_class")}
    env = skyrl_gym.make(name, env_config=OmegaConf.create(given.get("config", {})), extras=extras)
    messages, _ = env.init(rows[index]["prompt"])
    seen = [("\n\n".join(each["content"] for each in messages), 0.0, False)]
    for reply in replies:
        output = env.step(reply)
        text = "\n\n".join(each["content"] for each in output["observations"])
        seen.append((text, output["reward"], output["done"]))
        if output["done"]:
            break
    env.close()
    return seen


@pytest.mark.parametrize("name", REPLIES)
def test_an_episode_is_the_one_that_skyrl_gym_plays_of_that_row(name, arguments):
    with gem.make(f"skyrl:{name}", **arguments[name]) as env:
        for index in range(3):
            replies = random.Random(index).choices(REPLIES[name], k=5)
            seen = [(env.reset(seed=0, options={"index": index})[0], 0.0, False)]
            for reply in replies:
                step = env.step(reply)
                seen.append((step.observation, step.reward, step.done))
                if step.done:
                    assert step.info["success"] == (step.reward >= 1)
                    break
            assert seen == theirs(name, arguments[name], index, replies)


def test_the_seed_chooses_the_row_and_all_rows_are_chosen(arguments):
    with gem.make("skyrl:gsm8k", **arguments["gsm8k"]) as env:
        first = [env.reset(seed=seed)[0] for seed in range(100)]
        assert first == [env.reset(seed=seed)[0] for seed in range(100)]
    assert set(first) == {f"You answer.\n\n{ask}" for ask, _ in QUESTIONS}


def test_what_cannot_be_played_is_refused_with_the_reason(arguments):
    with pytest.raises(SpecError, match="'skyrl:gsm8k' needs the argument 'data'"):
        gem.make("skyrl:gsm8k")
    with pytest.raises(UnknownId, match="Did you mean 'skyrl:gsm8k'"):
        gem.make("skyrl:gsm9k")
    env = gem.make("skyrl:gsm8k", data=[{"prompt": "1 + 1?"}])
    with pytest.raises(ConfigError, match="reward_spec field is required"):
        env.reset(seed=0)
    env = gem.make("skyrl:gsm8k", **arguments["gsm8k"])
    with pytest.raises(ConfigError, match="index must be an integer from 0 to 11, not 12"):
        env.reset(options={"index": 12})


# The judge of lcb works only in processes that fork, and the checks run in one that does not.
@pytest.mark.parametrize("name", [name for name in REPLIES if name != "lcb"])
def test_the_contract_is_kept(name, arguments):
    assert broken_checks(f"skyrl:{name}", **arguments[name]) == {}


@pytest.mark.parametrize("backend", ["thread", "process"])
@pytest.mark.parametrize("name", REPLIES)
def test_twenty_episodes_in_a_vector_are_recorded_and_reproduced(name, backend, arguments, tmp_path):
    records = recorded(tmp_path / "episodes.jsonl", [f"skyrl:{name}"], backend, 20, **arguments[name])

    differences = differing(records)
    if (name, backend) == ("text2sql", "process"):
        # SkyRL shows the rows of a query in the order of a set, which each process has its own of.
        words = [[(sorted(text.split()), reward) for text, reward in pair] for pair in differences]
        differences = [pair for pair in words if pair[0] != pair[1]]
    assert differences == []
