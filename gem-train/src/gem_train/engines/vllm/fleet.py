"""The vLLM servers of a run as one: where a conversation goes, weights for all, and what becomes of one that ends.

A conversation stays at one server, which has its keys and values. Of a server that is lost, the replies in progress are
asked again at the others. They are as good: a reply is sampled from whatever weights are current, with noise that its
start and turn give it, and nothing of what was lost has been seen. Failing them would cost nearly every group in
progress, because the episodes of a group are spread over all servers. A reply that has lost two servers fails, because
it may be what ends them.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple

from gem.errors import Failure, TrainingStopped, failure_of
from gem.work.threads import Outcome, Threads, attempt, drain
from gem_train.engines.vllm.client import GENERATE, Address, ServerClient
from gem_train.engines.vllm.connect import describe, end_update, is_well
from gem_train.engines.vllm.launch import ServerProcess

_LOOK, _ALIVE = 5.0, 60.0
"""Seconds without a reply after which servers are asked whether they are well, and until one must have said so."""
_PROBE = {
    "token_ids": [0] * 8,
    "sampling_params": {"max_tokens": 8, "temperature": 0, "ignore_eos": True, "logprobs": 0},
}
"""Request whose log-probabilities tell weights apart."""

_log = logging.getLogger("gem.train")


@dataclass(eq=False)
class Replica:
    """A server, from when it is connected until it is lost."""

    number: int
    client: ServerClient
    process: ServerProcess | None = None
    ready: bool = False
    """True once it has been seen to be fit for training."""
    well: bool = False
    """True while it samples: from its first weights until it is lost."""
    replies: set[str] = field(default_factory=set[str])
    """Replies in progress, by name."""
    slots: set[int] = field(default_factory=set[int])
    """The conversations that stay here."""
    probe: Any = None
    """Its answer to `_PROBE` after the last sync."""

    def __str__(self) -> str:
        return f"the vLLM server at {self.client.where}"


@dataclass(slots=True, eq=False)
class _Asked:
    """A reply in progress."""

    slot: int
    body: Mapping[str, Any]
    version: int
    """Version of the weights that all servers had when it was asked for."""
    replica: Replica
    future: "Future[Any]"
    again: bool
    """True if a server was lost with it before."""


class Described(NamedTuple):
    """Facts that servers tell about themselves."""

    positions: int
    """The longest conversation, in ids."""
    dtype: str
    """Type of the weights."""


class Fleet:
    """Servers with the same weights.

    One thread asks for replies; `sync` may run in another one.

    Args:
        addresses: of the servers.
        timeout: seconds for one call.
        start: starts the server of a number, if they are the run's; a lost one is started again.
        first: number of the server that gets the first conversation: processes that share the servers begin at others.
    """

    def __init__(
        self,
        addresses: Sequence[Address],
        timeout: float,
        start: Callable[[int], ServerProcess] | None = None,
        *,
        first: int = 0,
    ) -> None:
        self._addresses, self._timeout, self._start, self._first = addresses, timeout, start, first
        self._asked: dict[str, _Asked] = {}
        self._places: dict[int, Replica] = {}
        self._done: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
        self._version = 0
        self._lock = threading.Lock()
        self._last_words = ""
        self._members: list[Replica] = []
        """Servers that take part in the sync that is going on."""
        self._threads = Threads("gem-fleet")
        self._replicas = [self._connected(number) for number in range(len(addresses))]

    def open(self, start_timeout: float) -> Described:
        """Start the servers if they are the run's, and check that all can sample for training.

        Raises:
            ConfigError: one does not start, or cannot sample for training.
        """
        for replica in self._replicas:
            replica.process = self._start and self._start(replica.number)
        for replica in self._replicas:
            if replica.process is not None:
                replica.process.wait_until(lambda client=replica.client: is_well(client), start_timeout)
        found = [self._described(replica) for replica in self._replicas]
        return Described(min(each.positions for each in found), found[0].dtype)

    # Replies: in the thread that plays.

    def begin(self, name: str, slot: int, body: Mapping[str, Any]) -> None:
        """Ask for a reply to the conversation in `slot`; its result will be among those of `finished`.

        Raises:
            TrainingStopped: no server is left.
        """
        self._begin(name, slot, body, again=False)

    def cancel(self, name: str) -> None:
        """Close the connection of a reply in progress, which ends it at the server."""
        asked = self._taken(name)
        if asked is not None:
            asked.future.cancel()

    def forget(self, slot: int) -> None:
        """End a conversation."""
        replica = self._places.pop(slot, None)
        if replica is not None:
            replica.slots.discard(slot)

    def finished(self, timeout: float | None) -> list[tuple[str, Any]]:
        """The answers to requests that have ended, or a `Failure`, by name; waits for the first, for a while.

        Raises:
            TrainingStopped: a server refuses, samples from old weights, or none is left.
        """
        done = drain(self._done, _LOOK if timeout is None else min(_LOOK, timeout))
        found: list[tuple[str, Any]] = []
        for name, future in done:
            asked = self._asked.get(name)
            if asked is None or asked.future is not future:
                continue
            self._taken(name)
            try:
                said = future.result()
            except (CancelledError, TrainingStopped) as error:
                if not self._is_lost(asked.replica):
                    raise
                if asked.again:
                    found.append((name, _failed_twice(error)))
                else:
                    self._begin(name, asked.slot, asked.body, again=True)
            else:
                _require_version(asked, said)
                found.append((name, said))
        if not done and (timeout is None or timeout > _LOOK):
            for replica in list(self._replicas):
                if replica.well and replica.replies:
                    self._is_lost(replica)
        return found

    def _begin(self, name: str, slot: int, body: Mapping[str, Any], *, again: bool) -> None:
        replica = self._places.get(slot)
        if replica is None or not replica.well:
            self.forget(slot)
            replica = self._places[slot] = self._least_busy()
            replica.slots.add(slot)
        future = replica.client.ask(body)
        replica.replies.add(name)
        self._asked[name] = _Asked(slot, body, self._version, replica, future, again)
        future.add_done_callback(lambda done: self._done.put((name, done)))

    def _taken(self, name: str) -> _Asked | None:
        asked = self._asked.pop(name, None)
        if asked is not None:
            asked.replica.replies.discard(name)
        return asked

    def _least_busy(self) -> Replica:
        well = [replica for replica in self._replicas if replica.well]
        if not well:
            raise self._nobody_left()
        count = len(self._replicas)
        return min(well, key=lambda one: (len(one.replies), len(one.slots), (one.number - self._first) % count))

    # Servers that are lost, and found again.

    def _is_lost(self, replica: Replica) -> bool:
        """True if a server has ended or does not say that it is well; then it is lost from now on."""
        if self._replicas[replica.number] is not replica:
            return True
        ended = replica.process is not None and replica.process.has_ended
        if replica.ready and not ended and is_well(replica.client, _ALIVE):
            return False
        self._lose(replica)
        return True

    def _lose(self, replica: Replica) -> None:
        with self._lock:
            if self._replicas[replica.number] is not replica:
                return
            joined, replica.well = replica.well, False
            process = replica.process
            self._last_words = f" {process.last_words()}" if process is not None else ""
            _log.warning("%s is lost: the others have its conversations.%s", replica, self._last_words)
            self._replicas[replica.number] = found = self._connected(replica.number)
            if process is not None:
                process.close()
                # One that was lost before it had weights would be so again.
                found.process = self._start(replica.number) if joined and self._start is not None else None
        # The thread that plays asks for them again.
        for asked in list(self._asked.values()):
            if asked.replica is replica:
                asked.future.cancel()
        replica.client.close()

    def _nobody_left(self) -> TrainingStopped:
        where = ", ".join(map(str, self._replicas))
        return TrainingStopped(f"{where} answers no more.{self._last_words}")

    def _connected(self, number: int) -> Replica:
        return Replica(number, ServerClient(self._addresses[number], self._timeout))

    def _described(self, replica: Replica) -> Described:
        if replica.process is None:  # one that was just started has none open, and would log two errors
            end_update(replica.client)
        described = describe(replica.client)
        replica.ready = True
        return Described(int(described["max_model_len"]), str(described["dtype"]).removeprefix("torch."))

    def _is_there(self, replica: Replica) -> bool:
        """True if a server can take weights: one that was lost, too, if it has started again."""
        if replica.ready:
            return True
        if replica.process is not None and replica.process.has_ended:
            _log.warning("%s did not start again. %s", replica, replica.process.last_words())
            replica.process = None
        if is_well(replica.client):
            self._described(replica)
        return replica.ready

    # New weights: in one thread, perhaps another.

    def sync(self, send: Callable[[], None], version: int, names: Mapping[str, Any]) -> list[bool]:
        """Give new weights to all servers at once, those included that were lost and are there again.

        Args:
            send: sends the weights, by `call`, to the `members`.
            version: of the weights.
            names: fields of a request, such as the name of an adapter.

        Returns:
            Which of the servers have the weights.

        Raises:
            TrainingStopped: no server is left, or one refuses, or has old weights after all.
        """
        there = [replica for replica in self._replicas if self._is_there(replica)]
        self._members = [replica for replica in there if not self._is_lost(replica)]
        # A pause may clear the caches itself; that is left to the reset below, which every version promises.
        self.call("/pause?mode=keep&clear_cache=false")
        send()
        # Its keys and values are of the old weights.
        self.call("/reset_prefix_cache?reset_running_requests=true")
        self.call("/update_weight_version", {"new_version": str(version)})
        self.call("/resume")
        for replica, said in self.call("/weight_info", method="GET"):
            if said["weight_version"] != str(version):
                raise TrainingStopped(f"{replica} took version {version}, and has {said['weight_version']}")
        self._require_news(names)
        with self._lock:
            for replica in self._members:
                replica.well = self._replicas[replica.number] is replica
        self._version = version
        return [replica.well for replica in self._replicas]

    def told(self, well: Sequence[bool], version: int) -> None:
        """Take over what the process found that gave the servers new weights."""
        for replica, is_well_now in zip(list(self._replicas), well, strict=True):
            if replica.well and not is_well_now:
                self._lose(replica)
            current = self._replicas[replica.number]
            current.ready = current.well = is_well_now
        self._version = version

    @property
    def members(self) -> list[ServerClient]:
        """The servers that take part in the sync that is going on."""
        return [replica.client for replica in self._members]

    def call(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        method: str = "POST",
    ) -> list[tuple[Replica, Any]]:
        """The answer of each member of a sync; those that are lost are members no more.

        Raises:
            TrainingStopped: one refuses, or none is left.
        """
        members = list(self._members)

        def ask(one: Replica) -> Outcome[Any]:
            return attempt(lambda: one.client.call(path, body, method=method))

        found: list[tuple[Replica, Any]] = []
        for replica, outcome in zip(members, self._threads.map(ask, members), strict=True):
            if outcome.error is None:
                found.append((replica, outcome.get()))
            elif isinstance(outcome.error, TrainingStopped) and self._is_lost(replica):
                self._members.remove(replica)
            else:
                raise outcome.error
        if not found:
            raise self._nobody_left()
        return found

    def close(self) -> None:
        """Close the connections, and end the servers that were started."""
        for name in list(self._asked):
            self.cancel(name)
        self._threads.close()
        for replica in self._replicas:
            replica.client.close()
            if replica.process is not None:
                replica.process.close()

    def _require_news(self, names: Mapping[str, Any]) -> None:
        """Raise TrainingStopped if a server answers exactly as before, and others do not: it kept its old weights."""
        if len(self._replicas) == 1:
            return
        before = {replica: replica.probe for replica in self._members}
        for replica, said in self.call(GENERATE, {**_PROBE, **names}):
            [choice] = said["choices"]
            replica.probe = [each["logprob"] for each in choice["logprobs"]["content"]]
        known = {one: probe for one, probe in before.items() if probe is not None and one in self._members}
        kept = [replica for replica, probe in known.items() if replica.probe == probe]
        changed = any(
            sum(map(float.__ne__, replica.probe, probe)) > len(probe) // 2 for replica, probe in known.items()
        )
        if kept and changed:
            raise TrainingStopped(
                f"{kept[0]} has kept its old weights: it says that it took new ones, and gives the same "
                "log-probabilities as before, while those of the others have changed"
            )


def _require_version(asked: _Asked, said: Mapping[str, Any]) -> None:
    versions = [int(span["version"]) for span in said["choices"][0]["weight_versions"]]
    if versions and min(versions) < asked.version:
        raise TrainingStopped(
            f"{asked.replica} samples from the weights of version {min(versions)}, after it took {asked.version}"
        )


def _failed_twice(error: BaseException) -> Failure:
    what = RuntimeError(f"two vLLM servers were lost, one after the other, while they sampled this reply: {error}")
    return failure_of(what)
