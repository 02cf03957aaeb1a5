"""Facts, rules and statements in English."""

from random import Random
from typing import NamedTuple

from gem_envs_qa.rules.theory import ANYONE, Claim, Rule, Theory, Trait, World


class Cast(NamedTuple):
    """The subjects of a theory, and the words for them."""

    about: str
    names: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]
    """Each takes one of the names as its object."""
    anyone: str
    pronoun: str
    many: str


PEOPLE = Cast(
    "some people",
    ("Anne", "Bob", "Charlie", "Dora", "Erin", "Fred", "Gita", "Harry", "Ines", "Jonas", "Kofi", "Lena"),
    ("big", "blue", "brave", "calm", "clever", "cold", "furry", "green", "happy", "kind", "nice", "old", "quiet", "red",
     "rich", "rough", "round", "sad", "smart", "strong", "tall", "tired", "white", "young"),
    (),
    "someone", "they", "people",
)  # fmt: skip
ANIMALS = Cast(
    "some animals",
    ("the bear", "the cat", "the cow", "the dog", "the fox", "the goat", "the hare", "the horse", "the lion",
     "the mouse", "the owl", "the seal"),
    PEOPLE.adjectives,
    ("chase", "fear", "follow", "help", "like", "need", "see", "visit"),
    "something", "it", "animals",
)  # fmt: skip

_CLOSED = (
    "The facts and rules are complete: whatever does not follow from them is false, and 'not' in a rule means that it "
    "does not follow.\nIs the statement True or False?"
)
_OPEN = (
    "The facts and rules may be incomplete: what does not follow from them need not be false.\nIs the statement True "
    "(it follows), False (its opposite follows) or Unknown (neither follows)?"
)


def asked(rng: Random, theory: Theory, statement: Claim, cast: Cast, world: World) -> str:
    """The question, without how to answer; `rng` varies the wording."""
    return "\n".join(
        [
            f"Here are facts and rules about {cast.about}. A rule about {cast.anyone} holds for each of them: "
            f"{', '.join(theory.names)}. In a rule, '{cast.pronoun}' is the same as '{cast.anyone}'.",
            "",
            "Facts:",
            *(f"- {_sentence(_claim(fact, cast))}" for fact in theory.facts),
            "",
            "Rules:",
            *(f"- {_sentence(_rule(rng, rule, cast))}" for rule in theory.rules),
            "",
            f"Statement: {_sentence(_claim(statement, cast))}",
            "",
            _CLOSED if world == "closed" else _OPEN,
        ]
    )


def _rule(rng: Random, rule: Rule, cast: Cast) -> str:
    claims = (*rule.conditions, rule.conclusion)
    short = all(claim.subject == ANYONE and claim.holds and claim.trait.verb == "is" for claim in claims)
    if short and rng.random() < 0.5:
        *conditions, conclusion = (claim.trait.object for claim in claims)
        return f"all {', '.join(conditions)} {cast.many} are {conclusion}"
    parts: list[str] = []
    for condition in rule.conditions:
        named = condition.subject == ANYONE and any(cast.anyone in part for part in parts)
        parts.append(_claim(condition, cast, cast.pronoun if named else cast.anyone))
    return f"if {' and '.join(parts)} then {_claim(rule.conclusion, cast, cast.pronoun)}"


def _claim(claim: Claim, cast: Cast, anyone: str = "") -> str:
    subject = anyone if claim.subject == ANYONE else claim.subject
    verb, thing = claim.trait
    if verb == "is":
        return f"{subject} {'are' if subject == 'they' else 'is'} {'' if claim.holds else 'not '}{thing}"
    return f"{subject} {f'{verb}s' if claim.holds else f'does not {verb}'} {thing}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def traits(cast: Cast, names: tuple[str, ...]) -> list[Trait]:
    """All traits that these may have."""
    return [Trait("is", adjective) for adjective in cast.adjectives] + [
        Trait(verb, name) for verb in cast.verbs for name in names
    ]
