"""Tournaments in the games of gem-envs-arena."""

from collections import Counter, deque
from itertools import combinations

import pytest

from gem.record import read
from gem_eval import reproduce
from gem_eval.settings import TournamentSettings
from gem_eval.suite import make_group
from gem_eval.tournament import Tournament


@pytest.mark.parametrize("id", ["arena:KuhnPoker-v0", "arena:TicTacToe-v0", "arena:Undercover-v0"])
def test_a_tournament_counts_the_wins_that_the_games_name_and_its_recording_is_reproduced(id, tmp_path):
    policies = ("random",) * 3
    settings = TournamentSettings(policies=policies, game=make_group("", {"ids": [id]}), games=24, num_envs=5)
    tournament = Tournament(settings, tmp_path)
    deque(tournament.play(), maxlen=0)
    episodes = list(read(tmp_path))
    won = Counter()
    for episode in episodes:
        assert episode.failure is None
        (last,) = {tuple(turn.info["won"]) for _, turn in episode.played() if "won" in turn.info}
        names = episode.labels["seats"]
        for one, other in combinations(names, 2):
            if (one in last) != (other in last):
                winner, loser = (one, other) if one in last else (other, one)
                won[names[winner], names[loser]] += 1
    found = tournament.standings()
    assert won.total() > 0
    assert {(pair.first, pair.second): (pair.won, pair.lost) for pair in found.pairs} == {
        (pair.first, pair.second): (won[pair.first, pair.second], won[pair.second, pair.first]) for pair in found.pairs
    }
    for each in found.players:  # of equal strength
        assert each.rating_ci[0] <= 0 <= each.rating_ci[1]
    assert [reproduce(each) for each in episodes] == [None] * len(episodes)
    assert Tournament(settings, tmp_path).as_json() == tournament.as_json()
