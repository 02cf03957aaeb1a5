"""One seat of a game as an env of its own."""

import operator

import pytest

import gem
from gem.errors import ConfigError, Fault, PolicyError, UnknownId, Unreachable
from gem.packs.make import bind
from gem.packs.registry import get_spec
from gem.record import Recorder, read
from gem.rollout import Completion, Failure, Policy, rollout
from gem.rollout.policy import random_policy
from gem.rollout.seat import Seat
from gem.testing.chat_server import Trouble, chat_server
from gem.testing.checks import CHECKS, run_checks
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject
from gem_envs_arena.plugin import gem_envs
from gem_eval import reproduce

SEATS = [(spec.id, player) for spec in gem_envs() for player in gem.make(spec.id).players]


def seat(player, others="random"):
    return {"name": "seat", "player": player, "others": others}


def play(env, choose=operator.methodcaller("sample_action"), seed=None):
    """The observations and steps of an episode."""
    seen = [env.reset(seed=seed)]
    while not isinstance(seen[-1], gem.Step) or not seen[-1].done:
        seen.append(env.step(choose(env)))
    return seen


class Watched(Policy):
    """Says what it is told to, and keeps what it was asked, forgot and whether it was closed."""

    def __init__(self, answer):
        self.answer, self.asked, self.forgotten, self.closed, self.pending = answer, [], [], 0, {}

    def send(self, transcripts):
        self.pending |= transcripts
        self.asked += [(slot, each.player, each.messages()) for slot, each in transcripts.items()]

    def recv(self, min_results=1, timeout=None):
        pending, self.pending = self.pending, {}
        return dict.fromkeys(pending, self.answer)

    def forget(self, slot):
        self.forgotten.append(slot)

    def close(self):
        self.closed += 1


class AtRandom(Watched):
    """Random play that keeps what it says."""

    info_methods = ("sample_action",)

    def __init__(self):
        super().__init__(None)
        self.said = []

    def recv(self, min_results=1, timeout=None):
        pending, self.pending = self.pending, {}
        self.said += [each.info["sample_action"] for each in pending.values()]
        return {slot: Completion(each.info["sample_action"]) for slot, each in pending.items()}


@pytest.mark.parametrize(("id", "player"), SEATS)
def test_a_seat_is_the_game_played_with_the_same_replies_of_all(id, player):
    for seed in range(10):
        others = AtRandom()
        env = Seat(gem.make(id), player, others)
        observation, info = env.reset(seed=seed)
        read, own, steps = [observation], [], []
        while not steps or not steps[-1].done:
            assert "player" not in info
            own.append(env.sample_action())
            steps.append(env.step(own[-1]))
            read.append(steps[-1].observation)
            info = steps[-1].info
        bare, mine, theirs = gem.make(id), iter(own), iter(others.said)
        observation, info = bare.reset(seed=seed)
        expected, earned, done = [], 0.0, False
        while not done:
            if own_turn := info["player"] == player:
                expected.append(observation)
            observation, _, done, _, info = bare.step(next(mine if own_turn else theirs))
            earned += info["rewards"].get(player, 0.0)
        assert read == [*expected, observation]
        assert sum(step.reward for step in steps) == pytest.approx(earned)
        assert steps[-1].info["success"] == (player in info["won"])


@pytest.mark.parametrize("others", ["random", "expert"])
def test_the_seed_and_the_own_actions_give_the_same_bytes_however_often_the_player_samples(others):
    with gem.make("arena:TicTacToe-v0", wrappers=[seat("second", others)]) as env:
        first = play(env, seed=4)

        def often(env):
            action = env.sample_action()
            state = env.snapshot()
            for _ in range(3):
                env.sample_action(), env.expert_action()
            env.restore(state)
            return action

        assert play(env, often, seed=4) == first
        assert play(env, seed=5) != first


@pytest.mark.parametrize("id", ["arena:Undercover-v0", "arena:KuhnPoker-v0"])
def test_a_seat_keeps_the_contract(id):
    spec = bind(get_spec(id), wrappers=[seat("second")])
    with SpawnedProcesses() as processes:
        outcomes = {each.check: each for each in run_checks(Subject(spec, None, processes))}
    assert outcomes.keys() == CHECKS.keys()
    assert [each for each in outcomes.values() if each.state == "failed"] == []


