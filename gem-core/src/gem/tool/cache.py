"""Results of pure tools, kept as long as there is room."""

import copy
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from gem.tool.content import Content
from gem.tool.tool import Tool

Key = tuple[Tool, str]


class Cache:
    """The results used last, as far as `room` characters go, those of the arguments included. For one thread."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[Key, tuple[Content, int]] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Content | None:
        """What is kept under `key`."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return copy.deepcopy(self._kept[key][0])

    def put(self, key: Key, content: Content) -> None:
        """Keep `content`, and let go of what was not used for longest."""
        size = len(key[1]) + len(content if isinstance(content, str) else json.dumps(content))
        if key in self._kept or size > self._room:
            return
        self._kept[key] = copy.deepcopy(content), size
        self._size += size
        while self._size > self._room:
            _, (_, gone) = self._kept.popitem(last=False)
            self._size -= gone


def key_of(tool: Tool, arguments: Mapping[str, Any]) -> Key:
    """Equal for equal calls, whatever the order of the arguments."""
    return tool, json.dumps(arguments, sort_keys=True, default=repr)
