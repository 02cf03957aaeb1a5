"""`gemx data`, and the other commands where the rows of a data set are not on this machine."""

import json
import socket

import pytest
from click.testing import CliRunner
from dataset_envs import sums
from msgspec.structs import replace

import gem
from gem.cli.main import main
from gem.testing.checks import run_checks
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject

ID, HUB = "lab:Sums-v0", "lab/Sums-10"


def gemx(*words):
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def spec(core_only, tmp_path, monkeypatch):
    """An id on rows that are not here; a connection would be a fault."""
    monkeypatch.setenv("GEM_DATA_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(socket, "create_connection", None)
    data = {"name": HUB, "split": "train", "licence": "MIT", "about": "Ten sums"}
    return gem.register(ID, "dataset_envs:Sums", data=data)


@pytest.fixture
def copied(spec, tmp_path):
    file = tmp_path / "local" / HUB / "train.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, sums())))
    return file


def test_data_says_where_rows_that_are_not_here_come_from_and_how_to_get_them(spec, tmp_path):
    done = gemx("data", ID)
    described = json.loads(gemx("data", ID, "--json").stdout)

    assert done.exit_code == 0
    assert [line.strip().split(maxsplit=1) for line in done.stdout.splitlines()[2:7]] == [
        ["source", HUB],
        ["kind", "a data set of the Hugging Face hub"],
        ["split", "train"],
        ["licence", "MIT"],
        ["here", "no"],
    ]
    assert f"`gemx data {ID} --download` puts it into {tmp_path / 'cache'}" in done.stdout
    assert (described["here"], described["rows"], described["path"], described["about"]) == (
        False,
        None,
        None,
        "Ten sums",
    )


def test_data_counts_the_rows_that_are_here(copied):
    done = gemx("data", ID)
    described = json.loads(gemx("data", ID, "--json").stdout)

    assert f"yes,{copied.parent}" in "".join(done.stdout.split())  # a long path takes several lines
    assert "question ← problem, answer ← answer" in done.stdout
    assert (described["here"], described["rows"], described["kind"]) == (True, 10, "hub")
    assert described["columns"] == {"question": "problem", "answer": "answer"}
    limited = json.dumps({"name": "dataset_envs:made", "limit": 3})
    assert json.loads(gemx("data", ID, "--arg", f"data={limited}", "--json").stdout)["rows"] == 3


def test_data_lists_every_id_on_a_data_set(copied):
    gem.register("lab:Other-v0", "dataset_envs:Sums", data={"name": "lab/none"})
    gem.register("lab:Wrong-v0", "dataset_envs:Sums", data={"nam": "lab/none"})
    listed = json.loads(gemx("data", "--json").stdout)["data"]
    lines = gemx("data").stdout.splitlines()

    assert [(row["id"], row["here"]) for row in listed] == [
        ("lab:Other-v0", False),
        (ID, True),
        ("lab:Wrong-v0", False),
    ]
    assert [line.split()[0] for line in lines] == ["id", "lab:Other-v0", ID, "lab:Wrong-v0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["core:Echo-v0"], "'core:Echo-v0' does not ask the rows of a data set; `gemx data` lists those that do"),
        (["--download"], "--download and --arg need an ID"),
        (["dataset_envs:Sums"], "Sums needs data, such as data='rows.jsonl'"),
        ([ID, "--arg", "data=none.jsonl"], "there is no such file or folder"),
    ],
)
def test_what_has_no_rows_is_one_line(spec, words, message):
    done = gemx("data", *words)

    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_info_describes_an_id_whose_rows_are_not_here(spec):
    done = gemx("info", ID)
    described = json.loads(gemx("info", ID, "--json").stdout)

    assert done.exit_code == 0
    assert "Add one." in done.stdout
    assert f"The rows of '{HUB}', split 'train' are not on this machine." in done.stdout
    assert (described["observation"], described["rules"][:8]) == (None, "Add one.")


def test_info_shows_the_first_observation_of_rows_that_are_here(copied):
    assert "Answer in \\boxed{}." in gemx("info", ID).stdout


def test_checks_are_skipped_where_rows_are_not_here_and_run_where_they_are(spec, tmp_path):
    with SpawnedProcesses() as spawned:
        outcomes = list(run_checks(Subject(spec, None, spawned)))
        assert {outcome.state for outcome in outcomes} == {"skipped"}
        assert "are not on this machine: see `gemx data lab:Sums-v0`" in outcomes[0].what

        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(map(json.dumps, sums())))
        here = replace(spec, kwargs={"data": str(file)})
        names = ("types", "endings", "resets", "determinism", "snapshots", "junk", "expert", "leaks")
        assert [
            outcome for outcome in run_checks(Subject(here, None, spawned), names) if outcome.state != "passed"
        ] == []
