"""Importing from folders that cannot be listed, such as those of installed packages at level landlock."""

import os
import sys
from collections.abc import Iterable
from importlib import machinery

_LOADERS = (
    (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
    (machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
    (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
)


class _Finder(machinery.FileFinder):
    """Finds the modules of a folder by names that it is given, where Python would list the folder."""

    def __init__(self, folder: str, names: set[str]) -> None:
        super().__init__(folder, *_LOADERS)
        self._names = names

    def _fill_cache(self) -> None:
        self._path_cache = self._names


def know(folders: Iterable[str], shown: Iterable[str]) -> None:
    """Let Python find in `folders` what is `shown` of them, files and folders by their paths, and nothing else."""
    for folder in folders:
        names = {os.path.basename(path) for path in shown if os.path.dirname(path) == folder}
        sys.path_importer_cache[folder] = _Finder(folder, names)
