"""Rows through the library `datasets`: of the Hugging Face hub, of local copies of it, and of local files.

`datasets` keeps rows as Arrow files that it maps into memory, so processes share them.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from gem.data.source import FILES, DataSource
from gem.errors import ConfigError, DataUnavailable, MissingExtra

LOCAL_FOLDER = "GEM_DATA_DIR"
"""The environment variable that names a folder with local copies of data sets: see `local_copy`."""


def load(source: DataSource) -> Sequence[Any]:
    """The rows of a data set of the hub, of its local copy, or of local files.

    Raises:
        DataUnavailable: they are not on this machine and cannot be downloaded.
        ConfigError: there is no such split or configuration, or a file cannot be read.
        MissingExtra: `datasets` is not installed.
    """
    if source.kind == "hub":
        folder = local_copy(source.name)
        return _from_hub(source) if folder is None else _from_path(source, folder)
    return _from_path(source, Path(source.name).expanduser())


def local_copy(name: str) -> Path | None:
    """The local copy of a data set of the hub: `$GEM_DATA_DIR/owner/name`, a folder, if there is one.

    In it are files that are named like the splits (`train.jsonl`, `test.parquet`, `data/train-00000-of-00002.parquet`),
    or what `save_to_disk` of the library `datasets` wrote.
    """
    root = os.environ.get(LOCAL_FOLDER)
    folder = Path(root).expanduser() / name if root else None
    return folder if folder and folder.is_dir() else None


def cache_folder() -> Path:
    """The folder where `datasets` keeps what it has downloaded."""
    return Path(_datasets().config.HF_DATASETS_CACHE)


def _from_hub(source: DataSource) -> Sequence[Any]:
    datasets = _datasets()
    try:
        loaded = datasets.load_dataset(source.name, source.config, split=source.split)
    except Exception as error:  # of a dozen libraries, with and without a network
        if isinstance(error, ValueError) and source.split and "split" in str(error).lower():
            raise ConfigError(f"the data set {source}: {error}") from error
        root = os.environ.get(LOCAL_FOLDER)
        where = f"to {root}/{source.name}" if root else f"to DIR/{source.name} and set {LOCAL_FOLDER}=DIR"
        raise DataUnavailable(
            f"the data set {source} is not on this machine and could not be downloaded "
            f"({type(error).__name__}: {_first_line(error)}). With a network it is kept in {cache_folder()}. Without "
            f"one, copy its files (such as {source.split or 'train'}.jsonl or {source.split or 'train'}.parquet) "
            f"{where}."
        ) from error
    return _one_split(source, loaded)


def _from_path(source: DataSource, path: Path) -> Sequence[Any]:
    if not path.exists():
        raise ConfigError(f"the data {source}: there is no such file or folder")
    datasets = _datasets()
    try:
        if (path / "dataset_dict.json").is_file() or (path / "dataset_info.json").is_file():
            loaded = datasets.load_from_disk(str(path))
        elif path.is_dir():
            loaded = datasets.load_dataset(str(path), source.config)
        else:
            builder = path.suffix.removeprefix(".").replace("jsonl", "json")
            loaded = datasets.load_dataset(builder, data_files=str(path), split="train")
            return cast("Sequence[Any]", loaded)
    except Exception as error:
        raise ConfigError(
            f"the rows in {path} cannot be read ({type(error).__name__}: {_first_line(error)}). GEM reads files with "
            f"the suffixes {', '.join(FILES)}, and folders of them."
        ) from error
    return _one_split(source, loaded)


def _one_split(source: DataSource, loaded: Any) -> Sequence[Any]:
    """The split of `source`, in what `datasets` has loaded."""
    if not isinstance(loaded, dict):  # one split, not a dict of them
        return cast("Sequence[Any]", loaded)
    splits = cast("dict[str, Sequence[Any]]", loaded)
    name = source.split or (next(iter(splits)) if len(splits) == 1 else None)
    if name is None or name not in splits:
        which = f"has no split {name!r}" if name else "has several splits, and none was chosen"
        raise ConfigError(f"the data set {source} {which}. It has: {', '.join(splits)}.")
    return splits[name]


def _datasets() -> Any:
    try:
        import datasets  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra(f"reading data sets needs the package datasets ({error}): pip install datasets") from error
    return datasets


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")[:300]
