"""The runtime: limits, order, timeouts, retries, the cache, cancellation, and that nothing is left."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator

import pytest
from tool_samples import python, search

from gem.errors import BadArguments, ConfigError, ToolError, ToolTimeout
from gem.tool import Resource, ToolRuntime, shared_runtime, tool
from gem.tool.cache import Cache, key_of


@pytest.fixture
def own() -> Generator[ToolRuntime]:
    runtime = ToolRuntime()
    yield runtime
    runtime.close()


class Crowd:
    """Counts who is in at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


def failure(function: Callable[..., object], *args: object) -> list[BaseException]:
    """What calling it raises, if anything."""
    try:
        function(*args)
    except BaseException as error:
        return [error]
    return []


def test_a_call_answers_raises_what_the_tool_raises_and_checks_its_arguments(own: ToolRuntime) -> None:
    assert own.call(search, {"query": "x", "top": "2"}) == "2 documents on x"
    with pytest.raises(ToolError, match="only English"):
        own.call(search, {"query": "ö"})
    with pytest.raises(BadArguments, match="'query' is missing"):
        own.call(search, {})


def test_a_batch_keeps_its_order_and_a_failure_in_it_its_place(own: ToolRuntime) -> None:
    @tool
    async def late(n: int) -> str:
        """Answer the later, the smaller the number."""
        await asyncio.sleep(0.02 / (n + 1))
        if n == 3:
            raise ToolError("three")
        if n == 5:
            raise KeyError("five")
        return str(n)

    results = own.call_many([*((late, {"n": n}) for n in range(8)), (late, {"n": "x"}), (python, {"code": "1"})])

    assert [type(result) for result in results] == [
        str,
        str,
        str,
        ToolError,
        str,
        KeyError,
        str,
        str,
        BadArguments,
        str,
    ]
    assert results[:3] == ["0", "1", "2"]
    assert results[-1] == "ran 1"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_no_more_calls_run_at_once_than_a_tool_and_the_runtime_allow(kind: str) -> None:
    crowd, everyone = Crowd(), Crowd()

    @tool(max_concurrency=3)
    def narrow() -> str:
        """Take a while."""
        with crowd, everyone:
            time.sleep(0.002)
        return ""

    @tool(max_concurrency=3)
    async def narrow_async() -> str:
        """Take a while."""
        with crowd, everyone:
            await asyncio.sleep(0.002)
        return ""

    @tool
    def wide() -> str:
        """Take a while."""
        with everyone:
            time.sleep(0.002)
        return ""

    own = ToolRuntime(max_concurrency=7)
    chosen = narrow if kind == "sync" else narrow_async
    results = own.call_many([(chosen, {}), (wide, {})] * 60)
    own.close()

    assert results == [""] * 120
    assert (crowd.most, everyone.most) == (3, 7)


def test_calls_from_many_threads_share_the_limits(own: ToolRuntime) -> None:
    crowd = Crowd()

    @tool(max_concurrency=4)
    async def enter() -> str:
        """Take a while."""
        with crowd:
            # The first stay until there were four: on a busy machine the threads might come one after another.
            for _ in range(10_000):
                await asyncio.sleep(0.001)
                if crowd.most >= 4:
                    break
        return "in"

    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(str(own.call(enter, {})))) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == ["in"] * 40
    assert crowd.most == 4


def test_coroutines_of_any_loop_call_too(own: ToolRuntime) -> None:
    async def main() -> tuple[object, object]:
        return await own.acall(python, {"code": "1"}), await own.acall_many([(python, {"code": "2"})] * 2)

    assert asyncio.run(main()) == ("ran 1", ["ran 2", "ran 2"])


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_call_that_takes_too_long_is_a_fault(own: ToolRuntime, kind: str) -> None:
    done = threading.Event()

    @tool(timeout=0.05)
    def hang() -> str:
        """Never come back."""
        done.wait()
        return ""

    @tool(timeout=0.05)
    async def hang_async() -> str:
        """Never come back."""
        await asyncio.Event().wait()
        return ""

    with pytest.raises(ToolTimeout, match=r"'hang\w*' has not returned within 0.05 seconds"):
        own.call(hang if kind == "sync" else hang_async, {})
    done.set()


