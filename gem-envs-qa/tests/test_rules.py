"""`logic:Rules`: the answers are right by other means, at the depth that was asked for, and cannot be guessed."""

from collections import Counter

import pytest
import rule_reader

import gem
from gem.errors import ConfigError
from gem_envs_qa.rules.env import Rules
from gem_envs_qa.rules.theory import ANYONE, Claim, Rule, Solver, Theory, Trait

WORLDS = ("closed", "open")
BIG, KIND, SAD, OLD = (Trait("is", word) for word in ("big", "kind", "sad", "old"))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("depth", range(6))
def test_the_answer_is_that_of_another_solver_that_reads_the_question(depth, world):
    env = Rules(depth, world)
    answer = rule_reader.closed_answer if world == "closed" else rule_reader.open_answer
    for seed in range(25):
        asked = rule_reader.read(env.reset(seed=seed)[0])

        assert len(asked.facts) == len(env.problem.theory.facts)
        assert answer(asked) == env.problem.answer, f"seed {seed}"


@pytest.mark.parametrize("depth", range(6))
def test_what_follows_is_found_in_the_round_of_forward_chaining_that_was_asked_for(depth):
    env = Rules(depth, "open")
    checked = 0
    for seed in range(25):
        asked = rule_reader.read(env.reset(seed=seed)[0])
        if env.problem.answer != "Unknown":
            atom, holds = asked.statement
            checked += 1
            assert rule_reader.rounds(asked)[atom, holds == (env.problem.answer == "True")] == depth

    assert checked > 10


def theory(*rules):
    return Theory(("Anne", "Bob"), (Claim("Anne", BIG),), rules)


def anyone(*traits):
    """A rule from the first traits to the last; a trait in a tuple is denied."""
    claims = [Claim(ANYONE, each) if isinstance(each, Trait) else Claim(ANYONE, each[0], False) for each in traits]
    return Rule(tuple(claims[:-1]), claims[-1])


@pytest.mark.parametrize(
    ("rules", "world", "asked", "value", "depth"),
    [
        ([], "closed", BIG, "True", 0),
        ([], "closed", KIND, "False", 0),
        ([], "open", KIND, "Unknown", 0),
        ([anyone(BIG, KIND)], "closed", KIND, "True", 1),
        ([anyone(BIG, KIND), anyone(KIND, SAD)], "closed", SAD, "True", 2),
        # The shortest of two proofs counts, and what is looked through in vain, to the end.
        ([anyone(BIG, KIND), anyone(KIND, SAD), anyone(BIG, SAD)], "closed", SAD, "True", 1),
        ([anyone(OLD, KIND), anyone(KIND, SAD), anyone(OLD, SAD)], "closed", SAD, "False", 2),
        # A condition that holds does not matter to a rule that fails; of those that fail the nearest does.
        ([anyone(BIG, KIND), anyone(KIND, OLD, SAD)], "closed", SAD, "False", 1),
        ([anyone((KIND,), SAD)], "closed", SAD, "True", 1),
        ([anyone(BIG, KIND), anyone((KIND,), SAD)], "closed", SAD, "False", 2),
        ([anyone(BIG, (KIND,))], "open", KIND, "False", 1),
        ([anyone(OLD, KIND), anyone(KIND, (SAD,))], "open", SAD, "Unknown", 2),
        ([Rule((Claim("Bob", BIG),), Claim("Anne", KIND))], "closed", KIND, "False", 1),
        ([Rule((Claim(ANYONE, BIG),), Claim("Anne", KIND))], "closed", KIND, "True", 1),
    ],
)
def test_values_and_depths_are_those_worked_out_by_hand(rules, world, asked, value, depth):
    assert Solver(theory(*rules), world).value("Anne", asked) == (value, depth)


def test_a_theory_that_contradicts_itself_is_found():
    assert Solver(theory(anyone(BIG, KIND)), "open").consistent()
    assert not Solver(theory(anyone(BIG, KIND), anyone(BIG, (KIND,))), "open").consistent()


