"""What all games have in common: nobody reads another's secret, and junk ends a game as its rules say."""

import itertools
import re

import pytest

import gem
from gem.testing.replies import JUNK
from gem_envs_arena.game import box
from gem_envs_arena.kuhn_poker import KuhnPoker
from gem_envs_arena.negotiation import Negotiation
from gem_envs_arena.plugin import gem_envs
from gem_envs_arena.undercover import Undercover
from gem_envs_arena.undercover_words import CLUES

IDS = [spec.id for spec in gem_envs()]


def of_kuhn_poker(env, player, prompt):
    """A card that the prompt has and that is not the player's own."""
    said = prompt.partition("player.\n")[2] or prompt
    return set(re.findall(r"\b[JQK]\b", said)) - {env.cards[player]}


def of_negotiation(env, player, prompt):
    """A number beside an item that is not what it is worth to the player."""
    own = ", ".join(f"{item} {value}" for item, value in zip(("book", "hat", "ball"), env.values[player], strict=True))
    return set(re.findall(r"\b(?:book|hat|ball) [0-9]+", prompt)) - set(own.split(", "))


def of_undercover(env, player, prompt):
    """A word of another player, and a vote."""
    named = {word for word in env.words.values() if word in prompt} - {env.words[player]}
    return named | set(re.findall(r"Votes|was undercover", prompt))


def of_sealed_moves(env, player, prompt):
    """A choice of the round that is not over."""
    return set(re.findall(r"Round ([0-9]+):.*player", prompt)) - set(map(str, range(1, len(env.choices) + 1)))


SECRETS = {
    "arena:KuhnPoker-v0": of_kuhn_poker,
    "arena:Negotiation-v0": of_negotiation,
    "arena:PrisonersDilemma-v0": of_sealed_moves,
    "arena:Undercover-v0": of_undercover,
}
"""Id → what a prompt has that its player must not know. The board games have no secrets."""


def leaks(env, find, games):
    """Secrets of others in the prompts of `games` games of random play."""
    found = []
    for seed in range(games):
        prompt, info = env.reset(seed=seed)
        done = False
        while not done:
            player = info["player"]
            found += [(seed, player, secret) for secret in find(env, player, prompt)]
            prompt, _, done, _, info = env.step(env.sample_action())
    return found


@pytest.mark.parametrize("games", [100, pytest.param(2500, marks=pytest.mark.full)])
@pytest.mark.parametrize("id", SECRETS)
def test_no_prompt_of_a_player_holds_a_secret_of_another(id, games):
    assert leaks(gem.make(id), SECRETS[id], games) == []


@pytest.mark.parametrize("id", SECRETS)
def test_a_planted_leak_is_found(id, monkeypatch):
    kind = type(gem.make(id).unwrapped)
    honest = kind._request

    def leaking(env):
        other = next(player for player in env.players if player != env.player)
        secret = {
            "arena:KuhnPoker-v0": lambda: env.cards[other],
            "arena:Negotiation-v0": lambda: f"book {env.values[other][0]}",
            "arena:PrisonersDilemma-v0": lambda: f"Round {len(env.choices) + 1}: the first player {env._sealed}s",
            "arena:Undercover-v0": lambda: f"{other}: {env.words[other]}",
        }[id]()
        return f"{honest(env)} ({secret})"

    monkeypatch.setattr(kind, "_request", leaking)
    assert len({seed for seed, _, _ in leaks(gem.make(id), SECRETS[id], 20)}) >= 10


def altered(env, player):
    """Give the others other secrets."""
    others = [each for each in env.players if each != player]
    if isinstance(env, KuhnPoker):
        env.cards[others[0]] = next(card for card in "JQK" if card not in env.cards.values())
    elif isinstance(env, Negotiation):
        env.values[others[0]] = (9, 8, 7)
    elif isinstance(env, Undercover):
        env.words |= {each: f"other{number}" for number, each in enumerate(others)}
        env.undercover = others[0]


@pytest.mark.parametrize("kind", [KuhnPoker, Negotiation, Undercover])
def test_the_prompts_of_a_player_are_the_same_bytes_whatever_secrets_the_others_have(kind):
    for player, seed in itertools.product(kind.players, range(50)):

        class Altered(kind):
            def _set_up(self, options, player=player):
                super()._set_up(options)
                altered(self, player)

        env, twin = kind(), Altered()
        now, then = env.reset(seed=seed), twin.reset(seed=seed)
        while True:
            assert now[-1]["player"] == then[-1]["player"]
            if now[-1]["player"] == player:
                assert now[0] == then[0]
            action = env.sample_action()
            now, then = env.step(action), twin.step(action)
            if now.done:
                break
        assert then.done


def test_the_prompts_of_a_vote_are_the_same_bytes_whatever_was_voted_before():
    prompts = {}
    for votes in itertools.product(["second", "third"], ["first", "third"]):
        env = Undercover(rounds=1)
        env.reset(seed=0)
        for clue in CLUES[:3]:
            env.step(box(clue))
        for vote in votes:
            step = env.step(box(vote))
            prompts.setdefault(step.info["player"], set()).add(step.observation)
    assert {player: len(read) for player, read in prompts.items()} == {"second": 1, "third": 1}


def play_to(env, seed, turns):
    """The player who acts after some turns of random play; None if the game is over."""
    _, info = env.reset(seed=seed)
    for _ in range(turns):
        step = env.step(env.sample_action())
        if step.done:
            return None
        info = step.info
    return info["player"]


PENALTIES = {
    "arena:KuhnPoker-v0": (-1.0, 1.0, True),
    "arena:TicTacToe-v0": (-1.0, 1.0, True),
    "arena:ConnectFour-v0": (-1.0, 1.0, True),
    "arena:PrisonersDilemma-v0": (-1.0, 3.0, True),
    "arena:Negotiation-v0": (-0.1, 0.0, False),
    "arena:Undercover-v0": (-1.0, 0.0, False),
}
"""Id → what junk costs its player, what each other earns, and whether the others have won."""


@pytest.mark.parametrize("id", IDS)
def test_junk_of_any_player_at_any_turn_ends_the_game_as_its_rules_say(id):
    cost, others, win = PENALTIES[id]
    env = gem.make(id)
    tried = set()
    for seed, junk in enumerate(JUNK.values()):
        for turns in range(8):
            player = play_to(env, seed, turns)
            if player is None:
                break
            step = env.step(junk)
            step.observation.encode()
            tried.add(player)
            assert step.terminated
            assert step.info["malformed"]
            earned = {each: step.info["rewards"].get(each, 0.0) for each in env.players}
            assert earned == {each: cost if each == player else others for each in env.players}
            assert step.info["won"] == [each for each in env.players if win and each != player]
    assert tried == set(env.players)


@pytest.mark.parametrize("word", ["violin", "Violin", "v i o l i n", "vio-lin", "ｖｉｏｌｉｎ", "víolin", "violinist"])
def test_a_clue_with_the_own_word_is_junk(word):
    env = Undercover()
    env.reset(seed=0)
    env.words["first"] = "violin"
    step = env.step(box(f"like a {word} here"))
    assert step.done
    assert step.info["rewards"] == {"first": -1.0}


@pytest.mark.parametrize("id", IDS)
def test_the_rewards_of_zero_sum_games_cancel_out(id):
    env = gem.make(id)
    for seed in range(50):
        env.reset(seed=seed)
        total = 0.0
        while not (step := env.step(env.sample_action())).done:
            total += step.reward
        assert set(step.info["won"]) <= set(env.players)
        if id.split(":")[1].startswith(("Kuhn", "Tic", "Connect")):
            assert total + step.reward == 0
