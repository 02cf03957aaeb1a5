"""Where the rows of a data set come from, as plain data that a spec or a recording can hold."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from gem.checks import CheckedStruct
from gem.errors import ConfigError, SpecError
from gem.packs.importing import check_arguments

FILES = (".jsonl", ".json", ".parquet", ".csv", ".tsv")
"""The suffixes of files with rows."""
READ = (*FILES, *(f"{suffix}.gz" for suffix in FILES if suffix != ".parquet"))
"""The same, and those of files that are compressed."""

_ENDING = re.compile(r"\.([A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*)(\.gz)?$")
_ENDINGS = """7z arrow avro bz2 db docx feather gz h5 hdf5 html ipynb lance lz4 md mat ndjson npy npz ods orc parq pdf
pickle pkl pt py rar rds sqlite tar toml txt xls xlsb xlsm xlsx xml xz yaml yml zip zst"""
_OF_FILES = frozenset(_ENDINGS.split())
"""Endings of files that are not read. The name of an owner's data set may have a dot too."""

_OF_A_PACKAGE = re.compile(r"(?P<package>[A-Za-z_][\w.]+):(?P<file>[\w./-]+)")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_HUB = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")

Kind = Literal["hub", "file", "package", "function"]
"""What the `name` of a source is."""


class DataSource(CheckedStruct, frozen=True, omit_defaults=True):
    """The rows of a data set: `name` says where they are, the other fields which of them, and what they are called.

    `name` is one of

    - the name of a data set of the Hugging Face hub: `"axon-rl/GSM-8k"`;
    - a file with the suffix .jsonl, .json, .parquet, .csv or .tsv, or a folder of such files, which begins with `.`,
      `/` or `~` unless it has a suffix: `"rows.jsonl"`, `"./rows"`;
    - a file of an installed package: `"gem_envs_math:sample.jsonl"`;
    - a function that returns rows: `"my_package.rows:make"`.
    """

    name: str
    config: str | None = None
    """The configuration of a data set that has several."""
    split: str | None = None
    """The split; not needed if there is one only."""
    columns: Mapping[str, str] = {}
    """Role → column, where the columns have other names than the environment expects: `{"question": "prompt"}`."""
    where: Mapping[str, Any] = {}
    """Column → value, or a list of values: the rows to keep."""
    shuffle: int | None = None
    """The seed of a permutation of the rows; None keeps their order."""
    limit: int | None = None
    """Most rows, counted after `where` and `shuffle`."""
    licence: str = ""
    """The licence of the rows, as the data set states it."""
    about: str = ""
    """What the rows are and who made them, on one line."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _kind(self.name)
        if self.limit is not None and self.limit < 1:
            raise SpecError(f"limit is the number of rows to keep, at least 1, not {self.limit}")

    @property
    def kind(self) -> Kind:
        """What `name` is."""
        return _kind(self.name)

    def __str__(self) -> str:
        config = f", configuration {self.config!r}" if self.config else ""
        return f"{self.name!r}{config}" + (f", split {self.split!r}" if self.split else "")

    def __hash__(self) -> int:  # for caches; mappings cannot be hashed
        return hash((self.name, self.config, self.split, self.shuffle, self.limit))


Data = str | Path | Mapping[str, Any] | DataSource | Sequence[Mapping[str, Any]] | Callable[[], Iterable[Any]]
"""What an environment takes as its data: a source, its name, its fields, rows (or a `datasets.Dataset`), or a function
that returns rows."""


def source_of(data: Data) -> DataSource | None:
    """The source that `data` names; None for rows and functions, and `ConfigError` for anything else."""
    if isinstance(data, DataSource):
        return data
    if isinstance(data, str | Path):
        return _checked({"name": str(data)})
    if isinstance(data, Mapping):
        return _checked(cast("Mapping[str, Any]", data))
    # People also try `datasets.Dataset`, which is not a Sequence, and iterators, which can be read only once.
    rows: Any = data
    if callable(rows) or isinstance(rows, Sequence) or hasattr(rows, "column_names"):
        return None
    raise ConfigError(
        f"data is the name of a data set or of a file, its fields, a list of rows, or a function that returns rows, "
        f"not {type(data).__name__}. A generator can be read only once: give the function that makes it."
    )


def _checked(fields: Mapping[str, Any]) -> DataSource:
    try:
        check_arguments("it", DataSource, fields)
        return DataSource(**fields)
    except SpecError as error:
        raise ConfigError(f"data: {error}") from error


def package_file(name: str) -> tuple[str, str] | None:
    """The package and the file of a name such as `"gem_envs_math:sample.jsonl"`; None for other names."""
    match = _OF_A_PACKAGE.fullmatch(name)
    return (match["package"], match["file"]) if match and match["file"].endswith(READ) else None


def not_read(name: str) -> str:
    """What to do about a file of a kind that is not read."""
    return (
        f"{name!r} is a file, and GEM reads files with the suffixes {', '.join(FILES)}. Save it as one of these: "
        "spreadsheets, for example, can be saved as .csv or .tsv."
    )


def _kind(name: str) -> Kind:
    if package_file(name):
        return "package"
    if name.endswith(READ) or name.startswith((".", "/", "~")):
        return "file"
    if _FUNCTION.fullmatch(name):
        return "function"
    # No name of the hub without an owner has a dot. Asking the hub for a file would take half a minute.
    ending = _ENDING.search(name, name.rfind("/") + 1)
    if ending and ("/" not in name or ending[1].lower() in _OF_FILES):
        raise SpecError(not_read(name))
    if _HUB.fullmatch(name):
        return "hub"
    raise SpecError(
        f"{name!r} is not the name of a data set. Write 'owner/name' for one of the hub, 'rows.jsonl' or './folder' "
        "for local files, 'package:rows.jsonl' for a file of a package, or 'package.module:function'."
    )
