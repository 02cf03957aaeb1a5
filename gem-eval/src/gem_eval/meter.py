"""Counting what a model uses, and ending in order when a budget is spent."""

import math
import time
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from gem.episode import Completion, Start, Usage
from gem.errors import Failure
from gem.llm.policy import ChatPolicy
from gem.roles import Asked
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import InfoPolicy, Policy
from gem.rollout.transcript import Transcript
from gem.tool.content import parts_of
from gem_eval.settings import Budget, Prices

_CHARACTERS = 4
"""Characters of a token, where the server does not count."""
_MOST_CHARACTERS = 16
"""Characters per token above which a count is taken for wrong: a server that reports too little would end no budget."""
_DOUBT = 10
"""Replies by which the known ones are outweighed: the fewer are known, the more the next may differ from their mean."""
_EPISODE = 55
"""Mean replies that an episode costs, as long as none has ended: ten, each of which reads those before it."""
_UNKNOWN = 4
"""Most requests in progress while no cost is known, where requests have failed: a failure says nothing of a cost."""
_ROUNDING = 1e-9
"""Share of a budget below which nothing is too much."""


class BudgetSpent(Exception):
    """Raised when what was asked for would cost more than the budget."""


def cost(usage: Usage, prices: Prices) -> float:
    """Cost of these tokens, at prices per million."""
    of_prompts, of_replies, of_cached = (*prices, prices[0])[:3]
    millionths = (usage.prompt - usage.cached) * of_prompts + usage.cached * of_cached + usage.completion * of_replies
    return millionths / 1e6


