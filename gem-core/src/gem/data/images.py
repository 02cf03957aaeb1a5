"""Images of rows: read as the files that they are, and shown as content parts. They are never decoded."""

import base64
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from gem.core import ContentPart
from gem.errors import ConfigError

_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
"""How the files of the kinds of images that models take begin; WebP begins with RIFF, a length and WEBP."""

_DATA_URL = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/]+={0,2}")


def image_part(image: bytes | str | Path | Mapping[str, Any]) -> ContentPart:
    """An image as a part of an observation, with a data URL: `{"type": "image_url", "image_url": {"url": "data:…"}}`.

    Args:
        image: the content of a PNG, JPEG, GIF or WebP file; a data URL; the path of a file; or, as `datasets` keeps
            images, a mapping with `bytes` or `path`.

    Raises:
        ConfigError: it is none of them, or the file cannot be read.
    """
    url = image if isinstance(image, str) and image.startswith("data:") else _data_url(_content(image))
    if not _DATA_URL.fullmatch(url):
        raise ConfigError(f"the data URL of an image has the form 'data:image/png;base64,…', not {url[:40]!r}")
    return {"type": "image_url", "image_url": {"url": url}}


def row_reader(rows: Any) -> Callable[[int], Any]:
    """The function that reads a row; of a `datasets.Dataset` with images, as `{"bytes": …, "path": …}`.

    Decoding them takes longer, and whoever shows an image would have to encode it again.
    """
    features = getattr(rows, "features", None)
    if isinstance(features, Mapping) and any(map(_has_image, cast("Mapping[str, Any]", features).values())):
        return partial(_read_stored, rows.with_format("arrow"))
    return rows.__getitem__


def _read_stored(rows: Any, index: int) -> dict[str, Any]:
    return rows[index].to_pylist()[0]


def _has_image(feature: Any) -> bool:
    if isinstance(feature, Mapping):
        return any(map(_has_image, cast("Mapping[str, Any]", feature).values()))
    if isinstance(feature, list):  # before datasets 4, a list of a feature could be written so
        return any(map(_has_image, cast("list[Any]", feature)))
    return type(feature).__name__ == "Image" or _has_image(getattr(feature, "feature", {}))


def _content(image: Any) -> bytes:
    if isinstance(image, bytes):
        return image
    if isinstance(image, Mapping):
        stored = cast("Mapping[str, Any]", image)
        return stored["bytes"] if stored.get("bytes") else _content(stored.get("path"))
    if isinstance(image, str | Path):
        try:
            return Path(image).read_bytes()
        except (OSError, ValueError) as error:
            raise ConfigError(f"the image {str(image)[:200]!r} cannot be read: {error}") from error
    raise ConfigError(f"an image is the bytes of its file, a data URL or a path, not {type(image).__name__}")


def _data_url(content: bytes) -> str:
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "webp"
    if kind is None:
        raise ConfigError(f"an image is a PNG, JPEG, GIF or WebP file; this one begins with {content[:8]!r}")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
