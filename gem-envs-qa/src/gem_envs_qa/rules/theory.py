"""Facts and rules, and what follows from them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gem_envs_qa.truth import Truth

World = Literal["closed", "open"]
"""The meaning of what does not follow: false, or unknown."""

ANYONE = "?"
"""The subject of a rule that holds for everyone: the same one throughout a rule."""


class Trait(NamedTuple):
    """A property that somebody may have: `("is", "kind")`, `("chase", "the dog")`."""

    verb: str
    object: str


class Claim(NamedTuple):
    """A claim that a trait holds for a subject, a name or `ANYONE`, or that it does not."""

    subject: str
    trait: Trait
    holds: bool = True


class Rule(NamedTuple):
    """A conclusion that holds if all conditions do. Rules never lead back from a trait to itself."""

    conditions: tuple[Claim, ...]
    conclusion: Claim


@dataclass(frozen=True)
class Theory:
    """Facts and rules about the things named `names`.

    In a closed world facts and conclusions say that a trait holds, and conditions may deny one. In an open world it is
    the other way round.
    """

    names: tuple[str, ...]
    facts: tuple[Claim, ...]
    rules: tuple[Rule, ...]


class Decided(NamedTuple):
    """A truth value, and the number of rules between the facts and that insight.

    `depth` of what follows: the fewest levels of rules of a proof; a fact has 0. Of what does not follow: the levels
    that must be looked through to see that none of the rules that could give it applies.
    """

    follows: bool
    depth: int


@dataclass
class Solver:
    """Decides claims about a theory, by backward chaining; each is decided once."""

    theory: Theory
    world: World
    _known: dict[Claim, Decided] = field(default_factory=dict[Claim, Decided])

    def decide(self, claim: Claim) -> Decided:
        """Tell whether `claim` follows. In a closed world one that denies a trait follows if the trait does not."""
        if self.world == "closed" and not claim.holds:
            follows, depth = self.decide(claim._replace(holds=True))
            return Decided(not follows, depth)
        if claim not in self._known:
            self._known[claim] = self._decide(claim)
        return self._known[claim]

    def _decide(self, claim: Claim) -> Decided:
        if claim in self.theory.facts:
            return Decided(True, 0)
        proofs: list[int] = []
        failures: list[int] = [0]
        for conditions in self._ways(claim):
            decided = [self.decide(condition) for condition in conditions]
            if all(each.follows for each in decided):
                proofs.append(1 + max(each.depth for each in decided))
            else:
                failures.append(1 + min(each.depth for each in decided if not each.follows))
        return Decided(True, min(proofs)) if proofs else Decided(False, max(failures))

    def _ways(self, claim: Claim) -> Iterator[list[Claim]]:
        """The conditions of each rule that could give `claim`, about names alone."""
        for conditions, conclusion in self.theory.rules:
            if (conclusion.trait, conclusion.holds) != (claim.trait, claim.holds):
                continue
            if conclusion.subject == ANYONE:
                anyone: tuple[str, ...] = (claim.subject,)
            elif conclusion.subject == claim.subject:
                anyone = self.theory.names if any(each.subject == ANYONE for each in conditions) else ("",)
            else:
                continue
            for name in anyone:
                yield [each._replace(subject=name) if each.subject == ANYONE else each for each in conditions]

    def value(self, subject: str, trait: Trait) -> tuple[Truth, int]:
        """The truth of a trait of a name, and the depth of that insight."""
        follows, depth = self.decide(Claim(subject, trait))
        if follows:
            return "True", depth
        if self.world == "closed":
            return "False", depth
        denied, other = self.decide(Claim(subject, trait, holds=False))
        return ("False", other) if denied else ("Unknown", max(depth, other))

    def consistent(self) -> bool:
        """Tell whether the theory is consistent: no trait both holds and does not hold for a name."""
        traits = {rule.conclusion.trait for rule in self.theory.rules} | {fact.trait for fact in self.theory.facts}
        return self.world == "closed" or not any(
            self.decide(Claim(name, trait)).follows and self.decide(Claim(name, trait, holds=False)).follows
            for name in self.theory.names
            for trait in traits
        )
