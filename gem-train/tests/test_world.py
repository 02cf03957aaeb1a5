"""How work is divided among the processes of a run."""

import pytest

from gem_train.distributed.world import ALONE, World, flat, straggling


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
    items = [7 * index % 11 for index in range(count)]
    shares = [world(rank, size).deal(range(count), items) for rank in range(size)]
    assert len({len(share) for share in shares}) == 1
    assert sorted(item for share in shares for item, counts in share if counts) == list(range(count))


def test_items_are_dealt_by_size_and_not_by_number() -> None:
    sizes = [100, 1, 98, 3, 2, 96]
    shares = [[sizes[item] for item, _ in world(rank, 2).deal(range(6), sizes)] for rank in (0, 1)]
    assert shares == [[100, 3, 2], [98, 96, 1]]  # as they come they would be 200 and 100
    assert straggling(sizes, 2) == (100 + 96 + 2) / (300 / 2)
    assert straggling([5] * 4, 2) == 1.0
    assert straggling([5] * 3, 2) == pytest.approx(4 / 3)
    # The smallest is passed again, without counting, by the process that has most.
    assert world(0, 2).deal("abc", [3, 4, 2]) == [("b", True), ("c", False)]
    assert world(1, 2).deal("abc", [3, 4, 2]) == [("a", True), ("c", True)]


def test_alone_nothing_is_divided() -> None:
    assert ALONE.deal("abc", [3, 2, 1]) == [("a", True), ("b", True), ("c", True)]
    assert ALONE.gather(1) == ALONE.together(lambda: 1) == [1]
