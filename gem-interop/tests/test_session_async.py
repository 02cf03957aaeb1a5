"""Many sessions at once in an event loop: none blocks it, and nothing is left."""

import asyncio
import gc
import threading
import time
import weakref
from types import SimpleNamespace

import pytest
import session_samples
from session_samples import CHATML, Count, tokenizer

from gem.chat import ChatEncoder
from gem.errors import ConfigError, ResetNeeded, SpecError
from gem_interop.session import Session, Sessions

ID = "session_samples:Count"
CHAT = ChatEncoder(tokenizer())
END, SLEEP, HI = (list(CHAT.encode(f"{text}<|im_end|>")) for text in ("end", "sleep", "hi"))


@pytest.fixture(autouse=True)
def nothing_is_left():
    before, envs = threading.active_count(), Count.open["envs"]
    yield
    until = time.monotonic() + 30
    while (threading.active_count() > before or Count.open["envs"] > envs) and time.monotonic() < until:
        time.sleep(0.01)
    assert (threading.active_count() <= before, Count.open["envs"]) == (True, envs)


def test_many_sessions_at_once_give_what_one_gives():
    async def play(session, seed):
        read = [await session.start(seed, {"what": seed})]
        read += [await session.said(reply, [-1.0] * len(reply)) for reply in (HI, HI[: seed % 3], END)]
        return read, session.result

    async def main():
        async with Sessions(ID, CHAT, most=8) as sessions:
            return await asyncio.gather(*(play(sessions.session(), seed) for seed in range(14, 64)))

    alone = Session(ID, CHAT)
    for seed, (read, result) in zip(range(14, 64), asyncio.run(main()), strict=True):
        expected = [alone.start(seed, {"what": seed})]
        expected += [alone.said(reply, [-1.0] * len(reply)) for reply in (HI, HI[: seed % 3], END)]
        assert read == expected
        assert result.segments == alone.result.segments
        assert (result.episode, result.success) == (alone.result.episode, True)
    alone.close()


def test_one_session_at_a_time_needs_one_thread_however_many_there_may_be():
    """A thread was started with each message, until there were as many as envs."""

    async def main():
        before = threading.active_count()
        async with Sessions(ID, CHAT, most=32) as sessions, sessions.session() as session:
            for seed in range(20, 36):
                await session.start(seed, {"what": seed})
                await session.said(END)
            return threading.active_count() - before

    assert asyncio.run(main()) <= 2


def test_an_env_that_takes_its_time_does_not_block_the_event_loop():
    async def main():
        async with Sessions(ID, CHAT, most=4) as sessions:
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            each = [sessions.session() for _ in range(4)]
            for session in each:
                await session.start(0)
            began = time.monotonic()
            await asyncio.gather(*(session.said(SLEEP) for session in each))
            passed = time.monotonic() - began
            ticking.cancel()
            for session in each:
                session.close()
            return ticks, passed

    ticks, passed = asyncio.run(main())
    assert ticks >= 5
    assert passed < 4 * 0.5  # one after another


def test_a_session_that_is_cancelled_gives_its_env_back_after_the_call():
    async def main():
        async with Sessions(ID, CHAT, most=1) as sessions:
            first, second = sessions.session(), sessions.session()
            await first.start(0)
            waits = asyncio.create_task(second.start(0))
            busy = asyncio.create_task(first.said(SLEEP))
            await asyncio.sleep(0.05)
            busy.cancel()
            with pytest.raises(asyncio.CancelledError):
                await busy
            with pytest.raises(ResetNeeded):
                await first.said(END)
            assert await waits == await second.start(0)
            assert await second.said(END) is None
            # Who waits for an env may be cancelled too.
            await second.start(0)
            waits = asyncio.create_task(first.start(0))
            await asyncio.sleep(0.01)
            waits.cancel()
            await second.said(END)
            async with sessions.session() as third:
                await third.start(0)
                assert await third.said(HI) is not None
            assert await sessions.session().start(0)

    asyncio.run(main())


def test_a_second_task_in_one_session_is_refused_and_the_first_has_its_answer():
    """Both waited for ever."""

    async def main():
        async with Sessions(ID, CHAT, most=2) as sessions, sessions.session() as session:
            read, refused = await asyncio.gather(session.start(0), session.start(1), return_exceptions=True)
            assert "make one per task" in str(refused)
            said, refused = await asyncio.gather(session.said(HI), session.said(END), return_exceptions=True)
            assert (said[: len(read)], "make one per task" in str(refused)) == (read, True)
            return [turn.action for turn in session.turns]

    assert asyncio.run(asyncio.wait_for(main(), 30)) == ["hi"]