def test_a_copy_in_the_middle_of_a_game_goes_on_as_the_seat_does():
    with gem.make("arena:PrisonersDilemma-v0", wrappers=[seat("first")]) as env:
        env.reset(seed=3)
        env.step("\\boxed{defect}")
        [copy] = env.fork(1)
        with copy:
            actions = ["\\boxed{cooperate}", "\\boxed{defect}"] * 2
            assert [env.step(each) for each in actions] == [copy.step(each) for each in actions]


def test_the_others_read_their_own_conversation_and_it_is_dropped_with_the_episode():
    policy = Watched(Completion("\\boxed{check} \\boxed{fold}"))
    env = Seat(gem.make("arena:KuhnPoker-v0"), "second", policy)
    env.reset(seed=1, options={"cards": "QK"})
    step = env.step("\\boxed{bet}")
    assert step.reward == 1
    assert step.info["success"]
    slots = {slot for slot, _, _ in policy.asked}
    assert len(slots) == 1
    assert policy.forgotten == list(slots)
    assert [player for _, player, _ in policy.asked] == ["first", "first"]
    conversation = policy.asked[-1][2]
    assert [each["role"] for each in conversation] == ["user", "assistant", "user"]
    assert all("Your card: Q" in each["content"] for each in conversation[::2])
    assert "K." not in conversation[-1]["content"]
    env.close()
    assert policy.closed == 0  # it was given


def test_what_a_seat_opened_it_closes(monkeypatch):
    made = []
    monkeypatch.setattr("gem.rollout.policy.random_policy", lambda: made.append(Watched(None)) or made[-1])
    with gem.make("arena:Undercover-v0", wrappers=[seat("first", {"second": "random", "third": "random"})]):
        assert [each.closed for each in made] == [0, 0]
    assert [each.closed for each in made] == [1, 1]


@pytest.mark.parametrize("backend", ["sync", "process"])
def test_by_name_it_reaches_workers_and_recordings(backend, tmp_path):
    policy = random_policy()
    path = tmp_path / "episodes.jsonl"
    with (
        gem.make_vec(
            "arena:Undercover-v0", 3, wrappers=[seat("third")], backend=backend, info_methods=policy.info_methods
        ) as envs,
        Recorder(path) as recorder,
    ):
        played = list(recorder.record(rollout(policy, envs, range(6))))
    assert all(episode.failure is None and len(episode.traces) == 1 for episode in played)
    assert [reproduce(episode, trust=True) for episode in read(path)] == [None] * 6


def broken(observation):
    raise ConnectionError("the server is gone")


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (broken, "the policy of the player 'second' failed: ConnectionError: the server is gone"),
        (Watched(Failure("no", "")), "the policy of the player 'second' failed: no"),
        (Watched(Completion("", finish_reason="context")), "outgrown its model's context"),
    ],
    ids=["raises", "fails", "out of context"],
)
def test_a_policy_that_fails_makes_the_episode_a_failure(others, message):
    with gem.make_vec(
        "arena:KuhnPoker-v0", 1, wrappers=[lambda env: Seat(env, "first", others)], backend="sync"
    ) as envs:
        [episode] = rollout(lambda observation: "\\boxed{bet}", envs, [0])
    assert message in episode.failure.error
    assert not episode.success


@pytest.mark.parametrize("backend", ["sync", "process"])
def test_a_model_behind_an_api_plays_the_other_seat_and_one_that_fails_is_no_reward(backend):
    def answer(messages):
        return "I like this card. \\boxed{bet} \\boxed{call}" if "second player" in messages[0]["content"] else "?"

    policy = random_policy()
    for trouble, failures in ((Trouble(), 0), (Trouble(garble=1.0), 8)):
        with chat_server(answer, trouble) as server:
            others = {"name": "openai:any", "base_url": server.url, "retries": 0}
            with gem.make_vec(
                "arena:KuhnPoker-v0",
                2,
                wrappers=[seat("first", others)],
                backend=backend,
                info_methods=policy.info_methods,
            ) as envs:
                played = list(rollout(policy, envs, range(8)))
            assert sum(episode.failure is not None for episode in played) == failures
            assert server.requests == 8
            contents = [message["content"] for body in server.bodies for message in body["messages"]]
        assert not any("You are the first player" in content for content in contents)
        # Who never folds plays for 2 chips, but when the first player gives up.
        assert failures or {abs(episode.total_reward) for episode in played} <= {1.0, 2.0}


