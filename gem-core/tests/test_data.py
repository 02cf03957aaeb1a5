"""`gem.data`: sources of rows, and tables."""

import json

import pytest

from gem.core import Step
from gem.data import DataSource, open_table
from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError
from gem.parsing import boxed

ROLES = {"question": "problem", "answer": "answer"}
ROWS = [{"problem": f"{i} + 1?", "answer": str(i + 1), "level": i % 3} for i in range(10)]


@pytest.fixture
def rows_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    return path


def rows():
    yield from ROWS


@pytest.mark.parametrize("data", ["rows.jsonl", {"name": "rows.jsonl"}, DataSource(name="rows.jsonl"), ROWS, rows])
def test_rows_come_from_a_file_a_list_or_a_function(rows_file, data):
    table = open_table(data, ROLES)

    assert list(table) == [{"question": row["problem"], "answer": row["answer"], "level": row["level"]} for row in ROWS]


def test_a_source_is_opened_once(rows_file):
    assert open_table("rows.jsonl", ROLES) is open_table({"name": "rows.jsonl"}, ROLES)
    assert open_table(rows, ROLES) is open_table(rows, ROLES)


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
        ({"name": "rows.jsonl", "colums": {}}, "colums"),
        ({"name": "rows.jsonl", "columns": {"answer": "gold"}}, "no column 'gold' for the answer; there are: problem"),
        ({"name": "rows.jsonl", "where": {"level": 7}}, "no row has"),
        ({"name": "rows.jsonl", "where": {"lvl": 7}}, "there are: problem, answer, level"),
        ({"name": "rows.jsonl", "limit": 0}, "at least 1"),
        ([], "there are no rows"),
        ((row for row in ROWS), "give the function that makes it"),
    ],
)
def test_an_unusable_source_is_refused_with_what_to_do(rows_file, data, message):
    with pytest.raises(ConfigError, match=message):
        open_table(data, ROLES)


class Sums(DatasetEnv):
    columns = ROLES
    default_instruction = "Answer in \\boxed{}."

    def _question(self, row):
        return row["question"]

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        success = answer == self.row["answer"]
        return Step.final("Right." if success else "Wrong.", float(success), success=success)

    def _gold(self, row):
        return f"\\boxed{{{row['answer']}}}"

    def sample_action(self):
        return self._gold(self._row(self.action_rng.choice(self.rows)))


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
