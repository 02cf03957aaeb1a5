"""`gem.data`: sources of rows, and tables."""

import gc
import json
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from dataset_envs import ROLES, Sums, made, sums

from gem.core import Step
from gem.data import DataSource, open_table
from gem.errors import ConfigError, GemError, SnapshotError
from gem.packs.make import bind
from gem.packs.spec import EnvSpec

ROWS = sums()


@pytest.fixture
def rows_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    first = json.dumps(ROWS[0])
    (tmp_path / "broken.jsonl").write_text(f"{first}\n{{\n")
    (tmp_path / "list.jsonl").write_text("[1, 2]\n")
    (tmp_path / "holes.jsonl").write_text(f'{first}\n{{"problem": "?"}}\n')
    (tmp_path / "rows.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.jsonl").write_text("\n \n")
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    with (tmp_path / "endless.jsonl").open("wb") as file:  # takes no room on the disk
        file.truncate(2**40)
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    return path


@pytest.mark.parametrize("data", ["rows.jsonl", {"name": "rows.jsonl"}, DataSource(name="rows.jsonl"), ROWS, made])
def test_rows_come_from_a_file_a_list_or_a_function(rows_file, data):
    table = open_table(data, ROLES)

    assert list(table) == [{"question": row["problem"], "answer": row["answer"], "level": row["level"]} for row in ROWS]


def test_a_source_is_opened_once(rows_file):
    assert open_table("rows.jsonl", ROLES) is open_table({"name": "rows.jsonl"}, ROLES)
    assert open_table(made, ROLES) is open_table(made, ROLES)


def test_a_file_that_has_changed_is_read_again_and_what_was_opened_does_not_crash(rows_file):
    before = open_table("rows.jsonl", ROLES)
    rows_file.write_text(json.dumps(ROWS[7]))
    os.utime(rows_file, (1, 1))

    assert [row["answer"] for row in open_table("rows.jsonl", ROLES)] == ["8"]
    with pytest.raises(ConfigError, match=r"line 10 of .*rows.jsonl is not JSON"):
        before[9]


def test_the_same_name_in_another_folder_is_another_file(rows_file, tmp_path, monkeypatch):
    before = open_table("rows.jsonl", ROLES)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "rows.jsonl").write_text(json.dumps(ROWS[3]))
    monkeypatch.chdir(tmp_path / "other")

    assert [len(open_table("rows.jsonl", ROLES)), len(before)] == [1, 10]


def test_64_threads_load_a_source_once_and_another_one_meanwhile():
    calls, tables, loading, loaded = [], set(), threading.Event(), threading.Event()

    def slow():
        calls.append(1)
        loading.set()
        assert loaded.wait(20), "nobody could open the other rows"
        return sums()

    threads = [threading.Thread(target=lambda: tables.add(id(open_table(slow, ROLES)))) for _ in range(64)]
    for thread in threads:
        thread.start()
    assert loading.wait(20)
    assert len(open_table(made, ROLES)) == 10
    loaded.set()
    for thread in threads:
        thread.join(20)

    assert (len(calls), len(tables)) == (1, 1)


def test_rows_of_a_function_are_kept_as_long_as_the_function():
    def function():
        return sums()

    table = weakref.ref(open_table(function, ROLES))
    gc.collect()
    assert table() is open_table(function, ROLES)
    del function
    gc.collect()
    assert table() is None


def test_a_source_selects_shuffles_and_limits_its_rows(rows_file):
    def numbers(**fields):
        return [int(row["answer"]) for row in open_table({"name": "rows.jsonl", **fields}, ROLES)]

    assert numbers(where={"level": 0}) == [1, 4, 7, 10]
    assert numbers(where={"level": [1, 2]}, limit=3) == [2, 3, 5]
    assert numbers(shuffle=1) != numbers() == sorted(numbers(shuffle=1))
    assert numbers(shuffle=1, limit=4) == numbers(shuffle=1)[:4]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("none.jsonl", "there is no such file or folder"),
        ("./nowhere", "no such file or folder"),
        ("not a name", "is not the name of a data set. Write 'owner/name'"),
        ({"name": "rows.jsonl", "colums": {}}, r"data: it takes no argument 'colums'\. Did you mean 'columns'\?"),
        ({"name": "rows.jsonl", "columns": {"answer": "gold"}}, "no column 'gold' for the answer; there are: problem"),
        ({"name": "rows.jsonl", "where": {"level": 7}}, "no row has"),
        ({"name": "rows.jsonl", "where": {"lvl": 7}}, "there are: problem, answer, level"),
        ({"name": "rows.jsonl", "limit": 0}, "at least 1"),
        ({"name": "broken.jsonl"}, "line 2 of .*broken.jsonl is not JSON"),
        ({"name": "list.jsonl"}, r"line 1 of .*list.jsonl is not a JSON object: \[1, 2\]"),
        ({"name": "holes.jsonl"}, "line 2 of .*holes.jsonl does not have the column 'answer'"),
        ({"name": "empty.jsonl"}, "there are no rows"),
        ({"name": "rows.txt"}, "is a file, and GEM reads files with the suffixes .jsonl, .json"),
        ({"name": "folder"}, "is a local folder: write './folder'"),
        ({"name": "no_such_package:rows.jsonl"}, "there is no package 'no_such_package'"),
        ({"name": "no_such_package.rows:make"}, "no_such_package"),
        ({"name": "device.jsonl"}, "it is a device or a pipe, not a file"),
        ({"name": "endless.jsonl"}, "endless.jsonl cannot be read: line 1 has more than 33,554,432 bytes"),
        ({"name": "deep.jsonl"}, "line 1 of .*deep.jsonl is not JSON: maximum recursion"),
        ([], "there are no rows"),
        ([1], "a row maps columns to values, and the first one is 1"),
        (5, "not int"),
        ((row for row in ROWS), "give the function that makes it"),
    ],
)
def test_an_unusable_source_is_refused_with_what_to_do(rows_file, data, message):
    with pytest.raises(GemError, match=message):
        list(open_table(data, ROLES))