def test_a_policy_that_cannot_play_at_all_ends_the_rollout():
    policy = random_policy()
    with (
        gem.make_vec(
            "arena:Negotiation-v0", 2, wrappers=[seat("second", "expert")], info_methods=policy.info_methods
        ) as envs,
        pytest.raises(Unreachable, match="does not have an expert"),
    ):
        list(rollout(policy, envs, range(100)))


def test_a_game_that_ends_before_the_player_is_asked_is_played_again():
    env = Seat(gem.make("arena:Undercover-v0"), "second", lambda observation: "no clue")
    with env, pytest.raises(Fault, match="100 times in a row before the player 'second' was asked"):
        env.reset(seed=0)
    replies = iter(["no clue", *["\\boxed{a clue}"] * 20])
    with Seat(gem.make("arena:Undercover-v0"), "second", lambda observation: next(replies)) as env:
        observation, _ = env.reset(seed=0)
        assert '"a clue"' in observation


def test_parts_of_the_own_rewards_are_kept():
    class Parts(gem.TurnEnv):
        """Two players; the first earns in parts, also with the other's step."""

        players = ("one", "two")

        def reset(self, *, seed=None, options=None):
            observation, info = super().reset(seed=seed, options=options)
            return observation, {**info, "player": "one"}

        def _reset(self, options):
            return "?"

        def _step(self, action):
            if self.turn == 1:
                return gem.Step.ongoing("?", 0.5, player="two", rewards={"one": {"style": 0.5}})
            rewards = {"one": {"style": 0.25, "game": 1.0}, "two": -1.0}
            return gem.Step.final("!", 0.25, success=True, rewards=rewards, won=["one"])

        def sample_action(self):
            return "x"

    env = Seat(Parts(), "one")
    env.reset(seed=0)
    step = env.step("x")
    assert step.reward == 1.75
    assert step.info["rewards"] == {"agent": {"style": 0.75, "game": 1.0}}
    assert step.info["success"]


@pytest.mark.parametrize(
    ("player", "others", "error", "message"),
    [
        ("frist", "random", ConfigError, "no player 'frist'. Did you mean 'first'?"),
        ("first", {"third": "random"}, ConfigError, "others is for third, and the seats are second"),
        ("first", "rundom", UnknownId, "rundom"),
        ("first", 3, PolicyError, "a policy is"),
    ],
)
def test_what_is_no_seat_or_policy_is_refused(player, others, error, message):
    with pytest.raises(error, match=message.replace("?", "\\?")):
        Seat(gem.make("arena:KuhnPoker-v0"), player, others)


def test_an_env_for_one_player_needs_no_seat():
    with pytest.raises(ConfigError, match="The env has: one player only, and needs no Seat"):
        Seat(gem.make("core:Echo-v0"), "first")


@pytest.mark.parametrize("wrapper", ["concat", "concat_with_action", "concat_chat", "concat_chat_on_reset", "tool_env"])
def test_what_joins_observations_is_refused_around_a_game_and_works_around_a_seat(wrapper):
    setting = {"name": wrapper, "tools": "test_seat:nothing"} if wrapper == "tool_env" else wrapper
    with pytest.raises(ConfigError, match="put the wrapper `seat` between"):
        gem.make("arena:KuhnPoker-v0", wrappers=[setting])
    with gem.make("arena:KuhnPoker-v0", wrappers=[seat("first"), setting]) as env:
        play(env, seed=0)


@gem.tool.tool
def nothing() -> str:
    """Nothing."""
    return ""


def test_a_limit_around_a_game_leaves_nobody_who_won():
    env = gem.make("arena:TicTacToe-v0", wrappers=[{"name": "turn_limit", "max_turns": 2}])
    step = play(env, seed=0)[-1]
    assert step.truncated
    assert step.info["won"] == []
