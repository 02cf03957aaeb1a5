"""Random theories with a statement that takes a given number of rules."""

from itertools import pairwise
from random import Random
from typing import NamedTuple

from gem_envs_qa.rules.theory import ANYONE, Claim, Rule, Solver, Theory, Trait, World
from gem_envs_qa.rules.wording import ANIMALS, PEOPLE, Cast, traits
from gem_envs_qa.truth import Truth

ANSWERS: dict[World, tuple[Truth, ...]] = {"closed": ("True", "False"), "open": ("True", "False", "Unknown")}
"""World → the possible answers."""

_NAMES = 4
_OPPOSITE: dict[Truth, Truth] = {"True": "False", "False": "True", "Unknown": "Unknown"}


class Problem(NamedTuple):
    """A theory, a statement about it, and whether that is true."""

    theory: Theory
    statement: Claim
    answer: Truth
    cast: Cast


def draw(rng: Random, depth: int, world: World, distractors: int) -> Problem:
    """A problem whose answer is `depth` rules away: each answer of the world is equally likely, and so are statements
    with and without "not", whatever the answer.

    Args:
        rng: draws everything.
        depth: the depth of the statement, see `Decided`.
        world: closed or open.
        distractors: rules beside those that lead to the statement.
    """
    answer = rng.choice(ANSWERS[world])
    holds = rng.random() < 0.5
    wanted = answer if holds else _OPPOSITE[answer]
    while True:
        cast = rng.choice((PEOPLE, ANIMALS))
        theory, statement = _theory(rng, cast, depth, world, distractors, wanted)
        solver = Solver(theory, world)
        if solver.value(statement.subject, statement.trait) != (wanted, depth) or not solver.consistent():
            continue
        if wanted != "Unknown" or _may_hold(theory, statement):
            return Problem(theory, statement._replace(holds=holds), answer, cast)


def _may_hold(theory: Theory, claim: Claim) -> bool:
    """Tell whether `claim` contradicts nothing in an open world: otherwise its opposite would follow, but not by
    applying rules from their conditions to their conclusions."""
    return Solver(Theory(theory.names, (*theory.facts, claim), theory.rules), "open").consistent()


def _theory(rng: Random, cast: Cast, depth: int, world: World, distractors: int, wanted: Truth) -> tuple[Theory, Claim]:
    """A chain of `depth` rules about one of the names, from a fact or from a fact that is missing, and what else there
    is; and what the chain leads to. Rules lead from earlier to later traits only."""
    names = tuple(rng.sample(cast.names, _NAMES))
    hero, other = rng.sample(names, 2)
    order = rng.sample([trait for trait in traits(cast, names) if trait.object != hero], depth + 5)
    chain = sorted(rng.sample(range(len(order)), depth + 1))
    facts = {Claim(rng.choice(names), trait) for trait in rng.choices(order, k=5)}
    missing = wanted == "Unknown" or (wanted == "False" and world == "closed")
    # At depth 0 what is denied in an open world is itself a fact.
    first = Claim(hero, order[chain[0]], holds=missing or wanted == "True" or depth > 0)
    # So that the number of facts does not tell, somebody else has what is missing, or else some trait.
    swapped = Claim(other, rng.choice(order))
    facts |= {first._replace(subject=other), swapped._replace(subject=hero)} if missing else {first, swapped}
    rules: list[Rule] = []
    for before, after in pairwise(chain):
        conditions = [Claim(hero, order[before])]
        if after > 1 and rng.random() < 0.5:
            other = order[rng.choice([place for place in range(after) if place != before])]
            extra = Claim(hero, other, holds=world == "open" or rng.random() < 0.5)
            conditions.append(extra)
            if extra.holds and rng.random() < 0.8:
                facts.add(extra)
        denies = world == "open" and wanted == "False" and after == chain[-1]
        rules.append(_general(rng, Rule(tuple(conditions), Claim(hero, order[after], not denies)), hero))
    rules += [_distractor(rng, names, order, world) for _ in range(distractors)]
    if world == "open":
        facts.add(Claim(rng.choice(names), rng.choice(order), holds=False))
    rules = [rule for rule in dict.fromkeys(rules) if not any(map(_about_itself, (*rule.conditions, rule.conclusion)))]
    rng.shuffle(rules)
    facts = {fact for fact in facts if not _about_itself(fact)}
    # A set has no order of its own that would be the same in another process.
    return Theory(names, tuple(rng.sample(sorted(facts), len(facts))), tuple(rules)), Claim(hero, order[chain[-1]])


def _about_itself(claim: Claim) -> bool:
    return claim.subject == claim.trait.object


def _distractor(rng: Random, names: tuple[str, ...], order: list[Trait], world: World) -> Rule:
    places = sorted(rng.sample(range(len(order)), rng.choice((2, 3))))
    hero = rng.choice(names)
    *conditions, conclusion = (Claim(hero, order[place]) for place in places)
    if world == "closed":
        conditions = [claim._replace(holds=rng.random() < 0.7) for claim in conditions]
    else:
        conclusion = conclusion._replace(holds=rng.random() < 0.7)
    return _general(rng, Rule(tuple(conditions), conclusion), hero)


def _general(rng: Random, rule: Rule, hero: str) -> Rule:
    """A rule about `hero`, most often made one about anyone."""
    if rng.random() < 0.2:
        return rule
    claims = [claim._replace(subject=ANYONE) for claim in (*rule.conditions, rule.conclusion)]
    if rng.random() < 0.1:
        claims[-1] = claims[-1]._replace(subject=hero)
    return Rule(tuple(claims[:-1]), claims[-1])
