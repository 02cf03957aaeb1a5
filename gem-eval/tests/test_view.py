"""`gemx view`: the page of recordings and training runs."""

import json
import math
import os
import re
import signal
import threading
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from click.testing import CliRunner, Result

import gem
import gem_eval.view
from gem.audit import Card, Finding, ProbeOutcome
from gem.cli.main import main
from gem.episode import Completion, Episode, TokenTexts, Trace, Turn, Usage
from gem.errors import RecordError
from gem.record import Recorder
from gem.rollout import rollout
from gem_eval.cli.view import page_server
from gem_eval.view import page_of, run_of
from gem_eval.view.page import PROGRAM

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
    (folder / "summary.json").write_text('{"before": {"floors": {"random": {"success": 0.25}}}}')
    return folder


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON for a browser")

    return json.loads(match[1], parse_constant=refuse)


def test_the_page_holds_every_turn_of_every_episode(recording: Path) -> None:
    [run] = data_of(page_of([run_of(recording)]))["runs"]

    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    assert run["recorded"] == len(run["episodes"]) == len(lines) == 5
    for shown, line in zip(run["episodes"], lines, strict=True):
        assert shown["seed"] == str(line["seed"])
        assert shown["traces"] == line["traces"]
        assert shown["success"] == line["success"]
        assert shown["return"] == sum(turn["reward"] for turn in line["traces"][0]["turns"])


def test_markup_in_an_episode_stays_text(tmp_path: Path) -> None:
    page = page_of([run_of(recorded(tmp_path / "hostile.jsonl", HOSTILE))])

    assert data_of(page)["runs"][0]["episodes"][0]["traces"][0]["turns"][0]["completion"]["text"] == HOSTILE
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in data
    assert page.count("<script") == 2