class Meter(Policy):
    """A policy that counts what another one uses, and asks it nothing more when the budget is spent.

    What models use that play roles in envs and rewards counts too; each reply is taken to bring as much of it as those
    before. Envs and rewards ask them, also when an episode begins, and cannot be held back: what is in progress there
    when the budget is spent may exceed it.

    A request waits as long as those in progress may use the budget up. Episodes that have begun come first, in the
    order in which they did, and none begins that would not fit if it used as much as those that have ended. While no
    cost is known, one request is in progress, and after failures a few. When none fits any more, or the time is over,
    `recv` raises `BudgetSpent`. Random play and experts cost nothing and never wait, in games against models too.

    Every completion of others gets a `usage`: the server's, or what is known here. With a budget or prices, tokens are
    estimated where the server reports none, or less than is possible.
    """

    def __init__(
        self,
        policy: Policy,
        budget: Budget,
        roles: Callable[[], Mapping[str, Asked]] = dict,
        role_prices: Mapping[str, Prices] | None = None,
    ) -> None:
        self.info_methods = policy.info_methods
        self._policy, self._budget = policy, budget
        self._roles, self._role_prices = roles, role_prices or {}
        self._limits = _limits(budget)
        self._until = time.monotonic() + budget.max_minutes * 60 if budget.max_minutes else None
        self.spent = Usage()
        """Tokens and seconds of every reply of the policy so far, those of unfinished episodes included."""
        self.estimated = 0
        """Number of replies with an estimated number of tokens."""
        self._free: set[int] = set()
        """Slots with a pending request that costs nothing."""
        self._waiting: dict[int, Transcript] = {}
        """Slot with a request that has not been made yet → its conversation."""
        self._asked: dict[int, float] = {}
        """Slot with a pending request → when it was made."""
        self._read: dict[int, int] = {}
        """Slot with a pending request → the characters of its conversation; empty where nothing is estimated."""
        self._start: dict[int, Start | None] = {}
        """Slot → where its episode started, which several players may share."""
        self._begun: dict[Start | None, Usage] = {}
        """Episode that has begun and not ended, in order → what it has used."""
        self._acting: set[int] = set()
        """Slots whose reply is with their env, which may ask models that play roles."""
        self._last: dict[int, Usage] = {}
        """Slot → what its last reply used."""
        self._replies, self._failed = 0, 0
        self._ended, self._of_ended = 0, Usage()
        """Number of episodes that have used something and ended, and what they used."""

    @property
    def cost(self) -> float | None:
        """Cost so far, that of roles included, if prices are known."""
        if not self._budget.prices:
            return None
        of_roles = (self.role_cost(role, asked) or 0.0 for role, asked in self._roles().items())
        return cost(self.spent, self._budget.prices) + sum(of_roles)

    def role_cost(self, role: str, asked: Asked) -> float | None:
        """Cost of what a role was asked for, if prices are known."""
        prices = self._role_prices.get(role, self._budget.prices)
        return cost(asked.usage, prices) if prices else None

    @property
    def tokens(self) -> int:
        """Tokens so far, read and written, those of roles included."""
        usages = [self.spent, *(asked.usage for asked in self._roles().values())]
        return sum(usage.prompt + usage.completion for usage in usages)

    @property
    def repeated(self) -> int:
        """Requests that had to be repeated, because a chat API failed or limits the rate."""
        return self._policy.client.http.repeated if isinstance(self._policy, ChatPolicy) else 0

    @property
    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        free = {slot: each for slot, each in transcripts.items() if self._is_free(each)}
        self._free |= free.keys()
        if free:
            self._policy.send(free)
        costly = {slot: each for slot, each in transcripts.items() if slot not in free}
        self._start |= {slot: transcript.start for slot, transcript in costly.items()}
        self._acting.difference_update(transcripts)
        self._waiting |= costly
        self._ask(self._fitting())

    def _is_free(self, transcript: Transcript) -> bool:
        policy = self._policy
        return isinstance(policy.policy_of(transcript) if isinstance(policy, PlayerPolicies) else policy, InfoPolicy)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        if self._is_late or (self._free and any(self._of_roles(limit) >= 1 for limit in self._limits)):
            raise BudgetSpent
        self._ask(self._fitting())
        if self._waiting and not self._asked and not self._free and timeout != 0:  # no env is at work either
            raise BudgetSpent
        if self._until is not None:
            left = max(0.0, self._until - time.monotonic())
            timeout = left if timeout is None else min(timeout, left)
        ready = dict(self._policy.recv(min_results, timeout))
        now = time.perf_counter()
        free = {slot: ready.pop(slot) for slot in self._free & ready.keys()}
        self._free -= free.keys()
        self._acting.update(ready)
        answered = sum(isinstance(reply, Completion) for reply in ready.values())
        self._replies, self._failed = self._replies + answered, self._failed + len(ready) - answered
        counted = {slot: self._counted(slot, reply, now - self._asked.pop(slot, now)) for slot, reply in ready.items()}
        return free | counted

    def _ask(self, slots: Iterable[int]) -> None:
        """Make the requests of these slots, which wait."""
        transcripts = {slot: self._waiting.pop(slot) for slot in slots}
        if not transcripts:
            return
        for slot in transcripts:
            self._begun.setdefault(self._start[slot], Usage())
        self._asked |= dict.fromkeys(transcripts, time.perf_counter())
        if self._budget.max_tokens or self._budget.prices:
            self._read |= {slot: _characters(transcript) for slot, transcript in transcripts.items()}
        self._policy.send(transcripts)

    def _fitting(self) -> list[int]:
        """The slots that wait and whose requests fit into the budget."""
        if not (self._limits and self._waiting):
            return list(self._waiting)
        if not self._replies:
            return list(self._waiting)[: max(0, min(1 + self._failed, _UNKNOWN) - len(self._asked))]
        limit = max(self._limits, key=lambda limit: limit(self.spent, None) + self._of_roles(limit))
        own, beside = limit(self.spent, None), self._of_roles(limit)
        scale = (own + beside) / own if own else 1.0

        def share(usage: Usage) -> float:
            """What replies that used so much have taken of the budget, with what roles used beside them."""
            return limit(usage, None) * scale

        spent, pending = own + beside, len(self._asked) + len(self._waiting)
        reply = spent / self._replies
        careful = reply * (1 + _DOUBT / self._replies)
        whole = max(reply, share(self._of_ended) / self._ended) if self._ended else _EPISODE * reply
        spent += len(self._acting) * beside / self._replies  # what is known only when the step has ended

        # Far from the limit: no next reply takes more than its slot's last, which is among what is spent, or `careful`.
        if 2 * spent + pending * careful + (len(self._begun) + len(self._waiting)) * whole <= 1:
            return list(self._waiting)

        def next_of(slot: int) -> float:
            return max(careful, share(self._last[slot])) if slot in self._last else careful

        left, alone = 1 + _ROUNDING - spent - sum(map(next_of, self._asked)), not self._asked
        slots: dict[Start | None, list[int]] = {start: [] for start in self._begun}
        for slot in (*self._asked, *self._waiting):
            slots.setdefault(self._start[slot], []).append(slot)
        fitting: list[int] = []
        for start, of_episode in slots.items():
            begun = start in self._begun
            # What it takes after the replies that are asked for.
            after = whole - share(self._begun[start]) if begun else whole
            for slot in of_episode:
                size = next_of(slot)
                after -= size
                if slot in self._waiting:
                    # One reply at a time can exceed the budget by no more than itself.
                    needed = reply if alone else size
                    if left < (needed if begun else max(needed, whole)):
                        return fitting
                    fitting.append(slot)
                    left, alone = left - size, False
            left -= max(0.0, after)
        return fitting

    def _of_roles(self, limit: "Limit") -> float:
        return sum(limit(asked.usage, self._role_prices.get(role)) for role, asked in self._roles().items())

    def _counted(self, slot: int, reply: Completion | Failure, seconds: float) -> Completion | Failure:
        if not isinstance(reply, Completion):
            return reply
        usage = reply.usage or Usage(len(reply.prompt_ids), len(reply.ids))
        if slot in self._read:
            usage = self._plausible(usage, self._read.pop(slot), len(reply.text) + len(reply.reasoning))
        if not usage.seconds:
            usage = replace(usage, seconds=seconds)
        self.spent += usage
        self._begun[self._start[slot]] += usage
        self._last[slot] = usage
        return replace(reply, usage=usage)

    def _plausible(self, usage: Usage, read: int, written: int) -> Usage:
        """The usage for so many characters that were read and written, estimated where a count is too small."""
        counts = {"prompt": (usage.prompt, read), "completion": (usage.completion, written)}
        few = {name: size for name, (count, size) in counts.items() if count * _MOST_CHARACTERS < size}
        self.estimated += bool(few)
        return replace(usage, **{name: math.ceil(size / _CHARACTERS) for name, size in few.items()}) if few else usage

    def forget(self, slot: int) -> None:
        self._free.discard(slot)
        self._acting.discard(slot)
        for kept in (self._waiting, self._asked, self._read, self._last):
            kept.pop(slot, None)
        start = self._start.pop(slot, None)
        if start in self._begun and start not in self._start.values():
            used = self._begun.pop(start)
            self._ended += used.prompt + used.completion > 0
            self._of_ended += used
        self._policy.forget(slot)

    def close(self) -> None:
        self._policy.close()


Limit = Callable[[Usage, Prices | None], float]
"""The share of a limit that a usage is, at prices of its own, or at those of the budget."""


def _limits(budget: Budget) -> list[Limit]:
    limits: list[Limit] = []
    tokens, most, prices = budget.max_tokens, budget.max_cost, budget.prices
    if tokens:
        limits.append(lambda usage, _: (usage.prompt + usage.completion) / tokens)
    if most and prices:
        limits.append(lambda usage, own: cost(usage, own or prices) / most)
    return limits


def _characters(transcript: Transcript) -> int:
    seen = [*(turn.observation for turn in transcript.turns), transcript.observation]
    texts = (len(part.get("text", "")) for each in seen for part in parts_of(each))
    return sum(texts) + sum(len(turn.action) for turn in transcript.turns)
