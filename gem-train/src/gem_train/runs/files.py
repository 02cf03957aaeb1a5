"""Files that can be cut off at any moment: lines are appended whole, other files are replaced at once."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gem.files import replacing


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file; a last line that was cut off is left out, and a missing file has no lines.

    `ValueError` if a line is not an object.
    """
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
    if not all(isinstance(line, dict) for line in lines):
        raise ValueError("a line is not an object")
    return lines


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


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
