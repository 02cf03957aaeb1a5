"""The contract as a test: a good env passes every check, and each planted bad one fails its own and no other."""

from collections.abc import Iterator

import planted_leaks
import pytest
from vector_backends import is_running

from gem.errors import ContractViolation
from gem.packs.registry import registry
from gem.packs.spec import EnvSpec
from gem.testing.checks import CHECKS, run_check, run_checks, summary
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject

PLANTED: dict[str, list[tuple[str, str]]] = {
    "types": [
        ("PlainTuple", "returns a tuple, not a gem.Step"),
        ("NanReward", "gives the reward nan"),
        ("BoolReward", "(a bool)"),
        ("NumpyFlag", "truncated="),
        ("BytesObservation", "a bytes for an observation"),
        ("EmptyPart", "part 0 is {'type': 'text'}"),
        ("NumberedInfo", "the key 1"),
    ],
    "endings": [
        ("BothFlags", "terminated and truncated at once"),
        ("NoSuccess", "no success"),
        ("NumberSuccess", "holds success="),
    ],
    "players": [
        ("StrangerActs", "info['player'] is 'middle'"),
        ("StrangerEarns", "'middle' earns a reward"),
        ("LostReward", "the rewards of the players sum to"),
        ("NobodyWon", "no `won`"),
        ("Undeclared", "info['player'] is 'left', and env.players are ()"),
    ],
    "reset_needed": [("StartsItself", "is executed")],
    "episode_over": [("NeverOver", "is executed")],
    "resets": [("Lingering", "a part of an episode"), ("Deaf", "a reset alone")],
    "history": [("Remembering", "After 1 episodes in one instance")],
    "independence": [("Shared", "Played in turn with another instance")],
    "own_generators": [
        ("GlobalRandom", "calls random.seed()"),
        ("GlobalNumpy", "calls numpy.random.randint()"),
        ("GlobalByName", "global generator of `random` changes"),
        ("GlobalSample", "planted_envs.py, line"),
    ],
    "suggestions": [("SampleMovesTheWorld", "never called"), ("ExpertMovesTheWorld", "called three times per turn")],
    "determinism": [("HashOrder", "the reset gives"), ("ProcessNumber", "Two processes play")],
    "spawning": [
        ("OnlyAtHome", "instead of"),
        ("RaisesWhenSpawned", "daemonic processes are not allowed to have children ("),
        ("DiesWhenSpawned", "status 7"),
    ],
    "snapshots": [
        ("ForgetsItsGenerator", "into its own instance changes the next step"),
        ("HoldsALock", "snapshot() raises TypeError"),
        ("SnapshotOfText", "returns a str"),
        ("SnapshotDraws", "taking a snapshot changes the next step"),
        ("OnlyItself", "into a new instance changes the next step: at turn 1 the action is"),
    ],
    "sample_action": [("Mumbling", "malformed")],
    "junk": [
        ("Brittle", "An empty reply, as a reply in the episode"),
        ("Digits", "A number of 10,000 digits"),
        ("Patient", "turns of junk"),
        ("Parrot", "UTF-8 cannot encode"),
    ],
    "expert": [("Loser", "the expert wins 0 and random play 1")],
    "leaks": [
        ("planted_leaks:LeavesAFileOpen", "the open file /dev/null"),
        ("planted_leaks:LeavesAFile", "the temporary file planted-"),
        ("planted_leaks:LeavesAThread", "the thread planted"),
        ("planted_leaks:LeavesAProcess", "(sleep)"),
        ("planted_leaks:LeavesAZombie", "was not waited for"),
        ("planted_leaks:ClosesOnce", "Closing a second time raises ValueError: closed already"),
    ],
}
"""Check → the envs that fail it and no other, and the message."""

ROWS = [(env, check, message) for check, rows in PLANTED.items() for env, message in rows]


@pytest.fixture(scope="module")
def processes() -> Iterator[SpawnedProcesses]:
    with SpawnedProcesses() as processes:
        yield processes


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    planted_leaks.clean_up()


def subject(env: str, processes: SpawnedProcesses, **kwargs: int) -> Subject:
    id = env if ":" in env else f"planted_envs:{env}"
    return Subject(registry().find(id).spec, None, processes, **kwargs)


