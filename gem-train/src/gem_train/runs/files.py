"""Files that can be cut off at any moment: lines are appended whole, other files are replaced at once."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from gem.files import open_file, read_lines, replacing


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; a last line that was cut off is left out, and a missing file has no lines.

    `ValueError` if a line is not an object.
    """
    for line in read_lines(path) if path.exists() else ():
        if line.endswith(b"\n"):
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("a line is not an object")
            yield cast("dict[str, Any]", found)


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Replace a JSONL file."""
    write(path, "".join(json.dumps(line) + "\n" for line in lines).encode())


def append_line(path: Path, values: Mapping[str, Any]) -> None:
    """Append one object to a JSONL file; numbers that are not finite, which JSON does not have, are null."""
    plain = {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in values.items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(plain, allow_nan=False) + "\n")


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Replace a file by one JSON object."""
    write(path, json.dumps(values, indent=2).encode() + b"\n")


def write(path: Path, content: bytes) -> None:
    """Replace a file: afterwards the old content is there or the new, never a part."""
    with replacing(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def check_stored(path: Path) -> None:
    """Check that a file for `torch.load` is as `torch.save` writes them: a few compressed bytes may be gigabytes.

    Raises:
        UnpicklingError: parts of it are compressed.
        OSError: it is a device or a pipe, or cannot be read.
    """
    with open_file(path) as file:
        try:
            parts = ZipFile(file).infolist()
        except BadZipFile:  # the older format, or something else, which `torch.load` says
            return
    if any(part.compress_type != ZIP_STORED for part in parts):
        raise UnpicklingError("parts of it are compressed, which PyTorch does not do")


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
