"""Files of rows that are far larger than they look, checked before `datasets` reads them.

These are holes, gzip, Parquet, and the YAML in the README of a copy of a repository.
"""

import errno
import gzip
import json
import os
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, cast

from gem.errors import ConfigError
from gem.files import MOST_BYTES, lines_of, open_file, read_bytes

RATIO = 100
"""Most bytes that a byte on the disk may stand for. Rows of text take a fifth or a tenth when they are compressed."""

MOST_COLUMNS = 10_000
_MOST_README = 2**20
_MOST_VALUES = 10**5

_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd", b'\x04"M\x18', b"PK\x03\x04", b"7z\xbc\xaf", b"Rar!")
"""Beginnings of files that `datasets` unpacks, whatever their suffix: gzip, bzip2, xz, zstd, lz4, zip, 7z, rar."""


def check_size(path: Path) -> None:
    """Check that reading a file of rows takes memory and time in proportion to what it has on the disk.

    Raises:
        ConfigError: it does not.
        OSError: it is a device or a pipe, a line is too long, or it cannot be read.
    """
    with open_file(path) as file:
        found = os.fstat(file.fileno())
        stored = min(found.st_size, getattr(found, "st_blocks", 0) * 512)
        begins = file.read(8)
        if path.suffix != ".gz" and begins.startswith(_COMPRESSED):
            raise ConfigError(f"the rows in {path} cannot be read: it is compressed, and its suffix is not .gz")
        if not stored and begins[:1] != b"\0":  # a file system that does not count blocks
            stored = found.st_size
        file.seek(0)
        most = MOST_BYTES + RATIO * stored
        size, rows, columns = found.st_size, 0, 0
        if path.suffix == ".gz":
            with gzip.open(file) as unpacked:
                size = _unpacked(unpacked, most)
        elif size <= most and path.suffix == ".parquet":
            size, rows, columns = _of_parquet(path, most, stored)
        elif size <= most and path.suffix == ".csv":
            columns = next(lines_of(file), b"").count(b",")
    if columns > MOST_COLUMNS:
        raise ConfigError(f"the rows in {path} cannot be read: they have more than {MOST_COLUMNS:,} columns")
    if size > most or rows > stored:
        raise ConfigError(
            f"the rows in {path} cannot be read: the file has {stored:,} bytes on the disk, and would be at least "
            f"{max(size, rows):,} in memory. If that is right, write it again without compression and holes"
        )


def _unpacked(file: gzip.GzipFile, most: int) -> int:
    """The bytes of an unpacked file; counting ends after `most` of them, or after a line that is too long."""
    size = line = 0
    for chunk in iter(partial(file.read, 2**20), b""):
        size += len(chunk)
        ends = chunk.rfind(b"\n") + 1
        line = len(chunk) - ends + (0 if ends else line)
        if line > MOST_BYTES:
            raise OSError(errno.EFBIG, f"a line has more than {MOST_BYTES:,} bytes", file.name)
        if size > most:
            break
    return size


_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes of a value in memory; of a text without its content."""


def _of_parquet(path: Path, most: int, stored: int) -> tuple[int, int, int]:
    """The bytes of a Parquet file in memory, its values in a column and its columns.

    Values that are repeated are in the file once. They are counted by its metadata, and texts with their repetitions,
    until there are more than `most` bytes, unless the metadata say that there are, or more values than bytes `stored`.
    """
    from pyarrow.parquet import ParquetFile  # pyright: ignore[reportMissingTypeStubs]

    parquet: Any = ParquetFile
    with parquet(path) as opened:
        metadata, schema = opened.metadata, opened.schema
    groups: list[Any] = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    columns: list[Any] = [schema.column(column) for column in range(metadata.num_columns)]
    if len(columns) > MOST_COLUMNS:
        return 0, 0, len(columns)
    counts: list[int] = [sum(group.column(column).num_values for group in groups) for column in range(len(columns))]
    widths: list[int] = [_WIDTHS.get(each.physical_type) or each.length for each in columns]
    values = sum(count * width for count, width in zip(counts, widths, strict=True))
    encoded: list[int] = [group.total_byte_size for group in groups]
    size = max(values, sum(encoded))
    rows = max(counts, default=0)
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    if size <= most and rows <= stored and texts:
        with parquet(path, read_dictionary=texts) as opened:
            for batch in opened.iter_batches(256, columns=texts):
                values += sum(map(_bytes_of, batch.columns))
                if values > most:
                    break
    return max(size, values), rows, len(columns)


def _bytes_of(column: Any) -> int:
    """The bytes of the texts in a column, however deep they are."""
    from pyarrow import compute  # pyright: ignore[reportMissingTypeStubs]

    of: Any = compute
    if hasattr(column, "dictionary"):
        return of.sum(of.take(of.binary_length(column.dictionary), column.indices)).as_py() or 0
    if not column.type.num_fields:
        return column.nbytes
    if hasattr(column, "items"):  # a map, whose keys and items do not know of which part of them it is
        begins, ends = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return sum(_bytes_of(each.slice(begins, ends - begins)) for each in (column.keys, column.items))
    inner: Any = column.flatten()
    return sum(map(_bytes_of, cast("list[Any]", inner))) if isinstance(inner, list) else _bytes_of(inner)


def check_readme(folder: Path) -> None:
    """Check the README of a copy of a repository, which may come from somebody else.

    Raises:
        ConfigError: its rows are somewhere else, at an address, or it would be far larger in memory.
        OSError: it is too long, or no file.
        Exception: it is not YAML, of which `datasets` would say the same.
    """
    import yaml
    from huggingface_hub import DatasetCard

    card = DatasetCard(read_bytes(folder / "README.md", _MOST_README).decode()).data.to_dict()
    other = folder / ".huggingface.yaml"  # which `datasets` reads in the same way
    more = read_bytes(other, _MOST_README).decode() if other.is_file() else ""
    if _values([card, yaml.safe_load(more)], {}) > _MOST_VALUES:
        raise ConfigError(f"the README of {folder} cannot be read: it has more than {_MOST_VALUES:,} values")
    if "://" in json.dumps(card.get("configs"), default=str) + more:
        raise ConfigError(f"the rows of {folder} are not in it: its README names an address. Copy them into the folder")


def _values(data: Any, known: dict[int, int]) -> int:
    """The number of values in lists and mappings; one that is in several places counts in each."""
    if not isinstance(data, dict | list):
        return 1
    inner = cast("Collection[Any]", cast("dict[Any, Any]", data).values() if isinstance(data, dict) else data)
    place = id(cast("object", data))
    if place not in known:
        known[place] = 0  # until it is known, if it is in itself
        known[place] = 1 + sum(_values(each, known) for each in inner)
    return known[place]