def test_a_timeout_error_of_the_tools_own_keeps_its_type(own: ToolRuntime) -> None:
    @tool(timeout=5)
    async def connect() -> str:
        """Connect."""
        raise TimeoutError("the server is slow")

    with pytest.raises(TimeoutError, match="the server is slow") as caught:
        own.call(connect, {})
    assert not isinstance(caught.value, ToolTimeout)


def test_a_thread_that_was_given_up_keeps_its_place_until_it_comes_back(own: ToolRuntime) -> None:
    crowd, done = Crowd(), threading.Event()

    @tool(timeout=0.05, max_concurrency=2)
    def hang(wait: bool) -> str:
        """Hang."""
        with crowd:
            if wait:
                done.wait()
        return "back"

    results = own.call_many([(hang, {"wait": True})] * 2 + [(hang, {"wait": False})] * 3)
    stuck = own.call_many([(hang, {"wait": False})])
    done.set()

    assert all(isinstance(result, ToolTimeout) for result in results + stuck)
    assert "all 2 permits of the tool 'hang' are held" in str(stuck[0])
    deadline = time.monotonic() + 10
    while crowd.now and time.monotonic() < deadline:
        time.sleep(0.001)
    while isinstance(result := own.call_many([(hang, {"wait": False})])[0], ToolTimeout):
        assert time.monotonic() < deadline
    assert result == "back"
    assert crowd.most == 2


def test_only_faults_that_may_pass_are_tried_again() -> None:
    tries: Counter[str] = Counter()

    @tool(retries=2)
    def fetch(how: str) -> str:
        """Fetch."""
        tries[how] += 1
        if how == "mends" and tries[how] > 2:
            return "fetched"
        raise {"mends": ConnectionError, "never": ConnectionResetError, "bug": KeyError, "no": ToolError}[how](how)

    own = ToolRuntime()
    results = own.call_many([(fetch, {"how": how}) for how in ("mends", "never", "bug", "no")])
    own.close()

    assert [type(result) for result in results] == [str, ConnectionResetError, KeyError, ToolError]
    assert tries == {"mends": 3, "never": 3, "bug": 1, "no": 1}


def test_pauses_between_tries_double(own: ToolRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)

    @tool(retries=9)
    def fail() -> str:
        """Fail."""
        raise ConnectionError

    with pytest.raises(ConnectionError):
        own.call(fail, {})

    full = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, full, strict=True))


def test_a_pure_tool_runs_once_for_equal_arguments_and_failures_are_not_kept(own: ToolRuntime) -> None:
    ran: list[tuple[int, int]] = []

    @tool(pure=True)
    def power(base: int, exponent: int = 2) -> str:
        """Raise."""
        ran.append((base, exponent))
        if base == 0:
            raise ToolError("zero")
        return str(base**exponent)

    for _ in range(2):
        assert own.call(power, {"base": 2, "exponent": 3}) == own.call(power, {"exponent": 3, "base": 2}) == "8"
        with pytest.raises(ToolError):
            own.call(power, {"base": 0})
    assert own.call(power, {"base": 3}) == "9"
    assert ran == [(2, 3), (0, 2), (0, 2), (3, 2)]


def test_the_cache_forgets_what_was_not_used_for_longest_and_never_holds_more_than_its_room() -> None:
    cache = Cache(room=100)
    a, b, c, large = (key_of(python, {"code": name}) for name in ("a", "b", "c", "l"))
    cache.put(a, "x" * 30)
    cache.put(b, "x" * 30)
    assert cache.get(a) == "x" * 30
    cache.put(c, "x" * 30)
    cache.put(large, "x" * 101)

    assert [cache.get(key) is not None for key in (a, b, c, large)] == [True, False, True, False]


def test_what_the_cache_gives_can_be_changed_without_harm() -> None:
    cache = Cache(room=1000)
    key = key_of(python, {})
    parts = [{"type": "text", "text": "a"}]
    cache.put(key, parts)  # pyright: ignore[reportArgumentType]
    parts.clear()
    cache.get(key).clear()  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]

    assert cache.get(key) == [{"type": "text", "text": "a"}]


