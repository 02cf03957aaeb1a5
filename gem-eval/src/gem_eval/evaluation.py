"""An evaluation: a model on environments, its floors beside it, kept in a folder and resumed from there."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from gem.checks import check_int
from gem.episode import Episode, Start
from gem.errors import Failure
from gem.llm.client import CONCURRENCY
from gem.llm.policy import ChatPolicy
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.preflight import check_wrappers
from gem.record import EPISODES_FILE, Recorder, load_recorded, read
from gem.rewards import RewardPipeline, make_pipeline, scored
from gem.roles import Asked, Roles, current
from gem.rollout.loop import rollout
from gem.rollout.named_policies import CHECKPOINT, check_policy, make_policy, policy_ref, written_at
from gem.rollout.policy import Policy
from gem.vector import VectorEnv, make_vec
from gem_eval import folder as folders
from gem_eval import roles
from gem_eval.meter import BudgetSpent, Meter, cost
from gem_eval.plan import Plan, expand, plan
from gem_eval.results import Result, Tally
from gem_eval.results.floors import FLOORS, play_floor
from gem_eval.results.result import ALL
from gem_eval.settings import NUM_ENVS, Settings
from gem_eval.widest import widest_first


class Evaluation:
    """Plays what the settings say, except what the folder holds already.

    Args:
        settings: what is played.
        out: the folder that keeps it; None to keep nothing.
        policy: what plays, instead of the policy that `settings.model` names.
        reward: what scores the episodes, instead of the pipeline that `settings.reward` names.

    Raises:
        GemError: a name does not exist, settings are refused, or the folder holds something else.
    """

    def __init__(
        self,
        settings: Settings,
        out: Path | None = None,
        policy: Policy | None = None,
        reward: RewardPipeline | None = None,
    ) -> None:
        # A pattern must name the same ids when the evaluation is resumed.
        groups = tuple(group.model_copy(update={"ids": tuple(expand(group.ids))}) for group in settings.groups)
        for group in groups:
            check_wrappers(group.layers)
        if policy is None:
            settings = settings.model_copy(update={"model": policy_ref(settings.model)})
            check_policy(settings.model)
        self._policy = policy
        self._closes_reward = reward is None
        self._reward = make_pipeline(settings.reward) if settings.reward and reward is None else reward
        self._num_envs = settings.num_envs or num_envs_of(settings.model, policy)
        with roles.with_models(settings, self._num_envs):  # environments look for theirs when they are made
            self.plans = [plan(group, settings.seed) for group in groups]
            """The items and environments of each group."""
        self.settings = settings.model_copy(update={"groups": groups})
        self.out = out
        self._recorded_as = folders.identity(self.settings.model)
        self.tallies: list[dict[str, Tally]] = [{id: Tally() for id in each.specs} for each in self.plans]
        """The episodes so far, of each id of each group."""
        self.floors: list[dict[str, dict[str, Tally]]] = [{floor: {} for floor in FLOORS} for _ in self.plans]
        """Episodes by floor and id, of each group; without the ids that do not have the floor."""
        self.phase, self.phase_size, self.phase_done = "", 0, 0
        """The phase that is being played, its number of episodes, and the number of these that are known."""
        self.meter: Meter | None = None
        """Counts tokens, cost and time of this call; None before it plays."""
        self._roles: Roles | None = None
        self._asked_before: Mapping[str, Asked] = {}
        self.budget_spent = False
        """True if the budget has ended it."""
        self._left: int | None = None
        """Episodes that may still begin in this call; None without a limit."""
        self.others = 0
        """Episodes in the folder that belong to other settings, weights or versions."""
        if out is not None:
            folders.claim(out, self.settings)
            self._load(out)
        self.resumed = self.played
        """Number of episodes that the folder held."""

    @property
    def asked(self) -> int:
        """Number of episodes that the settings ask for."""
        return sum(len(each.starts) for each in self.plans)

    @property
    def items(self) -> int:
        """Number of items that they are attempts at."""
        return sum(len(each.starts) // each.group.k for each in self.plans)

    @property
    def played(self) -> int:
        """Number of episodes that are known."""
        return sum(len(each.starts) for each in self._all())

    @property
    def failed(self) -> list[tuple[int, Failure]]:
        """The seed and the failure of each failed episode so far; those in the folder are played again."""
        return [failed for each in self._all() for failed in each.failed]

    @property
    def won(self) -> int:
        """Number of successes so far."""
        return sum(each.won for each in self._all())

    def _all(self) -> Iterator[Tally]:
        return (each for by_id in self.tallies for each in by_id.values())

    @property
    def notes(self) -> list[str]:
        """Remarks on what is played that may surprise the user."""
        notes = [note for each in self.plans for note in each.notes]
        name, _ = name_and_settings(self.settings.model)
        if name in FLOORS and any(group.k > 1 for group in self.settings.groups):
            notes.append(f"{name} plays an item the same way each time: more than one attempt (k) tells nothing new.")
        return notes

    def play(self) -> Iterator[Episode]:
        """Play what is missing, the floors last; yields each episode when it has ended.

        When the budget is spent, it ends. The floors are not played where models play roles, which would be asked for
        them too. An exception ends it, too; what was played is kept.

        Raises:
            GemError: see `gem.rollout.rollout` and `gem.make_vec`.
            OSError: the folder cannot be written.
        """
        self.budget_spent = False
        self._left = self.settings.max_episodes
        try:
            with ExitStack() as opened:
                opened.enter_context(roles.with_models(self.settings, self._num_envs))
                self._roles = current()  # perhaps those that the caller has set
                self._asked_before = self._roles.asked if self._roles else {}
                if self.played < self.asked:
                    policy = self._policy or opened.enter_context(closing(self._make_policy()))
                    prices = roles.prices_of(self.settings)
                    self.meter = Meter(policy, self.settings.budget, lambda: self.roles, prices)
                    recorder = self._recorder(opened, EPISODES_FILE, self._recorded_as)
                    self._begin("playing", self.asked, self.played)
                    for each, tallies in zip(self.plans, self.tallies, strict=True):
                        if not self.budget_spent:
                            yield from self._play(each, tallies, recorder)
                own = name_and_settings(self.settings.model)[0] not in FLOORS
                if self.settings.floors and own and not self.settings.models:
                    yield from self._play_floors()
        finally:
            if self._reward is not None and self._closes_reward:
                self._reward.close()
            if self.out is not None:
                folders.write_json(self.out / folders.SUMMARY, self.as_json())

    def _begin(self, phase: str, size: int, done: int) -> None:
        self.phase, self.phase_size, self.phase_done = phase, size, done

    def _make_policy(self) -> Policy:
        return make_policy(roles.with_concurrency(self.settings.model, self._num_envs))

    def _play(self, each: Plan, tallies: dict[str, Tally], recorder: Recorder | None) -> Iterator[Episode]:
        assert self.meter is not None
        meter, missing = self.meter, [start for start in each.starts if start not in _starts(tallies, start.id)]
        starts = widest_first(missing, tallies, each.group.k) if self.settings.widest else iter(missing)
        if self._left is not None:
            starts, self.budget_spent = islice(starts, self._left), len(missing) > self._left
            self._left = max(0, self._left - len(missing))
        try:
            with self._envs(each, meter.info_methods, len(missing)) as envs:
                played = rollout(meter, envs, starts, max_turns=each.group.max_turns) if envs else ()
                for episode in scored(played, self._reward):
                    yield self._known(each, episode, tallies, recorder)
        except BudgetSpent:
            self.budget_spent = True

    def _play_floors(self) -> Iterator[Episode]:
        for floor, method in FLOORS.items():
            with ExitStack() as opened:
                recorder = self._recorder(opened, folders.FLOORS, floor)
                for each, played, floors in zip(self.plans, self.tallies, self.floors, strict=True):
                    known = (start for start in each.starts if start in _starts(played, start.id))
                    wanted = {replace(start, group=0): None for start in known}
                    missing = [start for start in wanted if start not in _starts(floors[floor], start.id)]
                    self._begin(f"{floor} floor", len(wanted), len(wanted) - len(missing))
                    with self._envs(each, (method,), len(missing)) as envs:
                        plays = play_floor(floor, envs, missing, each.group.max_turns) if envs else ()
                        for episode in scored(plays, self._reward):
                            yield self._known(each, episode, floors[floor], recorder)

    def _known(self, each: Plan, episode: Episode, tallies: dict[str, Tally], recorder: Recorder | None) -> Episode:
        # In this order, so that Ctrl-C in between leaves nothing that is reported and not in the file.
        if recorder:
            group = {"group": each.group.name} if each.group.name else {}
            recorder.write(episode, {**group, **({"reward": self.settings.reward} if self.settings.reward else {})})
        tallies.setdefault(episode.id, Tally()).add(episode)
        self.phase_done += 1
        return episode

    def _envs(self, each: Plan, info_methods: Sequence[str], size: int) -> AbstractContextManager[VectorEnv | None]:
        if not size:
            return nullcontext()
        return make_vec(
            each.group.ids,
            min(self._num_envs, size),
            backend=self.settings.backend,
            wrappers=each.group.layers,
            info_methods=info_methods,
            env_kwargs=each.group.kwargs,
        )

    def _recorder(self, opened: ExitStack, name: str, policy: ComponentRef) -> Recorder | None:
        return opened.enter_context(Recorder(self.out / name, policy=policy)) if self.out else None

    def _load(self, out: Path) -> None:
        since = written_at(self.settings.model)
        self.others += _load(out / EPISODES_FILE, self.plans, self._recorded_as, self.tallies, since)
        for floor in FLOORS:
            _load(out / folders.FLOORS, self.plans, floor, [each[floor] for each in self.floors])

    def summaries(self) -> list[Result]:
        """The results on each id of each group, in order."""
        return [
            self._result(
                tally,
                {floor: done[id] for floor, done in floors.items() if id in done},
                id,
                each.group.name,
                each.group.k,
            )
            for each, tallies, floors in zip(self.plans, self.tallies, self.floors, strict=True)
            for id, tally in tallies.items()
        ]

    def total(self) -> Result:
        """The result on all episodes together, in which every item has the same weight."""
        each = self.summaries()
        if len(each) == 1:
            return each[0]
        floors = {
            floor: Tally.merged(tally for group in self.floors for tally in group[floor].values())
            for floor in FLOORS
            if all(floor in result.floors for result in each)
        }
        return self._result(Tally.merged(self._all()), floors, ALL, "", min(plan.group.k for plan in self.plans))

    def _result(self, tally: Tally, floors: Mapping[str, Tally], id: str, group: str, k: int) -> Result:
        prices = self.settings.budget.prices
        beside = {floor: done.result(id, group=group) for floor, done in floors.items()}
        return tally.result(id, group=group, k=k, price=prices and partial(cost, prices=prices), floors=beside)

    def as_json(self) -> dict[str, Any]:
        """The summaries, and what was measured, for `json.dumps`."""
        of_roles = {role: roles.as_json(asked, self.role_cost(role)) for role, asked in self.roles.items()}
        return {
            "model": self.title,
            **({"reward": self.settings.reward} if self.settings.reward else {}),
            "seed": self.settings.seed,
            "asked": self.asked,
            "partial": self.played < self.asked,
            "budget_spent": self.budget_spent,
            **self.total().as_json(),
            **({"roles": of_roles} if of_roles else {}),
            "ids": [each.as_json() for each in self.summaries()],
        }

    @property
    def roles(self) -> Mapping[str, Asked]:
        """What each role has been asked for in this call."""
        asked = self._roles.asked if self._roles else {}
        here = {role: each - self._asked_before.get(role, Asked()) for role, each in asked.items()}
        return {role: each for role, each in here.items() if each != Asked()}

    def role_cost(self, role: str) -> float | None:
        """Cost of what a role was asked for in this call, if prices are known."""
        return self.meter.role_cost(role, self.roles[role]) if self.meter else None

    @property
    def title(self) -> str:
        """The model in words: see `title_of`."""
        return title_of(self._recorded_as)


def title_of(policy: ComponentRef) -> str:
    """A policy in words: `random`, `runs/a/checkpoint/best`, or `openai:gpt-5(temperature=0.5)`."""
    name, settings = name_and_settings(policy)
    if "model" in settings:
        name = f"{name}:{settings.pop('model')}"
    elif name == CHECKPOINT and "path" in settings:
        name = settings.pop("path")
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})" if settings else name


def num_envs_of(model: ComponentRef, policy: Policy | None = None) -> int:
    """The default number of episodes at once: enough for every request that may be made at once."""
    if isinstance(policy, ChatPolicy):
        return policy.client.http.at_once
    name, settings = name_and_settings(model)
    return check_int("concurrency", settings.get("concurrency", CONCURRENCY), 1) if name == roles.OPENAI else NUM_ENVS


def _starts(tallies: Mapping[str, Tally], id: str | None) -> Collection[Start]:
    """The starts of the episodes of an id."""
    tally = tallies.get(id or "")
    return tally.starts if tally else ()


def _load(
    path: Path,
    plans: Sequence[Plan],
    policy: ComponentRef,
    tallies: Sequence[dict[str, Tally]],
    since: datetime | None = None,
) -> int:
    """Count the episodes of a recording for each group; returns the number of those that belong to none."""
    of_group: dict[str, list[Episode]] = {}
    for record in read(path) if path.is_file() else ():
        of_group.setdefault(str(record.labels.get("group", "")), []).append(record)
    others = 0
    for each, known in zip(plans, tallies, strict=True):
        found = load_recorded(
            of_group.pop(each.group.name, []), each.specs.values(), each.starts, policy, each.group.max_turns, since
        )
        for episode in found.episodes.values():
            known.setdefault(episode.id, Tally()).add(episode)
        others += found.others
    return others + sum(map(len, of_group.values()))
