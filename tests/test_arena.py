"""Games of gem-envs-arena in rollouts and recordings: the same seed and actions give the same bytes."""

import pytest
from click.testing import CliRunner

import gem
from gem.cli.main import main
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.testing.play import as_line
from gem_envs_arena.plugin import gem_envs
from gem_eval import reproduce

IDS = [spec.id for spec in gem_envs()]


def games(id, path, backend="sync"):
    """Recorded games of random play."""
    policy = random_policy()
    with (
        gem.make_vec(id, 3, info_methods=policy.info_methods, backend=backend) as envs,
        Recorder(path) as recorder,
    ):
        list(recorder.record(rollout(policy, envs, range(12))))
    return sorted(read(path), key=lambda episode: episode.seed)


@pytest.mark.parametrize("id", IDS)
def test_a_recorded_game_is_reproduced_to_the_byte(id, tmp_path):
    for episode in games(id, tmp_path / "games.jsonl"):
        assert episode.failure is None
        assert reproduce(episode, trust=True) is None


def test_three_players_play_the_same_bytes_in_every_backend_and_replay(tmp_path):
    id = "arena:Undercover-v0"
    played = {backend: games(id, tmp_path / f"{backend}.jsonl", backend) for backend in ("sync", "thread", "process")}
    traces = {
        backend: [
            [
                (
                    trace.player,
                    trace.steps,
                    [(turn.observation, turn.action, turn.reward, as_line(turn.info)) for turn in trace.turns],
                )
                for trace in episode.traces
            ]
            for episode in episodes
        ]
        for backend, episodes in played.items()
    }
    assert traces["sync"] == traces["thread"] == traces["process"]
    assert all({player for player, _, _ in episode} == {"first", "second", "third"} for episode in traces["sync"])
    for episode in played["sync"]:
        lines = []
        for _ in range(2):
            env = gem.make(id)
            lines.append([as_line(env.reset(seed=episode.seed))])
            lines[-1] += [as_line(env.step(turn.action)) for _, turn in episode.played()]
        assert lines[0] == lines[1]
    done = CliRunner().invoke(main, ["reproduce", str(tmp_path / "process.jsonl"), "--trust"])
    assert done.stdout == "12 of 12 episodes came out the same to the byte.\n"
