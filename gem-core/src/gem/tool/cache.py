"""A cache of results of pure tools."""

import copy
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from gem.tool.content import Content
from gem.tool.tool import Tool

Key = tuple[Tool, str]


class Cache:
    """The results used most recently, up to `room` characters together with their arguments. For one thread."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._results: OrderedDict[Key, tuple[Content, int]] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Content | None:
        """The result stored under `key`."""
        if key not in self._results:
            return None
        self._results.move_to_end(key)
        return copy.deepcopy(self._results[key][0])

    def put(self, key: Key, content: Content) -> None:
        """Store `content`, and drop what has not been used for longest."""
        size = len(key[1]) + len(content if isinstance(content, str) else json.dumps(content))
        if key in self._results or size > self._room:
            return
        self._results[key] = copy.deepcopy(content), size
        self._size += size
        while self._size > self._room:
            _, (_, dropped) = self._results.popitem(last=False)
            self._size -= dropped


def key_of(tool: Tool, arguments: Mapping[str, Any]) -> Key:
    """Equal for equal calls, in any order of the arguments."""
    return tool, json.dumps(arguments, sort_keys=True, default=repr)
