"""What is left is not played in vain, if what the envs depend on cannot be reached."""

import pytest
from lost_envs import Far

import gem
from gem.episode import Completion
from gem.errors import Unreachable
from gem.rollout import rollout
from gem.vector.reach import IN_A_ROW

pytestmark = pytest.mark.usefixtures("core_only")
FAR, NEAR = "lost_envs:Far", "lost_envs:Near"
LOST = rf"server cannot be reached; \d+ episodes of {FAR} in a row failed for this reason, so no more are played"


@pytest.fixture(autouse=True)
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "server"
    path.touch()
    return path


def says_x(observation):
    return "x"


def play(envs, starts, after=lambda number: None):
    """The episodes that were yielded before the rollout raised."""
    episodes = []

    def take_all():
        for episode in rollout(says_x, envs, starts):
            episodes.append(episode)
            after(len(episodes))

    with pytest.raises(Unreachable, match=LOST):
        take_all()
    return episodes


@pytest.mark.parametrize("backend", ["sync", "thread", pytest.param("process", marks=pytest.mark.full)])
def test_a_rollout_ends_when_several_episodes_in_a_row_cannot_reach_their_server(backend, server):
    with gem.make_vec(FAR, 8, backend=backend) as envs:
        episodes = play(envs, range(1000), lambda number: number == 20 and server.unlink())
        failed = [episode for episode in episodes if episode.failure]
        # Answers from before may arrive among the first failures, and others wait when it raises.
        assert IN_A_ROW <= len(failed) <= IN_A_ROW + 2 * 8
        assert len(episodes) - len(failed) >= 20
        assert failed[0].failure.error == "Unreachable: server cannot be reached"

        server.touch()  # and the same envs are of use again
        assert all(episode.success for episode in rollout(says_x, envs, range(20)))


def test_the_count_continues_from_one_rollout_to_the_next(server):
    with gem.make_vec(FAR, 1) as envs:
        server.unlink()
        for number in range(1, IN_A_ROW):
            (episode,) = rollout(says_x, envs, [number])
            assert episode.failure
        play(envs, [0])


def test_episodes_that_reach_it_in_between_or_fail_for_another_reason_end_nothing(server):
    with gem.make_vec(FAR, 1, env_kwargs={"fails": range(100, 200)}) as envs:

        def starts():
            for number in range(40):
                if number % IN_A_ROW:
                    server.unlink(missing_ok=True)
                else:
                    server.touch()
                yield number
            server.touch()
            yield from range(100, 110)

        failed = [episode.seed for episode in rollout(says_x, envs, starts()) if episode.failure]
    assert failed == [number for number in range(40) if number % IN_A_ROW] + list(range(100, 110))


def test_episodes_that_are_truncated_in_between_have_reached_it(server):
    def one_in_two():
        for number in range(4 * IN_A_ROW):
            if number % 2:
                server.unlink()
            else:
                server.touch()
            yield number

    def full(observation):
        return Completion("", finish_reason="context")

    with gem.make_vec(FAR, 1) as envs:
        failed = [episode.seed for episode in rollout(full, envs, one_in_two()) if episode.failure]
    assert failed == list(range(1, 4 * IN_A_ROW, 2))


def test_an_id_that_can_be_played_does_not_hide_one_that_cannot(server):
    server.unlink()
    with gem.make_vec({NEAR: 3, FAR: 1}, 2) as envs:
        episodes = play(envs, range(1000))
    assert {episode.id for episode in episodes if episode.failure} == {FAR}
    assert len(episodes) < 100


def test_a_vector_is_not_made_where_nothing_can_be_reached(monkeypatch):
    def refuse(env, *_):
        raise Unreachable("nobody there")

    monkeypatch.setattr(Far, "__init__", refuse)
    with pytest.raises(Unreachable, match="nobody there"):
        gem.make_vec(FAR, 4)
