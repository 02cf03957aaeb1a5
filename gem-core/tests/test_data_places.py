"""Rows of the hub where they are: local copies in every layout, the cache of `datasets`, and nowhere."""

import gzip
import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from dataset_envs import ROLES, sums
from hub_server import serving

from gem.data import open_table
from gem.errors import ConfigError, DataUnavailable

HUB = "lab/Sums-10"
needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="datasets is not installed")
full = [needs_datasets, pytest.mark.full]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The folder of the local copy of HUB; the cache is elsewhere, and there is no network."""
    folder = tmp_path / "local" / HUB
    folder.mkdir(parents=True)
    monkeypatch.setenv("GEM_DATA_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return folder


def json_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write(path, rows=None):
    """Rows in a file of the kind that its suffix names; by default ten sums."""
    rows = sums() if rows is None else rows
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        path.write_text(json_lines(rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(json_lines(rows).encode()))
    else:
        from datasets import Dataset

        dataset = Dataset.from_list(rows)
        (dataset.to_parquet if path.suffix == ".parquet" else dataset.to_csv)(str(path))


def numbers(**fields):
    return [int(row["answer"]) - 1 for row in open_table({"name": HUB, "split": "train", **fields}, ROLES)]


@pytest.mark.parametrize(
    "files",
    [
        ["train.jsonl"],
        ["data/train.jsonl"],
        *(
            pytest.param(files, marks=full)
            for files in (
                ["train.json"],
                ["train.jsonl.gz"],
                ["train.csv"],
                ["train.parquet"],
                ["train/0.parquet", "train/1.parquet"],
                ["train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"],
                ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"],
                ["data/train-00000-of-00002-0f1a2b.parquet", "data/train-00001-of-00002-9c8d7e.parquet"],
            )
        ),
    ],
    ids=" ".join,
)
def test_a_local_copy_has_its_splits_in_files_of_these_names(copy, files):
    share = 10 // len(files)
    for number, name in enumerate(files):
        write(copy / name, sums()[number * share : (number + 1) * share])
    for name in ("test.jsonl", ".cache/huggingface/train.json", "dataset_infos.json"):
        write(copy / name, sums(3))

    assert numbers() == list(range(10))
    assert numbers(split="test") == [0, 1, 2]
    with pytest.raises(ConfigError, match=r"no files of the split 'dev', such as dev.jsonl .* files: .*test"):
        numbers(split="dev")


@pytest.mark.parametrize("split", ["2wiki", "nq"])
def test_a_split_may_have_any_name(copy, split):
    write(copy / "2wiki.jsonl", sums(2))
    write(copy / "nq.jsonl", sums(3))

    assert len(numbers(split=split)) == {"2wiki": 2, "nq": 3}[split]


def test_a_configuration_may_have_its_own_folder(copy):
    write(copy / "train.jsonl", sums(2))
    write(copy / "hard" / "train.jsonl", sums(4))

    assert len(numbers(config="hard")) == 4
    assert len(numbers(config="other")) == len(numbers()) == 2


def test_files_of_two_kinds_with_the_same_rows_are_refused(copy):
    write(copy / "train.jsonl")
    write(copy / "train.json")

    with pytest.raises(ConfigError, match="files of several kinds have its rows"):
        numbers()


@needs_datasets
@pytest.mark.full
@pytest.mark.parametrize("layout", ["splits", "one", "one in a folder", "another"])
def test_a_local_copy_may_be_what_save_to_disk_wrote(copy, layout):
    from datasets import Dataset, DatasetDict

    train = Dataset.from_list(sums(), split="test" if layout == "another" else "train")
    saved = DatasetDict({"train": train, "test": Dataset.from_list(sums(3))}) if layout == "splits" else train
    saved.save_to_disk(str(copy / "train" if layout == "one in a folder" else copy))

    if layout == "another":
        with pytest.raises(ConfigError, match="has the split 'test'"):
            numbers()
        return
    assert numbers() == list(range(10))
    if layout == "splits":
        with pytest.raises(ConfigError, match=r"no split 'dev' in .* It has: train, test"):
            numbers(split="dev")


@needs_datasets
@pytest.mark.full
def test_a_local_copy_may_be_the_repository_of_the_hub_with_its_configurations(copy):
    (copy / "README.md").write_text(
        "---\nconfigs:\n- config_name: easy\n  data_files: [{split: train, path: a.jsonl}]\n"
        "- config_name: hard\n  data_files: [{split: train, path: b.jsonl}]\n---\n"
    )
    write(copy / "a.jsonl", sums(2))
    write(copy / "b.jsonl", sums(4))

    assert len(numbers(config="hard")) == 4
    with pytest.raises(ConfigError, match="Config name is missing"):
        numbers()


OPEN = """
import json, sys
from gem.data import open_table
for source in json.loads(sys.argv[1]):
    try:
        print(json.dumps([row["problem"] for row in open_table(source)]))
    except Exception as error:
        print(json.dumps(f"{type(error).__name__}: {error}"))
