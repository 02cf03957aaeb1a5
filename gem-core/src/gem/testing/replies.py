"""Checks of replies: junk, and the actions of the expert."""

from math import comb

from gem.core import Env
from gem.errors import ContractViolation
from gem.testing.play import ActionChooser, Transition, act, expert_or_random, random_action, start
from gem.testing.subject import Inapplicable, Subject

_LONG = 100_000

JUNK = {
    "an empty reply": "",
    "white space": " \n\t ",
    "a word": "hm",
    "100 kB of text": "so " * (_LONG // 3),
    "100 kB of opening braces": "\\boxed{" * (_LONG // 7),
    "100 kB of nested braces": "\\boxed{" + "{" * (_LONG // 2) + "}" * (_LONG // 2) + "}",
    "a number of 10,000 digits": "\\boxed{" + "9" * 10_000 + "}",
    "digits of other scripts": "\\boxed{٣²①}",
    "an empty box": "\\boxed{}",
    "open tags": "<answer>" * 1_000 + "```" * 1_000,
    "letters beyond ASCII": "ß 漢字 🙂 ́ \u202e \ufeff",
    "NUL and control characters": "\\boxed{\x00\x07\x1b[2J}",
    # JSON can contain these; UTF-8 cannot.
    "a lone surrogate": "\\boxed{\ud800} <answer>\udfff</answer>",
}
"""Replies of a model that are not actions, by name."""

_TIMES = 3
"""How often one piece of junk is repeated."""
_IMPLAUSIBLE = 0.01
"""The chance below which an expert that wins less often is worse, and not unlucky."""
_EXPERT_EPISODES = 4
"""Episodes of the expert per episode of another check: a success rate needs more of them."""


def check_junk(subject: Subject) -> None:
    """Junk replies do not raise, get a readable observation, and the episode ends."""
    seed = subject.seeds(1)[0]
    with subject.make() as env:
        for name, junk in JUNK.items():
            start(env, seed)
            for _ in range(_TIMES):
                if _reply(env, name, junk, seed).over:
                    break
        start(env, seed)
        short = [(name, junk) for name, junk in JUNK.items() if len(junk) < _LONG // 2]
        for turn in range(subject.turns):
            name, junk = short[turn % len(short)]
            if _reply(env, name, junk, seed).over:
                return
    raise ContractViolation(
        f"After {subject.turns} turns of junk, the episode from seed {seed} has not ended.",
        "Give the env a turn limit (max_turns), or end the episode at a malformed reply (TurnEnv.malformed).",
    )


def check_expert(subject: Subject) -> None:
    """The expert does no worse than random play, by Fisher's exact test at 1%, in a game against random play."""
    seeds = subject.seeds(_EXPERT_EPISODES * subject.episodes)
    with subject.make() as env:
        env.reset(seed=seeds[0])
        if env.expert_action() is None:
            raise Inapplicable("the env does not have an expert")
    expert = sum(_wins(subject, number, expert_or_random) for number in range(len(seeds)))
    at_random = sum(_wins(subject, number, random_action) for number in range(len(seeds)))
    if _chance_of_fewer(expert, at_random, len(seeds)) < _IMPLAUSIBLE:
        raise ContractViolation(
            f"Of {len(seeds)} episodes (the first from seed {seeds[0]}), the expert wins {expert} and random play "
            f"{at_random}.",
            "expert_action() must return the best action that the env knows, or None.",
        )


def _chance_of_fewer(first: int, second: int, tried: int) -> float:
    """The chance that, of all these wins, so few as `first` are among one half of `2 * tried` episodes."""
    ways = sum(comb(tried, wins) * comb(tried, first + second - wins) for wins in range(first + 1))
    return ways / comb(2 * tried, first + second)


def _reply(env: Env, name: str, junk: str, seed: int) -> Transition:
    try:
        transition = act(env, junk)
    except Exception as error:
        raise ContractViolation(
            f"{name.capitalize()}, as a reply in the episode from seed {seed}, raises {type(error).__name__}: {error}.",
            "A reply must not raise: read it with gem.answers.parsing, and return malformed() if it cannot be read.",
        ) from error
    try:
        transition.line.encode()
    except UnicodeEncodeError as error:
        raise ContractViolation(
            f"{name.capitalize()} is repeated in an observation or info that UTF-8 cannot encode.",
            "Do not repeat a reply unchanged: reply.encode(errors='replace').decode() can be shown.",
        ) from error
    return transition


def _wins(subject: Subject, number: int, choose: ActionChooser) -> bool:
    """Whether the episode from the seed of that number is won; in a game, by the player of one seat after the other."""
    seed = subject.seeds(number + 1)[number]
    with subject.make() as env:
        own = env.players[number % len(env.players)] if env.players else None
        info = start(env, seed).raw[1]
        for _ in range(subject.turns):
            acts = own is None or info.get("player") == own
            taken = act(env, (choose if acts else random_action)(env))
            info = taken.raw[4]
            if taken.over:
                return bool(info.get("success") if own is None else own in info.get("won", ()))
    return False
