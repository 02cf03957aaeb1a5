"""Reads a question of `logic:Rules` back from its English, and answers it by other means than the environment."""

import re
from typing import NamedTuple

Atom = tuple[str, str]
"""A name and a trait: ("the cat", "is kind"), ("the cat", "chases the dog")."""
Claim = tuple[Atom, bool]
Rule = tuple[list[Claim], Claim]

_DENIED = re.compile(r"(is|are) not (.*)|does not (\w+)( .*)")


class Read(NamedTuple):
    """A question: facts, rules about names alone, and the statement."""

    names: list[str]
    facts: list[Claim]
    rules: list[Rule]
    statement: Claim


def read(text: str) -> Read:
    names = re.search(r"holds for each of them: (.*?)\. In a rule", text)[1].split(", ")
    lines = re.findall(r"^- (.*)\.$", text, re.M)
    facts = [_claim(line, names, "") for line in lines if not line.startswith(("If ", "All "))]
    rules = [each for line in lines if line.startswith(("If ", "All ")) for each in _rules(line, names)]
    return Read(names, facts, rules, _claim(re.search(r"^Statement: (.*)\.$", text, re.M)[1], names, ""))


def _claim(text: str, names: list[str], anyone: str) -> Claim:
    text = text[0].lower() + text[1:] if text.startswith("The ") else text
    text = re.sub(r"^(someone|they|something|it)\b", anyone, text) if anyone else text
    name = next(name for name in names if text.startswith(f"{name} "))
    rest = text.removeprefix(f"{name} ")
    if denied := _DENIED.fullmatch(rest):
        return (name, f"is {denied[2]}" if denied[1] else f"{denied[3]}s{denied[4]}"), False
    return (name, re.sub("^are ", "is ", rest)), True


def _rules(line: str, names: list[str]) -> list[Rule]:
    if short := re.fullmatch(r"All (.*) (?:people|animals) are (\w+)", line):
        return [([((name, f"is {word}"), True) for word in short[1].split(", ")], ((name, f"is {short[2]}"), True))
                for name in names]  # fmt: skip
    before, after = re.fullmatch(r"If (.*) then (.*)", line).groups()
    general = re.search(r"\b(someone|something)\b", before)
    return [
        ([_claim(part, names, name) for part in before.split(" and ")], _claim(after, names, name))
        for name in (names if general else names[:1])
    ]


def closed_answer(asked: Read) -> str:
    """By the well-founded semantics: what is true with as little, and with as much as possible, taken for true."""
    low: set[Atom] = set()
    while True:
        high = _follows(asked, low)
        higher = _follows(asked, high)
        if higher == low:
            break
        low = higher
    assert low == high, "the theory does not decide everything"
    atom, holds = asked.statement
    return str((atom in low) == holds)


def _follows(asked: Read, assumed: set[Atom]) -> set[Atom]:
    """What follows by forward chaining, where a "not" is judged by what is `assumed`."""
    true = {atom for atom, _ in asked.facts}
    while True:
        new = {
            head[0]
            for body, head in asked.rules
            if all((atom in true) if holds else (atom not in assumed) for atom, holds in body)
        } - true
        if not new:
            return true
        true |= new


def open_answer(asked: Read) -> str:
    """By classical logic: whether the facts and rules with the statement, and with its opposite, can be satisfied."""
    clauses = [{claim} for claim in asked.facts]
    clauses += [{(atom, not holds) for atom, holds in body} | {head} for body, head in asked.rules]
    atom, holds = asked.statement
    assert satisfiable(clauses), "the theory contradicts itself"
    if not satisfiable([*clauses, {(atom, not holds)}]):
        return "True"
    return "False" if not satisfiable([*clauses, {(atom, holds)}]) else "Unknown"


def satisfiable(clauses: list[set[Claim]]) -> bool:
    """By the procedure of Davis, Putnam, Logemann and Loveland."""
    if not clauses:
        return True
    atom, value = next(iter(min(clauses, key=len)), (None, None))
    if atom is None:
        return False
    choices = (value,) if len(min(clauses, key=len)) == 1 else (value, not value)
    return any(
        satisfiable([clause - {(atom, not choice)} for clause in clauses if (atom, choice) not in clause])
        for choice in choices
    )


def rounds(asked: Read) -> dict[Claim, int]:
    """Claim → the round of forward chaining in which it first follows; for rules without a "not" in a condition."""
    found = dict.fromkeys(asked.facts, 0)
    number = 0
    while new := {head for body, head in asked.rules if all(claim in found for claim in body)} - found.keys():
        number += 1
        found |= dict.fromkeys(new, number)
    return found
