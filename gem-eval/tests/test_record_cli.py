"""`gemx eval --out`, `gemx reproduce` and `gemx rescore`: what they print and exit with."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sample_envs import Sum

import gem
from gem.cli.main import main

pytestmark = pytest.mark.usefixtures("core_only")

SAMPLES = Path(__file__).parents[2] / "gem-core" / "tests"


def gemx(command: str, *arguments: str) -> Result:
    """The env of these tests does not belong to a pack, so its recordings need trust."""
    trust = ["--trust"] if command in ("reproduce", "rescore") else []
    return CliRunner().invoke(main, [command, *arguments, *trust])


def gemx_json(*arguments: str) -> dict[str, Any]:
    done = gemx(*arguments, "--json")
    assert done.stderr == ""
    return json.loads(done.stdout)


SPEC = {"id": "sample_envs:Sum", "entry_point": "sample_envs:Sum"}


def alter(file: Path, number: int, **changes: Any) -> None:
    """Change fields of one episode, counting from 1."""
    lines = file.read_text().splitlines()
    lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **changes})
    file.write_text("\n".join([*lines, ""]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twelve episodes, all of them won."""
    path = tmp_path / "out" / "episodes.jsonl"
    done = gemx("eval", "sample_envs:Sum", "--model", "expert", "--episodes", "12", "--out", str(path.parent))
    assert done.exit_code == 0
    return path


def test_what_was_run_comes_out_the_same(file: Path) -> None:
    done = gemx("reproduce", str(file))

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "12 of 12 episodes came out the same to the byte.\n"


def test_recording_continues_in_the_same_file(file: Path) -> None:
    options = ("--model", "expert", "--episodes", "15", "--out", str(file.parent))
    gemx("eval", "sample_envs:Sum", *options)

    assert gemx("reproduce", str(file)).stdout.startswith("15 of 15 ")


def test_a_file_that_is_not_a_recording_is_not_written_to(tmp_path: Path) -> None:
    diary = tmp_path / "episodes.jsonl"
    diary.write_text("Dear diary")
    done = CliRunner().invoke(main, ["play", "core:Echo-v0", "--record", str(diary)], input=":random\n")

    assert (done.exit_code, diary.read_text()) == (1, "Dear diary")
    assert "choose another file" in done.stderr


def test_one_episode_is_chosen_by_its_number(file: Path) -> None:
    alter(file, 5, observation="Lost.")

    assert gemx("reproduce", f"{file}:4").stdout == "1 of 1 episode came out the same to the byte.\n"
    assert gemx("reproduce", f"{file}:5").exit_code == 1
    assert gemx_json("reproduce", f"{file}:5")["differences"][0]["episode"] == 5


def test_a_file_whose_name_ends_like_a_number_is_that_file(file: Path) -> None:
    other = file.rename(f"{file}:3")

    assert gemx("reproduce", str(other)).stdout.startswith("12 of 12 ")
    assert gemx("reproduce", f"{other}:2").stdout.startswith("1 of 1 ")


def test_a_difference_is_shown_with_both_sides_and_exits_with_1(file: Path) -> None:
    seed = json.loads(file.read_text().splitlines()[2])["seed"]
    alter(file, 3, observation="Done?\nYes.")
    alter(file, 7, success=False)
    done = gemx("reproduce", str(file))

    assert done.exit_code == 1
    assert f"episode 3 (sample_envs:Sum, seed {seed}), turn 3: observation\n" in done.stdout
    assert "  -Done?\n  -Yes.\n  +Done.\n" in done.stdout
    assert "turn 3: success\n  - False\n  + True\n" in done.stdout
    assert done.stdout.endswith("10 of 12 episodes came out the same to the byte.\n")


def test_a_long_list_and_a_long_diff_are_cut(file: Path) -> None:
    for number in range(1, 13):
        alter(file, number, observation="\n".join(map(str, range(30))))
    done = gemx("reproduce", str(file))

    assert done.stdout.count("turn 3: observation") == 10
    assert "… and 20 more lines\n" in done.stdout
    assert "… and 2 episodes more that differ.\n" in done.stdout
    assert len(gemx_json("reproduce", str(file))["differences"]) == 12


def test_texts_that_differ_only_in_how_they_end_are_shown_whole(file: Path) -> None:
    alter(file, 1, observation="Done.\n")

    assert "  - 'Done.\\n'\n  + 'Done.'\n" in gemx("reproduce", str(file)).stdout


@pytest.mark.parametrize(
    ("part", "shown"), [({"text": "Done?"}, "Done?"), ({"image": "data:,"}, "[no type]"), ({"text": 3}, "3")]
)
def test_a_part_that_breaks_the_contract_is_shown_all_the_same(file: Path, part: dict[str, Any], shown: str) -> None:
    alter(file, 1, observation=[part])

    assert f"  -{shown}\n  +Done.\n" in gemx("reproduce", str(file)).stdout


def test_half_of_a_surrogate_pair_is_shown_by_its_number(file: Path) -> None:
    alter(file, 1, observation="Done\ud800")

    assert "  -Done\\ud800\n  +Done.\n" in gemx("reproduce", str(file)).stdout


