"""Pictures in observations: a recording has their hashes, and a folder beside it their bytes, each once."""

import base64
import binascii
import hashlib
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from gem.core import Observation
from gem.episode.episode import Episode
from gem.files import MOST_BYTES

FOLDER = "pictures"
"""The folder beside a recording."""

_INLINE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,")
_HASHED = re.compile(r"sha256:([0-9a-f]{64}\.(png|jpeg|gif|webp))")


def with_hashes(observation: Observation, folder: Path | None = None) -> Observation:
    """The observation with `sha256:HASH.png` in place of each picture, whose bytes go into `folder`, if there is one.

    Raises:
        OSError: a picture cannot be written.
    """

    def hashed(url: str) -> str:
        kind = _INLINE.match(url)
        try:
            content = base64.b64decode(url[kind.end() :], validate=True) if kind else b""
        except binascii.Error:
            return url
        if not kind:
            return url
        name = f"{hashlib.sha256(content).hexdigest()}.{kind[1]}"
        if folder is not None and not (folder / name).exists():
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f".{name}.{os.getpid()}"
            part.write_bytes(content)
            part.replace(folder / name)
        return f"sha256:{name}"

    return _each_picture(observation, hashed)


class Pictures:
    """The pictures of a recording, which it has by their hashes, and episodes with the bytes of theirs.

    Args:
        folder: with the bytes, as far as they are known.
        most: bytes of all that are put into episodes, each as often as it is shown; the others stay hashes.
    """

    def __init__(self, folder: Path, most: float = math.inf) -> None:
        self._folder = folder
        self._left = most

    def put_into(self, episode: Episode) -> Episode:
        """The episode with the bytes of its pictures."""

        def shown(observation: Observation) -> Observation:
            return _each_picture(observation, self._inline)

        return replace(episode, observation=shown(episode.observation)).each_trace(
            lambda trace: replace(
                trace, turns=tuple(replace(turn, observation=shown(turn.observation)) for turn in trace.turns)
            )
        )

    def _inline(self, url: str) -> str:
        hashed = _HASHED.fullmatch(url)
        if hashed is None or not (file := self._folder / hashed[1]).is_file():
            return url
        if (size := file.stat().st_size) > min(self._left, MOST_BYTES):
            return url
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != file.stem:  # it may come from somebody else
            return url
        self._left -= size
        return f"data:image/{hashed[2]};base64,{base64.b64encode(content).decode()}"


def _each_picture(observation: Observation, change: Callable[[str], str]) -> Observation:
    if isinstance(observation, str):
        return observation
    parts: list[dict[str, Any]] = []
    for part in cast("list[dict[str, Any]]", observation):
        picture = part.get("image_url")
        url = cast("dict[str, Any]", picture).get("url") if isinstance(picture, dict) else None
        parts.append({**part, "image_url": {**picture, "url": change(url)}} if isinstance(url, str) else part)  # pyright: ignore[reportGeneralTypeIssues]
    return cast("Observation", parts)
