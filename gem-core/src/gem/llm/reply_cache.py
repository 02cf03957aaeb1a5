"""Replies on disk by what was asked, for any number of processes."""

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gem.files import read_bytes, replacing
from gem.http.client import encoded


class ReplyCache:
    """Replies in a folder, one file each, by a hash of the model and the request.

    A file is complete or not there: several processes may share the folder, and a program may be killed. A file that
    cannot be read is taken for none, and written anew.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    @staticmethod
    def key(*parts: Any) -> str:
        """The hash of what was asked, the same for equal JSON whatever the order of its fields."""
        text = json.dumps(json.loads(encoded(parts)), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The reply that was kept under `key`; None if there is none."""
        try:
            found: object = json.loads(read_bytes(self._path(key)))
        except (OSError, ValueError, RecursionError):
            return None
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else None

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply, in place of another one. Raises `OSError` if the folder cannot be written."""
        with self._lock, replacing(self._path(key)) as file:
            file.write(encoded(reply))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
