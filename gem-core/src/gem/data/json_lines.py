"""Rows of JSON files: one object per line, or one list of objects."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from gem.data.bombs import check_size
from gem.data.indexed import IndexedFile
from gem.errors import ConfigError
from gem.files import open_file


class JsonLines(IndexedFile):
    """The rows of a file with one JSON object per line; empty lines are skipped."""

    def _find(self, file: BinaryIO) -> Iterator[tuple[int, int]]:
        start = 0
        for number, line in enumerate(self._read_lines(file), 1):
            if not line.isspace():
                yield start, number
            start = self._end

    def _decode(self, text: bytes) -> dict[str, Any]:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"JSON: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"a JSON object: {row!r:.80}")
        return cast("dict[str, Any]", row)


def read_json(path: Path) -> Sequence[Any] | JsonLines:
    """The rows of a file with the suffix .json: a list of objects, an object with one such list, or an object per line.

    A list is kept in memory.
    """
    try:
        with open_file(path) as file:
            is_list = file.read(4096).lstrip().startswith(b"[")
        if not is_list and (lines := _per_line(path)) is not None:
            return lines
        check_size(path)
        data = json.loads(path.read_bytes())
    except ConfigError:
        raise
    except OSError as error:
        raise ConfigError(f"the rows in {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the file {path} is not JSON: {error}") from error
    rows = _only_list(data) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise ConfigError(f"the rows in {path} are a list of JSON objects, or one per line, not {data!r:.80}")
    return cast("list[Any]", rows)


def _per_line(path: Path) -> JsonLines | None:
    """The rows of a file with an object per line; None if it is one object over several lines, or one with a list."""
    try:
        lines = JsonLines(path)
        first = [lines[at] for at in range(min(2, len(lines)))]
    except ConfigError:
        return None
    return None if len(first) == 1 and _only_list(first[0]) else lines


def _only_list(data: Any) -> list[Any] | None:
    """The list of objects that a mapping has, if it has one only and hardly anything else."""
    values = list(cast("dict[str, Any]", data).values())
    lists = [cast("list[Any]", value) for value in values if isinstance(value, list)]
    found = [each for each in lists if each and isinstance(each[0], dict)]
    return found[0] if len(found) == 1 and len(values) <= 2 else None
