"""Rows of CSV and TSV files, decoded one at a time."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gem.data.indexed import IndexedFile
from gem.errors import ConfigError

_LONGEST_CELL = 2**30


class SeparatedFile(IndexedFile):
    """The rows of a CSV file, or of a TSV file by its suffix. The first line names the columns, and cells are texts.

    Nothing is guessed about cells: `007`, `NA` and `1/2` are read as they are written.
    """

    def __init__(self, path: Path) -> None:
        self._separator = "\t" if path.suffix == ".tsv" else ","
        self.header: list[str] = []
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))  # of the process
        super().__init__(path)

    def _find(self, file: BinaryIO) -> Iterator[tuple[int, int]]:
        start = number = 0
        reader = self._reader(
            line.decode("utf-8-sig" if not self.header else "utf-8") for line in self._read_lines(file)
        )
        try:
            for cells in reader:
                if not self.header:
                    self.header = cells
                    if len({*cells}) < len(cells):
                        raise ConfigError(f"two columns of {self.path} have the same name: {', '.join(cells)}")
                elif cells:
                    if len(cells) != len(self.header):
                        said = f"{len(cells)} cells, and the first line {len(self.header)}"
                        raise ConfigError(f"line {number + 1} of {self.path} has {said}")
                    yield start, number + 1
                start, number = self._end, reader.line_num
        except (csv.Error, UnicodeDecodeError) as error:
            kind = "TSV" if self._separator == "\t" else "CSV"
            raise ConfigError(f"line {number + 1} of {self.path} is not {kind} in UTF-8: {error}") from error

    def _decode(self, text: bytes) -> dict[str, Any]:
        cells = next(self._reader(io.StringIO(text.decode(), newline="\n")))  # lines end as in `_find`
        return dict(zip(self.header, cells, strict=True))

    def _reader(self, lines: Iterator[str]) -> Any:
        return csv.reader(lines, delimiter=self._separator, strict=True)