def test_a_cancelled_call_ends_the_tool_and_gives_its_place_back(own: ToolRuntime) -> None:
    crowd = Crowd()

    @tool(max_concurrency=1)
    async def wait(seconds: float) -> str:
        """Wait."""
        with crowd:
            await asyncio.sleep(seconds)
        return "waited"

    async def main() -> str:
        running = asyncio.create_task(own.acall(wait, {"seconds": 1000}))
        queued = asyncio.create_task(own.acall(wait, {"seconds": 1000}))
        while not crowd.now:
            await asyncio.sleep(0.001)
        queued.cancel()
        running.cancel()
        await asyncio.wait([running, queued])
        return str(await own.acall(wait, {"seconds": 0}))

    assert asyncio.run(main()) == "waited"
    assert crowd.most == 1


@pytest.mark.parametrize(
    "raised", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, StopIteration]
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_tool_that_raises_what_would_end_a_loop_harms_no_other_call(
    own: ToolRuntime, raised: type[BaseException], kind: str
) -> None:
    @tool
    def bad() -> str:
        """Fail."""
        raise raised

    @tool
    async def bad_async() -> str:
        """Fail."""
        raise raised

    (result,) = own.call_many([(bad if kind == "sync" else bad_async, {})])

    assert isinstance(result, raised | RuntimeError)
    assert own.call(python, {"code": "1"}) == "ran 1"


def test_an_async_tool_that_waits_for_its_own_runtime_is_told_instead_of_waiting_forever(own: ToolRuntime) -> None:
    @tool
    async def nested() -> str:
        """Call another."""
        return str(own.call(python, {"code": "1"}))

    with pytest.raises(RuntimeError, match="cannot wait for the runtime that runs it"):
        own.call(nested, {})


class Cups(Resource[dict[str, int]]):
    """Counts its states, and renews those it is told to."""

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
    own.call_many([(sip, {})] * 5, one)
    answers = own.call(look, {}, one), own.call(sip, {}, two), own.call(look, {})
    one.close()
    two.close()

    assert answers == ("5", "1", "0")
    assert (cups.opened, cups.closed) == (3, 3)


def test_a_state_that_can_be_renewed_serves_the_next_session_unless_a_call_on_it_failed(own: ToolRuntime) -> None:
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
    assert (cups.opened, cups.closed, own.states_idle) == (1, 0, 1)
    session = own.session()
    with pytest.raises(ValueError, match="spilt"):
        own.call(sip, {"spill": True}, session)
    assert own.call(sip, {}, session) == "1"
    session.close()
    assert (cups.opened, cups.closed, own.states_idle, own.states_in_use) == (2, 1, 1, 0)


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
    assert (shy.closed, own.states_in_use) == (1, 0)


def test_a_fault_in_closing_one_state_keeps_no_other_open_and_is_raised(own: ToolRuntime) -> None:
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
    own.call_many([(one, {}), (two, {})], session)
    with pytest.raises(OSError, match="stuck"):
        session.close()
    assert (cups.closed, own.states_in_use) == (1, 0)


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
    assert set(threading.enumerate()) == before
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


def test_a_thread_that_comes_back_after_the_end_disturbs_nobody(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.tool.runtime.GRACE", 0.01)
    go_on = threading.Event()
    threads: list[threading.Thread] = []

    @tool(timeout=0.01)
    def hang() -> str:
        """Come back too late."""
        threads.append(threading.current_thread())
        go_on.wait()
        return ""

    own = ToolRuntime()
    with pytest.raises(ToolTimeout):
        own.call(hang, {})
    own.close()
    go_on.set()
    threads[0].join()

    assert caplog.records == []


def test_a_forked_child_has_a_runtime_of_its_own_and_leaves_the_parents_states_alone(own: ToolRuntime) -> None:
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


PROGRAM = """
import sys, threading, time
from gem.tool import shared_runtime, tool

@tool(timeout=0.05)
def hang() -> str:
    '''Hang.'''
    time.sleep(1000)
    return ""

try:
    shared_runtime().call(hang, {})
except TimeoutError:
    print("late", flush=True)
"""


def test_a_program_ends_even_if_a_tool_of_its_hangs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr, done.returncode) == ("late\n", "", 0)


@pytest.mark.parametrize("settings", [{"max_concurrency": 0}, {"cache_room": -1}])
def test_a_setting_out_of_range_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        ToolRuntime(**settings)


def test_the_process_shares_one() -> None:
    assert shared_runtime() is shared_runtime()
