"""The file of a recording: appending one line per episode, and reading it."""

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from gem import __version__
from gem.core import Observation
from gem.episode import Completion, Episode, PackVersion, Trace, Turn
from gem.episode.codec import PREFIXES, SUGGESTIONS, content_of, decode, encode
from gem.episode.pictures import FOLDER, with_hashes
from gem.errors import PackError, RecordError, UnknownId
from gem.files import read_lines
from gem.packs.component_ref import ComponentRef
from gem.packs.hookspecs import API_VERSION
from gem.packs.registry import registry

EPISODES_FILE = "episodes.jsonl"
"""The recording in the folder of an evaluation or a training run."""


class Recorder:
    """Appends episodes to a file as they finish.

    Each line is passed to the operating system at once, so killing the process loses no written episode. A torn line is
    removed when the file is opened again. A file has one recorder at a time; another is refused, except on Windows.
    Pictures go into the folder `pictures` beside the file, each once.

    Args:
        path: the file; it and its folders are created if needed.
        policy: the policy to record, by name or with settings; of a game, player → policy.

    Raises:
        RecordError: the file is not a recording of this version, or has another recorder.
        OSError: the file cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, policy: ComponentRef | Mapping[str, ComponentRef] | None = None
    ) -> None:
        self._policy = policy
        self._packs: dict[str, PackVersion | None] = {}
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: if the disk is full, nothing must be written later.
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - `close` closes it
        try:
            # Pipes and devices are only written to.
            self._is_plain = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
            if self._is_plain:
                self._lock()
                _repair_end(self._path)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Keep other recorders out until the file is closed, also by the end of this process."""
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordError(
                f"{self._path} is being written by another command: wait until that ends, or choose another file"
            ) from None
        except OSError:  # a file system without locks
            return

    def record(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        """The same episodes, each written before it is yielded."""
        for episode in episodes:
            self.write(episode)
            yield episode

    def write(self, episode: Episode, labels: Mapping[str, Any] | None = None) -> None:
        """Append one episode completely, or, if that fails, not at all.

        Args:
            episode: the episode.
            labels: further data to record, such as `{"step": 3}`.

        Raises:
            RecordError: the kwargs of the env, an observation or the labels are not JSON.
            OSError: for example, the disk is full.
        """
        if episode.id not in self._packs:
            self._packs[episode.id] = pack_of(episode.id) if episode.spec else None
        recorded = replace(
            episode,
            observation=self._content(episode.observation),
            pack=self._packs[episode.id],
            gem_core=__version__,
            api=API_VERSION,
            labels=dict(labels or {}),
            traces=tuple(map(self._recorded, episode.traces)),
            failed_on=episode.failed_on and _without_ids(episode.failed_on),
        )
        self._append(encode(recorded))

    def _recorded(self, trace: Trace) -> Trace:
        policy = policy_of(trace.player, self._policy)
        return replace(trace, policy=trace.policy or policy, turns=tuple(map(self._recorded_turn, trace.turns)))

    def _recorded_turn(self, turn: Turn) -> Turn:
        """The turn without ids, which people cannot read, and without suggestions to the policy."""
        observation, completion, info = self._content(turn.observation), _without_ids(turn.completion), turn.info
        if not SUGGESTIONS.isdisjoint(info):
            info = {name: value for name, value in info.items() if name not in SUGGESTIONS}
        if completion is turn.completion and info is turn.info and observation is turn.observation:
            return turn
        return Turn(observation, completion, turn.reward, info, turn.parts)

    def _content(self, observation: Observation) -> Observation:
        if isinstance(observation, str):
            return observation
        content = content_of(observation)
        return with_hashes(content, self._path.with_name(FOLDER)) if self._is_plain else content

    def _append(self, line: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        left = memoryview(line)
        try:
            while left:
                left = left[self._file.write(left) :]
        except BaseException as error:
            if self._is_plain:
                with contextlib.suppress(OSError):
                    self._file.truncate(end)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, str(self._path)) from error
            raise

    def close(self) -> None:
        """Close the file. Closing twice is fine."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(path: str | os.PathLike[str]) -> Iterator[Episode]:
    """The episodes of a recording, or of that in the folder of a run, in order, without a torn last line.

    Raises:
        RecordError: a line is not an episode, or has another version of the format.
        OSError: the file cannot be read.
    """
    path = recording_at(path)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.startswith(b"{") or not _is_torn(line):
            yield decode(line, f"{path}, line {number}")


def recording_at(path: str | os.PathLike[str]) -> Path:
    """The file itself, or in the folder of an evaluation or a training run its recording."""
    return Path(path, EPISODES_FILE) if os.path.isdir(path) else Path(path)


def torn_bytes(path: str | os.PathLike[str]) -> int:
    """The length of a torn line at the end of the file, in bytes; 0 if there is none."""
    last = b""
    for last in read_lines(recording_at(path)):  # noqa: B007 - the last line is what is wanted
        pass
    return len(last) if _is_torn(last) else 0


def _is_torn(line: bytes) -> bool:
    """Whether a line is torn: without a line end, and not JSON. (No prefix of an object is JSON.)"""
    if not line or line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _repair_end(path: Path) -> None:
    """Remove a torn line, or add a missing line end."""
    with open(path, "rb+") as file:
        start = file.read(max(map(len, PREFIXES)))
        if start and not any(prefix.startswith(start) or start.startswith(prefix) for prefix in PREFIXES):
            raise RecordError(f"{path} is not a recording of this version of gem-core; choose another file")
        torn = torn_bytes(path)
        if torn:
            file.seek(-torn, os.SEEK_END)
            file.truncate()
        elif start:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")


def pack_of(id: str) -> PackVersion | None:
    """The distribution that provides `id`; None if no pack does, as for `module.path:Class`."""
    try:
        pack = registry().find(id).pack
    except (UnknownId, PackError):
        return None
    return PackVersion(distribution=pack.distribution, version=pack.version) if pack else None


def policy_of(player: str, policy: ComponentRef | Mapping[str, ComponentRef] | None) -> ComponentRef | None:
    """The policy of a player, of one for all or of player → policy."""
    return policy.get(player) if isinstance(policy, Mapping) and "name" not in policy else policy


def _without_ids(completion: Completion) -> Completion:
    tokens = completion.tokens
    if tokens is None and not completion.ids and not completion.prompt_ids:
        return completion
    if tokens is not None and tokens.logprobs:
        tokens = replace(tokens, logprobs=tuple(round(float(each), 4) for each in tokens.logprobs))
    return replace(completion, prompt_ids=(), ids=(), logprobs=(), new_segment=False, tokens=tokens)
