"""`gemx arena`: who plays whom, what is kept, and the standings."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from test_llm import ECHO

from gem.cli.main import main
from gem.episode import Episode, Trace
from gem.errors import ConfigError
from gem.record import read
from gem.testing.chat_server import chat_server
from gem_eval.results.standings import Game, standings
from gem_eval.settings import Budget, TournamentSettings
from gem_eval.suite import make_group
from gem_eval.tournament import Tournament, seatings

GAME = "two_seats:Stones"


def settings(*policies: Any, id: str = GAME, **fields: Any) -> TournamentSettings:
    kwargs = fields.pop("kwargs", {})
    return TournamentSettings(policies=policies, game=make_group("", {"ids": [id], "kwargs": kwargs}), **fields)


def played(tournament: Tournament) -> list[Episode]:
    return list(tournament.play())


def who(episode: Episode) -> tuple[str, ...]:
    return tuple(episode.labels["seats"].values())


@pytest.mark.parametrize(
    ("policies", "seats", "line_ups", "orders"), [(4, 2, 6, 2), (3, 3, 1, 6), (2, 3, 2, 3), (4, 4, 1, 4)]
)
def test_every_line_up_plays_in_every_order_and_a_further_policy_leaves_the_numbers(
    policies: int, seats: int, line_ups: int, orders: int
) -> None:
    found = seatings(policies, seats)
    assert len(found) == len(set(found)) == line_ups * orders
    assert set(Counter(tuple(sorted(each)) for each in found).values()) == {orders}
    for seat in range(seats):  # nobody has a seat more often than another
        assert len(set(Counter(each[seat] for each in found).values())) == 1
    if policies >= seats:
        assert seatings(policies + 1, seats)[: len(found)] == found


def test_seats_are_swapped_on_equal_seeds_and_returns_and_results_are_those_of_the_recording(tmp_path: Path) -> None:
    tournament = Tournament(settings("random", "expert", "two_seats:ones", games=10, num_envs=7), tmp_path / "a")
    played(tournament)
    episodes = list(read(tmp_path / "a"))
    pairs = Counter(who(each) for each in episodes)
    assert pairs == dict.fromkeys(itertools.permutations(("random", "expert", "two_seats:ones"), 2), 5)
    for one, two in itertools.combinations(("random", "expert", "two_seats:ones"), 2):
        seeds = [{each.seed for each in episodes if who(each) == order} for order in ((one, two), (two, one))]
        assert seeds[0] == seeds[1]
        first = {each.traces[0].turns[0].observation for each in episodes if {*who(each)} == {one, two}}
        assert len(first) <= len(seeds[0])  # equal seeds begin alike
    for each in episodes:
        assert {trace.player: trace.policy for trace in each.traces} == each.labels["seats"]
    won: Counter[tuple[str, str]] = Counter()
    for each in episodes:
        last, _ = list(each.played())[-1]
        (loser,) = {"north", "south"} - {last}
        won[each.labels["seats"][last], each.labels["seats"][loser]] += 1
    for pair in tournament.standings().pairs:
        assert (pair.won, pair.drawn, pair.lost) == (won[pair.first, pair.second], 0, won[pair.second, pair.first])
    best, *_, worst = tournament.standings().players
    assert (best.name, worst.name) == ("expert", "two_seats:ones")
    assert best.won + best.lost == best.games == 20


def test_the_same_command_plays_only_what_is_missing_and_more_policies_and_games_are_added(tmp_path: Path) -> None:
    out = tmp_path / "a"
    few = played(Tournament(settings("random", "expert", games=4), out))
    assert (len(few), played(Tournament(settings("random", "expert", games=4), out))) == (4, [])
    more = played(Tournament(settings("random", "expert", "two_seats:ones", games=6), out))
    assert len(more) == 3 * 6 - 4
    resumed, whole = Tournament(settings("random", "expert", "two_seats:ones", games=6), out), tmp_path / "b"
    unbroken = Tournament(settings("random", "expert", "two_seats:ones", games=6), whole)
    played(unbroken)
    assert (resumed.resumed, resumed.others) == (18, 0)
    assert resumed.as_json() == unbroken.as_json()
    for other, what in (
        (settings("expert", "random", games=6), "policies"),
        (settings("random", "expert", "two_seats:ones", seed=1), "seed"),
        (settings("random", "expert", "two_seats:ones", kwargs={"max_turns": 4}), "arguments"),
    ):
        with pytest.raises(ConfigError, match=f"holds another tournament .{what}: "):
            Tournament(other, out)


@pytest.mark.full
def test_a_killed_tournament_that_is_resumed_gives_the_games_and_the_table_of_an_unbroken_one(tmp_path: Path) -> None:
    def run(folder: Path) -> subprocess.Popen[bytes]:
        policies = ["random", "expert", "two_seats:slowly", "random"]
        command = [
            sys.executable,
            "-m",
            "gem",
            "arena",
            *policies,
            "--env",
            GAME,
            "--games",
            "20",
            "--out",
            str(folder),
        ]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        command += ["--num-envs", "4"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    table, errors = run(whole).communicate(timeout=120)
    assert errors == b""
    for share in (0.3, 0.7):
        process, until = run(broken), time.monotonic() + 60
        recorded = broken / "episodes.jsonl"
        while process.poll() is None and time.monotonic() < until:
            if recorded.exists() and recorded.read_bytes().count(b"\n") >= share * 120:
                break
            time.sleep(0.002)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    kept = recorded.read_bytes().count(b"\n")
    again, errors = run(broken).communicate(timeout=120)
    assert f"holds {kept} of the 120 games".encode() in errors
    assert again == table

    def games(folder: Path) -> dict[tuple[int, int], Episode]:
        episodes = list(read(folder))
        assert len(episodes) == 120
        return {(each.seed, each.group): each.each_trace(untimed) for each in episodes}

    def untimed(trace: Trace) -> Trace:
        return replace(
            trace, turns=tuple(replace(t, completion=replace(t.completion, usage=None)) for t in trace.turns)
        )

    assert games(broken) == games(whole)
    assert json.loads((broken / "summary.json").read_text()) == json.loads((whole / "summary.json").read_text())


def test_a_policy_against_itself_has_intervals_that_overlap() -> None:
    tournament = Tournament(settings("random", "random", "expert", games=60))
    played(tournament)
    ratings = {each.name: each.rating_ci for each in tournament.standings().players}
    (low, high), (other_low, other_high) = ratings["random"], ratings["random (2)"]
    assert max(low, other_low) < min(high, other_high)
    assert ratings["expert"][0] > max(high, other_high)


def test_a_game_for_three_compares_each_two_and_equal_returns_are_draws(tmp_path: Path) -> None:
    tournament = Tournament(settings("expert", "random", "two_seats:ones", kwargs={"seats": 3}, games=12))
    played(tournament)
    found = tournament.standings()
    assert len(tournament.games) == 12
    for each in found.players:
        assert (each.games, each.won + each.drawn + each.lost) == (12, 24)
        assert each.returns.keys() == {"north", "south", "west"}
    assert sum(pair.drawn for pair in found.pairs) == 12  # the two who do not take the last stone
    assert sum(pair.won + pair.lost for pair in found.pairs) == 24


def test_two_policies_play_a_game_for_three() -> None:
    tournament = Tournament(settings("expert", "random", kwargs={"seats": 3}, games=3))
    played(tournament)
    (pair,) = tournament.standings().pairs
    assert len(tournament.games) == 2 * 3
    assert pair.won + pair.drawn + pair.lost == 2 * 6  # two of the three in each game are of different policies


def test_who_was_never_asked_has_what_the_last_step_gave(tmp_path: Path) -> None:
    tournament = Tournament(settings("random", "two_seats:ones", id="two_seats:Insult", games=10))
    played(tournament)
    for each in tournament.standings().players:
        assert (each.won, each.lost) == (5, 5)
        assert each.returns == {"one": -1.0, "two": 1.0}


def test_failed_games_are_counted_left_out_and_played_again(tmp_path: Path) -> None:
    out = tmp_path / "a"
    tournament = Tournament(settings("random", "expert", kwargs={"fails": True}, games=20), out)
    played(tournament)
    best = tournament.standings().players[0]
    assert 0 < best.failures == len(tournament.failed) < 20
    assert best.games == 20 - best.failures == best.won + best.drawn + best.lost
    again = Tournament(settings("random", "expert", kwargs={"fails": True}, games=20), out)
    assert again.resumed == best.games
    assert len(played(again)) == best.failures


def test_an_order_of_games_and_a_name_change_nothing_in_the_standings() -> None:
    games = [Game(str(seed), order, (seed % 3, 1.0)) for seed in range(30) for order in ((0, 1), (1, 0), (2, 1))]
    names, seats = ["a", "b", "c"], ["x", "y"]
    assert standings(games, names, seats) == standings(games[::-1], names, seats)


def test_luck_that_swapped_seats_even_out_does_not_widen_an_interval() -> None:
    def width(items: list[str]) -> float:
        """Of an interval, where the first seat wins every game of these two."""
        games = [Game(item, order, (1.0, 0.0)) for item, order in zip(items, [(0, 1), (1, 0)] * 50, strict=True)]
        low, high = standings(games, ["a", "b"], ["x", "y"]).players[0].rating_ci
        return high - low

    of_pairs = width([str(number // 2) for number in range(100)])
    alone = width([str(number) for number in range(100)])
    assert 5 * of_pairs < alone


def test_a_budget_ends_a_tournament_and_random_moves_use_none_of_it(tmp_path: Path) -> None:
    with chat_server(lambda messages: "\\boxed{1}") as server:
        model = {"name": "openai", "model": "any", "base_url": server.url}
        whole = Tournament(settings(model, "random", games=40, num_envs=8))
        played(whole)
        assert whole.meter is not None
        used = whole.meter.spent.prompt + whole.meter.spent.completion
        limited = Tournament(
            settings(model, "random", games=40, num_envs=8, budget=Budget(max_tokens=used // 2)), tmp_path / "a"
        )
        played(limited)
    assert limited.budget_spent
    assert 0 < limited.played < 80
    assert limited.meter is not None
    reply = used / whole.meter.spent.requests
    assert limited.meter.spent.prompt + limited.meter.spent.completion <= max(0.5 * used * 1.05, 0.5 * used + reply)
    recorded = [
        turn
        for each in read(tmp_path / "a")
        for trace in each.traces
        if trace.policy == "random"
        for turn in trace.turns
    ]
    assert recorded
    assert all(turn.completion.usage is None for turn in recorded)


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    def errors(*arguments: str) -> str:
        done = CliRunner().invoke(main, ["arena", *arguments])
        assert done.exit_code != 0
        return done.stderr

    assert "is not a game for several" in errors("random", "random", "--env", ECHO)
    assert "a tournament needs two or more" in errors("random", "--env", GAME)
    assert "no POLICY is one" in errors("random", "random", "--env", GAME, "--base-url", "http://127.0.0.1:1/v1")
    assert "has a policy 'rndom'. Did you mean 'random'" in errors("rndom", "random", "--env", GAME)


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    arguments = ["arena", "random", "expert", "--env", GAME, "--games", "11", "--out", str(tmp_path / "a")]
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "two_seats:Stones: 12 games, seed 0" in done.stdout
    done = CliRunner().invoke(main, [*arguments, "--json"])
    found = json.loads(done.stdout)
    assert (found["resumed"], found["games"], found["players"][0]["name"]) == (12, 12, "expert")
    assert {name: found[name] for name in found if name != "resumed"} == json.loads(
        (tmp_path / "a/summary.json").read_text()
    )
