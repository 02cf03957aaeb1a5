"""Rows of a text file, found once and decoded one at a time."""

import os
import weakref
from abc import abstractmethod
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gem.errors import ConfigError
from gem.files import lines_of, open_file


class IndexedFile:
    """The rows of a text file; a subclass says where they are, and decodes them.

    Processes that read a file share its pages in the system's cache; what each has of its own are 16 bytes per row. The
    file is read by position and not mapped: to read a mapped file that somebody has shortened ends the process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._starts, self._lines = array("q"), array("q")
        self._end = 0
        try:
            with open_file(path) as file:
                self._file = os.dup(file.fileno())
                weakref.finalize(self, os.close, self._file)
                for start, number in self._find(file):
                    self._starts.append(start)
                    self._lines.append(number)
        except OSError as error:
            raise ConfigError(f"the rows in {path} cannot be read: {error.strerror or error}") from error

    @abstractmethod
    def _find(self, file: BinaryIO) -> Iterator[tuple[int, int]]:
        """The first byte of each row, and the number of its first line. It reads `_read_lines(file)`."""

    @abstractmethod
    def _decode(self, text: bytes) -> dict[str, Any]:
        """A row. `ValueError` or `RecursionError` if it is none."""

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: int) -> dict[str, Any]:
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self) else self._end
        try:
            return self._decode(os.pread(self._file, end - start, start))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{self.line(index)} is not {error}") from error

    def line(self, index: int) -> str:
        """The place of a row, for messages."""
        return f"line {self._lines[index]} of {self.path}"

    def _read_lines(self, file: BinaryIO) -> Iterator[bytes]:
        """The lines of the file; after each, `_end` is where the next one begins."""
        for line in lines_of(file):
            self._end += len(line)
            yield line
