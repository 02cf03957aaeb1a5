"""`gemx eval --reward` and `gemx rescore`: rewards besides the env in results, recordings and folders."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.main import main
from gem.errors import UnknownId
from gem.record import read
from gem.testing.chat_server import chat_server
from gem_eval import evaluate

pytestmark = pytest.mark.usefixtures("core_only")

REWARDS = """
import gem

@gem.reward
def length(answer: str) -> float:
    return len(answer)

@gem.reward(name="moody")
def moody(episode) -> float:
    if episode.seed % 2:
        raise ConnectionError("no mood")
    return 1.0

by_role = gem.judge({"right": "It is the word.", "brief": "Nothing else."})

long = gem.RewardPipeline([length], weights={"length": 0.5}, success=("length", 13))

def judged(url):
    judge = gem.judge(
        {"right": "It is the word.", "brief": "Nothing else."}, model={"name": "openai", "model": "m", "base_url": url}
    )
    return gem.RewardPipeline([judge], weights={"env": 0})
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(REWARDS)
    return f"{tmp_path}/mine.py"


def gemx(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def measured(out: Path, reward: str, *more: str) -> dict[str, Any]:
    done = gemx(
        *("eval", "core:Echo-v0", "--model", "expert", "--episodes", "8", "--no-floors", "--json"),
        *("--out", out, "--reward", reward, *more),
    )
    return json.loads(done.stdout)


def test_a_reward_is_part_of_the_return_and_of_the_recording_which_is_reproduced_without_it(tmp_path, file):
    out = tmp_path / "out"

    result = measured(out, f"{file}:long")

    episodes = list(read(out / "episodes.jsonl"))
    assert result["return_mean"] == pytest.approx(sum(episode.total_reward for episode in episodes) / 8)
    assert result["reward"] == f"{file}:long"
    assert sum(result["parts"].values()) == pytest.approx(result["return_mean"])
    assert result["parts"]["env"] == 1.0
    for episode in episodes:
        (turn,) = episode.turns
        assert turn.parts == {"env": 1.0, "length": 0.5 * len(turn.action)}
        assert episode.success == (len(turn.action) >= 13)
        assert episode.labels["reward"] == f"{file}:long"
    assert {episode.success for episode in episodes} == {True, False}
    assert "8 of 8 episodes came out the same" in gemx("reproduce", out).stdout
    assert "8 episodes graded: 0 successes lost, 0 won, 0 with another" in gemx("rescore", out).stdout


def test_a_reward_that_fails_is_counted_as_its_own_failure_and_tried_again(tmp_path, file):
    out = tmp_path / "out"

    result = measured(out, f"{file}:moody")

    failures = result["failures"]
    assert 0 < failures < 8
    assert result["culprits"] == {"reward": failures}
    assert (result["episodes"], result["return_mean"]) == (8, 2.0)
    again = json.loads(gemx("rescore", out, "--reward", f"{file}:length", "--json").stdout)
    assert (again["graded"], again["failed_when_recorded"]) == (8, 0)


def test_a_folder_whose_reward_is_code_is_resumed_only_with_trust_or_the_reward_in_the_command(tmp_path, file):
    out = tmp_path / "out"
    measured(out, f"{file}:length")

    refused = gemx("eval", "--resume", out, "--json")
    other = gemx("eval", "--resume", out, "--reward", f"{file}:long", "--json")

    assert "which no installed pack registers" in refused.stderr
    assert "holds another evaluation (reward" in other.stderr
    for word in (["--trust"], ["--reward", f"{file}:length"]):
        assert json.loads(gemx("eval", "--resume", out, "--json", *word).stdout)["episodes"] == 8


def test_weights_of_a_judge_are_changed_later_without_asking_a_model(tmp_path, file):
    answer = json.dumps({"right": {"reason": "", "points": 10}, "brief": {"reason": "", "points": 5}})
    with chat_server(lambda messages: answer) as server:
        reward = json.dumps({"name": f"{file}:judged", "url": server.url})
        result = measured(tmp_path / "out", reward)
        asked = server.requests

        weights = ["--weight", "judge/brief=4", "--weight", "judge/right=0"]
        words = ("rescore", tmp_path / "out", *weights, "--out", tmp_path / "new.jsonl", "--json")
        changed = json.loads(gemx(*words).stdout)

        assert server.requests == asked == 8

    assert (result["return_mean"], changed["reward_only"]) == (1.5, 8)
    (turn,) = next(iter(read(tmp_path / "new.jsonl"))).turns
    assert turn.parts == {"env": 0.0, "judge/right": 0.0, "judge/brief": 2.0}


def test_a_judge_by_role_is_named_on_the_command_line_and_counted(tmp_path, file):
    answer = json.dumps({"right": {"reason": "", "points": 10}, "brief": {"reason": "", "points": 5}})
    with chat_server(lambda messages: answer) as server:
        role = ("--role", "judge=openai:m")

        result = measured(tmp_path / "out", f"{file}:by_role", *role, "--base-url", server.url)  # random needs none
        words = ("rescore", tmp_path / "out", "--reward", f"{file}:by_role", *role, "--base-url", server.url)
        again = gemx(*words, "--json")

        assert server.requests == 16
    assert (result["return_mean"], result["roles"]["judge"]["replies"]) == (2.5, 8)
    assert json.loads(again.stdout)["graded"] == 8
    refused = gemx("rescore", tmp_path / "out", "--reward", f"{file}:by_role")
    assert "no model plays the role 'judge'" in refused.stderr


@pytest.mark.parametrize("weight", ["judge", "judge=much", "=2=", "env=nan"])
def test_a_weight_that_is_none_is_refused(tmp_path, file, weight):
    measured(tmp_path / "out", f"{file}:length")

    assert "--weight takes NAME=NUMBER" in gemx("rescore", tmp_path / "out", "--weight", weight).stderr


def test_a_weight_of_a_score_that_is_not_recorded_is_refused(tmp_path, file):
    measured(tmp_path / "out", f"{file}:length")

    refused = gemx("rescore", tmp_path / "out", "--weight", "lenght=2", "--out", tmp_path / "new.jsonl")

    assert "has a score 'lenght'. Did you mean 'length'" in refused.stderr
    assert not (tmp_path / "new.jsonl").exists()


def test_a_pipeline_scores_in_python_too_and_floors_with_it():
    @gem.reward
    def length(answer: str) -> float:
        return len(answer)

    pipeline = gem.RewardPipeline([length], weights={"env": 0})

    done = evaluate("core:Echo-v0", lambda observation: "four", episodes=4, reward=pipeline).total()

    assert done.return_mean == 4
    assert done.floors["random"].return_mean > 5
    with pytest.raises(UnknownId, match="does not exist"):
        evaluate("core:Echo-v0", "expert", episodes=1, reward="nosuchreward.py:x")


def test_the_mean_of_a_part_does_not_depend_on_the_order_in_which_episodes_are_scored(file):
    one, many = (
        evaluate("core:Echo-v0", "expert", episodes=40, floors=False, num_envs=envs, reward=f"{file}:long")
        .total()
        .parts
        for envs in (1, 7)
    )

    assert one == many
    assert list(one) == ["env", "length"]
