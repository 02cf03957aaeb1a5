"""A game for two players: played, recorded, reproduced, looked at, by sessions, and learned from."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from player_envs import PLAYERS
from session_samples import tokenizer

import gem
from gem.chat import ChatEncoder
from gem.cli.main import main
from gem.episode import Completion, Usage
from gem.errors import PolicyError
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.players import PlayerPolicies
from gem.rollout.policy import Policy, random_policy
from gem_eval import Budget, evaluate, reproduce
from gem_eval.view import run_of
from gem_interop.session import Session
from gem_train.batch import collate, traces_of
from gem_train.config.training import load_config
from gem_train.runs.display import Display
from gem_train.train import train

ID = "player_envs:Higher"
BIDS = {"even": "\\boxed{1}", "odd": "\\boxed{0}"}


def seen(trace) -> str:
    return "\n".join(turn.observation for turn in trace.turns)


def play(policy, episodes=20, backend="sync"):
    with gem.make_vec(ID, 4, backend=backend, info_methods=getattr(policy, "info_methods", ())) as envs:
        return sorted(rollout(policy, envs, range(episodes)), key=lambda episode: episode.seed)


@pytest.mark.parametrize("backend", ["sync", "thread"])
def test_each_player_has_a_trace_with_its_own_observations_and_rewards_in_parts(backend):
    policies = {player: lambda observation, bid=bid: bid for player, bid in BIDS.items()}
    for episode in play(policies, backend=backend):
        assert episode.failure is None
        assert {trace.player for trace in episode.traces} == set(PLAYERS)
        assert sorted(number for trace in episode.traces for number in trace.steps) == [0, 1, 2, 3]
        won = {trace.player: trace.turns[-1].parts["game"] for trace in episode.traces}
        assert won["even"] == -won["odd"]
        for trace in episode.traces:
            assert [turn.action for turn in trace.turns] == [BIDS[trace.player]] * 2
            assert [turn.parts["bid"] for turn in trace.turns] == [-0.1 * (trace.player == "even")] * 2
            assert len({turn.observation for turn in trace.turns}) == 1  # its own card, and no other
        last = episode.observation
        assert last.startswith("The sums are")
        assert all("sums" not in seen(trace) for trace in episode.traces)


def test_one_policy_plays_both_seats_and_keeps_their_conversations_apart():
    conversations = {}

    class Watched(Policy):
        def send(self, transcripts):
            self.asked = dict(transcripts)
            for slot, transcript in transcripts.items():
                conversations.setdefault((transcript.start.seed, slot), set()).add(transcript.player)

        def recv(self, min_results=1, timeout=None):
            asked, self.asked = getattr(self, "asked", {}), {}
            return {slot: Completion("\\boxed{0}") for slot in asked}

    assert all(episode.failure is None for episode in play(Watched()))
    assert all(len(players) == 1 for players in conversations.values())
    assert len(conversations) == 2 * 20


def test_a_player_without_a_policy_is_named():
    with pytest.raises(PolicyError, match="'odd', and there are policies for 'even'"):
        play({"even": lambda observation: "x"})


def test_parts_sum_to_the_reward_to_the_last_bit(tmp_path):
    policy = random_policy()
    with gem.make_vec(ID, 16, info_methods=policy.info_methods) as envs:
        turns = [turn for episode in rollout(policy, envs, range(500)) for turn in episode.turns]
    assert len(turns) == 2000
    assert all(turn.reward.hex() == math.fsum(turn.parts.values()).hex() for turn in turns)


def test_a_wrong_name_or_reward_of_a_player_fails_the_episode(monkeypatch):
    for key, wrong in (("player", 3), ("rewards", 1.0), ("rewards", {"even": {"bid": "much"}})):

        def spoilt(env, action, key=key, wrong=wrong):
            return gem.Step.ongoing("?", 0.0, **{"player": "even", key: wrong})

        monkeypatch.setattr("player_envs.Higher._step", spoilt)
        (episode,) = play(lambda observation: "x", episodes=1)
        assert "info['player'] or info['rewards'] is not one" in episode.failure.error


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "episodes.jsonl"
    policy = random_policy()
    with (
        gem.make_vec(ID, 4, info_methods=policy.info_methods) as envs,
        Recorder(path, policy={"even": "random", "odd": {"name": "openai", "model": "any"}}) as recorder,
    ):
        list(recorder.record(rollout(PlayerPolicies(dict.fromkeys(PLAYERS, policy)), envs, range(20))))
    return path


def test_games_are_recorded_with_the_policy_of_each_player_and_reproduced(recording):
    for episode in read(recording):
        policies = {trace.player: trace.policy for trace in episode.traces}
        assert policies == {"even": "random", "odd": {"name": "openai", "model": "any"}}
        assert reproduce(episode, trust=True) is None
    done = CliRunner().invoke(main, ["reproduce", str(recording), "--trust"])
    assert done.stdout == "20 of 20 episodes came out the same to the byte.\n"


@pytest.mark.parametrize("what", ["reward", "parts", "observation", "order"])
def test_an_altered_game_is_noticed(recording, tmp_path, what):
    episode = json.loads(recording.read_text().splitlines()[0])
    first, second = episode["traces"]
    turn = second["turns"][1]
    match what:
        case "reward":
            turn["reward"] += 1e-9
        case "parts":
            turn["parts"]["game"] += 1e-9
        case "observation":
            turn["observation"] += " "
        case "order":
            first["steps"], second["steps"] = second["steps"], first["steps"]
    altered = tmp_path / "altered.jsonl"
    altered.write_text(json.dumps(episode) + "\n")
    assert reproduce(next(iter(read(altered))), trust=True) is not None


def test_a_page_and_an_export_have_the_traces(recording, tmp_path):
    shown = run_of(recording)["episodes"][0]
    assert [trace["player"] for trace in shown["traces"]] == [
        trace.player for trace in next(iter(read(recording))).traces
    ]
    rows = tmp_path / "rows.jsonl"
    assert (
        CliRunner().invoke(main, ["export", str(recording), "--format", "messages", "--out", str(rows)]).exit_code == 0
    )
    exported = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(exported) == 2 * 20
    assert {row["player"] for row in exported} == set(PLAYERS)
    assert all([message["role"] for message in row["messages"]] == ["user", "assistant"] * 2 for row in exported)


def test_a_session_keeps_a_conversation_of_ids_for_each_player():
    chat = ChatEncoder(tokenizer())
    with Session(ID, chat) as session:
        ids, asked = session.start(seed=1), []
        while ids is not None:
            asked.append(session.player)
            assert chat.text(tuple(ids)).count("Your card") == len([each for each in asked if each == asked[-1]])
            bid = chat.tokenizer.encode(BIDS[session.player], add_special_tokens=False)
            ids = session.said([*bid, chat.stop_ids[0]])
        result = session.result
    assert asked == [asked[0], asked[1]] * 2
    assert {player: len(result.segments_of(player)) for player in PLAYERS} == {"even": 1, "odd": 1}
    assert len(result.segments) == 2
    for trace in result.episode.traces:
        (segment,) = result.segments_of(trace.player)
        assert math.isclose(sum(segment.rewards), trace.total_reward)


def test_a_batch_has_a_row_for_each_trained_trace_and_groups_by_player():
    chat = ChatEncoder(tokenizer())

    def said(observation):
        ids = tuple(chat.tokenizer.encode("\\boxed{1}", add_special_tokens=False))
        return Completion("\\boxed{1}", prompt_ids=(1,), ids=ids, logprobs=(0.0,) * len(ids))

    with gem.make_vec(ID, 4) as envs:
        episodes = list(rollout(said, envs, range(3), group_size=2))
    both, one = collate(episodes), collate(episodes, lambda episode: traces_of(episode, ["odd"]))
    assert np.bincount(both.episodes.group).tolist() == [2] * 6
    assert np.bincount(one.episodes.group).tolist() == [2] * 3
    assert (both.num_turns, one.num_turns) == (6 * 4, 6 * 2)
    odd = [trace.rewards for episode in episodes for trace in episode.traces if trace.player == "odd"]
    assert one.rewards.tolist() == pytest.approx([reward for rewards in odd for reward in rewards])


@pytest.mark.parametrize("players", [[], ["odd"]])
def test_grpo_learns_from_both_players_or_from_one(players, tmp_path):
    settings = {
        "algorithm": "grpo",
        "steps": 2,
        "rollout": {
            "episodes": 8,
            "group_size": 4,
            "num_envs": 8,
            "max_new_tokens": 8,
            "players": players,
            "record_tokens": 4,
        },
        "warmup": {"steps": 2, "episodes": 4, "policy": "random"},
        "eval": {"episodes": 4},
    }
    with Display(quiet=True) as display:
        train(load_config([{"id": ID, "watch": {"stop": False}}, settings]), tmp_path / "run", display)
    episodes = [each for each in read(tmp_path / "run" / "episodes.jsonl") if each.labels["phase"] == "train"]
    assert len(episodes) == 2 * 4
    for episode in episodes:
        assert {trace.player for trace in episode.traces} == set(PLAYERS)
        for trace in episode.traces:
            masks = [turn.completion.tokens.mask for turn in trace.turns]
            assert all(sum(mask) == 0 and mask for mask in masks) if players and trace.player == "even" else True


def test_a_budget_lets_both_players_go_on_in_a_game_that_has_begun():
    budget = Budget(max_tokens=130)
    found = evaluate(ID, lambda messages: Completion("\\boxed{1}", usage=Usage(10, 5)), episodes=9, budget=budget)

    assert (found.played, found.budget_spent, found.meter.spent.prompt) == (2, True, 80)
