"""Files of rows that are far larger than they look: holes, gzip and Parquet, checked before `datasets` reads them."""

import errno
import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any, cast

from gem.errors import ConfigError
from gem.files import MOST_BYTES, lines_of, open_file

RATIO = 100
"""Most bytes that a byte on the disk may stand for. Rows of text take a fifth or a tenth when they are compressed."""

MOST_COLUMNS = 10_000

_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd", b'\x04"M\x18', b"PK\x03\x04", b"7z\xbc\xaf", b"Rar!")
"""How files begin that `datasets` unpacks, whatever their suffix: gzip, bzip2, xz, zstd, lz4, zip, 7z, rar."""


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
            size, rows, columns = _of_parquet(path)
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


def _of_parquet(path: Path) -> tuple[int, int, int]:
    """The bytes of a Parquet file before compression, its rows and its columns."""
    from pyarrow.parquet import ParquetFile  # pyright: ignore[reportMissingTypeStubs]

    metadata: Any = cast("Any", ParquetFile)(path).metadata
    groups = range(metadata.num_row_groups)
    size = sum(metadata.row_group(group).total_byte_size for group in groups)
    return size, metadata.num_rows, metadata.num_columns
