"""What is left is not played in vain, if what the envs depend on cannot be reached."""

import asyncio

import pytest
from lost_envs import Far
from session_samples import tokenizer

import gem
from gem.chat import ChatEncoder
from gem.errors import Unreachable
from gem.evals import evaluate
from gem.record import Recorder, read, reproduce, rescore
from gem.rollout import rollout
from gem.rollout.transcript import Completion
from gem.session import Session, Sessions
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
    with Session(FAR, ChatEncoder(tokenizer())) as session:
        for seed in one_in_two():
            if session.start(seed) is not None:
                session.truncate()
            assert bool(session.result.failure) == bool(seed % 2)


def test_an_id_that_can_be_played_does_not_hide_one_that_cannot(server):
    server.unlink()
    with gem.make_vec({NEAR: 3, FAR: 1}, 2) as envs:
        episodes = play(envs, range(1000))
    assert {episode.id for episode in episodes if episode.failure} == {FAR}
    assert len(episodes) < 100


def test_sessions_end_likewise(server):
    chat = ChatEncoder(tokenizer())
    server.unlink()
    with Session(FAR, chat) as session:
        for seed in range(IN_A_ROW - 1):
            assert session.start(seed) is None
            assert session.result.failure
        with pytest.raises(Unreachable, match=LOST):
            session.start(9)
        assert session.result.failure

    async def main():
        async with Sessions(FAR, chat, most=2) as sessions:
            each = [sessions.session() for _ in range(IN_A_ROW)]
            return await asyncio.gather(*(session.start(0) for session in each), return_exceptions=True)

    heard = asyncio.run(main())
    assert [type(each) for each in heard].count(Unreachable) == 1
    assert heard.count(None) == IN_A_ROW - 1


def test_an_evaluation_keeps_what_was_played_and_resumes(server, tmp_path):
    asked = 0

    def answer(observation: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 30:
            server.unlink()
        return "x"

    what = {"episodes": 200, "num_envs": 4, "floors": False, "out": tmp_path / "out"}
    with pytest.raises(Unreachable, match=LOST):
        evaluate(FAR, answer, **what)
    kept = list(read(tmp_path / "out" / "episodes.jsonl"))
    sound = sum(record.failure is None for record in kept)
    assert sound >= 6
    assert len(kept) - sound <= IN_A_ROW + 2 * 4

    server.touch()
    evaluation = evaluate(FAR, answer, **what)
    assert (evaluation.resumed, evaluation.played, evaluation.failures) == (sound, 200, 0)


def test_a_recording_is_not_said_to_differ_because_its_server_cannot_be_reached(server, tmp_path):
    with Recorder(tmp_path / "a.jsonl") as recorder, gem.make_vec(FAR, 1) as envs:
        for episode in rollout(says_x, envs, [0]):
            recorder.write(episode)
    (record,) = read(tmp_path / "a.jsonl")
    assert reproduce(record, trust=True) is None
    server.unlink()
    for replay in (reproduce, rescore):
        with pytest.raises(Unreachable, match="server cannot be reached"):
            replay(record, trust=True)


def test_a_vector_is_not_made_where_nothing_can_be_reached(monkeypatch):
    def refuse(env, *_):
        raise Unreachable("nobody there")

    monkeypatch.setattr(Far, "__init__", refuse)
    with pytest.raises(Unreachable, match="nobody there"):
        gem.make_vec(FAR, 4)
