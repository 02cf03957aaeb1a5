"""`gemx play`: a person at the terminal, or a pipe."""

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gem
from gem.cli.main import main
from gem.cli.play import complete
from gem.core import Step
from gem.record import read

pytestmark = pytest.mark.usefixtures("core_only")


def play(*lines: str, id: str = "sample_envs:Sum", seed: int = 0) -> Result:
    return CliRunner().invoke(main, ["play", id, "--seed", str(seed)], input="".join(f"{line}\n" for line in lines))


def answers(seed: int = 0) -> list[str]:
    """The right sums of an episode, without the box."""
    env = gem.make("sample_envs:Sum")
    env.reset(seed=seed)
    actions: list[str] = []
    for _ in range(3):
        actions.append(env.expert_action() or "")
        env.step(actions[-1])
    return [action.removeprefix("\\boxed{").removesuffix("}") for action in actions]


@pytest.mark.parametrize("form", ["{}", "\\boxed{{{}}}", "I think it is \\boxed{{{}}}."])
def test_an_episode_is_played_with_whole_replies_or_with_answers_alone(form: str) -> None:
    done = play(*(form.format(answer) for answer in answers()))

    assert done.exit_code == 0
    assert done.stdout.count("reward 1") == 3
    assert "Success: 3 turns, return 3." in done.stdout


def test_what_reads_as_a_call_is_one_and_the_rest_is_an_answer() -> None:
    lines = "".join(f"{line}\n" for line in ("<python>1 + 1</python>", "<python></python>", answers()[0], ":quit"))
    command = ["play", "sample_envs:Sum", "--seed", "0", "--tools", "tool_samples:python"]
    done = CliRunner().invoke(main, command, input=lines)

    assert done.exit_code == 0
    assert "ran 1 + 1" in done.stdout
    assert "there is nothing in it" in done.stdout
    assert done.stdout.count("reward 1") == 1


def test_the_same_seed_shows_the_same_game() -> None:
    assert play(":quit", seed=4).stdout == play(":quit", seed=4).stdout
    assert play(":quit", seed=4).stdout != play(":quit", seed=5).stdout


def test_without_a_seed_one_is_chosen_and_named() -> None:
    done = CliRunner().invoke(main, ["play", "core:Echo-v0"], input=":quit\n")

    assert re.match(r"core:Echo-v0, seed \d{1,6}\n", done.stdout)  # one that a person can type again


def test_hint_shows_the_expert_action_and_uses_no_turn() -> None:
    done = play(":hint", ":quit")

    assert f"\\boxed{{{answers()[0]}}}" in done.stdout
    assert "Left after 0 turns" in done.stdout
    assert (
        "There is no hint: this environment does not have an expert" in play(":hint", id="sample_envs:NoExpert").stdout
    )


def test_random_plays_a_well_formed_action() -> None:
    done = play(":random", ":quit")

    assert "There is no box." not in done.stdout
    assert "Left after 1 turn, return" in done.stdout


def test_raw_sends_the_text_unchanged() -> None:
    done = play(":raw 3")

    assert "There is no box." in done.stdout
    assert "No success: 1 turn, return -0.1." in done.stdout


def test_raw_keeps_the_spaces_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    actions: list[str] = []
    monkeypatch.setattr("sample_envs.Sum._step", lambda self, action: actions.append(action) or Step.ongoing(""))
    play(":raw  two words  ", ":raw", ":quit ")

    assert actions == [" two words  ", ""]


def test_an_unknown_command_and_help_take_no_turn() -> None:
    done = play(":hnt", ":help", ":quit")

    assert "Unknown command :hnt." in done.stdout
    assert ":random      play a random action" in done.stdout
    assert "Left after 0 turns" in done.stdout


def test_the_end_of_the_input_leaves_the_game_as_quit_does() -> None:
    done = play("0")

    assert done.exit_code == 0
    assert "Left after 1 turn, return 0." in done.stdout


def test_ctrl_c_leaves_the_shell_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    done = CliRunner().invoke(main, ["play", "core:Echo-v0"])
    assert done.exit_code == 130
    assert done.stdout.endswith("\n\n")


def test_in_a_terminal_lines_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = play(":quit", id="core:Echo-v0").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich a terminal
    monkeypatch.setenv("COLUMNS", "20")
    shown = play(":quit", id="core:Echo-v0").stdout
    assert shown.split() == whole.split()
    assert max(len(line) for line in shown.split("\n\n")[1].splitlines()) <= 20


