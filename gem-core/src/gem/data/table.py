"""Opening a data set: one table per source and process, which all environments share."""

import random
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, cast, overload
from weakref import WeakKeyDictionary

from gem import seeding
from gem.data import hub
from gem.data.images import row_reader
from gem.data.indexed import IndexedFile
from gem.data.json_lines import JsonLines, read_json
from gem.data.place import cache_folder, place, saved_folder, split_files
from gem.data.separated import SeparatedFile
from gem.data.source import READ, Data, DataSource, not_read, source_of
from gem.errors import ConfigError
from gem.packs.importing import import_path

Row = Mapping[str, Any]


class Table(Sequence[dict[str, Any]]):
    """The rows of a data set that its source selects, in its order, with its columns renamed to their roles.

    A row is decoded when it is read: keep none, and a table of any size costs little memory.
    """

    def __init__(self, rows: Any, chosen: Sequence[int], columns: Mapping[str, str], named: str) -> None:
        self._rows, self._read, self._chosen, self._named = rows, row_reader(rows), chosen, named
        self.columns = columns
        """Role → column."""
        self._renamed = frozenset(columns.values())
        self.looked_at: set[type] = set()
        """The classes of environments that have looked at rows and found that they can be asked."""

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        row = self._read(self._chosen[index])
        for column in self.columns.values():
            if column not in row:
                raise ConfigError(f"the data {self._named}: {self.line(index)} does not have the column {column!r}")
        others = {column: value for column, value in row.items() if column not in self._renamed}
        return others | {role: row[column] for role, column in self.columns.items()}

    def line(self, index: int) -> str:
        """The place of a row, for messages: the line of its file, or its number."""
        own = self._chosen[index]
        return self._rows.line(own) if isinstance(self._rows, IndexedFile) else f"row {own}"