@pytest.mark.parametrize("world", WORLDS)
def test_the_answer_cannot_be_told_by_the_word_not_or_by_counting_facts(world):
    env = Rules(2, world)
    seen: Counter[tuple[str, bool, str]] = Counter()
    for seed in range(300):
        asked = rule_reader.read(env.reset(seed=seed)[0])
        (name, _), holds = asked.statement
        answer = env.problem.answer
        positive = answer if holds or answer == "Unknown" else "False" if answer == "True" else "True"
        seen["not", holds, answer] += 1
        seen["facts", len(asked.facts) > 6, positive] += 1
        seen["own facts", sum(subject == name for (subject, _), _ in asked.facts) > 1, positive] += 1

    for kind in ("not", "facts", "own facts"):
        for value in (True, False):
            counts = [seen[kind, value, answer] for answer in env.answers]
            assert sum(counts) > 50
            assert max(counts) / sum(counts) < 1 / len(counts) + 0.12, (kind, value, counts)


def test_nobody_does_something_to_itself():
    env = Rules(3, "closed", 8)
    for seed in range(50):
        asked = rule_reader.read(env.reset(seed=seed)[0])
        bodies = [claim for body, _ in asked.rules if len({atom[0] for (atom, _) in body}) > 1 for claim in body]
        for (name, trait), _ in [*asked.facts, asked.statement, *bodies]:
            assert not trait.endswith(f" {name}")


@pytest.mark.parametrize(
    ("world", "reply", "read"),
    [
        ("closed", "\\boxed{True}", "True"),
        ("closed", "It is \\boxed{\\text{false}}.", "False"),
        ("closed", "<answer>True</answer> no: <answer> FALSE. </answer>", "False"),
        ("closed", "<answer>True</answer> \\boxed{False}", "False"),
        ("closed", "\\boxed{Yes}", "True"),
        ("closed", "\\boxed{Unknown}", None),
        ("open", "\\boxed{unknown}", "Unknown"),
        ("open", "\\boxed{True or False}", None),
        ("open", "True", None),
        ("open", "\\boxed{}", None),
        ("open", "\\boxed{not True}", None),
        ("open", "\\boxed{True\x00}", None),
        ("open", "\\boxed{" * 5000, None),
        ("open", "<answer>" + "True " * 5000 + "</answer>", None),
    ],
)
def test_a_reply_is_read_as_one_of_the_answers_or_as_none(world, reply, read):
    env = Rules(1, world)
    env.reset(seed=1)
    step = env.step(reply)

    assert step.info["success"] == (read == env.problem.answer)
    assert step.info.get("malformed", False) == (read is None)
    assert step.reward == float(step.info["success"])


@pytest.mark.parametrize("form", ["box", "tags"])
def test_the_form_that_is_asked_for_is_the_one_that_the_expert_uses(form):
    env = Rules(1, form=form, max_attempts=2)
    text, _ = env.reset(seed=0)
    wrong = "False" if env.problem.answer == "True" else "True"

    assert ("\\boxed{}" in text, "<answer>" in text) == (form == "box", form == "tags")
    first = env.step(f"\\boxed{{{wrong}}}" if form == "box" else f"<answer>{wrong}</answer>")
    assert (first.reward, first.terminated) == (0, False)
    assert env.step(env.expert_action()).info["success"]


def test_settings_out_of_range_are_refused():
    for settings in ({"depth": 6}, {"depth": -1}, {"world": "half"}, {"distractors": 21}, {"form": "xml"}):
        with pytest.raises(ConfigError, match=next(iter(settings))):
            Rules(**settings)


def test_the_ids_have_the_depths_and_worlds_of_their_names():
    made = {variant: gem.make(f"logic:Rules-v0{variant}") for variant in ("", "-easy", "-hard", "-open-hard")}

    assert {variant: (env.depth, env.world) for variant, env in made.items()} == {
        "": (3, "closed"), "-easy": (1, "closed"), "-hard": (5, "closed"), "-open-hard": (5, "open"),
    }  # fmt: skip
