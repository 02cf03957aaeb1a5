"""`gem_eval`: which items are played, what is reported of them, budgets, floors, and evaluations that were killed."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from dataset_envs import Sums, sums

from gem.cli.main import main
from gem.errors import ConfigError, GemError
from gem.record import Recorder, read
from gem.testing.chat_server import Trouble, chat_server
from gem_eval import Budget, Evaluation, Group, evaluate, evaluation, read_suite
from gem_eval.evaluating import make_settings
from gem_eval.plan import expand, plan

pytestmark = pytest.mark.usefixtures("core_only")

ECHO, SUM, SUMS = "core:Echo-v0", "sample_envs:Sum", "dataset_envs:Sums"
NO_LATENCY = {"latency_median", "latency_p95"}


def told(value):
    """A summary as JSON without what no two evaluations share: the time of replies."""
    if isinstance(value, dict):
        return {name: told(each) for name, each in value.items() if name not in NO_LATENCY}
    return [told(each) for each in value] if isinstance(value, list) else value


def sometimes(messages):
    """Right in about half of the cases, always in the same ones."""
    words = messages[-1]["content"]
    number = random.Random(words).random()
    return "\\boxed{1}" if number < 0.5 else words


def items(found):
    """Id → seeds and rows that were played, in order."""
    return [(start.id, (start.options or {}).get("index", start.seed), start.group) for start in found.starts]


def test_ids_take_turns_and_the_attempts_at_an_item_follow_each_other():
    found = plan(Group(ids=(ECHO, SUM), episodes=2, k=2), seed=0)
    more = plan(Group(ids=(ECHO, SUM), episodes=3, k=2), seed=0)

    assert [(id, attempt) for id, _, attempt in items(found)] == [(ECHO, 0), (ECHO, 1), (SUM, 0), (SUM, 1)] * 2
    assert items(more)[:8] == items(found)
    assert len({item for id, item, _ in items(more) if id == SUM}) == 3
    assert items(plan(Group(ids=(ECHO,), episodes=2), seed=1)) != items(plan(Group(ids=(ECHO,), episodes=2), seed=0))


def test_a_data_set_is_played_whole_or_in_part_and_no_row_twice(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, sums(2500))))

    def rows(limit=None, **fields):
        data = {"name": str(file), **({"limit": limit} if limit else {})}
        found = plan(Group(ids=(SUMS,), kwargs={"data": data}, **fields), seed=0)
        return [index for _, index, _ in items(found)], found.notes

    assert rows(limit=2000) == (list(range(2000)), [])
    assert rows(each_row=True) == (list(range(2500)), [])
    drawn, notes = rows()
    assert len(set(drawn)) == len(drawn) == 100
    assert notes == [f"{SUMS} has 2,500 rows: 100 of them are drawn; --each-row plays all."]
    assert rows(episodes=100)[0] == rows(episodes=500)[0][:100] == drawn
    assert sorted(rows(limit=30, episodes=50)[0]) == list(range(30))


def test_patterns_name_every_matching_id():
    assert expand(("core:*", ECHO)) == [ECHO]
    with pytest.raises(GemError, match=r"no installed pack has an id that matches 'core:\*-easy'"):
        expand(("core:*-easy",))


def test_each_env_is_built_once_and_ids_are_expanded_once_before_the_first_episode(monkeypatch, tmp_path):
    made = Counter()

    def counted(name, function):
        def call(*args, **kwargs):
            made[name] += 1
            return function(*args, **kwargs)

        return call

    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, sums(3))))
    monkeypatch.setattr(Sums, "__init__", counted("env", Sums.__init__))
    monkeypatch.setattr(evaluation, "expand", counted("expanded", evaluation.expand))
    groups = [Group(ids=(SUMS,), kwargs={"data": {"name": str(file)}})]
    found = Evaluation(make_settings(model="random", groups=groups, num_envs=2))

    assert (made, found.asked) == ({"env": 1, "expanded": 1}, 3)
    next(found.play())
    assert made == {"env": 1 + 2, "expanded": 1}  # the slots of the vector


def test_random_and_the_expert_are_measured_on_the_same_items_where_there_is_an_expert():
    found = evaluate([SUM, "sample_envs:NoExpert"], sometimes, episodes=4, k=2)
    mine, other = found.summaries()

    assert (mine.episodes, mine.floors["expert"].success, mine.floors["random"].episodes) == (8, 1.0, 4)
    assert list(other.floors) == ["random"]
    assert list(found.total().floors) == ["random"]
    seeds = {start.seed for tally in found.floors[0]["random"].values() for start in tally.starts}
    assert seeds == {start.seed for start in found.plans[0].starts}


def test_random_and_the_expert_repeat_themselves_at_an_item_and_a_note_says_so(tmp_path):
    found = evaluate(SUM, "random", episodes=3, k=2, out=tmp_path / "out")
    attempts = [(each.seed, each.traces) for each in sorted(read(tmp_path / "out"), key=lambda each: each.seed)]

    assert attempts[::2] == attempts[1::2]
    assert found.notes == ["random plays an item the same way each time: more than one attempt (k) tells nothing new."]
    assert evaluate(SUM, sometimes, episodes=1, k=2, floors=False).notes == []


def test_a_floor_that_is_in_the_folder_is_not_played_again(tmp_path):
    evaluate([SUM, "sample_envs:NoExpert"], sometimes, episodes=4, k=2, out=tmp_path / "out")
    held = (tmp_path / "out" / "floors.jsonl").read_bytes()
    evaluate([SUM, "sample_envs:NoExpert"], sometimes, episodes=4, k=2, out=tmp_path / "out")

    assert held.count(b"\n") == 4 + 4 + 4
    assert (tmp_path / "out" / "floors.jsonl").read_bytes() == held


def test_a_function_counts_the_time_of_its_replies_and_tokens_of_a_server_are_kept(tmp_path):
    out = tmp_path / "out"
    with chat_server(lambda messages: "one two", Trouble(latency=lambda rng: 0.02)) as server:
        model = {"name": "openai:any", "base_url": server.url}
        budget = Budget(prices=(1, 1000))
        found = evaluate(ECHO, model, episodes=12, num_envs=4, out=out, budget=budget).total()
        assert server.most <= 4
        assert server.requests == 12
    asked = sum(len(body["messages"][-1]["content"].split()) for body in server.bodies)

    assert (found.prompt_tokens, found.completion_tokens) == (asked, 24)
    assert found.cost == pytest.approx((asked + 24_000) / 1e6)
    assert found.latency_p95 >= found.latency_median >= 0.02
    again = CliRunner().invoke(main, ["eval", "--resume", str(out), "--trust", "--json"])
    assert json.loads(again.stdout) == {**json.loads((out / "summary.json").read_text()), "resumed": 12}
    assert json.loads(again.stdout)["cost"] == found.cost


@pytest.mark.parametrize("cut", [0, 1, 700, 3000, 100_000])
def test_what_was_cut_off_anywhere_is_played_and_the_summary_is_that_of_an_unbroken_run(cut, tmp_path):
    whole = evaluate([ECHO, SUM], sometimes, episodes=6, k=2, out=tmp_path / "whole")
    out = tmp_path / "out"
    out.mkdir()
    (out / "eval.json").write_bytes((tmp_path / "whole" / "eval.json").read_bytes())
    (out / "episodes.jsonl").write_bytes((tmp_path / "whole" / "episodes.jsonl").read_bytes()[:cut])
    again = evaluate([ECHO, SUM], sometimes, episodes=6, k=2, out=out)

    assert told(again.as_json()) == told(whole.as_json())
    assert told(json.loads((out / "summary.json").read_text())) == told(whole.as_json())
    assert max(Counter((each.id, each.seed, each.group) for each in read(out)).values()) == 1


SUITE = """
[small]
ids = "core:*"
episodes = 2
k = 2