def test_json_in_a_fresh_process_is_one_object_and_nothing_else(file: Path) -> None:
    alter(file, 2, seed=1)
    command = [sys.executable, "-m", "gem", "reproduce", str(file), "--json", "--trust"]
    environment = {**os.environ, "GEM_PACKS": "core,evaluation"}
    done = subprocess.run(command, capture_output=True, cwd=SAMPLES, env=environment, check=False)
    (difference,) = json.loads(done.stdout)["differences"]

    assert done.returncode == 1
    assert {**json.loads(done.stdout), "differences": []} == {
        "file": str(file),
        "episodes": 12,
        "failed_when_recorded": 0,
        "torn_bytes": 0,
        "versions": [],
        "same": 11,
        "differences": [],
    }
    assert set(difference) == {"episode", "id", "seed", "turn", "what", "recorded", "replayed"}


def test_another_version_is_reported_and_does_not_count_as_a_difference(file: Path) -> None:
    alter(file, 1, pack={"distribution": "gem-core", "version": "0.0.1"}, gem_core="0.0.1", id="core:Echo-v0")
    alter(file, 2, pack={"distribution": "gem-envs-gone", "version": "2.0"})
    for command in ("reproduce", "rescore"):
        stderr = gemx(command, str(file)).stderr
        assert f"1 episode recorded with gem-core 0.0.1; today it is {gem.__version__}.\n" in stderr
        assert "1 episode recorded with gem-envs-gone 2.0; today it is not installed.\n" in stderr
    assert gemx_json("rescore", str(file))["versions"] == [
        {"distribution": "gem-core", "recorded": "0.0.1", "installed": gem.__version__, "episodes": 1},
        {"distribution": "gem-envs-gone", "recorded": "2.0", "installed": None, "episodes": 1},
    ]


FORGED = "12 of 12 episodes came out the same to the byte."


@pytest.mark.parametrize(
    "changes",
    [
        {"id": f"x\n{FORGED}"},
        {"pack": {"distribution": f"x\n{FORGED}", "version": "1"}},
        {"gem_core": f"0\n{FORGED}"},
        {f"x\n{FORGED}": 1},
    ],
)
def test_a_name_in_a_recording_cannot_add_a_line_of_its_own(file: Path, changes: dict[str, Any]) -> None:
    alter(file, 3, traces=[], **changes)
    done = gemx("reproduce", str(file))

    assert done.exit_code == 1
    assert FORGED in done.output, "it is shown, in the line that it belongs to"
    assert not any(line.startswith(FORGED) for line in done.output.splitlines())


def test_failed_episodes_and_a_torn_line_are_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.jsonl"
    gemx("eval", "sample_envs:Fragile", "--episodes", "30", "--out", str(path.parent))
    with path.open("ab") as file:
        file.write(b'{"gem_record": 1')
    done = gemx("reproduce", str(path))
    report = gemx_json("reproduce", str(path))

    assert 0 < report["failed_when_recorded"] < 30
    assert report["same"] + report["failed_when_recorded"] == 30
    assert report["torn_bytes"] == 16
    assert done.exit_code == 0
    assert f"{report['failed_when_recorded']} episodes failed when recorded, and were left out.\n" in done.stderr
    assert "The last line was cut off in the middle (16 bytes), and was left out.\n" in done.stderr


@pytest.mark.parametrize("command", ["reproduce", "rescore"])
def test_a_missing_file_is_wrong_usage_and_an_empty_one_an_error(tmp_path: Path, command: str) -> None:
    empty = tmp_path / "empty"
    empty.touch()

    assert gemx(command, str(tmp_path / "none")).exit_code == 2
    assert gemx(command, str(empty)).stderr == f"gemx: {empty} has no episodes\n"


def test_an_episode_that_is_not_there_is_an_error(file: Path) -> None:
    assert gemx("reproduce", f"{file}:13").stderr == f"gemx: {file} has no episode 13; it holds 12\n"
    assert gemx("reproduce", f"{file}:0").exit_code == 2


def test_rescore_lists_the_flips_and_exits_with_0(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alter(file, 1, success=False)
    alter(file, 2, spec={**SPEC, "kwargs": {"round": 3}})
    alter(file, 3, spec={**SPEC, "kwargs": {"rounds": 2}})
    monkeypatch.setattr(Sum, "expert_action", lambda env: "not asked")
    done = gemx("rescore", str(file))

    assert done.exit_code == 0
    assert "no success → success, return 3 → 3\n" in done.stdout
    assert "success, return 3 → 2, diverged at turn 3\n" in done.stdout
    assert "error, SpecError: 'sample_envs:Sum' takes no argument 'round'" in done.stdout
    assert done.stdout.endswith(
        "11 episodes graded: 0 successes lost, 1 won, 1 with another return only; 1 diverged. Errors: 1.\n"
    )
    assert gemx_json("rescore", str(file)) == {
        "file": str(file),
        "episodes": 12,
        "failed_when_recorded": 0,
        "torn_bytes": 0,
        "versions": [],
        "graded": 11,
        "errors": 1,
        "lost": 0,
        "won": 1,
        "reward_only": 1,
        "diverged": 1,
        "changes": gemx_json("rescore", str(file))["changes"],
    }
    assert [change["episode"] for change in gemx_json("rescore", str(file))["changes"]] == [1, 2, 3]
