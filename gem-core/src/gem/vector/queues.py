"""Taking what a queue holds."""

from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")


def drain(queue: SimpleQueue[Item], timeout: float | None) -> list[Item]:
    """Everything that is in `queue`; waits for the first, `timeout` seconds at most."""
    items: list[Item] = []
    try:
        items.append(queue.get(timeout=timeout))
        while True:
            items.append(queue.get_nowait())
    except Empty:
        return items
