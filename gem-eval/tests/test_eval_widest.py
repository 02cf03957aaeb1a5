"""A limit that is spent where the interval of success is the widest."""

import re
from collections import Counter

import pytest
from click.testing import CliRunner

from gem.cli.main import main
from gem.record import read
from gem_eval import evaluate

pytestmark = pytest.mark.usefixtures("core_only")

ALWAYS, HALF = "core:Echo-v0", "sample_envs:Sum"
IDS = [ALWAYS, HALF]


def reply(messages):
    """Right in one env, and in the other if its first number is odd."""
    seen = " ".join(str(each["content"]) for each in messages if each["role"] == "user")
    if word := re.search(r"word (\w+) back", seen):
        return f"\\boxed{{{word[1]}}}"
    numbers = [int(each) for each in re.findall(r"next number is (\d+)", seen)]
    return f"\\boxed{{{sum(numbers)}}}" if numbers and numbers[0] % 2 else "no idea"


def failing(messages):
    """Fails in the first env."""
    if "word" in str(messages):
        raise OSError("out of order")
    return reply(messages)


def played(folder):
    return [each for each in read(folder / "episodes.jsonl") if each.failure is None]


def widths(found):
    return [high - low for low, high in (each.success_ci for each in found.summaries())]


def test_a_limit_goes_where_the_interval_is_the_widest_also_when_it_is_resumed(tmp_path):
    options = {"episodes": 100, "num_envs": 4, "floors": False}
    whole = evaluate(IDS, reply, **options, widest=True, max_episodes=60, out=tmp_path / "whole")
    for total in (20, 40, 60):
        parts = evaluate(IDS, reply, **options, widest=True, max_episodes=20, out=tmp_path / "parts")
        assert (parts.played, parts.budget_spent) == (total, True)
    in_turn = evaluate(IDS, reply, **options, max_episodes=60)

    for found, name in [(whole, "whole"), (parts, "parts")]:
        assert abs(widths(found)[0] - widths(found)[1]) < 0.05
        assert max(widths(found)) < max(widths(in_turn)) - 0.02
        starts = {each.start for each in played(tmp_path / name)}
        assert len(starts) == found.played == 60
        for id in IDS:
            of_id = [start for start in found.plans[0].starts if start.id == id]
            count = sum(start.id == id for start in starts)
            assert starts.issuperset(of_id[:count]), "the first items of each id"
            assert count > 35 if id == HALF else 5 < count < 25
    assert abs(widths(in_turn)[0] - widths(in_turn)[1]) > 0.1


def test_without_a_limit_all_items_are_played_each_as_often_as_asked(tmp_path):
    found = evaluate([ALWAYS, HALF], reply, episodes=9, k=3, num_envs=8, floors=False, widest=True, out=tmp_path / "a")

    assert Counter(each.start for each in played(tmp_path / "a")) == Counter(found.plans[0].starts)
    assert (found.played, found.budget_spent) == (2 * 9 * 3, False)


def test_an_env_that_always_fails_does_not_take_the_whole_limit():
    found = evaluate([ALWAYS, HALF], failing, episodes=50, num_envs=4, floors=False, widest=True, max_episodes=40)

    of_failing, of_half = found.summaries()
    assert of_failing.failures == of_failing.episodes > 5
    assert of_half.items > 12


def test_a_limit_of_episodes_ends_a_suite_and_the_command_says_how_to_go_on(tmp_path):
    (tmp_path / "suite.toml").write_text(
        f"[one]\nids = ['{ALWAYS}']\nepisodes = 5\n[two]\nids = ['{HALF}']\nepisodes = 5\n"
    )
    command = ["eval", "--suite", str(tmp_path / "suite.toml"), "--out", str(tmp_path / "a"), "--no-floors"]
    first = CliRunner().invoke(main, [*command, "--max-episodes", "7"])
    second = CliRunner().invoke(
        main, ["eval", "--resume", str(tmp_path / "a"), "--max-episodes", "9", "--widest", "--trust"]
    )

    assert (first.exit_code, len(played(tmp_path / "a"))) == (3, 10), first.output + second.output
    assert "7 of 10: a partial report, the budget is spent" in first.output
    assert "plays what is missing, with as much again or what --max-episodes gives it" in first.output
    assert second.exit_code == 0