@pytest.mark.parametrize("env", ["Good", "Parts", "Duel"])
def test_an_env_that_keeps_the_contract_fails_no_check(env: str, processes: SpawnedProcesses) -> None:
    outcomes = list(run_checks(subject(env, processes)))

    assert [outcome for outcome in outcomes if outcome.state == "failed"] == []
    skipped = {outcome.check for outcome in outcomes if outcome.state == "skipped"}
    assert skipped == ({"imports", "expert"} if env == "Parts" else {"imports"})


@pytest.mark.parametrize(("env", "check", "message"), ROWS, ids=[env for env, _, _ in ROWS])
def test_a_planted_bad_env_fails_its_check_and_no_other(
    env: str, check: str, message: str, processes: SpawnedProcesses
) -> None:
    failed = {outcome.check: outcome for outcome in run_checks(subject(env, processes)) if outcome.state == "failed"}

    assert list(failed) == [check], failed
    assert message in failed[check].what
    assert failed[check].fix
    assert failed[check].traceback is None


def test_every_check_has_a_planted_env_that_fails_it() -> None:
    # The one of `imports` is a whole pack: see test_testing_packs.py.
    assert set(CHECKS) == {*PLANTED, "imports"}


def test_every_check_says_in_one_line_what_it_looks_at() -> None:
    assert all(summary(name).endswith(".") for name in CHECKS)


def test_a_spec_that_does_not_pickle_fails_spawning_and_the_snapshots_that_hold_it(processes: SpawnedProcesses) -> None:
    spec = EnvSpec(id="planted:Lambda", entry_point="planted_envs:Configured", kwargs={"draw": lambda: "a"})
    states = {outcome.check: outcome.state for outcome in run_checks(Subject(spec, None, processes))}

    assert [name for name, state in states.items() if state == "failed"] == ["spawning", "snapshots"]
    assert states["determinism"] == "skipped"


def test_a_violation_is_an_assertion_error_that_says_what_and_how_to_fix_it(processes: SpawnedProcesses) -> None:
    with pytest.raises(ContractViolation) as caught:
        CHECKS["types"](subject("NanReward", processes))

    assert isinstance(caught.value, AssertionError)
    assert str(caught.value) == f"{caught.value.what}\n{caught.value.fix}"


def test_an_env_that_raises_is_an_outcome_with_its_place_and_traceback(processes: SpawnedProcesses) -> None:
    outcome = run_check("types", subject("BareReset", processes))
    broken = Subject(EnvSpec(id="sample:Fragile", entry_point="sample_envs:Fragile"), None, processes)
    raised = run_check("history", broken)

    assert "not a pair" in outcome.what
    assert raised.state == "failed"
    assert "The env raised OSError: the disk is full" in raised.what
    assert "sample_envs.py, line" in raised.what
    assert "OSError" in str(raised.traceback)


def test_what_needs_the_end_of_an_episode_is_skipped_where_none_ends(processes: SpawnedProcesses) -> None:
    short = subject("Good", processes, turns=2)

    assert run_check("endings", short).state == "skipped"
    assert run_check("episode_over", short).what == "no episode of random play ended within 2 turns"
    assert run_check("snapshots", short).state == "passed"


def test_the_expert_is_blamed_only_where_the_intervals_do_not_meet(processes: SpawnedProcesses) -> None:
    # Random play loses one of the first four episodes: 0 of 4 against 3 of 4 may be chance, 0 of 12 against 11 is not.
    assert run_check("expert", subject("Loser", processes, episodes=1)).state == "passed"
    assert run_check("expert", subject("Loser", processes, episodes=3)).state == "failed"


def test_a_process_that_died_is_replaced(processes: SpawnedProcesses) -> None:
    dying, good = subject("DiesWhenSpawned", processes), subject("Good", processes)

    assert run_check("spawning", dying).state == "failed"
    assert run_check("spawning", good).state == "passed"


def test_nothing_is_left_of_the_processes_after_close() -> None:
    with SpawnedProcesses() as processes:
        assert run_check("spawning", subject("Good", processes)).state == "passed"
        workers = [worker.pid for worker in processes._workers.values()]
        assert all(map(is_running, workers))

    assert processes._workers == {}
    assert not any(map(is_running, workers))
