"""Rows through the library `datasets`: of the Hugging Face hub, of its cache, of local copies, and of local files.

`datasets` keeps rows as Arrow files that it maps into memory, so processes share them.
"""

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

from gem.data.bombs import check_readme, check_size
from gem.data.place import cache_folder, how_to_get, saved_folder, split_files
from gem.data.source import FILES, DataSource
from gem.errors import ConfigError, DataUnavailable, MissingExtra

_CONNECT_SECONDS = 3.0
_BUILDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "jsonl": ("json", {}),
    "json": ("json", {}),
    "parquet": ("parquet", {}),
    "csv": ("csv", {"keep_default_na": False}),
    "tsv": ("csv", {"keep_default_na": False, "sep": "\t"}),
}
"""Suffix → what reads such files, and how: `NA` in a table is a text."""
_KINDS = ("csv", "imagefolder", "json", "parquet", "text")
"""The readers of `datasets` for copies of repositories: others unpack archives, ask databases or load pickles."""
_MOST_FILES = 10_000
"""Most files of a split; `datasets` needs a millisecond for each."""


def download(source: DataSource) -> Sequence[Any]:
    """The rows of a data set of the hub, which `datasets` downloads into its cache.

    `DataUnavailable` if they cannot be downloaded, `ConfigError` if there is no such split or configuration.
    """
    datasets = _datasets()
    # Its client tries for 23 seconds to reach a hub that cannot be reached, and no setting of a call shortens that.
    reason = None if datasets.config.HF_HUB_OFFLINE else _unreachable(datasets.config.HF_ENDPOINT)
    if reason is None:
        try:
            cache = str(cache_folder())
            loaded = datasets.load_dataset(source.name, source.config, split=source.split, cache_dir=cache)
            return _one_split(source, loaded, source)
        except ConfigError:
            raise
        except Exception as error:  # of a dozen libraries
            if isinstance(error, ValueError) and any(word in str(error) for word in ("Unknown split", "BuilderConfig")):
                raise ConfigError(f"the data set {source}: {_first_line(error)}") from error
            reason = f"{type(error).__name__}: {_first_line(error)}"
    raise DataUnavailable(
        f"the data set {source} is not on this machine and could not be downloaded ({reason}). {how_to_get(source)}"
    )


def read_cached(source: DataSource, folder: Path) -> Sequence[Any]:
    """The rows in a folder of the cache, see `gem.data.place.cached`, without asking the hub for newer ones."""
    _datasets()
    from datasets.packaged_modules.cache.cache import Cache  # pyright: ignore[reportMissingTypeStubs]

    names = dict(zip(("config_name", "version", "hash"), folder.parts[-3:], strict=True))
    names |= {"repo_id": source.name, "dataset_name": source.name.rpartition("/")[2], "cache_dir": str(cache_folder())}
    make: Any = Cache
    return _one_split(source, _reading(folder, lambda: make(**names).as_dataset()), folder)


def read_files(files: Sequence[Path]) -> Sequence[Any]:
    """The rows of files of one kind."""
    if len(files) > _MOST_FILES:
        raise ConfigError(f"{files[0].parent} has {len(files):,} files of rows, and at most {_MOST_FILES:,} are read")
    datasets = _datasets()
    kind = files[0].name.removesuffix(".gz").rpartition(".")[2]
    builder, options = _BUILDERS[kind]
    given = {"data_files": [str(file) for file in files], "split": "train", "cache_dir": str(cache_folder())}

    def load() -> Any:
        for file in files:
            check_size(file)
        return datasets.load_dataset(builder, **given, **options)

    return _reading(files[0], load)


def read_folder(source: DataSource, folder: Path) -> Sequence[Any]:
    """The rows of a folder that `save_to_disk` wrote, or of a copy of a repository of the hub."""
    if saved := saved_folder(source, folder):
        loaded = _reading(saved, lambda: _datasets().load_from_disk(str(saved)))
        split = getattr(loaded, "split", None)
        # Rows of another split would be taken for these.
        if saved == folder and source.split and split is not None and str(split) != source.split:
            raise ConfigError(f"the data set {source}: {folder} has the split {str(split)!r}")
        return _one_split(source, loaded, folder)
    if (folder / "README.md").is_file():
        return _one_split(source, _reading(folder, lambda: _read_copy(source, folder)), folder)
    found = ", ".join(split_files(folder)) or "none"
    split = f" {source.split!r}" if source.split else ""
    raise ConfigError(
        f"the data set {source}: in {folder} are no files of the split{split}, such as {source.split or 'train'}.jsonl "
        f"or {source.split or 'train'}.parquet; splits with files: {found}"
    )


def _read_copy(source: DataSource, folder: Path) -> Any:
    """The rows of a copy of a repository by its README, if those are in files that GEM reads."""
    check_readme(folder)
    builder = _datasets().load_dataset_builder(str(folder), source.config, cache_dir=str(cache_folder()))
    kind = type(builder).__module__.rpartition(".")[2]
    if kind not in _KINDS:
        raise ConfigError(f"the rows of {folder} are not in files that GEM reads: {', '.join(FILES)}, text and images")
    files: Any = builder.config.data_files or {}
    for file in (file for split in files.values() for file in split):
        check_size(Path(file))
    builder.download_and_prepare()
    return builder.as_dataset()


def _reading(path: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (MissingExtra, ConfigError):
        raise
    except Exception as error:
        # The generic error of `datasets` has the reason as its cause.
        reason = error.__cause__ or error
        raise ConfigError(
            f"the rows in {path} cannot be read ({type(reason).__name__}: {_first_line(reason)}). GEM reads files with "
            f"the suffixes {', '.join(FILES)}, and folders of them."
        ) from error


def _one_split(source: DataSource, loaded: Any, where: object) -> Sequence[Any]:
    """The split of `source`, in what `datasets` has loaded."""
    if not isinstance(loaded, dict):  # one split, not a dict of them
        return cast("Sequence[Any]", loaded)
    splits = cast("dict[str, Sequence[Any]]", loaded)
    name = source.split or (next(iter(splits)) if len(splits) == 1 else None)
    if name is None or name not in splits:
        which = f"there is no split {name!r}" if name else "there are several splits, and data names none"
        raise ConfigError(f"the data set {source}: {which} in {where}. It has: {', '.join(splits)}.")
    return splits[name]


def _unreachable(endpoint: str) -> str | None:
    """Why the hub cannot be reached, if that can be told within seconds."""
    if getproxies():  # only the proxy may know its name
        return None
    url = urlsplit(endpoint)
    try:
        port = url.port or {"http": 80}.get(url.scheme, 443)
        socket.create_connection((url.hostname, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        return f"{url.hostname} cannot be reached: {error.strerror or error}"
    return None


def _datasets() -> Any:
    try:
        import datasets  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra(f"reading data sets needs the package datasets ({error}): pip install datasets") from error
    return datasets


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")[:300]