def test_the_turn_limit_is_told_from_a_loss() -> None:
    done = CliRunner().invoke(main, ["play", "sample_envs:Sum", "--arg", "max_turns=1"], input="0\n")

    assert "The turn limit was reached: 1 turn, return 0." in done.stdout


@pytest.mark.parametrize(
    ("typed", "example", "reply"),
    [
        ("7", "\\boxed{1}", "\\boxed{7}"),
        ("7", "<answer>1</answer>", "<answer>7</answer>"),
        ("print(7)", "```python\nprint(1)\n```", "```\nprint(7)\n```"),
        ("7", "no mark-up", "7"),
        ("\\boxed{7}", "<answer>1</answer>", "\\boxed{7}"),
        ("so \\boxed{7", "\\boxed{1}", "so \\boxed{7"),
        ("<answer>7</answer>", "\\boxed{1}", "<answer>7</answer>"),
        ("```\n7\n```", "\\boxed{1}", "```\n7\n```"),
        ("~~~\n7\n~~~", "\\boxed{1}", "~~~\n7\n~~~"),
    ],
)
def test_an_answer_is_put_into_the_markup_of_the_env_unless_it_has_one(typed: str, example: str, reply: str) -> None:
    assert complete(typed, example) == reply


def test_a_line_that_opens_a_fence_is_continued_to_its_end() -> None:
    done = play("```python", ":quit is no command in here", "```", ":quit")

    assert "There is no box." in done.stdout
    assert "1 turn" in done.stdout


def test_history_shows_the_episode_so_far() -> None:
    first, *_ = answers()
    done = play(first, ":history", ":quit")

    assert done.stdout.count(f"> \\boxed{{{first}}}") == 1
    assert done.stdout.count("reward 1") == 2


def test_an_episode_that_has_ended_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "played.jsonl"
    lines = "".join(f":hint\n:hint\n{line}\n" if turn else f"{line}\n" for turn, line in enumerate(answers(seed=3)))
    done = CliRunner().invoke(main, ["play", "sample_envs:Sum", "--seed", "3", "--record", str(file)], input=lines)

    assert f"The episode is in {file}" in done.stdout
    [record] = read(file)
    assert (record.seed, record.success, record.policy, len(record.turns)) == (3, True, "human", 3)
    assert record.labels == {"hints": 2}  # turns in which one was taken


def test_a_file_that_is_not_a_recording_is_refused_before_the_episode(tmp_path: Path) -> None:
    (file := tmp_path / "notes.txt").write_text("hello\n")
    done = CliRunner().invoke(main, ["play", "core:Echo-v0", "--record", str(file)], input=":expert\n")

    assert "is not a recording" in done.stderr
    assert ":help" not in done.stdout
    assert file.read_text() == "hello\n"


def test_an_episode_that_was_left_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "played.jsonl"
    done = CliRunner().invoke(main, ["play", "core:Echo-v0", "--record", str(file)], input=":quit\n")

    assert "Nothing was written" in done.stderr
    assert not file.exists()


@pytest.mark.full
def test_in_a_terminal_a_line_can_be_edited_and_a_hint_takes_no_turn(tmp_path: Path) -> None:
    file = tmp_path / "played.jsonl"
    command = [sys.executable, "-m", "gem", "play", "core:Echo-v0", "--seed", "1", "--record", str(file)]
    ours, theirs = pty.openpty()
    shown = ""

    def wait_for(text: str) -> str:
        """What is shown from here on, up to `text`."""
        nonlocal shown
        before = len(shown)
        while text not in shown[before:]:
            assert select.select([ours], [], [], 60)[0], shown
            shown += re.sub(r"\x1b\[[?\d;]*\w|\r", "", os.read(ours, 65536).decode())
        return shown[before:]

    environ = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as game:
        os.close(theirs)
        wait_for("> ")
        os.write(ours, b":hint\n")
        hint = wait_for("\n> ").splitlines()[1]
        os.write(ours, b":history\n")
        assert "Say the word" in wait_for("\n> ")
        os.write(ours, hint.encode() + b"xy\x7f\x7f\n")
        wait_for("Success: 1 turn, return 1.")
        assert game.wait(60) == 0
    os.close(ours)

    [record] = read(file)
    assert (record.success, record.labels, [turn.action for turn in record.turns]) == (True, {"hints": 1}, [hint])