def test_an_env_asks_a_row_and_says_how_to_answer(rows_file):
    env = Sums("rows.jsonl")
    assert env.reset(seed=1, options={"index": 3})[0] == "3 + 1?\n\nAnswer in \\boxed{}."
    assert env.step(env.expert_action()).info["success"]
    assert Sums(ROWS, instruction=False).reset(seed=1, options={"index": 3})[0] == "3 + 1?"
    assert Sums(ROWS, instruction="Now!").reset(seed=1, options={"index": 3})[0] == "3 + 1?\n\nNow!"


def test_an_agent_may_try_again_until_its_last_attempt():
    env = Sums(ROWS, max_attempts=3)
    env.reset(seed=1, options={"index": 3})
    assert env.step("\\boxed{1}") == Step("Wrong.\nTry again: you have 2 attempts left.", 0.0, False, False, {})
    malformed = env.step("no box")
    assert malformed.reward == -0.1
    assert malformed.observation.endswith("1 attempt left.")
    assert env.step("\\boxed{4}") == Step("Right.", 1.0, True, False, {"success": True})

    env.reset(options={"index": 3})
    assert [env.step("\\boxed{1}").terminated for _ in range(3)] == [False, False, True]


def test_columns_may_be_called_like_roles_of_others():
    rows = [{"question": "unused", "problem": "1 + 1?", "text": "2", "level": 1}]
    columns = {"columns": {"question": "problem", "answer": "text"}}
    table = open_table({"name": "test_data:swapped", **columns}, ROLES)
    assert list(table) == [{"question": "1 + 1?", "answer": "2", "level": 1}]
    assert rows == swapped()


def swapped():
    return [{"question": "unused", "problem": "1 + 1?", "text": "2", "level": 1}]


def test_a_snapshot_does_not_contain_rows_that_were_given():
    env, other = Sums(sums(1000)), Sums(data=sums(1000))
    env.reset(seed=1)
    state = env.snapshot()
    assert len(state) < 10_000

    copy = env.fork(1)[0]
    assert copy.row == env.row
    other.reset(seed=2)
    with pytest.raises(SnapshotError, match="1000 rows"):
        Sums(sums(999)).restore(state)


def test_a_source_given_to_make_is_in_the_spec_as_plain_data():
    spec = EnvSpec(id="lab:Sums", entry_point="dataset_envs:Sums")
    given = bind(spec, data=DataSource(name="dataset_envs:made", limit=3)).kwargs
    assert given == {"data": {"name": "dataset_envs:made", "limit": 3}}


READER = """
import resource, sys
from gem.data import open_table
table = open_table(sys.argv[1], {})
assert sum(row["n"] for row in table) == sum(range(len(table)))
own = [line.split()[1] for line in open("/proc/self/smaps_rollup") if line.startswith(("Private_Dirty", "Anonymous"))]
print(len(table), max(map(int, own)))
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="it reads the memory of a process from /proc")
@pytest.mark.full
def test_a_process_keeps_little_of_a_large_file_in_memory(tmp_path):
    path, text = tmp_path / "large.jsonl", "x" * 2000
    with path.open("w") as file:
        file.writelines(f'{{"n": {n}, "text": "{text}"}}\n' for n in range(50_000))

    def private(name):
        printed = subprocess.check_output([sys.executable, "-c", READER, name], text=True, timeout=300)
        return int(printed.split()[1])

    small = tmp_path / "small.jsonl"
    small.write_text('{"n": 0}\n')
    assert private(str(path)) - private(str(small)) < 5_000, "kB, of a file of 100 MB"
