"""What is left is not played, if what the envs depend on cannot be reached."""

import pytest

import gem
from gem.errors import Unreachable
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.vector.reach import IN_A_ROW
from gem_eval import evaluate, reproduce, rescore

pytestmark = pytest.mark.usefixtures("core_only")
FAR = "lost_envs:Far"


@pytest.fixture(autouse=True)
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "server"
    path.touch()
    return path


def says_x(observation):
    return "x"


def test_an_evaluation_keeps_what_was_played_and_resumes(server, tmp_path):
    asked = 0

    def answer(observation: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 30:
            server.unlink()
        return "x"

    what = {"episodes": 200, "num_envs": 4, "floors": False, "out": tmp_path / "out"}
    with pytest.raises(Unreachable, match=rf"server cannot be reached; \d+ episodes of {FAR} in a row"):
        evaluate(FAR, answer, **what)
    kept = list(read(tmp_path / "out" / "episodes.jsonl"))
    sound = sum(record.failure is None for record in kept)
    assert sound >= 6
    assert len(kept) - sound <= IN_A_ROW + 2 * 4

    server.touch()
    evaluation = evaluate(FAR, answer, **what)
    assert (evaluation.resumed, evaluation.played, evaluation.failed) == (sound, 200, [])


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
