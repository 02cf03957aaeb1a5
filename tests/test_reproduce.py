"""Recorded episodes of every game are reproduced to the byte, and an altered file is noticed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import gem
from gem.cli.main import main
from gem.data.source import source_of
from gem.packs.lookup import find_named
from gem.record import Recorder, read
from gem.rollout import rollout
from gem_eval import reproduce

DOWNLOADED = {
    spec.id for spec in gem.all_specs() if (source := source_of(spec.kwargs.get("data", []))) and source.kind == "hub"
}
SPECS = [spec for spec in gem.all_specs() if spec.namespace in ("game", "math") and spec.id not in DOWNLOADED]
FIRST = {spec.entry_point: spec.id for spec in reversed(SPECS)}
"""One id of each class; the others are its other levels."""
CASES = [(id, 5) for id in FIRST.values()] + [pytest.param(spec.id, 50, marks=pytest.mark.full) for spec in SPECS]
"""Ids, and how many episodes of random play and of the expert are recorded."""


def has_expert(id: str) -> bool:
    with gem.make(id) as env:
        env.reset(seed=0)
        return env.expert_action() is not None


def record(path: Path, id: str, policy: str, episodes: int) -> None:
    player = find_named("policy", policy)()
    with gem.make_vec(id, 8, info_methods=player.info_methods) as envs, Recorder(path) as recorder:
        for _ in recorder.record(rollout(player, envs, range(episodes))):
            pass


@pytest.mark.parametrize(("id", "episodes"), CASES)
def test_recorded_episodes_are_reproduced(tmp_path: Path, id: str, episodes: int) -> None:
    path = tmp_path / "episodes.jsonl"
    record(path, id, "random", episodes)
    record(path, id, "expert" if has_expert(id) else "random", episodes)
    records = list(read(path))

    assert len(records) == 2 * episodes
    assert {(each.id, each.failure) for each in records} == {(id, None)}
    assert all(each.pack and each.pack.distribution.startswith("gem-envs-") for each in records)
    assert [difference for each in records if (difference := reproduce(each))] == []


@pytest.mark.parametrize("field", ["action", "reward", "observation", "seed"])
def test_an_altered_file_is_noticed(tmp_path: Path, field: str) -> None:
    path = tmp_path / "episodes.jsonl"
    record(path, "game:Minesweeper-v0-easy", "expert", episodes=5)
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    turn = episodes[3]["traces"][0]["turns"][-1]
    match field:
        case "action":
            turn["completion"]["text"] = "I give up."
        case "reward":
            turn["reward"] += 1e-9
        case "observation":
            turn["observation"] += " "
        case "seed":
            episodes[3]["seed"] += 1
    path.write_text("".join(json.dumps(episode) + "\n" for episode in episodes))
    done = CliRunner().invoke(main, ["reproduce", str(path), "--json"])

    assert done.exit_code == 1
    assert [difference["episode"] for difference in json.loads(done.stdout)["differences"]] == [4]


def test_wrappers_are_recorded_by_name_and_applied_again(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    player = find_named("policy", "random")()
    names = ("concat_with_action", "episode_tracking")
    ids = ["game:GuessTheNumber-v0-hard", "game:TowerofHanoi-v0-easy"]
    with (
        gem.make_vec(ids, 4, info_methods=player.info_methods, wrappers=",".join(names)) as envs,
        Recorder(path) as recorder,
    ):
        list(recorder.record(rollout(player, envs, range(8))))
    records = list(read(path))

    assert {(each.id, each.spec and each.spec.wrappers) for each in records} == {(id, names) for id in ids}
    assert [reproduce(each, trust=True) for each in records] == [None] * 8
