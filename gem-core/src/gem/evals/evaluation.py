"""An evaluation: a model on environments, its floors beside it, kept in a folder and resumed from there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from gem.checks import check_int
from gem.evals import folder as folders
from gem.evals.floors import METHODS, FloorPolicy
from gem.evals.meter import BudgetSpent, Meter
from gem.evals.plan import Plan, expand, plan
from gem.evals.settings import NUM_ENVS, Settings
from gem.evals.summary import Outcome, Summary
from gem.llm.client import CONCURRENCY
from gem.llm.policy import ChatPolicy
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.preflight import check_wrappers
from gem.record import EPISODES_FILE, EpisodeRecord, Recorder, load_recorded, read
from gem.rollout.loop import rollout
from gem.rollout.named_policies import check_policy, make_policy, policy_ref, written_at
from gem.rollout.policy import Policy
from gem.rollout.transcript import Episode, Start
from gem.vector import make_vec

OPENAI = "openai"
"""The policy that asks a chat API."""
ALL = "all"
"""The id of the summary of several."""


class Evaluation:
    """Plays what the settings say, except what the folder holds already.

    Args:
        settings: what is played.
        out: the folder that keeps it; None to keep nothing.
        policy: what plays, instead of the policy that `settings.model` names.

    Raises:
        GemError: a name does not exist, settings are refused, or the folder holds something else.
    """

    def __init__(self, settings: Settings, out: Path | None = None, policy: Policy | None = None) -> None:
        for group in settings.groups:
            expand(group.ids)
            check_wrappers(group.layers)
        if policy is None:
            settings = settings.model_copy(update={"model": policy_ref(settings.model)})
            check_policy(settings.model)
        self._policy = policy
        self._num_envs = settings.num_envs or _num_envs(settings.model, policy)
        self.plans = [plan(group, settings.seed) for group in settings.groups]
        """The items and environments of each group."""
        # A pattern must name the same ids when the evaluation is resumed.
        groups = tuple(each.group.model_copy(update={"ids": tuple(each.specs)}) for each in self.plans)
        self.settings = settings.model_copy(update={"groups": groups})
        self.out = out
        self._recorded_as = folders.identity(self.settings.model)
        self.outcomes: list[dict[Start, Outcome]] = [{} for _ in self.plans]
        """The outcomes so far, of each group."""
        self.floors: list[dict[str, dict[Start, Outcome]]] = [{} for _ in self.plans]
        """Those of each floor of each group."""
        self.phase, self.phase_size, self.phase_done = "", 0, 0
        """What is being played, of how many episodes, and how many of these are known."""
        self.meter: Meter | None = None
        """Counts tokens, cost and time of this call; None before it plays."""
        self.budget_spent = False
        """Whether the budget has ended it."""
        self.others = 0
        """Episodes in the folder that belong to other settings, weights or versions."""
        if out is not None:
            folders.claim(out, self.settings)
            self._load(out)
        self.resumed = self.played
        """How many episodes the folder held."""
        self.failures = 0
        """Failed episodes so far; those in the folder are played again."""
        self.won = sum(each.success for outcomes in self.outcomes for each in outcomes.values())
        """Successes so far."""

    @property
    def asked(self) -> int:
        """How many episodes the settings ask for."""
        return sum(len(each.starts) for each in self.plans)

    @property
    def items(self) -> int:
        """At how many items they are attempts."""
        return sum(len(each.starts) // each.group.k for each in self.plans)

    @property
    def played(self) -> int:
        """How many of them are known."""
        return sum(map(len, self.outcomes))

    @property
    def notes(self) -> list[str]:
        """What the user may not expect of what is played."""
        notes = [note for each in self.plans for note in each.notes]
        name, _ = name_and_settings(self.settings.model)
        if name in METHODS and any(group.k > 1 for group in self.settings.groups):
            notes.append(f"{name} plays an item the same way each time: more than one attempt (k) tells nothing new.")
        return notes

    def play(self) -> Iterator[Outcome]:
        """Play what is missing, the floors last; yields each outcome as it is known.

        When the budget is spent, it ends. An exception ends it, too; what was played is kept.

        Raises:
            GemError: see `gem.rollout.rollout` and `gem.make_vec`.
            OSError: the folder cannot be written.
        """
        self.budget_spent = False
        try:
            with ExitStack() as opened:
                if self.played < self.asked:
                    policy = self._policy or opened.enter_context(closing(self._make_policy()))
                    self.meter = Meter(policy, self.settings.budget)
                    recorder = self._recorder(opened, EPISODES_FILE, self._recorded_as)
                    self._begin("playing", self.asked, self.played)
                    for each, outcomes in zip(self.plans, self.outcomes, strict=True):
                        if not self.budget_spent:
                            yield from self._play(each, outcomes, recorder)
                if self.settings.floors and name_and_settings(self.settings.model)[0] not in METHODS:
                    yield from self._play_floors()
        finally:
            if self.out is not None:
                folders.write_json(self.out / folders.SUMMARY, self.as_json())

    def _begin(self, phase: str, size: int, done: int) -> None:
        self.phase, self.phase_size, self.phase_done = phase, size, done

    def _make_policy(self) -> Policy:
        name, settings = name_and_settings(self.settings.model)
        if name == OPENAI:  # as many requests at once as there are episodes
            settings.setdefault("concurrency", self._num_envs)
        return make_policy({"name": name, **settings})

    def _play(self, each: Plan, outcomes: dict[Start, Outcome], recorder: Recorder | None) -> Iterator[Outcome]:
        assert self.meter is not None
        meter = self.meter

        def upcoming() -> Iterator[Start]:
            for start in [start for start in each.starts if start not in outcomes]:
                if not meter.begin():
                    self.budget_spent = True
                    return
                yield start

        try:
            for episode in self._rollout(each, meter, upcoming(), len(each.starts) - len(outcomes)):
                outcome = outcomes[episode.start] = Outcome.of(episode)
                self.won, self.failures = self.won + outcome.success, self.failures + (outcome.failure is not None)
                if recorder:
                    recorder.write(episode, _labels(each))
                self.phase_done += 1
                yield outcome
        except BudgetSpent:
            self.budget_spent = True

    def _play_floors(self) -> Iterator[Outcome]:
        for floor in METHODS:
            with ExitStack() as opened:
                recorder = self._recorder(opened, folders.FLOORS, floor)
                for each, played, floors in zip(self.plans, self.outcomes, self.floors, strict=True):
                    done, policy = floors.setdefault(floor, {}), FloorPolicy(floor)
                    wanted = {Start(start.seed, start.id, start.options): None for start in played}
                    missing = [start for start in wanted if start not in done]
                    self._begin(f"{floor} floor", len(wanted), len(wanted) - len(missing))
                    upcoming = (start for start in missing if start.id not in policy.lacking)
                    for episode in self._rollout(each, policy, upcoming, len(missing)):
                        if episode.id in policy.lacking:
                            continue
                        done[episode.start] = Outcome.of(episode)
                        if recorder:
                            recorder.write(episode, _labels(each))
                        self.phase_done += 1
                        yield done[episode.start]

    def _rollout(self, each: Plan, policy: Policy, starts: Iterator[Start], size: int) -> Iterator[Episode]:
        if not size:
            return
        with make_vec(
            list(each.specs),
            min(self._num_envs, size),
            backend=self.settings.backend,
            wrappers=each.group.layers,
            info_methods=policy.info_methods,
            env_kwargs=each.group.kwargs,
        ) as envs:
            yield from rollout(policy, envs, starts, max_turns=each.group.max_turns)

    def _recorder(self, opened: ExitStack, name: str, policy: ComponentRef) -> Recorder | None:
        return opened.enter_context(Recorder(self.out / name, policy=policy)) if self.out else None

    def _load(self, out: Path) -> None:
        since = written_at(self.settings.model)
        self.others += _load(out / EPISODES_FILE, self.plans, self._recorded_as, self.outcomes, since)
        for floor in METHODS:
            _load(out / folders.FLOORS, self.plans, floor, [each.setdefault(floor, {}) for each in self.floors])

    def summaries(self) -> list[Summary]:
        """One summary per id of each group, in order."""
        found: list[Summary] = []
        for each, outcomes, floors in zip(self.plans, self.outcomes, self.floors, strict=True):
            played = _by_id(outcomes)
            beside = {floor: _by_id(done) for floor, done in floors.items()}
            for id in each.specs:
                of_id = {floor: done[id] for floor, done in beside.items() if id in done}
                found.append(self._summary(played.get(id, []), of_id, id, each.group.name, each.group.k))
        return found

    def total(self) -> Summary:
        """The summary of all episodes together, in which every item has the same weight."""
        each = self.summaries()
        if len(each) == 1:
            return each[0]
        # The same id in two groups has different items.
        played = [
            replace(outcome, item=f"{number} {outcome.item}")
            for number, outcomes in enumerate(self.outcomes)
            for outcome in outcomes.values()
        ]
        floors = {
            floor: [
                replace(outcome, item=f"{number} {outcome.item}")
                for number, of_group in enumerate(self.floors)
                for outcome in of_group[floor].values()
            ]
            for floor in METHODS
            if all(floor in summary.floors for summary in each)
        }
        return self._summary(played, floors, ALL, "", min(plan.group.k for plan in self.plans))

    def _summary(
        self, played: Sequence[Outcome], floors: Mapping[str, Sequence[Outcome]], id: str, group: str, k: int
    ) -> Summary:
        beside = {floor: Summary.of(done, id=id, group=group) for floor, done in floors.items()}
        return Summary.of(played, id=id, group=group, k=k, prices=self.settings.budget.prices, floors=beside)

    def as_json(self) -> dict[str, Any]:
        """The summaries, and what was measured, for `json.dumps`."""
        return {
            "model": self.title,
            "seed": self.settings.seed,
            "asked": self.asked,
            "partial": self.played < self.asked,
            "budget_spent": self.budget_spent,
            **self.total().as_json(),
            "ids": [each.as_json() for each in self.summaries()],
        }

    @property
    def title(self) -> str:
        """The model in words: `random`, or `openai:gpt-5(temperature=0.5)`."""
        name, settings = name_and_settings(self._recorded_as)
        if "model" in settings:
            name = f"{name}:{settings.pop('model')}"
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})" if settings else name


def _num_envs(model: ComponentRef, policy: Policy | None) -> int:
    """The default number of episodes at once: enough for every request that may be made at once."""
    if isinstance(policy, ChatPolicy):
        return policy.client.concurrency
    name, settings = name_and_settings(model)
    return check_int("concurrency", settings.get("concurrency", CONCURRENCY), 1) if name == OPENAI else NUM_ENVS


def _by_id(outcomes: Mapping[Start, Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes.values():
        found.setdefault(outcome.id, []).append(outcome)
    return found


def _labels(plan: Plan) -> dict[str, str]:
    return {"group": plan.group.name} if plan.group.name else {}


def _load(
    path: Path,
    plans: Sequence[Plan],
    policy: ComponentRef,
    outcomes: Sequence[dict[Start, Outcome]],
    since: datetime | None = None,
) -> int:
    """Add what a recording holds to the outcomes of each group; returns how many episodes belong to none."""
    of_group: dict[str, list[EpisodeRecord]] = {}
    for record in read(path) if path.is_file() else ():
        of_group.setdefault(str(record.labels.get("group", "")), []).append(record)
    others = 0
    for each, known in zip(plans, outcomes, strict=True):
        found = load_recorded(
            of_group.pop(each.group.name, []), each.specs.values(), each.starts, policy, each.group.max_turns, since
        )
        known |= {start: Outcome.of(episode) for start, episode in found.episodes.items()}
        others += found.others
    return others + sum(map(len, of_group.values()))
