"""`each_row`: every row of a data set is asked exactly once."""

import itertools
import json
import os
import signal
from collections import Counter

import pytest
from dataset_envs import sums
from vector_backends import BACKENDS, MORTAL

import gem
from gem.errors import ConfigError
from gem.rollout import each_row, rollout

pytestmark = pytest.mark.usefixtures("core_only")

COUNT, SLOTS = 1003, 64
TELLING = "dataset_envs:TellingSums"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "many.jsonl"
    path.write_text("\n".join(map(json.dumps, sums(COUNT))))
    return {"data": str(path)}


def play(backend, many, killed_after=None):
    """Every row on 64 slots in two workers, one of which is killed after so many answers; the gold answer to all."""
    answers, killed = itertools.count(), []

    def answer(transcript):
        if next(answers) == killed_after:
            killed.append(transcript.info["pid"])
            os.kill(killed[0], signal.SIGKILL)
        return f"\\boxed{{{int(str(transcript.observation).partition(' ')[0]) + 1}}}"

    workers = None if backend == "sync" else 2
    starts = each_row(TELLING, env_kwargs=many)
    with gem.make_vec(TELLING, SLOTS, backend=backend, num_workers=workers, env_kwargs=many) as envs:
        return list(rollout(answer, envs, starts)), killed


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_evaluation_asks_each_of_1003_rows_once_on_64_slots(backend, many):
    played, _ = play(backend, many)

    assert Counter(episode.options["index"] for episode in played) == Counter(range(COUNT))
    assert all(
        episode.success and str(episode.turns[0].observation).startswith(f"{episode.options['index']} + 1?")
        for episode in played
    )


@pytest.mark.parametrize("backend", MORTAL)
def test_it_asks_each_row_once_if_a_worker_is_killed_which_costs_one_answer_at_most(backend, many):
    played, killed = play(backend, many, killed_after=300)

    assert Counter(episode.options["index"] for episode in played) == Counter(range(COUNT))
    failed = [episode for episode in played if episode.failure]
    assert killed
    assert len(failed) <= 1
    assert all("WorkerLost" in episode.failure.error for episode in failed)
    assert all(episode.success for episode in played if not episode.failure)


def test_each_row_of_several_ids_is_played_once_by_its_own_id(many):
    ids = ["dataset_envs:Sums", TELLING, TELLING]
    kwargs = {"data": {"name": many["data"], "limit": 5}}
    starts = each_row(ids, seed=3, env_kwargs=kwargs)
    with gem.make_vec(ids, 4, env_kwargs=kwargs) as envs:
        played = Counter((episode.id, episode.options["index"]) for episode in rollout(str, envs, starts))

    assert played == Counter((id, index) for id in ("dataset_envs:Sums", TELLING) for index in range(5))
    assert starts == each_row(ids, seed=3, env_kwargs=kwargs) != each_row(ids, seed=4, env_kwargs=kwargs)
    with pytest.raises(ConfigError, match="does not ask the rows of one data set"):
        each_row("core:Echo-v0")
