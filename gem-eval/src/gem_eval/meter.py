"""Counting what a model uses, and ending in order when a budget is spent."""

import math
import time
from collections.abc import Mapping

from msgspec.structs import replace

from gem.episode import Completion, Usage
from gem.errors import Failure
from gem.llm.policy import ChatPolicy
from gem.rollout.policy import InfoPolicy, Policy
from gem.rollout.transcript import Transcript
from gem.tool.content import parts_of
from gem_eval.settings import Budget, Prices

_CHARACTERS = 4
"""Characters of a token, where the server does not count."""
_MOST_CHARACTERS = 16
"""Characters per token above which a count is taken for wrong: a server that reports too little would end no budget."""


class BudgetSpent(Exception):
    """Raised when what was asked for would cost more than the budget."""


def cost(usage: Usage, prices: Prices) -> float:
    """Cost of these tokens, at prices per million."""
    of_prompts, of_replies, of_cached = (*prices, prices[0])[:3]
    millionths = (usage.prompt - usage.cached) * of_prompts + usage.cached * of_cached + usage.completion * of_replies
    return millionths / 1e6


class Meter(Policy):
    """A policy that counts what another one uses, and asks it nothing more when the budget is spent.

    Replies that were asked for before are still delivered, so that episodes that end with them are complete; then, or
    when the time is over, `recv` raises `BudgetSpent`. Every completion gets a `usage`: the server's, or what is known
    here. With a budget or prices, tokens are estimated where the server reports none, or less than is possible.
    """

    def __init__(self, policy: Policy, budget: Budget) -> None:
        self.info_methods = policy.info_methods
        self._policy, self._budget = policy, budget
        self._asked: dict[int, float] = {}
        """Slot with a pending request → when it was made."""
        self._put_off: set[int] = set()
        """Slots that ask in vain."""
        self._until = time.monotonic() + budget.max_minutes * 60 if budget.max_minutes else None
        self.spent = Usage()
        """Tokens and seconds of every reply so far, those of unfinished episodes included."""
        self.estimated = 0
        """Number of replies with an estimated number of tokens."""
        self._read: dict[int, int] = {}
        """Slot with a pending request → the characters of its conversation; empty where nothing is estimated."""
        self._of_slot: dict[int, Usage] = {}
        self._running, self._finished, self._of_finished = 0, 0, Usage()

    @property
    def cost(self) -> float | None:
        """Cost so far, if prices are known."""
        return cost(self.spent, self._budget.prices) if self._budget.prices else None

    @property
    def repeated(self) -> int:
        """Requests that had to be repeated, because a chat API failed or limits the rate."""
        return self._policy.client.http.repeated if isinstance(self._policy, ChatPolicy) else 0

    def begin(self) -> bool:
        """Begin an episode if the budget allows it, with all that run using as much as those that have ended."""
        share = (self._running + 1) / self._finished if self._finished else 0.0
        # Of those that run, part is spent already: this errs on the side of thrift.
        sums = zip(self._sums(self.spent), self._sums(self._of_finished), self._most, strict=True)
        may = not self._is_late and all(spent + share * finished <= most for spent, finished, most in sums)
        self._running += may
        return may

    @property
    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def _sums(self, usage: Usage) -> tuple[float, float]:
        return usage.prompt + usage.completion, cost(usage, self._budget.prices) if self._budget.prices else 0.0

    @property
    def _most(self) -> tuple[float, float]:
        endless = float("inf")
        return self._budget.max_tokens or endless, self._budget.max_cost or endless

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        if any(spent >= most for spent, most in zip(self._sums(self.spent), self._most, strict=True)):
            self._put_off |= transcripts.keys()
            return
        self._asked |= dict.fromkeys(transcripts, time.perf_counter())
        if self._budget.max_tokens or self._budget.prices:
            self._read |= {slot: _characters(transcript) for slot, transcript in transcripts.items()}
        self._policy.send(transcripts)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        if self._put_off and not self._asked and timeout != 0:
            raise BudgetSpent
        if self._is_late:
            raise BudgetSpent
        if self._until is not None:
            left = max(0.0, self._until - time.monotonic())
            timeout = left if timeout is None else min(timeout, left)
        now_ready = self._policy.recv(min_results, timeout)
        now = time.perf_counter()
        return {slot: self._counted(slot, reply, now - self._asked.pop(slot, now)) for slot, reply in now_ready.items()}

    def _counted(self, slot: int, reply: Completion | Failure, seconds: float) -> Completion | Failure:
        if not isinstance(reply, Completion) or isinstance(self._policy, InfoPolicy):
            return reply
        usage = reply.usage or Usage(len(reply.prompt_ids), len(reply.ids))
        if slot in self._read:
            usage = self._plausible(usage, self._read.pop(slot), len(reply.text) + len(reply.reasoning))
        if not usage.seconds:
            usage = replace(usage, seconds=seconds)
        self.spent += usage
        self._of_slot[slot] = self._of_slot.get(slot, Usage()) + usage
        return replace(reply, usage=usage)

    def _plausible(self, usage: Usage, read: int, written: int) -> Usage:
        """The usage for so many characters that were read and written, estimated where a count is too small."""
        counts = {"prompt": (usage.prompt, read), "completion": (usage.completion, written)}
        few = {name: size for name, (count, size) in counts.items() if count * _MOST_CHARACTERS < size}
        self.estimated += bool(few)
        return replace(usage, **{name: math.ceil(size / _CHARACTERS) for name, size in few.items()}) if few else usage

    def forget(self, slot: int) -> None:
        self._asked.pop(slot, None)
        self._read.pop(slot, None)
        self._put_off.discard(slot)
        self._running, self._finished = self._running - 1, self._finished + 1
        self._of_finished += self._of_slot.pop(slot, Usage())
        self._policy.forget(slot)

    def close(self) -> None:
        self._policy.close()


def _characters(transcript: Transcript) -> int:
    seen = [*(turn.observation for turn in transcript.turns), transcript.observation]
    texts = (len(part.get("text", "")) for each in seen for part in parts_of(each))
    return sum(texts) + sum(len(turn.action) for turn in transcript.turns)
