"""Floors of environments: random play, and the environment's own expert."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from gem.dataset_env import to_download
from gem.episode import Completion, Episode, Start
from gem.errors import Failure, GemError
from gem.packs.make import make
from gem.packs.spec import EnvSpec
from gem.rollout.loop import rollout
from gem.rollout.policy import InfoPolicy, Policy
from gem.rollout.transcript import Transcript
from gem.vector import VectorEnv, make_vec
from gem_eval.results.result import Result

FLOORS = {"random": "sample_action", "expert": "expert_action"}
"""Floor → the method of an env that plays it."""
_LACKING = Failure("the environment does not have this floor", "")


def play_floor(
    floor: str,
    envs: VectorEnv,
    starts: Iterable[Start],
    max_turns: int | None = None,
    *,
    as_one: Callable[[Policy], Policy] = lambda policy: policy,
) -> Iterator[Episode]:
    """Play `random` or `expert` from these starts; yields no episode of an id that does not have it.

    Args:
        floor: its name in `FLOORS`.
        envs: the vector, made with the `info_methods` `(FLOORS[floor],)`.
        starts: played as by `gem.rollout.rollout`, but for further ones of an id that does not have it.
        max_turns: see `gem.rollout.rollout`.
        as_one: adds opponents to the policy that plays it, in a game of several players.
    """
    lacking: set[str | None] = set()
    known = (start for start in starts if start.id not in lacking)
    for episode in rollout(as_one(_FloorPolicy(floor)), envs, known, max_turns=max_turns):
        if episode.failure != _LACKING:
            yield episode
        else:
            lacking |= {episode.id, None} if len(envs.shares) == 1 else {episode.id}


def measure_floors(
    specs: Iterable[EnvSpec], episodes: int, say: Callable[[str], object]
) -> dict[str, dict[str, float | None]]:
    """The success of random play and of the expert by id, the content of the file `floors.json` of a pack.

    It is None if there is none, or if it cannot be played on this machine.

    Args:
        specs: of the envs.
        episodes: of each, from the seeds 0, 1, …
        say: called with each id before.
    """
    found: dict[str, dict[str, float | None]] = {}
    for spec in specs:
        say(spec.id)
        found[spec.id] = {floor: _success(spec, floor, episodes) for floor in FLOORS}
    return found


def _success(spec: EnvSpec, floor: str, episodes: int) -> float | None:
    try:
        with make(spec) as env:
            if to_download(env) is not None:
                return None
        with make_vec(spec.id, 1, info_methods=(FLOORS[floor],)) as envs:
            found = Result.of(play_floor(floor, envs, map(Start, range(episodes))))
    except GemError:  # an extra or data that are missing
        return None
    return round(found.success, 4) if found.items else None


class _FloorPolicy(InfoPolicy):
    """Plays a floor, and fails episodes of ids that do not have it."""

    def __init__(self, floor: str) -> None:
        super().__init__(FLOORS[floor])
        self._failed: dict[int, Failure] = {}

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        (method,) = self.info_methods
        known = {slot: each for slot, each in transcripts.items() if each.info.get(method) is not None}
        super().send(known)
        self._failed |= dict.fromkeys(transcripts.keys() - known.keys(), _LACKING)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        failed, self._failed = self._failed, {}
        return {**super().recv(min_results, timeout), **failed}
