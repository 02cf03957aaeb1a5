"""Files and folders that may come from somebody else: what has no end is not read, and no link is written through."""

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.data.bombs import check_size
from gem.errors import ConfigError
from gem.files import MOST_BYTES, MOST_PARTS, check_no_links, read_bytes, read_lines, replacing


def sparse(path: Path, begin: bytes = b"{") -> Path:
    """A file of a few blocks that claims 20 GB."""
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(20 << 30)
    return path


@pytest.mark.parametrize("read", [lambda path: list(read_lines(path)), read_bytes])
def test_a_pipe_a_device_and_a_file_without_end_are_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        with pytest.raises(OSError, match=f"it is a device or a pipe, not a file: .*{name}"):
            read(tmp_path / name)
    with pytest.raises(OSError, match=f"has more than {MOST_BYTES:,} bytes: .*endless"):
        read(sparse(tmp_path / "endless"))
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


def test_a_line_of_a_recording_that_would_be_far_larger_when_it_is_read_is_refused(tmp_path: Path) -> None:
    good = json.dumps([[0.5] * 10] * 50_000 + ['[{"\\' * MOST_PARTS])
    bad = f"[{'[],' * MOST_PARTS}0]"
    (tmp_path / "lines").write_text(f"{good}\n{bad}\n")
    lines = read_lines(tmp_path / "lines")
    assert next(lines).decode() == f"{good}\n"
    with pytest.raises(OSError, match=r"line 2 has more than 250,000 lists and objects: .*lines"):
        next(lines)


def test_a_folder_has_no_link_out_of_it_at_any_depth_and_no_pipe(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    inner = folder / "tensorboard" / "train"
    inner.mkdir(parents=True)
    (folder / "best").symlink_to("tensorboard/train")
    (inner / "again").symlink_to(inner)
    check_no_links(folder)
    check_no_links(tmp_path / "none")
    for target in (tmp_path / "else", "../../..", "../../../else"):
        (inner / "out").symlink_to(target)
        with pytest.raises(ConfigError, match=r"tensorboard/train/out is a link to .*, and writing there would leave"):
            check_no_links(folder)
        check_no_links(folder, "tensorboard/*/out")
        (inner / "out").unlink()
    os.mkfifo(inner / "pipe")
    with pytest.raises(ConfigError, match="tensorboard/train/pipe is a device or a pipe, not a file: remove it"):
        check_no_links(folder)


def test_replacing_a_link_leaves_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert [(tmp_path / name).read_text() for name in ("target", "link")] == ["old", "new"]


def test_rows_that_are_far_larger_than_their_file_are_refused(tmp_path: Path) -> None:
    row = b'{"question": "1+1", "answer": "2"}\n'
    good, bomb, line = (tmp_path / f"{name}.jsonl.gz" for name in ("good", "bomb", "line"))
    good.write_bytes(gzip.compress(row * 100_000))
    bomb.write_bytes(gzip.compress(row * 3_000_000, compresslevel=9))
    line.write_bytes(gzip.compress(b"a" * (MOST_BYTES + 1)))
    check_size(good)
    for path in (bomb, sparse(tmp_path / "hole.csv"), sparse(tmp_path / "empty.json", b"")):
        with pytest.raises(ConfigError, match="bytes on the disk, and would be at least"):
            check_size(path)
    with pytest.raises(OSError, match="a line has more than"):
        check_size(line)
    (tmp_path / "wide.csv").write_text("a," * 10_001)
    with pytest.raises(ConfigError, match="more than 10,000 columns"):
        check_size(tmp_path / "wide.csv")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_refused_without_the_suffix(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(pack(b"question,answer\n" + b"a" * 10**6 + b",1\n"))
    with pytest.raises(ConfigError, match=r"rows.csv cannot be read: it is compressed, and its suffix is not .gz"):
        check_size(path)


@pytest.mark.full  # needs pyarrow
def test_a_parquet_file_is_refused_by_its_size_before_compression_and_by_its_rows(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    large, many = tmp_path / "large.parquet", tmp_path / "many.parquet"
    parquet.write_table(pyarrow.table({"a": ["a" * 2**27]}), large, compression="zstd", use_dictionary=False)
    parquet.write_table(pyarrow.table({"a": pyarrow.array([7] * 10**6)}), many)
    for path in (large, many):
        with pytest.raises(ConfigError, match="bytes on the disk, and would be at least"):
            check_size(path)
    zeros = pyarrow.array([0] * 100_000)
    parquet.write_table(pyarrow.table({f"c{number}": zeros for number in range(300)}), many)
    fixed = {"a": pyarrow.array([b"a" * 10**5] * 2000, pyarrow.binary(10**5)), "n": range(2000)}
    parquet.write_table(pyarrow.table(fixed), large, compression="zstd")
    for path in (large, many):
        with pytest.raises(ConfigError, match=r"would be at least 2[04]0,\d"):
            check_size(path)
    numbers = list(range(1000))
    long = pyarrow.array(["a" * 10**6]).dictionary_encode().take(pyarrow.array([0] * 1000))
    nested = pyarrow.array([{"b": "a" * 10**6}]).take(pyarrow.array([0] * 200))
    listed = pyarrow.ListArray.from_arrays(pyarrow.array(range(201)), ["a" * 10**6] * 200)
    for rows in (long, long.dictionary_decode(), nested, listed):
        parquet.write_table(pyarrow.table({"a": rows, "n": numbers[: len(rows)]}), large, compression="zstd")
        with pytest.raises(ConfigError, match="bytes on the disk, and would be at least"):
            check_size(large)
    maps = pyarrow.array([[("k", f"{number}" * 1000)] for number in numbers], pyarrow.map_("string", "string"))
    deep = pyarrow.array([[[{"b": f"{number}"}], []] for number in numbers])
    right = {"a": [str(number) for number in numbers], "n": [[1, 2]] * 1000, "m": maps, "d": deep, "e": [None] * 1000}
    parquet.write_table(pyarrow.table(right), large, compression="zstd")
    check_size(large)
    repeated = pyarrow.array([[("k", "a" * 10**6)]] * 200, pyarrow.map_("string", "string"))
    parquet.write_table(pyarrow.table({"m": repeated, "n": numbers[:200]}), large, compression="zstd")
    with pytest.raises(ConfigError, match="would be at least"):
        check_size(large)
