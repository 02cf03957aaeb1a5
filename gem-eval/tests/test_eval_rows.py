"""`gemx eval --each-row`: every row of a data set is asked exactly once."""

import json
import sys

import pytest
from click.testing import CliRunner
from dataset_envs import sums

import gem
from gem.cli.main import main
from gem.record import read

pytestmark = pytest.mark.usefixtures("core_only")

TELLING = "dataset_envs:TellingSums"


def test_gemx_eval_plays_each_row_and_then_those_that_its_recording_lacks(tmp_path):
    recording = tmp_path / "out" / "episodes.jsonl"
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(map(json.dumps, sums(50))))
    data = json.dumps({"name": str(many), "limit": 30})

    def run(*options):
        words = ["eval", TELLING, "--each-row", "--model", "expert", "--arg", f"data={data}", *options]
        done = CliRunner().invoke(main, [*words, "--num-envs", "7", "--out", str(recording.parent), "--json"])
        return json.loads(done.stdout)

    first = run()
    lines = recording.read_text().splitlines()
    recording.write_text("\n".join(lines[:12]) + "\n")
    again = run()

    assert (first["episodes"], first["success"], first["asked"], first["resumed"]) == (30, 1.0, 30, 0)
    assert (again["episodes"], again["success"], again["resumed"]) == (30, 1.0, 12)
    assert sorted(record.options["index"] for record in read(recording)) == list(range(30))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["core:Echo-v0"], "'core:Echo-v0' does not ask the rows of one data set, so its rows cannot be played each"),
        ([TELLING, "--arg", "data=./none"], "there is no such file or folder"),
        ([TELLING], "TellingSums needs data"),
        (
            [TELLING, "--arg", "data=dataset_envs:made", "--episodes", "5"],
            "there are rows: leave episodes out",
        ),
    ],
)
def test_what_cannot_be_played_row_by_row_is_one_line(words, message):
    done = CliRunner().invoke(main, ["eval", *words, "--each-row"])

    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_evaluation_ends_before_the_first_episode_if_there_are_no_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("GEM_DATA_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "datasets", None)
    gem.register("lab:Sums-v0", "dataset_envs:Sums", data={"name": "lab/Sums-10", "split": "train"})
    done = CliRunner().invoke(main, ["eval", "lab:Sums-v0"])

    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "reading data sets needs the package datasets" in done.stderr
