"""Kuhn poker: its rules, its equilibria, and what a player reads at each information set."""

import math
from itertools import permutations, product

import pytest

from gem.errors import ConfigError
from gem_envs_arena.kuhn_equilibrium import CARDS, INFORMATION_SETS, equilibrium, information_set, nash_conv
from gem_envs_arena.kuhn_poker import KuhnPoker
from gem_envs_arena.kuhn_prompts import information_sets

DEALS = ["".join(deal) for deal in permutations(CARDS, 2)]
PROFILES = {
    "uniform": dict.fromkeys(INFORMATION_SETS, 0.5),
    "equilibrium": equilibrium(0.2),
    "always bets": dict.fromkeys(INFORMATION_SETS, 1.0),
    "odd": {name: (number * 7 % 12) / 11 for number, name in enumerate(INFORMATION_SETS)},
}


def play(cards, *actions):
    env = KuhnPoker()
    env.reset(seed=0, options={"cards": cards})
    for action in actions:
        step = env.step(f"\\boxed{{{action}}}")
    return step


@pytest.mark.parametrize(
    ("cards", "actions", "chips"),
    [
        ("KQ", ["check", "check"], 1),
        ("JQ", ["check", "check"], -1),
        ("JQ", ["bet", "fold"], 1),
        ("KQ", ["bet", "call"], 2),
        ("QK", ["bet", "call"], -2),
        ("KQ", ["check", "bet", "fold"], -1),
        ("KQ", ["check", "bet", "call"], 2),
        ("QK", ["check", "bet", "call"], -2),
    ],
)
def test_every_line_of_play_pays_what_the_rules_say(cards, actions, chips):
    step = play(cards, *actions)
    assert step.terminated
    assert step.info["rewards"] == {"first": chips, "second": -chips}
    assert step.info["won"] == ["first" if chips > 0 else "second"]
    assert step.reward == 0
    assert any(f"player has {card}" in step.observation for card in cards) == (actions[-1] != "fold")


@pytest.mark.parametrize("actions", [["check"], ["bet"], ["check", "bet"], []])
@pytest.mark.parametrize("junk", ["", "bet", "\\boxed{raise}", "\\boxed{check", "legal", "\\boxed{\ud800}"])
def test_a_reply_without_a_legal_action_gives_up_the_ante(actions, junk):
    junk = f"\\boxed{{{'call' if len(actions) < 2 and actions != ['bet'] else 'check'}}}" if junk == "legal" else junk
    env = KuhnPoker()
    env.reset(seed=0, options={"cards": "KJ"})
    for action in actions:
        env.step(f"\\boxed{{{action}}}")
    loser, winner = ("first", "second") if len(actions) % 2 == 0 else ("second", "first")
    step = env.step(junk)
    assert step.terminated
    assert step.info["rewards"] == {loser: -1.0, winner: 1.0}
    assert step.info["won"] == [winner]


def test_every_deal_is_equally_likely():
    env, counts = KuhnPoker(), dict.fromkeys(DEALS, 0)
    for seed in range(3000):
        env.reset(seed=seed)
        counts["".join(env.cards.values())] += 1
    assert all(420 < count < 580 for count in counts.values())  # 500 each, give or take 4 standard deviations


@pytest.mark.parametrize("cards", ["JJ", "J", "KA", 3])
def test_other_cards_are_refused(cards):
    with pytest.raises(ConfigError, match="cards are two different ones of JQK"):
        KuhnPoker().reset(seed=0, options={"cards": cards})


def expected(profile, cards, actions=()):
    """The chips that the first player can expect, by playing every line of the game itself."""
    if actions:
        step = play(cards, *actions)
        if step.done:
            return step.info["rewards"]["first"]
    passive, active = ("fold", "call") if actions[-1:] == ("bet",) else ("check", "bet")
    chance = profile[information_set(cards[len(actions) % 2], actions)]
    return (1 - chance) * expected(profile, cards, (*actions, passive)) + chance * expected(
        profile, cards, (*actions, active)
    )


