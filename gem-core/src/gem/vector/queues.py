"""Reading all items of a queue."""

from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")


def drain(queue: SimpleQueue[Item], timeout: float | None) -> list[Item]:
    """All items in `queue`; waits up to `timeout` seconds for the first."""
    items: list[Item] = []
    try:
        items.append(queue.get(timeout=timeout))
        while True:
            items.append(queue.get_nowait())
    except Empty:
        return items
