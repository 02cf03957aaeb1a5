"""`textarena:NAME`: TextArena's games, compared with what TextArena itself plays."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import textarena
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError, DataUnavailable, UnknownId
from gem_interop.envs.textarena import names

NAMES = ["GuessTheNumber-v0", "Mastermind-v0", "TowerOfHanoi-v0", "Minesweeper-v0-small", "LightsOut-v0"]
IDS = [f"textarena:{name}" for name in NAMES]
# TextArena draws from the global generators, which are put back as they were; and no game says which replies are moves.
NOT_MET = ("own_generators", "sample_action")
REPLIES = ["[1]", "[7]", "[13]", "[1 2 3 4]", "[4 3 2 1]", "[A B]", "[B C]", "[1 1]", "[2 2]", "no move"]


def theirs(name, seed, replies):
    """An episode as TextArena plays it, with the messages that are new after each reply."""
    env = textarena.make(f"{name}-raw")
    env.reset(num_players=1, seed=seed)
    told = [env.get_observation()[1]]
    for reply in replies:
        done, _ = env.step(reply if "[" in reply else f"[{reply}]")
        told.append(env.get_observation()[1])
        if done:
            break
    texts = [[message for _, message, kind in said if kind.name != "PLAYER_ACTION"] for said in told]
    rewards, info = env.close()
    return texts, rewards and rewards[0], info[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_is_the_one_that_textarena_plays_from_that_seed(name):
    with gem.make(f"textarena:{name}") as env:
        for seed in range(5):
            said = random.Random(seed).choices(REPLIES, k=8)
            texts, reward, info = theirs(name, seed, said)
            state = random.getstate()
            seen = [env.reset(seed=seed)[0]]
            for reply in said:
                step = env.step(reply)
                seen.append(step.observation)
                if step.done:
                    break
            assert random.getstate() == state
            if step.done:
                assert step.reward == reward
                assert step.info["success"] == (reward >= 1)
                assert seen[-1].endswith(info["reason"])
                assert step.info.get("malformed", False) == info["invalid_move"]
            expected = ["\n".join(each).strip() for each in texts]
            assert seen[:-1] == expected[:-1]
            assert seen[-1].startswith(expected[-1])


def test_games_in_threads_draw_each_from_its_own_generator():
    def play(seed):
        with gem.make(IDS[1]) as env:
            env.reset(seed=seed)
            return [env.step(reply) for reply in ("[1 2 3 4]", "[4 3 2 1]", "[5 6 1 2]")]

    expected = [play(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(play, range(12))) == expected


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("TicTacToe-v0", ConfigError, "is a game for several players"),
        ("TwentyQuestions-v0", ConfigError, "asks a model at OpenRouter"),
        ("GuessWho-v0", ConfigError, "asks a model at OpenRouter"),
        (
            "Wordle-v0",
            DataUnavailable,
            "needs word lists that are not .*: python -m nltk.downloader words",
        ),
        ("GuessTheNumbr-v0", UnknownId, "Did you mean 'textarena:GuessTheNumber-v0'"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(name, error, message):
    with pytest.raises(error, match=message):
        gem.make(f"textarena:{name}")


def test_the_games_for_one_player_are_listed_and_arguments_go_to_the_game():
    listed = names()
    assert set(NAMES) <= set(listed)
    assert not {"TicTacToe-v0", "Poker-v0", "GuessTheNumber-v0-raw"} & set(listed)
    with gem.make(IDS[0], max_number=3, max_turns=1) as env:
        assert "between 1 and 3 " in env.reset(seed=0)[0]
        assert env.step("[1]").done


@pytest.mark.parametrize("id", IDS)
def test_the_contract_is_kept(id):
    assert broken_checks(id, NOT_MET) == {}


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_twenty_episodes_of_each_in_a_vector_are_recorded_and_reproduced(backend, tmp_path):
    records = recorded(tmp_path / "episodes.jsonl", IDS, backend, 20)

    assert differing(records) == []