@pytest.mark.parametrize("name", PROFILES)
def test_nash_conv_is_that_of_every_pure_strategy_played_in_the_game(name):
    profile = PROFILES[name]
    gains = []
    for sign, own in ((1, INFORMATION_SETS[:6]), (-1, INFORMATION_SETS[6:])):
        # The decisions for one card meet no other card's, so the best of the 64 are sums over cards.
        best = -math.inf
        values = {}
        for card in CARDS:
            decisions = [each for each in own if each.startswith(card)]
            for choices in product((0.0, 1.0), repeat=2):
                played = {**profile, **dict(zip(decisions, choices, strict=True))}
                deals = [deal for deal in DEALS if deal[0 if sign == 1 else 1] == card]
                values[card, choices] = sum(sign * expected(played, deal) for deal in deals) / 6
        for strategy in product(product((0.0, 1.0), repeat=2), repeat=3):
            best = max(best, sum(values[card, choices] for card, choices in zip(CARDS, strategy, strict=True)))
        gains.append(best - sum(sign * expected(profile, deal) for deal in DEALS) / 6)
    assert nash_conv(profile) == pytest.approx(sum(gains), abs=1e-12)


def test_uniform_play_has_eleven_twelfths_and_every_equilibrium_nothing():
    assert nash_conv(PROFILES["uniform"]) == pytest.approx(11 / 12, abs=1e-12)
    for alpha in (0, 0.1, 0.2, 1 / 3):
        profile = equilibrium(alpha)
        assert nash_conv(profile) == pytest.approx(0, abs=1e-12)
        assert sum(expected(profile, deal) for deal in DEALS) / 6 == pytest.approx(-1 / 18)  # the value of the game
        assert nash_conv({**profile, "J check": 0.6}) > 0.02


@pytest.mark.parametrize("wrong", [{}, {"J bet": 1.5}, {"J bet": math.nan}, {"A": 0.5}])
def test_what_is_no_profile_is_refused(wrong):
    with pytest.raises(ConfigError):
        nash_conv({**PROFILES["uniform"], **wrong} if wrong else {})


def test_the_expert_plays_the_equilibrium():
    env = KuhnPoker()
    for cards, actions in (("JQ", ()), ("QJ", ("check", "bet")), ("KJ", ("check",)), ("JQ", ("bet",))):
        env.reset(seed=1, options={"cards": cards})
        for action in actions:
            env.step(f"\\boxed{{{action}}}")
        active = f"\\boxed{{{env.legal[1]}}}"
        share = sum(env.expert_action() == active for _ in range(2000)) / 2000
        chance = equilibrium(1 / 3)[information_set(cards[len(actions) % 2], actions)]
        assert share == pytest.approx(chance, abs=0.05)


def test_the_information_sets_are_the_prompts_of_the_game():
    sets = information_sets()
    assert [each.name for each in sets] == list(INFORMATION_SETS)
    asked = {}
    for cards in DEALS:
        for actions in ((), ("check",), ("bet",), ("check", "bet")):
            env = KuhnPoker()
            observation, info = env.reset(seed=5, options={"cards": cards})
            read = {info["player"]: [observation]}
            for action in actions:
                step = env.step(f"\\boxed{{{action}}}")
                read.setdefault(step.info["player"], []).append(step.observation)
            asked.setdefault(information_set(env.cards[env.player], actions), set()).add(tuple(read[env.player]))
    for each in sets:
        messages = each.transcript.messages()
        seen = tuple(message["content"] for message in messages if message["role"] == "user")
        # One prompt for an information set, whatever card the other has.
        assert asked[each.name] == {seen}
        assert each.transcript.player == ("first" if len(each.name.split()) in (1, 3) else "second")
        assert all(reply in seen[-1] for reply in (each.passive, each.active))
