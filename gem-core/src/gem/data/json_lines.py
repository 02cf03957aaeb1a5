"""Rows of a JSON Lines file, decoded one at a time."""

import json
import os
import weakref
from array import array
from pathlib import Path
from typing import Any, cast

from gem.errors import ConfigError
from gem.files import lines_of, open_file


class JsonLines:
    """The rows of a file with one JSON object per line; empty lines are skipped.

    Processes that read a file share its pages in the system's cache; what each has of its own are 16 bytes per row. The
    file is read by position and not mapped: to read a mapped file that somebody has shortened ends the process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts, self._lines = array("q"), array("q")
        start = 0
        try:
            with open_file(path) as file:
                self._file = os.dup(file.fileno())
                weakref.finalize(self, os.close, self._file)
                for number, line in enumerate(lines_of(file), 1):
                    if not line.isspace():
                        self._starts.append(start)
                        self._lines.append(number)
                    start += len(line)
        except OSError as error:
            raise ConfigError(f"the rows in {path} cannot be read: {error.strerror or error}") from error
        self._end = start

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> dict[str, Any]:
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self) else self._end
        try:
            row = json.loads(os.pread(self._file, end - start, start))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"line {self._lines[index]} of {self._path} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise ConfigError(f"line {self._lines[index]} of {self._path} is not a JSON object: {row!r:.80}")
        return cast("dict[str, Any]", row)
