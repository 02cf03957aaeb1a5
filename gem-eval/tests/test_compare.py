"""`gemx compare`: two recordings, item by item."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.main import main
from gem.record import Recorder
from gem.rollout import rollout
from gem.rollout.policy import expert_policy, random_policy

ECHO = "core:Echo-v0"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def recorded(path: Path, policy: gem.Policy, seeds: range) -> Path:
    with gem.make_vec(ECHO, 4, info_methods=policy.info_methods) as envs, Recorder(path) as recorder:
        for _ in recorder.record(rollout(policy, envs, seeds)):
            pass
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return (
        recorded(tmp_path / "random.jsonl", random_policy(), range(40)),
        recorded(tmp_path / "expert.jsonl", expert_policy(), range(10, 60)),
    )


def test_the_items_of_both_files_are_compared(files: tuple[Path, Path]) -> None:
    found = json.loads(invoke("compare", *files, "--json").stdout)

    success = found["ids"][ECHO]["success"]
    assert success["items"] == 30
    assert found["items_left_out"] == 30
    assert success["second"] == 1.0
    assert success["difference"] == pytest.approx(1.0 - success["first"])
    assert success["interval"][0] > 0.5
    assert success["p"] < 0.001
    assert (success["better"], success["worse"]) == (round(30 * success["difference"]), 0)


def test_the_table_says_how_large_the_difference_is(files: tuple[Path, Path]) -> None:
    done = invoke("compare", *files)

    assert done.exit_code == 0
    assert "difference (95%)" in done.stdout
    assert "<0.0001" in done.stdout
    assert "30 items are in one of the files only" in done.stderr


def test_a_file_does_not_differ_from_itself(files: tuple[Path, Path]) -> None:
    success = json.loads(invoke("compare", files[0], files[0], "--json").stdout)["ids"][ECHO]["success"]

    assert (success["difference"], success["p"]) == (0.0, 1.0)


def test_files_without_a_shared_item_are_refused_with_what_to_do(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one.jsonl", random_policy(), range(3))
    other = recorded(tmp_path / "other.jsonl", random_policy(), range(5, 8))

    done = invoke("compare", one, other)

    assert done.exit_code == 1
    assert "share no item. Play both from the same seed" in done.stderr