[sums]
ids = ["sample_envs:Sum"]
episodes = 3
wrappers = ["concat"]
tools = ["tool_samples:search"]
tool_args = { max_calls = 2 }
kwargs = { rounds = 2 }

[longer]
ids = ["sample_envs:Sum"]
episodes = 3
"""


def test_the_groups_of_a_suite_are_played_each_in_its_own_way_and_resumed(tmp_path):
    path, out = tmp_path / "suite.toml", tmp_path / "out"
    path.write_text(SUITE)

    def gemx(*words):
        done = CliRunner().invoke(main, ["eval", *map(str, words), "--model", "expert", "--json"])
        return json.loads(done.stdout)

    found = gemx("--suite", path, "--out", out)
    assert [(each["group"], each["id"], each["episodes"], each["turns_mean"]) for each in found["ids"]] == [
        ("small", ECHO, 4, 1.0),
        ("sums", SUM, 3, 2.0),
        ("longer", SUM, 3, 3.0),
    ]
    assert found["k"] == 1
    lines = (out / "episodes.jsonl").read_text().splitlines()
    wrappers = {json.dumps(json.loads(line)["spec"]["wrappers"]) for line in lines if '"group":"sums"' in line}
    tool_env = {"name": "tool_env", "tools": ["tool_samples:search"], "max_calls": 2}
    assert wrappers == {json.dumps([tool_env, "concat"])}
    (out / "episodes.jsonl").write_text("\n".join(lines[::2]) + "\n")
    again = gemx("--suite", path, "--out", out)
    assert again == {**found, "resumed": 5}
    assert [each["group"] for each in gemx("--suite", f"{path}:sums,small", "--episodes", 1)["ids"]] == [
        "sums",
        "small",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ids = [", "suite.toml is not TOML"),
        ("", "suite.toml is empty; a suite has a table per group"),
        ("a = 1", "'a' is not a table; a group is one, such as [easy] with ids = ['game:*-easy']"),
        ("[a]\nk = 2", "[a]: ids: it is missing"),
        ("[a]\nids = []", "[a]: no id was given"),
        ("[a]\nids = ['x:Y']\nepisode = 3", "[a]: episode: there is no such setting. Did you mean 'episodes'?"),
        ("[a]\nids = ['x:Y']\nk = 0", "[a]: k: Input should be greater than or equal to 1"),
        ("[a]\nids = ['x:Y']\nepisodes = '3'", "[a]: episodes: Input should be a valid integer"),
        ("[a]\nids = ['x:Y']\nepisodes = 3\neach_row = true", "[a]: each_row plays as many episodes as there are rows"),
        ("[a]\nids = ['x:Y']\nwrappers = [3]", "[a]: wrappers: 3 is neither a name nor"),
        ("[a]\nids = ['x:Y']\ntool_args = {}\ntools = [{}]", "[a]: tools: settings need a 'name' beside them"),
    ],
)
def test_what_is_wrong_with_a_suite_is_one_line(text, message, tmp_path):
    (tmp_path / "suite.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        read_suite(tmp_path / "suite.toml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_arguments_of_the_call_are_not_those_of_groups_too(tmp_path):
    with pytest.raises(ConfigError, match="groups have episodes of their own: leave it out"):
        evaluate([Group(ids=(ECHO,))], "expert", episodes=3)
    with pytest.raises(ConfigError, match="groups: each of several needs a name of its own"):
        evaluate([Group(ids=(ECHO,)), Group(ids=(SUM,))], "expert")
    with pytest.raises(GemError, match="cannot be recorded, because it could not be rebuilt: its kwargs are not JSON"):
        evaluate(SUMS, "expert", env_kwargs={"data": sums}, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([], 2, "give an ID (`gemx list` shows every one), --suite FILE or --resume FOLDER"),
        (["--suite", "no.toml"], 1, "no.toml: No such file or directory"),
        (["--suite", "x.toml", "--tools", "python"], 1, "a group of --suite has tools of its own: leave out --tools"),
        ([ECHO, "--suite", "x.toml"], 1, "leave out ID"),
        ([ECHO, "--max-cost", "3"], 1, "max_cost needs prices"),
        ([ECHO, "--max-cost", "0", "--prices", "1,2"], 2, "'--max-cost': 0.0 is not in the range x>0"),
        ([ECHO, "--prices", "1"], 1, "budget.prices: two numbers from 0 on, or three, such as 0.25,2"),
        ([ECHO, "--prices", "1,2,3,4"], 1, "budget.prices: two numbers from 0 on, or three"),
        ([ECHO, "--prices=-1,2"], 1, "budget.prices: two numbers from 0 on, or three"),
        ([ECHO, "--prices", "cheap"], 1, "--prices takes IN,OUT[,CACHED], such as 0.25,2, not 'cheap'"),
        (["--resume", ".", "--k", "2"], 1, "--resume takes everything but limits from its folder: leave out --k"),
        ([ECHO, "--model", "hf:some/model"], 1, "'hf:some/model' is a model that runs here, which needs gem-train"),
        ([ECHO, "--each-row", "--episodes", "3"], 1, "each_row plays as many episodes as there are rows"),
    ],
)
def test_wrong_usage_is_one_line(words, status, message):
    done = CliRunner().invoke(main, ["eval", *words])

    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr
    assert len([line for line in done.stderr.splitlines() if not line.startswith(("Usage", "Try", ""))]) <= 1


def test_an_evaluation_is_resumed_with_other_limits_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    with chat_server(lambda messages: "x") as server:
        words = ["eval", ECHO, "--model", "openai:any", "--base-url", server.url, "--episodes", "3", "--no-floors"]
        CliRunner().invoke(main, [*words, "--out", str(out)])
    lines = (out / "episodes.jsonl").read_text().splitlines()
    (out / "episodes.jsonl").write_text(lines[0] + "\n")
    with chat_server(lambda messages: "x") as server:
        words = ["--base-url", server.url, "--model-arg", "timeout=5", "--num-envs", "1", "--max-tokens", "9999"]
        done = CliRunner().invoke(main, ["eval", "--resume", str(out), *words, "--json"])
        assert server.requests == 2
    assert (json.loads(done.stdout)["resumed"], json.loads(done.stdout)["episodes"]) == (1, 3)
    assert {each.policy["name"] for each in read(out)} == {"openai"}
    done = CliRunner().invoke(main, ["eval", "--resume", str(out), "--trust", "--model-arg", "temperature=0.5"])
    assert "holds another evaluation (model: " in done.stderr


@pytest.mark.full
@pytest.mark.parametrize("kills", [(1,), (7, 30), (58,)])
def test_an_evaluation_that_is_killed_at_a_faulty_server_ends_like_an_unbroken_one(kills, tmp_path):
    trouble = Trouble(fail=0.05, limit=0.05, truncate=0.05, stall=0.05, latency=lambda rng: rng.lognormvariate(-4, 0.5))
    with chat_server(sometimes, trouble) as server:
        words = [sys.executable, "-m", "gem", "eval", ECHO, SUM, "--model", "openai:any", "--base-url", server.url]
        words += ["--episodes", "15", "--k", "2", "--num-envs", "16", "--prices", "1,2"]
        words += ["--model-arg", "concurrency=8", "--model-arg", "timeout=0.5", "--model-arg", "retries=20", "--out"]
        cwd = Path(__file__).parents[2] / "gem-core" / "tests"
        subprocess.run([*words, str(tmp_path / "whole")], check=True, capture_output=True, cwd=cwd)
        out = tmp_path / "out"
        for kill in kills:
            playing = subprocess.Popen(
                [*words, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd
            )
            file = out / "episodes.jsonl"
            while playing.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < kill):
                time.sleep(0.002)
            playing.send_signal(signal.SIGKILL)
            playing.wait(60)
        subprocess.run([*words[:4], "--resume", str(out), "--trust"], check=True, capture_output=True, cwd=cwd)
        assert server.most <= 8
        assert sum(server.troubles.values()) > 10
    whole, again = (json.loads((each / "summary.json").read_text()) for each in (tmp_path / "whole", out))
    assert whole["failures"] == 0
    assert told(again) == told(whole)
    assert Counter((each.id, each.seed, each.group) for each in read(out)).most_common(1)[0][1] == 1


def test_ctrl_c_before_an_episode_is_written_does_not_report_it(tmp_path, monkeypatch):
    write = Recorder.write

    def interrupted(recorder, episode, labels=None):
        if len(list(read(tmp_path / "episodes.jsonl"))) == 2:
            raise KeyboardInterrupt
        write(recorder, episode, labels)

    monkeypatch.setattr(Recorder, "write", interrupted)
    evaluation = Evaluation(make_settings(model="expert", groups=[Group(ids=(ECHO,), episodes=9)]), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(evaluation.play())

    assert evaluation.played == len(list(read(tmp_path / "episodes.jsonl"))) == 2
