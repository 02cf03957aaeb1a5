"""States of resources: when they are opened, shared, reused, closed and saved."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Generator

import pytest
from tool_samples import Listener, call_many, note, python

from gem.errors import SnapshotError
from gem.tool import Resource, ToolRuntime, tool
from gem.wrappers.tool_env import ToolEnv


@pytest.fixture
def own() -> Generator[ToolRuntime]:
    runtime = ToolRuntime()
    yield runtime
    runtime.close()


def failure(function: Callable[..., object], *args: object) -> list[BaseException]:
    """What calling it raises, if anything."""
    try:
        function(*args)
    except BaseException as error:
        return [error]
    return []


class Cups(Resource[dict[str, int]]):
    """Counts its states, and renews them if `renews`."""

    def __init__(self, *, renews: bool = False) -> None:
        self.renews = renews
        self.opened = self.closed = 0

    async def open(self) -> dict[str, int]:
        await asyncio.sleep(0.001)
        self.opened += 1
        return {"sips": 0}

    def renew(self, state: dict[str, int]) -> bool:
        state["sips"] = 0
        return self.renews

    async def close(self, state: dict[str, int]) -> None:
        self.closed += 1


def test_the_tools_of_a_session_share_its_state_and_another_session_has_its_own(own: ToolRuntime) -> None:
    cups = Cups()

    @tool(resource=cups)
    def sip(cup: dict[str, int]) -> str:
        """Drink."""
        cup["sips"] += 1
        return str(cup["sips"])

    @tool(resource=cups)
    async def look(cup: dict[str, int]) -> str:
        """Look."""
        return str(cup["sips"])

    one, two = own.session(), own.session()
    call_many(own, [(sip, {})] * 5, one)
    answers = own.call(look, {}, one), own.call(sip, {}, two), own.call(look, {})
    one.close()
    two.close()

    assert answers == ("5", "1", "0")
    assert (cups.opened, cups.closed) == (3, 3)


def test_a_renewed_state_is_used_by_the_next_session_unless_a_call_on_it_failed(own: ToolRuntime) -> None:
    cups = Cups(renews=True)

    @tool(resource=cups)
    def sip(cup: dict[str, int], spill: bool = False) -> str:
        """Drink."""
        cup["sips"] += 1
        if spill:
            raise ValueError("spilt")
        return str(cup["sips"])

    for _ in range(3):
        session = own.session()
        assert own.call(sip, {}, session) == "1"
        session.close()
    assert (cups.opened, cups.closed, own.states.idle) == (1, 0, 1)
    session = own.session()
    with pytest.raises(ValueError, match="spilt"):
        own.call(sip, {"spill": True}, session)
    assert own.call(sip, {}, session) == "1"
    session.close()
    assert (cups.opened, cups.closed, own.states.idle, own.states.in_use) == (2, 1, 1, 0)


def test_a_state_that_cannot_be_opened_is_a_fault_and_the_next_call_tries_again(own: ToolRuntime) -> None:
    class Shy(Cups):
        async def open(self) -> dict[str, int]:
            self.opened += 1
            if self.opened == 1:
                raise OSError("not now")
            return {}

    shy = Shy()

    @tool(resource=shy)
    def ask(state: dict[str, int]) -> str:
        """Ask."""
        return "yes"

    session = own.session()
    with pytest.raises(OSError, match="not now"):
        own.call(ask, {}, session)
    assert own.call(ask, {}, session) == "yes"
    session.close()
    assert (shy.closed, own.states.in_use) == (1, 0)


def test_a_fault_in_closing_one_state_is_raised_after_the_others_are_closed(own: ToolRuntime) -> None:
    class Stuck(Cups):
        async def close(self, state: dict[str, int]) -> None:
            raise OSError("stuck")

    stuck, cups = Stuck(), Cups()

    @tool(resource=stuck)
    def one(state: dict[str, int]) -> str:
        """One."""
        return ""

    @tool(resource=cups)
    def two(state: dict[str, int]) -> str:
        """Two."""
        return ""

    session = own.session()
    call_many(own, [(one, {}), (two, {})], session)
    with pytest.raises(OSError, match="stuck"):
        session.close()
    assert (cups.closed, own.states.in_use) == (1, 0)


def test_closing_cancels_what_runs_closes_every_state_and_ends_the_threads() -> None:
    before = set(threading.enumerate())
    cups = Cups()
    own = ToolRuntime()

    @tool(resource=cups)
    def sip(cup: dict[str, int]) -> str:
        """Drink."""
        return ""

    @tool
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(1000)
        return ""

    session = own.session()
    own.call(sip, {}, session)
    raised: list[BaseException] = []
    waiting = threading.Thread(target=lambda: raised.extend(failure(own.call, hang, {})))
    waiting.start()
    while not own._under_way:
        time.sleep(0.001)
    own.close()
    waiting.join()
    session.close()
    own.close()

    assert (len(raised), cups.closed) == (1, 1)
    assert set(threading.enumerate()) <= before
    with pytest.raises(RuntimeError, match="closed"):
        own.call(python, {"code": "1"})


def test_a_state_that_is_being_opened_while_the_runtime_closes_is_closed_too() -> None:
    started, go_on = threading.Event(), threading.Event()
    closed: list[str] = []

    class Slow(Resource[str]):
        def open(self) -> str:
            started.set()
            go_on.wait()
            return "opened late"

        def close(self, state: str) -> None:
            closed.append(state)

    @tool(resource=Slow())
    def use(state: str) -> str:
        """Use it."""
        return state

    own = ToolRuntime()
    raised: list[BaseException] = []
    waiting = threading.Thread(target=lambda: raised.extend(failure(own.call, use, {}, own.session())))
    waiting.start()
    started.wait()
    closing = threading.Thread(target=own.close)
    closing.start()
    waiting.join()
    go_on.set()
    closing.join()

    assert closed == ["opened late"]
    assert len(raised) == 1


def test_a_forked_child_has_its_own_runtime_and_does_not_touch_the_parents_states(own: ToolRuntime) -> None:
    cups = Cups()

    @tool(resource=cups)
    def sip(cup: dict[str, int]) -> str:
        """Drink."""
        cup["sips"] += 1
        return str(cup["sips"])

    session = own.session()
    own.call(sip, {}, session)
    child = os.fork()
    if child == 0:
        fine = own.call(sip, {}, session) == "1" and cups.opened == 2
        own.close()
        os._exit(0 if fine and cups.closed == 1 else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert own.call(sip, {}, session) == "2"
    session.close()


def test_a_state_is_opened_by_the_first_call_and_given_back_however_the_episode_ends(own: ToolRuntime) -> None:
    env = ToolEnv(Listener(), [note], runtime=own)
    for end in ("end", "crash", "fault", "reset", "refuse", "close"):
        env.reset(seed=0)
        assert own.states.in_use == 0
        env.step("<note>a</note>")
        assert "a | b" in env.step("<note>b</note>").observation
        assert own.states.in_use == 1
        match end:
            case "end":
                for _ in range(3):
                    env.step("yes")
            case "crash":
                with pytest.raises(RuntimeError):
                    env.step("crash")
            case "fault":
                with pytest.raises(OSError, match="disk"):
                    env.step("<note>fault</note>")
            case "refuse":
                while not env.step("<note>").done:
                    pass
            case "close":
                env.close()
            case _:
                env.reset(seed=1)
        assert own.states.in_use == 0, end


def test_an_env_that_is_garbage_collected_gives_its_states_back(own: ToolRuntime) -> None:
    env = ToolEnv(Listener(), [note], runtime=own)
    env.reset(seed=0)
    env.step("<note>a</note>")

    del env

    deadline = time.monotonic() + 10
    while own.states.in_use and time.monotonic() < deadline:
        time.sleep(0.001)
    assert own.states.in_use == 0


def test_an_open_state_without_snapshots_raises_and_an_unopened_one_does_not() -> None:
    class Sealed(Resource[list[str]]):
        def open(self) -> list[str]:
            return []

        def close(self, state: list[str]) -> None: ...

    @tool(resource=Sealed())
    def seal(lines: list[str]) -> str:
        """Do it."""
        return "sealed"

    env = ToolEnv(Listener(), [seal])
    env.reset(seed=0)
    env.restore(env.snapshot())
    env.step("<seal></seal>")

    with pytest.raises(SnapshotError, match="Sealed does not support snapshots"):
        env.snapshot()
    env.close()