def test_the_program_writes_data_as_text_only_and_loads_nothing() -> None:
    folder = Path(gem_eval.view.__file__).parent
    programs = [path.read_text("utf-8") for path in folder.glob("program/*.js")]

    assert len(programs) == len(PROGRAM)
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert not any(dangerous in program for program in programs)
    for text in [*programs, *(path.read_text("utf-8") for path in folder.glob("*.html"))]:
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`]*", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses


def write(path: Path, *turns: Turn, **labels: Any) -> Path:
    episode = Episode(
        id="lab:A", seed=0, traces=(Trace(turns),), observation="end", terminated=True, truncated=False, success=False
    )
    with Recorder(path) as recorder:
        recorder.write(episode, labels)
    return path


def test_numbers_that_are_not_finite_and_half_characters_do_not_break_the_page(tmp_path: Path) -> None:
    turns = [
        Turn("\ud800 < \u202e", Completion("\udfff"), reward, {"x": [math.nan]}) for reward in (math.inf, -math.inf)
    ]
    page = page_of([run_of(write(tmp_path / "odd.jsonl", *turns, loss=-math.inf))])

    [episode] = data_of(page)["runs"][0]["episodes"]
    assert (episode["return"], episode["labels"]) == ("NaN", {"loss": "-Infinity"})
    shown = episode["traces"][0]["turns"]
    assert [turn["reward"] for turn in shown] == ["Infinity", "-Infinity"]
    assert shown[0]["observation"] == "\ud800 < \u202e"
    assert shown[0]["info"] == {"x": ["NaN"]}
    page.encode()  # half a pair of surrogates would raise


def test_the_page_has_the_tokens_of_the_replies_that_have_some(tmp_path: Path) -> None:
    known = Completion("so be", tokens=TokenTexts(("so", " be"), (-0.5, -2.0), mask=(1, 0), prompt="?"))
    path = write(tmp_path / "tokens.jsonl", Turn("?", known, 0.0, {}), Turn("?", Completion("it"), 0.0, {}))
    first, second = data_of(page_of([run_of(path)]))["runs"][0]["episodes"][0]["traces"][0]["turns"]

    tokens = {"text": ["so", " be"], "logprobs": [-0.5, -2.0], "mask": [1, 0], "prompt": "?"}
    assert first["completion"] == {"text": "so be", "tokens": tokens}
    assert second["completion"] == {"text": "it"}


def test_the_page_has_what_a_server_counted_and_what_the_model_thought(tmp_path: Path) -> None:
    said = Completion("it", usage=Usage(prompt=5, completion=7, seconds=0.5), reasoning="so be it")
    [turn] = run_of(write(tmp_path / "served.jsonl", Turn("?", said, 0.0, {})))["episodes"][0]["traces"][0]["turns"]

    usage = {"prompt": 5, "completion": 7, "seconds": 0.5}
    assert turn["completion"] == {"text": "it", "usage": usage, "reasoning": "so be it"}


def test_a_run_of_imitation_shows_what_it_imitates(training: Path) -> None:
    (training / "episodes.jsonl").rename(training / "demonstrations.jsonl")

    assert (run_of(training)["recorded"], run_of(training)["kind"]) == (5, "training")


def test_runs_of_one_name_are_told_apart_by_their_paths(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = recorded(tmp_path / "other" / recording.name)
    alone = recorded(tmp_path / "alone.jsonl")

    runs = data_of(page_of([run_of(path) for path in (recording, other, alone)]))["runs"]
    assert [run["name"] for run in runs] == [str(recording), str(other), "alone.jsonl"]


def test_a_folder_of_an_evaluation_is_shown_with_its_settings_and_its_results(tmp_path: Path) -> None:
    done = invoke(
        "eval",
        "core:Echo-v0",
        "--model",
        "random",
        "--episodes",
        3,
        "--k",
        2,
        "--out",
        tmp_path / "evaluated",
    )
    assert done.exit_code == 0, done.output
    run = run_of(tmp_path / "evaluated")
    [result] = run["results"]

    assert (run["kind"], run["name"], run["recorded"]) == ("evaluation", "evaluated", 6)
    assert list(run["facts"]) == ["eval.json", "summary.json"]
    won = [
        [each["success"] for each in run["episodes"] if each["seed"] == seed]
        for seed in {each["seed"] for each in run["episodes"]}
    ]
    assert [len(attempts) for attempts in won] == [2, 2, 2]
    assert (result["id"], result["episodes"], result["k"]) == ("core:Echo-v0", 6, 2)
    assert result["success"] == pytest.approx(sum(map(sum, won)) / 6)
    assert result["pass_at"] == pytest.approx(sum(map(any, won)) / 3)
    assert result["pass_hat"] == pytest.approx(sum(map(all, won)) / 3)
    assert (result["random"], result["expert"]) == (None, None)  # random play is not shown beside itself
    (tmp_path / "evaluated" / "summary.json").unlink()  # as before its end
    assert run_of(tmp_path / "evaluated")["results"] == []


FIELDS = ("rating", "games", "won", "drawn", "lost", "failures")


def test_a_tournament_is_shown_with_its_ratings_and_its_games(tmp_path: Path) -> None:
    out = tmp_path / "games"
    invoke("arena", "random", "expert", "random", "--env", "two_seats:Stones", "--games", 4, "--out", out)
    run = run_of(out)
    assert (run["kind"], run["recorded"], list(run["facts"])) == ("tournament", 12, ["arena.json", "summary.json"])
    standings = run["standings"]
    assert (standings["env"], standings["asked"], standings["games"]) == ("two_seats:Stones", 12, 12)
    best = standings["players"][0]
    assert (best["name"], best["games"], best["rating_ci"][0] < best["rating"]) == ("expert", 8, True)
    assert [(pair["first"], pair["second"]) for pair in standings["pairs"]] == [
        ("random", "expert"),
        ("random", "random (2)"),
        ("expert", "random (2)"),
    ]
    (out / "summary.json").unlink()  # as after `kill -9`
    assert (run_of(out)["standings"], run_of(out)["recorded"]) == (None, 12)


@pytest.mark.parametrize("kind", ["evaluation", "training", "tournament"])
def test_a_damaged_summary_is_named_with_what_to_do(training: Path, kind: str) -> None:
    damaged = [
        b'{"ids": [{"su',
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"ids": 3, "before": {"floors": {"random": {"success": "x"}}}}',
        b"[" * 10**5,
    ]
    if kind == "evaluation":
        (training / "metrics.jsonl").unlink()
        (training / "eval.json").write_text("{}")
        damaged += [b'{"ids": ["a"]}', b'{"ids": [{"success": "x"}]}']
    if kind == "tournament":
        (training / "metrics.jsonl").unlink()
        (training / "arena.json").write_text("{}")
        player = {"name": "a", "rating_ci": [0.0, 1.0], "returns": {}} | dict.fromkeys(FIELDS, 1)
        sound = {"players": [player], "pairs": [], "env": "a", "asked": 1, "games": 1}
        (training / "summary.json").write_text(json.dumps(sound))
        assert run_of(training)["standings"]["players"] == ({**player, "rating_ci": (0.0, 1.0)},)
        wrong = [
            {"players": [player | {"rating": math.nan}]},
            {"players": [player | {"name": 3}]},
            {"env": 3},
            {"games": "x"},
        ]
        damaged += [json.dumps(sound | each).encode() for each in wrong]
    summary = training / "summary.json"
    for content in damaged:
        summary.write_bytes(content)
        with pytest.raises(RecordError, match=f"{summary} is damaged.*: remove it, and the rest is shown") as raised:
            run_of(training)
        assert (f"`gemx eval --resume {training}` writes it again" in str(raised.value)) == (kind == "evaluation")
    summary.unlink()
    assert run_of(training)["results"] == []


def test_the_floors_of_an_evaluation_are_beside_its_result(tmp_path: Path) -> None:
    out = tmp_path / "evaluated"
    invoke("eval", "core:Echo-v0", "--model", "policy_samples:parrot", "--episodes", 4, "--out", out)
    [result] = run_of(out)["results"]

    assert (result["success"], result["expert"]) == (0.0, 1.0)
    assert 0 <= result["random"] < 1


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
    assert run["facts"]["config.toml"] == "steps = 3000\n"
    assert run["floors"] == {"random": 0.25, "expert": None}
    assert run["recorded"] == 5


def test_of_many_episodes_runs_show_the_same_items_so_that_they_can_be_compared(tmp_path: Path) -> None:
    path, other = recorded(tmp_path / "many.jsonl", episodes=40), tmp_path / "other.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(reversed(lines[5:])))
    shown = [[episode["item"] for episode in run_of(each, most=10)["episodes"]] for each in (path, other)]

    order = [json.loads(line)["seed"] for line in lines]
    seeds = [int(episode["seed"]) for episode in run_of(path, most=10)["episodes"]]
    assert seeds == sorted(seeds, key=order.index)
    assert len(set(shown[0])) == len(set(shown[1])) == 10
    assert len(set(shown[0]) & set(shown[1])) >= 10 - 5  # five are in the first only
    with path.open("ab") as file:
        file.write(lines[0][:50])  # as while it is being written
    assert [episode["item"] for episode in run_of(path, most=10)["episodes"]] == shown[0]
    other.write_bytes(b"".join([*lines[:20], b"{}\n", *lines[20:]]))
    with pytest.raises(RecordError, match="line 21: this is not an episode"):
        run_of(other, most=10)


def test_of_a_long_training_run_all_steps_are_shown(training: Path) -> None:
    path = recorded(training / "episodes.jsonl", episodes=25)  # and the five of before
    run = run_of(training, most=10)

    every = [str(json.loads(line)["seed"]) for line in path.read_text().splitlines()]
    assert [episode["seed"] for episode in run["episodes"]] == every[::3]
    assert run["recorded"] == 30


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"has neither episodes\.jsonl nor metrics\.jsonl"):
        run_of(tmp_path)


def test_the_command_writes_one_file_into_a_new_folder_too(recording: Path, training: Path, tmp_path: Path) -> None:
    done = invoke("view", recording, training, "--out", tmp_path / "new" / "page.html", "--episodes", "3")

    assert done.exit_code == 0, done.output
    runs = data_of((tmp_path / "new" / "page.html").read_text("utf-8"))["runs"]
    assert [(run["name"], len(run["episodes"])) for run in runs] == [("played.jsonl", 3), ("run", 3)]


def test_the_server_reads_the_runs_again_at_every_load(recording: Path) -> None:
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


def test_the_server_answers_only_to_its_own_name_and_survives_a_broken_file(recording: Path) -> None:
    def status(path: str = "/", **headers: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as response:
                return response.status
        except HTTPError as error:
            with error:
                said.append(error.read().decode())
                return error.code

    said: list[str] = []
    with page_server([recording], 2000, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        address = f"http://127.0.0.1:{port}"
        assert [status(), status("/?again"), status(Host=f"localhost:{port}")] == [200, 200, 200]
        assert [status(Host="evil.example"), status("/other")] == [403, 404]
        whole = recording.read_text()
        recording.write_text("no recording\n")
        assert status() == 500
        assert "line 1: this is not JSON" in said[-1]
        recording.write_text(whole)
        assert status() == 200
        taken = invoke("view", recording, "--serve", "--port", port)
        server.shutdown()

    assert taken.exit_code == 1
    assert taken.stderr.startswith(f"gemx: cannot serve on port {port}: ")


def test_ctrl_c_ends_the_server(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_then_interrupt(address: str) -> None:
        def visit() -> None:
            with urllib.request.urlopen(address) as response:  # waits until requests are answered
                statuses.append(response.status)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=visit).start()

    statuses: list[int] = []
    monkeypatch.setattr(webbrowser, "open", open_then_interrupt)
    done = invoke("view", recording, "--serve", "--port", "0", "--open")

    assert (done.exit_code, statuses) == (0, [200])
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/ shows .*; Ctrl-C ends it\n\n", done.stdout)


def test_a_folder_of_runs_is_refused_with_their_names(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "episodes.jsonl").touch()

    with pytest.raises(RecordError, match=r"These folders in it are runs: .*runs/first, .*runs/second"):
        run_of(tmp_path / "runs")


def test_what_has_no_end_in_a_run_folder_is_refused_and_no_link_is_written_through(
    training: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(training)
    target = training.parent / "target"
    target.write_text("old")
    Path("view.html").symlink_to(target)
    assert CliRunner().invoke(main, ["view", "."]).exit_code == 0
    assert (target.read_text(), Path("view.html").is_symlink()) == ("old", False)

    os.truncate("episodes.jsonl", 20 << 30)  # a hole of 20 GB after the episodes
    refused = CliRunner().invoke(main, ["view", "."])
    assert refused.exit_code == 1
    assert "has more than 33,554,432 bytes" in refused.stderr


def audited(folder: Path, text: str = "") -> Path:
    """What `gemx audit --json` prints, of a card with a known finding and one whose finding has `text` everywhere."""
    seed = 2**63 - 1
    finding = Finding(f"It wins {text}", f"Ask {text}", seed, (text, ""), {"index": seed}, {text: text})
    cards = [
        Card("lab:A", "lab", (ProbeOutcome("silence", "known", (Finding("It wins.", "Ask."),), "solved"),), 1.0),
        Card(f"lab:{text}", None, (ProbeOutcome(f"echo{text}", "found", (finding,), text, text),), 2.0),
    ]
    file = folder / "cards.json"
    file.write_text(json.dumps({"ok": False, "cards": [card.as_json() for card in cards]}))
    return file


def test_the_page_holds_cards_of_the_audit_with_all_digits_of_their_seeds(tmp_path: Path) -> None:
    page = page_of([run_of(audited(tmp_path, HOSTILE))])
    [run] = data_of(page)["runs"]

    assert (run["kind"], run["episodes"]) == ("audit", [])
    assert [card["sound"] for card in run["cards"]] == [True, False]
    [shown] = run["cards"][1]["outcomes"][0]["findings"]
    assert shown["seed"] == str(2**63 - 1)
    assert json.loads(shown["options"]) == {"index": 2**63 - 1}
    assert shown["actions"] == [HOSTILE, ""]
    assert HOSTILE not in page


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "no JSON", '{"cards": 1}', '{"cards": [{"id": "a:B"}]}', '{"cards": [[]]}', "[" * 100_000, "\xff"],
)
def test_a_file_that_is_no_card_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "cards.json").write_bytes(text.encode("latin-1"))

    done = invoke("view", tmp_path / "cards.json", "--out", tmp_path / "page.html")
    assert done.exit_code == 1
    assert "cards.json is not what `gemx audit NAME --json` prints" in done.stderr