"""


def opened_elsewhere(endpoint, home, *sources):
    """The rows of each source, or the error, in another process: `datasets` reads these variables when imported."""
    variables = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home)}
    words = [sys.executable, "-c", OPEN, json.dumps(sources)]
    printed = subprocess.check_output(words, env=variables, stderr=subprocess.DEVNULL, text=True, timeout=100)
    return [json.loads(line) for line in printed.splitlines()]


@needs_datasets
@pytest.mark.full
@pytest.mark.parametrize("name", ["README.md", ".huggingface.yaml"])
def test_a_local_copy_whose_rows_are_at_an_address_is_refused_without_asking_it(copy, name):
    configurations = "configs:\n- config_name: default\n  data_files: 'http://127.0.0.1:9/rows.jsonl'\n"
    (copy / "README.md").write_text("---\nlicense: mit\n---\n")
    (copy / name).write_text(f"---\n{configurations}---\n" if name == "README.md" else configurations)
    (copy / "other.txt").write_text("a")
    with pytest.raises(ConfigError, match="its README names an address"):
        open_table(HUB)


BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter + 1, letter + 1, b",".join([b"*%c" % letter] * 9)) for letter in range(97, 105)
)


@needs_datasets
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("train.tar", b"", "are not in files that GEM reads"),
        ("rows.csv", gzip.compress(b"problem,answer\n", mtime=0), "it is compressed"),
        (".huggingface.yaml", BOMB, "more than 100,000 values"),
    ],
)
def test_a_copy_of_a_repository_has_its_rows_in_files_that_are_as_large_as_they_look(copy, name, content, why):
    (copy / "README.md").write_text("---\nconfigs:\n- config_name: default\n  data_files: '*.[ct]*'\n---\n")
    (copy / name).write_bytes(content)
    with pytest.raises(ConfigError, match=why):
        open_table({"name": HUB, "config": "default"})


@needs_datasets
def test_a_split_of_too_many_files_is_refused(copy):
    for part in range(10_001):
        (copy / f"train-{part}-of-10001.jsonl").touch()
    with pytest.raises(ConfigError, match="has 10,001 files of rows, and at most 10,000 are read"):
        open_table(HUB)


@needs_datasets
@pytest.mark.full
def test_rows_are_downloaded_once_and_then_read_without_the_hub(tmp_path):
    files = {f"{split}.jsonl": json_lines(sums(count)).encode() for split, count in {"train": 10, "test": 3}.items()}
    train, test, dev = ({"name": HUB, "split": split} for split in ("train", "test", "dev"))
    hard, other = {"name": HUB, "config": "hard", "split": "train"}, {"name": "lab/other", "split": "train"}
    with serving(HUB, {"README.md": b"---\nlicense: mit\n---\n", **files}) as endpoint:
        online = opened_elsewhere(endpoint, tmp_path, dev, hard, other, train)
    offline = opened_elsewhere(endpoint, tmp_path, train, test, dev, hard)

    all_rows = [row["problem"] for row in sums()]
    assert online[3] == all_rows
    for answer, start in zip(
        online,
        (
            f"ConfigError: the data set '{HUB}', split 'dev': Unknown split \"dev\"",
            f"ConfigError: the data set '{HUB}', configuration 'hard', split 'train': BuilderConfig 'hard' not found",
            "DataUnavailable: the data set 'lab/other', split 'train' is not on this machine and could not be"
            " downloaded (DatasetNotFoundError: Dataset 'lab/other' doesn't exist on the Hub",
        ),
        strict=False,
    ):
        assert answer.startswith(start)
    assert offline[:2] == [all_rows, all_rows[:3]]
    assert offline[2].endswith("It has: test, train.") or offline[2].endswith("It has: train, test.")
    assert "127.0.0.1 cannot be reached: Connection refused" in offline[3]


@needs_datasets
@pytest.mark.full
@pytest.mark.parametrize("folder", [True, False])
def test_without_rows_and_network_the_error_says_where_rows_may_be(copy, tmp_path, monkeypatch, folder):
    copy.rmdir()
    if not folder:
        monkeypatch.delenv("GEM_DATA_DIR")
    # A port of this machine on which nobody listens.
    monkeypatch.setattr("datasets.config.HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DataUnavailable) as raised:
        numbers()

    told = str(raised.value)
    assert f"the data set '{HUB}', split 'train' is not on this machine" in told
    assert "127.0.0.1 cannot be reached: Connection refused" in told
    assert f"puts it into {tmp_path / 'cache'}" in told
    where = f"to {tmp_path / 'local'}/{HUB}." if folder else f"to DIR/{HUB} and set GEM_DATA_DIR=DIR."
    assert f"copy its files (such as train.jsonl or train.parquet) {where}" in told


def test_without_the_library_the_error_says_what_to_install(copy, monkeypatch):
    copy.rmdir()
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ImportError, match=r"reading data sets needs the package datasets .* pip install datasets"):
        numbers()
