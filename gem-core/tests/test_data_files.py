"""Files with rows: kinds that are read here, kinds that are not, and messages that name the line."""

import json
import socket

import pytest
from dataset_envs import ROLES, Sums, sums

from gem.data import open_table
from gem.errors import ConfigError, GemError

ROWS = sums()
TEXTS = [{name: str(value) for name, value in row.items()} for row in ROWS]


def separated(separator, rows=TEXTS):
    lines = [separator.join(rows[0]), *(separator.join(map(str, row.values())) for row in rows)]
    return "\r\n".join(lines) + "\r\n"


FILES = {
    "rows.json": json.dumps(ROWS, indent=1),
    "lines.json": "\n".join(map(json.dumps, ROWS)),
    "data.json": json.dumps({"version": "1", "data": ROWS}),
    "rows.csv": separated(","),
    "bom.csv": "\ufeff" + separated(","),
    "rows.tsv": separated("\t"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_text_is_read_without_a_library(name, tmp_path, monkeypatch):
    monkeypatch.setattr("gem.data.hub._datasets", None)
    (tmp_path / name).write_text(FILES[name], newline="")
    table = open_table(str(tmp_path / name), ROLES)
    assert [(row["question"], str(row["answer"])) for row in table] == [
        (row["problem"], row["answer"]) for row in TEXTS
    ]


def test_cells_are_what_is_written(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('problem,answer\n"two\nlines, ""quoted""",007\n\nß,NA\n,1.50\n')
    rows = list(open_table(str(path)))
    assert rows == [
        {"problem": 'two\nlines, "quoted"', "answer": "007"},
        {"problem": "ß", "answer": "NA"},
        {"problem": "", "answer": "1.50"},
    ]
    assert open_table({"name": str(path), "where": {"answer": ["1.50", 7]}})[0]["answer"] == "1.50"


def test_a_cell_has_all_that_python_takes_for_the_end_of_a_line(tmp_path):
    answer = "one\u2028two\x85three\x0cfour\x1c"
    path = tmp_path / "rows.csv"
    path.write_text(f"problem,answer\n1,{answer}\n2,3\n", "utf-8", newline="")
    assert [row["answer"] for row in open_table(str(path))] == [answer, "3"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rows.csv", "a,b\n1,2\n3\n", r"line 3 of .*rows.csv has 1 cells, and the first line 2"),
        ("rows.tsv", "a\tb\n1\t2\t3\n", r"line 2 of .*rows.tsv has 3 cells"),
        ("rows.csv", 'a,b\n1,2\n"3,4\n', r"line 3 of .*rows.csv is not CSV in UTF-8: unexpected end"),
        ("rows.csv", "a,a\n1,2\n", "the same name: a, a"),
        ("rows.csv", "a,b\n", "there are no rows"),
        ("rows.json", "[1, 2", r"rows.json is not JSON"),
        ("rows.json", '{"a": 1, "b": {"c": [1]}', "is not JSON"),
        ("rows.json", "7", "are a list of JSON objects, or one per line, not 7"),
        ("rows.json", "[1]", "a row maps columns to values, and the first one is 1"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        list(open_table(str(tmp_path / name)))


def test_cells_that_are_not_utf_8_are_refused_with_the_line(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"a,b\n1,2\n3,\xff\n")
    with pytest.raises(ConfigError, match=r"line 3 of .* is not CSV in UTF-8"):
        open_table(str(tmp_path / "rows.csv"))


NOT_READ = ["rows.xlsx", "rows.feather", "rows.txt", "rows.JSONL", "rows.xyz", "data/rows.xlsx", "my/rows.arrow.gz"]


@pytest.mark.parametrize("name", [*NOT_READ, *(f"./{name}" for name in NOT_READ)])
def test_a_file_of_another_kind_is_refused_without_asking_the_hub(name, tmp_path, monkeypatch):
    def connect(*_):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.chdir(tmp_path)
    if name.startswith("./"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(
        GemError, match=r"is a file, and GEM reads files with the suffixes .*\.csv, \.tsv.*spreadsheets"
    ):
        open_table(name)


@pytest.mark.parametrize("name", ["axon-rl/GSM-8k", "agentica-org/DeepScaleR-1.5", "someone/rows.v2", "squad"])
def test_names_of_the_hub_may_have_a_dot_after_an_owner(name):
    from gem.data import DataSource

    assert DataSource(name=name).kind == "hub"


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".csv.gz", ".tsv.gz", ".json.gz"])
def test_a_file_that_is_compressed_is_a_file(suffix):
    from gem.data import DataSource

    assert DataSource(name=f"rows{suffix}").kind == "file"


class Careful(Sums):
    """Refuses rows whose answer is not a number."""

    def _row(self, values):
        if not str(values["answer"]).isdigit():
            raise ConfigError(f"no number: {values['answer']!r}")
        return values


def rows_with(tmp_path, bad, count):
    path = tmp_path / "rows.jsonl"
    rows = [{"problem": "?", "answer": "x" if n in bad else str(n)} for n in range(count)]
    path.write_text("\n" + "\n".join(map(json.dumps, rows)))
    return str(path)


def test_rows_are_looked_at_when_a_table_is_opened_and_named_by_their_lines(tmp_path):
    env = Careful(rows_with(tmp_path, {2, 5}, 10))
    with pytest.raises(ConfigError, match=r"2 of 10 rows .*\n- line 4 of .*rows.jsonl: no number: 'x'\n- line 7 of"):
        env.reset(seed=0, options={"index": 0})


def test_of_many_rows_a_few_that_cannot_be_asked_are_errors_when_they_are_asked(tmp_path):
    env = Careful(rows_with(tmp_path, {2}, 50))
    assert env.reset(seed=0, options={"index": 1})
    with pytest.raises(ConfigError, match=r"^line 4 of .*rows.jsonl: no number"):
        env.reset(seed=0, options={"index": 2})


def test_a_table_is_looked_at_once_and_not_all_of_a_large_one(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Careful, "_row", lambda self, values: seen.append(values["answer"]) or values)
    name = rows_with(tmp_path, (), 1000)
    for _ in range(3):
        Careful(name).reset(seed=0, options={"index": 0})
    assert seen[:2] == ["0", "5"]
    assert len(seen) - 3 <= 200 + 6


def test_a_role_may_have_one_of_several_columns(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"query": "1 + 1?", "gold": "2"}')
    roles = {"question": ("problem", "query"), "answer": "gold"}
    table = open_table(str(tmp_path / "rows.jsonl"), roles)
    assert list(table) == [{"question": "1 + 1?", "answer": "2"}]
    assert table.columns == {"question": "query", "answer": "gold"}
    with pytest.raises(ConfigError, match="no column 'problem' or 'ask' for the question; there are: query, gold"):
        open_table(str(tmp_path / "rows.jsonl"), {"question": ("problem", "ask")})
