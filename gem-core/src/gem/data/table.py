"""Opening a data set: one table per source and process, which all environments share."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast, overload

from gem import seeding
from gem.data import hub
from gem.data.images import undecoded
from gem.data.json_lines import JsonLines
from gem.data.source import Data, DataSource, package_file, source_of
from gem.errors import ConfigError
from gem.packs.importing import import_path

Row = Mapping[str, Any]


class Table(Sequence[dict[str, Any]]):
    """The rows of a data set that its source selects, in its order, with its columns renamed to their roles.

    A row is decoded when it is read: keep none, and a table of any size costs little memory.
    """

    def __init__(self, rows: Sequence[Any], chosen: Sequence[int], roles: Mapping[str, str]) -> None:
        self._rows, self._chosen, self._roles = rows, chosen, roles

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        row = self._rows[self._chosen[index]]
        return {self._roles.get(column, column): value for column, value in row.items()}


_opened: dict[tuple[DataSource | Callable[[], Any], tuple[tuple[str, str], ...]], Table] = {}
_lock = threading.Lock()


def open_table(data: Data, columns: Mapping[str, str] | None = None) -> Table:
    """The table of `data`. All callers of a process get the same one for the same source.

    Args:
        data: a source, its name or its fields; or the rows themselves, or a function that returns them.
        columns: role → column, for the roles that a source does not name; each column must exist.

    Raises:
        DataUnavailable: the rows are not on this machine and cannot be downloaded.
        ConfigError: there is no such file, split or column, or no row is left.
        MissingExtra: `datasets` is not installed, and the rows are not in a JSON Lines file.
    """
    expected = dict(columns or {})
    source = source_of(data)
    if source is None and not callable(data):
        return _table(cast("Sequence[Any]", data), None, expected)
    made = source or cast("Callable[[], Iterable[Any]]", data)
    key = made, tuple(sorted(expected.items()))
    with _lock:  # others wait for the first, instead of loading the same rows
        if key not in _opened:
            rows = _rows(made) if isinstance(made, DataSource) else made()
            _opened[key] = _table(rows, source, expected)
        return _opened[key]


def _rows(source: DataSource) -> Iterable[Any]:
    if source.kind == "function":
        return cast("Callable[[], Iterable[Any]]", import_path("data", source.name))()
    path: Path | None = None
    if found := package_file(source.name):
        package, file = found
        try:
            path = Path(str(resources.files(package).joinpath(file)))
        except ModuleNotFoundError as error:
            raise ConfigError(f"the data {source}: there is no package {error.name!r}") from error
        source = source.model_copy(update={"name": str(path)})
    elif source.kind == "file":
        path = Path(source.name).expanduser()
    if path and path.suffix == ".jsonl":
        return JsonLines(path)
    return hub.load(source)


def _table(rows: Iterable[Any], source: DataSource | None, expected: Mapping[str, str]) -> Table:
    found = rows if isinstance(rows, Sequence) or hasattr(rows, "column_names") else list(rows)
    found = undecoded(cast("Sequence[Any]", found))
    named = source or "of these rows"
    if not len(found):
        raise ConfigError(f"the data {named}: there are no rows")
    columns = {**expected, **(source.columns if source else {})}
    own = _columns(found, named)
    for role, column in columns.items():
        if column not in own:
            raise ConfigError(
                f"the data {named}: there is no column {column!r} for the {role}; there are: {', '.join(own)}. "
                f"Name the right one: data={{'name': …, 'columns': {{{role!r}: …}}}}"
            )
    chosen: Sequence[int] = range(len(found))
    if source and source.where:
        chosen = _matching(found, source, own)
        if not chosen:
            raise ConfigError(f"the data {named}: no row has {dict(source.where)}")
    if source and source.shuffle is not None:
        chosen = list(chosen)
        seeding.generator(seeding.derive(source.shuffle, "shuffle")).shuffle(chosen)
    if source and source.limit is not None:
        chosen = chosen[: source.limit]
    return Table(found, chosen, {column: role for role, column in columns.items()})


def _columns(rows: Any, named: object) -> list[str]:
    if hasattr(rows, "column_names"):
        return list(rows.column_names)
    first: Any = rows[0]
    if not isinstance(first, Mapping):
        raise ConfigError(f"the data {named}: a row maps columns to values, and the first one is {first!r:.80}")
    return [str(column) for column in cast("Row", first)]


def _matching(rows: Any, source: DataSource, own: Sequence[str]) -> list[int]:
    chosen = range(len(rows))
    for column, wanted in source.where.items():
        if column not in own:
            raise ConfigError(f"the data {source}: where names the column {column!r}; there are: {', '.join(own)}")
        kept = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
        # `datasets` reads one column without decoding the others, which may be images.
        values = list(rows[column]) if hasattr(rows, "column_names") else [row[column] for row in rows]
        chosen = [index for index in chosen if values[index] in kept]
    return list(chosen)