def test_an_episode_that_its_task_leaves_between_two_calls_gives_its_env_back():
    unlucky = "{% if '13' in messages[0].content %}{{ raise_exception('13') }}{% endif %}"
    refuses = ChatEncoder(tokenizer(CHATML + unlucky))

    async def dies(session):
        await session.start(0)
        raise OSError("the engine is down")

    async def main():
        async with Sessions(ID, refuses, most=1) as sessions:
            with pytest.raises(ConfigError, match="cannot render"):
                await (kept := sessions.session()).start(0, {"what": 13})
            assert kept.ended
            with pytest.raises(OSError, match="the engine is down"):
                await dies(sessions.session())
            gc.collect()  # a session that is forgotten
            with pytest.raises(OSError, match="the engine is down") as kept_too:
                async with sessions.session() as session:
                    await dies(session)
            assert await sessions.session().start(0), kept_too

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_session_that_is_closed_while_it_waits_for_an_env_leaves_it_to_others():
    async def main():
        async with Sessions(ID, CHAT, most=1) as sessions:
            first, second = sessions.session(), sessions.session()
            await first.start(0)
            waiting = asyncio.create_task(second.start(0))
            await asyncio.sleep(0)
            second.close()
            first.close()
            with pytest.raises(ResetNeeded, match="closed while it waited"):
                await waiting
            assert await asyncio.wait_for(sessions.session().start(0), 30)

    asyncio.run(main())


def test_a_call_that_exceeds_its_time_limit_fails_its_episode_alone():
    async def main():
        async with Sessions(ID, CHAT, most=2, step_timeout=0.1) as sessions:
            slow, quick = sessions.session(), sessions.session()
            await slow.start(0)
            await quick.start(0)
            ends = await asyncio.gather(slow.said(SLEEP), quick.said(END))
            assert ends == [None, None]
            assert slow.result.failure.error == "TimeoutError: timed out after 0.1 s"
            assert quick.result.success
            await slow.start(1)
            assert await slow.said(END) is None
            assert slow.result.success

    asyncio.run(main())


def test_an_env_in_a_call_that_was_given_up_and_never_ends_is_replaced_for_who_waits(monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(session_samples, "time", SimpleNamespace(sleep=lambda seconds: seconds and released.wait(60)))

    async def main():
        async with Sessions(ID, CHAT, most=1, step_timeout=0.1) as sessions:
            stuck, next_one = sessions.session(), sessions.session()
            await stuck.start(0)
            given_up = asyncio.create_task(stuck.said(SLEEP))
            await asyncio.sleep(0.02)
            given_up.cancel()
            assert await asyncio.wait_for(next_one.start(0), 20)
            assert await next_one.said(END) is None
            released.set()

    asyncio.run(main())


def test_closing_needs_no_thread_where_none_starts(monkeypatch):
    """As in functions of atexit on Python 3.12."""

    def refuse(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    async def main():
        sessions = Sessions(ID, CHAT, most=1)
        await sessions.session().start(0)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        await sessions.close()

    asyncio.run(main())


def test_closing_tells_who_waits_and_leaves_nothing():
    async def main():
        sessions = Sessions(ID, CHAT, most=1)
        first, second = sessions.session(), sessions.session()
        await first.start(0)
        tasks = [asyncio.create_task(each) for each in (first.said(SLEEP), second.start(0))]
        await asyncio.sleep(0.05)
        await sessions.close()
        await sessions.close()
        for task in tasks:
            with pytest.raises(RuntimeError, match="this session is closed"):
                await task
        with pytest.raises(RuntimeError, match="this session is closed"):
            await second.start(0)

    asyncio.run(main())


def test_one_set_of_sessions_serves_one_event_loop_after_another():
    sessions = Sessions(ID, CHAT, most=1)

    async def play():
        session = sessions.session()
        await session.start(0)
        await session.said(END)
        return session.result.total_reward

    async def abandon():
        await sessions.session().start(0)
        await asyncio.wait_for(sessions.session().start(0), 0.01)

    assert [asyncio.run(play()), asyncio.run(play())] == [10.0, 10.0]
    asyncio.run(sessions.close())


def test_a_loop_that_is_closed_before_it_takes_an_answer_is_not_kept():
    sessions = Sessions(ID, CHAT, most=2)

    async def play():
        await sessions.session().start(0)

    def leave():
        loop = asyncio.new_event_loop()
        session = sessions.session()
        loop.run_until_complete(session.start(0))
        loop.run_until_complete(asyncio.wait({loop.create_task(session.said(SLEEP))}, timeout=0.1))
        time.sleep(0.7)  # the answer wakes the loop, which does not run any more
        loop.close()
        return weakref.ref(loop)

    loop = leave()
    asyncio.run(play())
    gc.collect()
    assert loop() is None
    asyncio.run(sessions.close())


def test_messages_and_refused_settings():
    async def main():
        async with Sessions(ID, most=1) as sessions:
            session = sessions.message_session()
            assert (await session.start(0))[0]["role"] == "user"
            assert len(await session.said("hi")) == 3
            assert await session.said("fail") is None
            assert session.result.failure.error == "ValueError: broken"
        with pytest.raises(SpecError, match="max_turnz"):
            async with Sessions(ID, CHAT, env_kwargs={"max_turnz": 3}):
                pass

    asyncio.run(main())
