"""Permits: their order, what is kept under them, and those of worker processes."""

import asyncio
import random
import socket
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import pytest
from vector_backends import wait_for

from gem.errors import ConfigError, ToolTimeout
from gem.work import permit_channel, permits
from gem.work.channel import Channel
from gem.work.permits import Permit, Permits, permits_of


def no_recall(permit: Permit) -> None:
    raise AssertionError("nothing is kept")


async def played(source: Any, episodes: int, seed: int = 0) -> list[int]:
    """Hold a permit in each of so many episodes, some of which are cancelled; the order in which they got one."""
    rng = random.Random(seed)
    order: list[int] = []

    async def play(number: int, hold: float) -> None:
        permit = await source.acquire("any", no_recall, 600.0)
        order.append(number)
        try:
            await asyncio.sleep(hold)
        finally:
            source.release(permit)

    tasks = [asyncio.create_task(play(number, rng.choice([0.0, 0.0005]))) for number in range(episodes)]
    cancelled = set(rng.sample(range(episodes), episodes // 5))
    for number in cancelled:
        asyncio.get_running_loop().call_later(rng.uniform(0, 0.01), tasks[number].cancel)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert len(order) >= episodes - len(cancelled)
    return order


def test_permits_are_given_in_the_order_of_asking_and_cancelled_waits_lose_none() -> None:
    for seed in range(5):
        source = Permits("any", 2)
        order = asyncio.run(asyncio.wait_for(played(source, 200, seed), 60))

        assert order == sorted(order)
        figures = source.figures()
        assert (figures.in_use, figures.idle, figures.waiting) == (0, 0, 0)
        assert figures.served >= len(order)  # one that is given to a wait that was cancelled goes back


def test_a_pool_that_forgets_to_wake_those_who_wait_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Permits("any", 2)
    real = source._wake
    # The planted fault: permits that are free when they are asked for are given, and others reach nobody.
    monkeypatch.setattr(
        source, "_wake", lambda served: real([each for each in served if each.permit.kept or fresh(each)])
    )
    seen: set[int] = set()

    def fresh(request: Any) -> bool:
        seen.add(id(request))
        return len(seen) <= 2

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(played(source, 200), 0.5))


def test_what_is_kept_goes_to_the_next_with_the_same_key_and_makes_room_for_any_other() -> None:
    async def main() -> None:
        source = Permits("any", 1)
        recalled: list[object] = []

        def close(permit: Permit) -> None:
            recalled.append(permit.kept.pop())
            source.release(permit)

        first = await source.acquire("a", close, 600.0)
        source.park(first, "state")
        assert source.figures()[:4] == (1, 0, 1, 0)
        again = await source.acquire("a", close, 600.0)
        assert again.kept == ["state"]
        waiting = asyncio.create_task(source.acquire("a", close, 600.0))
        await asyncio.sleep(0)
        source.park(again, again.kept.pop())
        third = await waiting
        assert (third.kept, recalled) == (["state"], [])
        waiting = asyncio.create_task(source.acquire("b", close, 600.0))
        await asyncio.sleep(0)
        source.park(third, third.kept.pop())
        other = await waiting
        assert (other.kept, recalled) == ([], ["state"])
        source.park(other, "more")
        await source.acquire("a", close, 600.0)
        assert recalled == ["state", "more"]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_wait_ends_when_no_permit_moves_on_for_too_long() -> None:
    async def main() -> None:
        source = Permits("any", 1)
        held = await source.acquire("any", no_recall, 600.0)
        with pytest.raises(ToolTimeout, match=r"none was given back in 0\.02 seconds"):
            await source.acquire("any", no_recall, 0.02)
        source.release(held)
        assert source.figures().waiting == 0
        await source.acquire("any", no_recall, 0.02)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_name_has_one_capacity_while_it_is_in_use() -> None:
    two = permits_of("a name", 2)
    held = asyncio.run(two.acquire("any", no_recall, 600.0))
    with pytest.raises(ConfigError, match="give each a name of its own"):
        permits_of("a name", 3)
    assert permits_of("a name", 2) is two
    two.release(held)
    assert permits_of("a name", 3).limit == 3


class Workers:
    """Workers of this process in this process: each has a socket, as those of a vector have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self.sockets: list[socket.socket] = []

    def start(self, name: str, limit: int) -> Any:
        ours, theirs = socket.socketpair()
        self.sockets.append(theirs)
        permit_channel.serve_permits(ours)
        self._patch.setattr(permit_channel, "_desk", permit_channel._Desk(Channel(theirs)))
        return permit_channel.permit_source(name, limit)

    def end(self) -> None:
        for each in self.sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # which wakes the thread that reads
            each.close()


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Generator[Workers]:
    started = Workers(monkeypatch)
    yield started
    started.end()


def closing(source: Any, recalled: list[object]) -> Callable[[Permit], None]:
    def close(permit: Permit) -> None:
        recalled.append(permit.kept.pop())
        source.release(permit)

    return close


def test_workers_and_their_parent_share_a_capacity_in_the_order_of_asking(workers: Workers) -> None:
    async def main() -> None:
        name = "shared in order"
        # With more than one permit, two processes may hear of theirs in either order.
        parent = permits_of(name, 1)
        one, other = workers.start(name, 1), workers.start(name, 1)
        order: list[int] = []

        async def play(number: int, source: Any) -> None:
            permit = await source.acquire("any", no_recall, 600.0)
            order.append(number)
            await asyncio.sleep(0.0005)
            source.release(permit)

        held = await one.acquire("any", no_recall, 600.0)
        tasks: list[asyncio.Task[None]] = []
        for number in range(30):
            tasks.append(asyncio.create_task(play(number, (one, other, parent)[number % 3])))
            while parent.figures().waiting < number + 1:
                await asyncio.sleep(0.0005)
        one.release(held)
        await asyncio.gather(*tasks)
        assert order == list(range(30))
        while parent.figures().in_use:
            await asyncio.sleep(0.0005)
        assert parent.figures().served == 31

    asyncio.run(asyncio.wait_for(main(), 60))


def test_cancelled_waits_of_a_worker_lose_no_permit(workers: Workers) -> None:
    name = "cancelled in a worker"
    parent, one = permits_of(name, 2), workers.start(name, 2)

    asyncio.run(asyncio.wait_for(played(one, 200), 60))

    assert wait_for(lambda: parent.figures()[1:4] == (0, 0, 0))


def test_a_worker_keeps_what_it_can_use_again_until_another_needs_the_permit(workers: Workers) -> None:
    async def main() -> None:
        name = "kept in a worker"
        parent = permits_of(name, 1)
        one, other = workers.start(name, 1), workers.start(name, 1)
        recalled: list[object] = []
        close = closing(one, recalled)
        permit = await one.acquire("a", close, 600.0)
        one.park(permit, "state")
        again = await one.acquire("a", close, 600.0)
        assert (again.kept, recalled) == (["state"], [])
        one.park(again, again.kept.pop())
        theirs = await other.acquire("a", no_recall, 600.0)
        assert (theirs.kept, recalled, parent.figures().in_use) == ([], ["state"], 1)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_the_end_of_a_worker_frees_its_permits_and_ends_its_waits(workers: Workers) -> None:
    async def main() -> None:
        name = "a worker that ends"
        parent, one = permits_of(name, 2), workers.start(name, 2)
        await one.acquire("a", no_recall, 600.0)
        one.park(await one.acquire("a", lambda _: None, 600.0), "state")
        asyncio.create_task(one.acquire("b", lambda _: None, 600.0))  # noqa: RUF006
        while parent.figures().waiting < 1:
            await asyncio.sleep(0.0005)
        workers.sockets[0].shutdown(socket.SHUT_RDWR)
        for _ in range(2):
            await parent.acquire("c", no_recall, 600.0)
        assert parent.figures()[1:4] == (2, 0, 0)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_what_fails_in_the_parent_is_raised_in_the_worker(workers: Workers) -> None:
    async def main() -> None:
        held = await permits_of("fails", 1).acquire("a", no_recall, 600.0)
        with pytest.raises(ToolTimeout, match="none was given back"):
            await workers.start("fails", 1).acquire("a", no_recall, 0.02)
        with pytest.raises(ConfigError, match="give each a name of its own"):
            await workers.start("fails", 2).acquire("a", no_recall, 600.0)
        assert permits.permit_figures()["fails"].in_use == 1
        held.source.release(held)

    asyncio.run(asyncio.wait_for(main(), 60))
