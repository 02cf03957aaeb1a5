"""`gemx view`: the page of recordings and training runs."""

import json
import re
import threading
import urllib.request
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.main import main
from gem.errors import RecordError
from gem.record import Recorder
from gem.rollout import rollout
from gem.view import page_of, run_of

HOSTILE = "</script><script>document.title = 'run'</script><!-- <script> <img src=x onerror=alert(1)> \u2028"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def recorded(path: Path, reply: str = "a word", episodes: int = 5) -> Path:
    with gem.make_vec("core:Echo-v0", 2) as envs, Recorder(path, policy={"name": reply}) as recorder:
        for _ in recorder.record(rollout(lambda observation: reply, envs, range(episodes))):
            pass
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return recorded(tmp_path / "played.jsonl")


@pytest.fixture
def training(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    recorded(folder / "episodes.jsonl")
    lines = [{"phase": "train", "step": step, "success": step / 3000, "words": "no"} for step in range(1, 3001)]
    lines += [{"phase": "eval", "step": 0, "success": 0.1}, {"phase": "eval", "step": 3000, "success": float("nan")}]
    (folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"phase": "tr')
    (folder / "config.toml").write_text("steps = 3000\n")
    return folder


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    return json.loads(match[1])


def test_the_page_holds_every_turn_of_every_episode(recording: Path) -> None:
    [run] = data_of(page_of([run_of(recording)]))["runs"]

    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    assert run["recorded"] == len(run["episodes"]) == len(lines) == 5
    for shown, line in zip(run["episodes"], lines, strict=True):
        assert shown["seed"] == str(line["seed"])
        assert [turn["action"] for turn in shown["turns"]] == [turn["action"] for turn in line["turns"]]
        assert [turn["observation"] for turn in shown["turns"]] == [turn["observation"] for turn in line["turns"]]
        assert shown["success"] == line["success"]
        assert shown["return"] == sum(turn["reward"] for turn in line["turns"])


def test_markup_in_an_episode_stays_text(tmp_path: Path) -> None:
    page = page_of([run_of(recorded(tmp_path / "hostile.jsonl", HOSTILE))])

    assert data_of(page)["runs"][0]["episodes"][0]["turns"][0]["action"] == HOSTILE
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in data
    assert page.count("<script") == 2


def test_the_program_writes_data_as_text_only_and_loads_nothing() -> None:
    assets = {name: resources.files("gem.view").joinpath(name).read_text("utf-8") for name in ("view.js", "view.html")}

    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert dangerous not in assets["view.js"]
    for text in assets.values():
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`]*", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses


def test_a_failed_episode_is_neither_a_success_nor_a_loss(tmp_path: Path) -> None:
    def failing(observation: str) -> str:
        raise OSError("the server is gone")

    path = tmp_path / "failed.jsonl"
    with gem.make_vec("core:Echo-v0", 1) as envs, Recorder(path) as recorder:
        list(recorder.record(rollout(failing, envs, [0])))
    [episode] = run_of(path)["episodes"]

    assert (episode["success"], episode["end"]) == (None, "failed")
    assert "the server is gone" in episode["failure"]["error"]


def test_a_training_run_has_its_curves_thinned_out_and_its_settings(training: Path) -> None:
    run = run_of(training)

    by_phase = {line["phase"]: line["points"] for line in run["curves"]["success"]}
    assert by_phase["train"][0] == (1, 1 / 3000)
    assert by_phase["train"][-1] == (3000, 1.0)
    assert len(by_phase["train"]) <= 1001
    assert by_phase["eval"] == [(0, 0.1)]
    assert "words" not in run["curves"]
    assert run["facts"] == {"config.toml": "steps = 3000\n"}
    assert run["recorded"] == 5


def test_of_many_episodes_some_are_drawn_evenly(tmp_path: Path) -> None:
    path = recorded(tmp_path / "many.jsonl", episodes=30)
    run = run_of(path, most=10)

    every = [str(json.loads(line)["seed"]) for line in path.read_text().splitlines()]
    assert [episode["seed"] for episode in run["episodes"]] == every[::3]
    assert run["recorded"] == 30


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"has neither episodes\.jsonl nor metrics\.jsonl"):
        run_of(tmp_path)


def test_the_command_writes_one_file(recording: Path, training: Path, tmp_path: Path) -> None:
    done = invoke("view", recording, training, "--out", tmp_path / "page.html", "--episodes", "3")

    assert done.exit_code == 0, done.output
    runs = data_of((tmp_path / "page.html").read_text("utf-8"))["runs"]
    assert [(run["name"], len(run["episodes"])) for run in runs] == [("played.jsonl", 3), ("run", 3)]


def test_the_server_reads_the_runs_again_at_every_load(recording: Path) -> None:
    from gem.cli.view import page_server

    with page_server([recording], 2000, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        counts = []
        for _ in range(2):
            with urllib.request.urlopen(address) as response:
                counts.append(len(data_of(response.read().decode())["runs"][0]["episodes"]))
            recorded(recording, episodes=2)
        server.shutdown()

    assert counts == [5, 7]