class _Opened:
    """A table, and where its rows were; its lock is held while it is opened."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.table: Table | None = None
        self.where: object = None


_Names = str | tuple[str, ...]
_Columns = tuple[tuple[str, _Names], ...]
_sources: dict[tuple[DataSource, _Columns], _Opened] = {}
_functions: MutableMapping[Callable[[], Any], dict[_Columns, _Opened]] = WeakKeyDictionary()
_lock = threading.Lock()


def open_table(data: Data, columns: Mapping[str, _Names] | None = None) -> Table:
    """The table of `data`. All callers of a process get the same one for the same source, until its file changes.

    Args:
        data: a source, its name or its fields; or the rows themselves, or a function that returns them.
        columns: role → column, or columns of which the first that exists is taken, for the roles that a source does
            not name.

    Raises:
        DataUnavailable: the rows are not on this machine and cannot be downloaded.
        ConfigError: there is no such file, split or column, or no row is left.
        MissingExtra: `datasets` is not installed, and the rows are not in a file of text.
    """
    expected = dict(columns or {})
    source = source_of(data)
    if source is None and not callable(data):
        return _table(data, None, expected)
    key = tuple(sorted(expected.items()))
    with _lock:
        if source is None:
            opened = _of_function(cast("Callable[[], Any]", data)).setdefault(key, _Opened())
        else:
            opened = _sources.setdefault((source, key), _Opened())
    with opened.lock:  # others wait for the first, instead of loading the same rows
        where = _where(source) if source else []
        if opened.table is None or opened.where != where:
            rows = _rows(source) if source else cast("Callable[[], Any]", data)()
            opened.table = _table(rows, source, expected)
            # A download has put it somewhere.
            opened.where = where or (_where(source) if source else [])
        return opened.table


def _of_function(function: Callable[[], Any]) -> dict[_Columns, _Opened]:
    try:
        return _functions.setdefault(function, {})
    except TypeError:  # it cannot be hashed or weakly referenced, so its rows are not shared
        return {}


def _where(source: DataSource) -> list[tuple[Path, int, int]]:
    """The place of the rows and the state of its files, which tells whether they have changed."""
    path = place(source)
    if path is None or not path.exists():
        return []
    stats = [(file, file.stat()) for file in (path, *_files_of(source, path))]
    return [(file, stat.st_mtime_ns, stat.st_size) for file, stat in stats]


def _files_of(source: DataSource, path: Path) -> list[Path]:
    """The files with the rows; none if that is up to the library `datasets`."""
    if not path.is_dir():
        if not path.name.endswith(READ):
            raise ConfigError(not_read(str(path)))
        return [path]
    if (source.kind == "hub" and path.is_relative_to(cache_folder())) or saved_folder(source, path):
        return []
    # Configurations without a folder are defined in the README of a copy of a repository of the hub.
    if source.config and path.name != source.config and (path / "README.md").is_file():
        return []
    splits = split_files(path)
    files = splits.get(source.split or "", []) if source.split or len(splits) != 1 else next(iter(splits.values()))
    if len({file.name.removesuffix(".gz").rpartition(".")[2] for file in files}) > 1:
        raise ConfigError(f"the data {source}: files of several kinds have its rows: {', '.join(map(str, files))}")
    return files


_READERS: Mapping[str, Callable[[Path], Any]] = {
    ".jsonl": JsonLines,
    ".json": read_json,
    ".csv": SeparatedFile,
    ".tsv": SeparatedFile,
}


def _rows(source: DataSource) -> Any:
    if source.kind == "function":
        return import_path("data", source.name)()
    path = place(source)
    if path is None:
        return hub.download(source)
    if not path.exists():
        raise ConfigError(f"the data {source}: there is no such file or folder: {path}")
    files = _files_of(source, path)
    if len(files) == 1 and files[0].suffix in _READERS:
        return _READERS[files[0].suffix](files[0])
    if files:
        return hub.read_files(files)
    cached = source.kind == "hub" and path.is_relative_to(cache_folder())
    return hub.read_cached(source, path) if cached else hub.read_folder(source, path)


def _table(rows: Any, source: DataSource | None, expected: Mapping[str, _Names]) -> Table:
    indexed = isinstance(rows, Sequence | IndexedFile) or hasattr(rows, "column_names")
    rows = cast("Any", rows) if indexed else list(cast("Iterable[Any]", rows))
    named = str(source or "of these rows")
    if not hasattr(rows, "__len__"):
        raise ConfigError(f"the data {named}: rows that are streamed have no index; load them without streaming=True")
    if not len(rows):
        raise ConfigError(f"the data {named}: there are no rows")
    own = _columns(rows, named)
    columns = {
        role: _column(role, names, own, named)
        for role, names in {**expected, **(source.columns if source else {})}.items()
    }
    chosen: Sequence[int] = range(len(rows))
    if source and source.where:
        chosen = _matching(rows, source, own)
        if not chosen:
            raise ConfigError(f"the data {named}: no row has {dict(source.where)}")
    if source and source.shuffle is not None:
        chosen = array("q", chosen)
        random.Random(seeding.derive(source.shuffle, "shuffle")).shuffle(chosen)
    if source and source.limit is not None:
        chosen = chosen[: source.limit]
    return Table(rows, chosen, columns, named)


def _column(role: str, names: _Names, own: Sequence[str], named: object) -> str:
    """The column of a role."""
    each = (names,) if isinstance(names, str) else names
    found = next((name for name in each if name in own), None)
    if found is None:
        raise ConfigError(
            f"the data {named}: there is no column {' or '.join(map(repr, each))} for the {role}; there are: "
            f"{', '.join(own)}. Name the right one: data={{'name': …, 'columns': {{{role!r}: …}}}}"
        )
    return found


def _columns(rows: Any, named: object) -> list[str]:
    if hasattr(rows, "column_names"):
        return list(rows.column_names)
    first: Any = rows[0]
    if not isinstance(first, Mapping):
        raise ConfigError(f"the data {named}: a row maps columns to values, and the first one is {first!r:.80}")
    return [str(column) for column in cast("Row", first)]


def _matching(rows: Any, source: DataSource, own: Sequence[str]) -> Sequence[int]:
    kept: dict[str, list[Any]] = {}
    for column, wanted in source.where.items():
        if column not in own:
            raise ConfigError(f"the data {source}: where names the column {column!r}; there are: {', '.join(own)}")
        kept[column] = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
        if type(rows) is SeparatedFile:  # cells are texts
            kept[column] = list(map(str, kept[column]))
    # `datasets` reads one column without decoding the others, which may be images.
    if hasattr(rows, "column_names"):
        chosen: Sequence[int] = range(len(rows))
        for column, values in kept.items():
            found = cast("Any", rows)[column][:]
            chosen = array("q", (index for index in chosen if found[index] in values))
        return chosen

    def matches(row: Row) -> bool:
        return all(row.get(column) in values for column, values in kept.items())

    return array("q", (index for index in range(len(rows)) if matches(rows[index])))
