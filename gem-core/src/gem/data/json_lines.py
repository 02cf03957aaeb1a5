"""Rows of a JSON Lines file, mapped into memory and decoded one at a time."""

import json
import mmap
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, overload

from gem.errors import ConfigError


class JsonLines(Sequence[dict[str, Any]]):
    """The rows of a file with one JSON object per line; empty lines are skipped.

    All processes that read a file share its pages. What a process has of its own are eight bytes per row.

    Raises:
        ConfigError: the file cannot be read; when a row is read: a line is not a JSON object.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                size = file.seek(0, 2)
                # An empty file cannot be mapped.
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise ConfigError(f"the rows in {path} cannot be read: {error.strerror or error}") from error
        self._starts = array("q")
        start, size = 0, len(self._bytes)
        while start < size:
            end = self._bytes.find(b"\n", start)
            end = size if end < 0 else end
            if self._bytes[start:end].strip():
                self._starts.append(start)
            start = end + 1

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        start = self._starts[index]
        end = self._bytes.find(b"\n", start)
        try:
            row = json.loads(self._bytes[start : len(self._bytes) if end < 0 else end])
        except ValueError as error:
            raise ConfigError(f"row {index} of {self._path} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise ConfigError(f"row {index} of {self._path} is not a JSON object: {row!r:.80}")
        return cast("dict[str, Any]", row)
