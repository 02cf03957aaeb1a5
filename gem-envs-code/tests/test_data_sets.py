"""Every id of a data set runs end to end on a local copy, in gem-llm's layout."""

import functools
import os
import subprocess
import sys
from collections import Counter

import pytest
from code_copies import COPIES, write_json_lines, write_parquet

import gem
from gem.errors import DataUnavailable
from gem.rollout import each_row, rollout
from gem.rollout.policy import expert_policy
from gem.testing.replies import JUNK
from gem_envs_code.sources import SOURCES

FOLDERS = {"JSON Lines": write_json_lines, "Parquet": write_parquet}
WRONG = [
    "print(1)",
    "",
    "exit()",
    "1 / 0",
    "import os\nos._exit(0)",
    "def add(*_): return _\ndef half(n): return n // 2",
]


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A folder with copies in a layout, written once."""
    return functools.cache(lambda layout: FOLDERS[layout](tmp_path_factory.mktemp("copies")))


@pytest.fixture(params=["JSON Lines", pytest.param("Parquet", marks=pytest.mark.full)])
def copies(request, written, monkeypatch, tmp_path):
    """Local copies of all data sets. Those in Parquet files are read by `datasets.load_dataset`."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    monkeypatch.setenv("GEM_DATA_DIR", str(written(request.param)))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.id)
@pytest.mark.usefixtures("copies")
def test_an_id_asks_every_row_and_accepts_right_programs_only(source):
    rows = COPIES[source.name, source.split]
    with gem.make(source.id) as env:
        for index, row in enumerate(rows):
            question, info = env.reset(seed=1, options={"index": index})
            assert question.startswith(row["problem"])
            assert row["solution"] not in question + str(info)
            assert env.step(env.expert_action()).reward == 1.0
            for reply in [*JUNK.values(), *(f"```python\n{program}\n```" for program in WRONG)]:
                env.reset(options={"index": index})
                step = env.step(reply)
                assert step.reward in (0.0, -0.1)
                assert not step.info["success"]
        assert len(env.unwrapped.rows) == len(rows)


@pytest.mark.full
def test_without_rows_the_error_names_the_data_set_the_cache_and_the_folder_for_copies(monkeypatch, tmp_path):
    monkeypatch.delenv("GEM_DATA_DIR", raising=False)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for source in SOURCES:
        with gem.make(source.id) as env, pytest.raises(DataUnavailable) as raised:
            env.reset(seed=0)
        for said in (source.name, str(tmp_path), "GEM_DATA_DIR"):
            assert said in str(raised.value)


@pytest.mark.full
def test_on_copies_every_id_keeps_the_contract(written):
    environment = {**os.environ, "GEM_DATA_DIR": str(written("JSON Lines")), "HF_HUB_OFFLINE": "1"}
    line = [sys.executable, "-m", "gem", "check", *(source.id for source in SOURCES)]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=500, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.full
def test_on_copies_the_expert_is_right_on_every_row(written, monkeypatch):
    monkeypatch.setenv("GEM_DATA_DIR", str(written("JSON Lines")))
    ids, expert = [source.id for source in SOURCES], expert_policy()
    with gem.make_vec(ids, 8, info_methods=expert.info_methods) as envs:
        played = list(rollout(expert, envs, each_row(ids)))
    rows = {source.id: len(COPIES[source.name, source.split]) for source in SOURCES}
    assert Counter(episode.id for episode in played) == rows
    assert all(episode.success for episode in played)
