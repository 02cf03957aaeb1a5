"""Sessions end, if what their env depends on cannot be reached."""

import asyncio

import pytest
from session_samples import tokenizer

from gem import Step, TurnEnv
from gem.chat import ChatEncoder
from gem.errors import Unreachable
from gem.vector.reach import IN_A_ROW
from gem_interop.session import Session, Sessions

FAR = "test_session_unreachable:Far"


class Far(TurnEnv):
    """Needs a server; episodes of even seeds reach it."""

    def _reset(self, options):
        if self._seed % 2:
            raise Unreachable("server cannot be reached")
        return "go"

    def _step(self, action):
        return Step.ongoing("")

    def sample_action(self):
        return "x"


def test_sessions_end_after_several_episodes_in_a_row():
    chat = ChatEncoder(tokenizer())
    with Session(FAR, chat) as session:
        for seed in range(1, 2 * IN_A_ROW - 2, 2):
            assert session.start(seed) is None
            assert session.result.failure
        with pytest.raises(Unreachable, match="server cannot be reached"):
            session.start(9)
        assert session.result.failure

    async def main():
        async with Sessions(FAR, chat, most=2) as sessions:
            each = [sessions.session() for _ in range(IN_A_ROW)]
            return await asyncio.gather(*(session.start(1) for session in each), return_exceptions=True)

    heard = asyncio.run(main())
    assert [type(each) for each in heard].count(Unreachable) == 1
    assert heard.count(None) == IN_A_ROW - 1


def test_truncated_episodes_in_between_have_reached_it():
    with Session(FAR, ChatEncoder(tokenizer())) as session:
        for seed in range(4 * IN_A_ROW):
            if session.start(seed) is not None:
                session.truncate()
            assert bool(session.result.failure) == bool(seed % 2)
