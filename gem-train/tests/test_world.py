"""How work is divided among the processes of a run."""

import pytest

from gem_train.distributed.world import ALONE, World, flat


def world(rank: int, size: int) -> World:
    found = World()
    found.rank, found.size = rank, size
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 16])
def test_the_shares_of_all_processes_are_the_items_in_order(count: int, size: int) -> None:
    shares = [world(rank, size).share(range(count)) for rank in range(size)]
    assert flat(shares) == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_every_process_makes_equally_many_passes_and_each_item_counts_once(count: int, size: int) -> None:
    dealt = [world(rank, size).deal(range(count)) for rank in range(size)]
    assert len({len(items) for items in dealt}) == 1
    assert sorted(item for items in dealt for item, counts in items if counts) == list(range(count))


def test_alone_nothing_is_divided() -> None:
    assert ALONE.deal("abc") == [("a", True), ("b", True), ("c", True)]
    assert ALONE.gather(1) == ALONE.together(lambda: 1) == [1]
