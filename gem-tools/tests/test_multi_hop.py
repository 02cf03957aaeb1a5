"""Questions that need as many searches as they have hops."""

import json
import re
from importlib.resources import files
from statistics import mean

import pytest

from gem.wrappers.tool_env import ToolEnv
from gem_tools.multi_hop.env import MultiHop
from gem_tools.multi_hop.relations import RELATIONS, SUBJECTS
from gem_tools.multi_hop.world import world
from gem_tools.search.shared import shared_index

SEEDS = range(200)
TOPK = 3


def asked(hops, seed):
    env = MultiHop(hops)
    env.reset(seed=seed)
    return env.question


def found(query, topk=TOPK):
    return [hit.document.title for hit in shared_index().search([query], topk)[0]]


def by_title(title):
    return next(thing for thing in world().things.values() if thing.title == title)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_the_plan_leads_from_the_question_through_the_documents_to_the_answer(hops):
    for seed in SEEDS:
        question = asked(hops, seed)
        assert len(question.plan) == hops
        assert question.plan[0].title in question.text
        for hop, following in zip(question.plan, question.plan[1:], strict=False):
            assert hop.answer == following.title
        for hop in question.plan:
            assert hop.answer in by_title(hop.title).text
            assert hop.title in hop.question
        assert question.plan[-1].answer == question.answers[0]


LINES = files("gem_tools").joinpath("data/world.jsonl").read_text("utf-8").splitlines()
ROWS = {row["id"]: row for row in map(json.loads, LINES)}
PHRASES = {SUBJECTS[row["kind"]].format(row["title"]): row for row in ROWS.values()}


def pattern(form):
    return re.compile(re.escape(form).replace(r"\{\}", "(.+)"))


ASKS = [(*key, pattern(wording.question)) for key, wording in RELATIONS.items()]
NOUNS = [(*key, pattern(wording.noun)) for key, wording in RELATIONS.items() if wording.noun]


def values_of(text, wordings):
    """What a question or a phrase such as `the author of the novel "The Tidal Bell"` may mean, found from its words."""
    found = set()
    for kind, relation, form in wordings:
        if match := form.fullmatch(text):
            things = [PHRASES[match[1]]] if match[1] in PHRASES else map(ROWS.get, values_of(match[1], NOUNS))
            found |= {
                thing["facts"][relation] for thing in things if thing["kind"] == kind and relation in thing["facts"]
            }
    return found


def answers_to(text):
    values = values_of(text, ASKS)
    return {ROWS[value]["title"] if value in ROWS else str(value) for value in values}


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_of_200_seeds_at_least_190_ask_different_questions_and_each_has_one_answer(hops):
    questions = {asked(hops, seed).text: asked(hops, seed).answers[0] for seed in SEEDS}
    assert len(questions) >= 190
    assert {text: answers_to(text) for text in questions} == {text: {answer} for text, answer in questions.items()}


def test_every_search_of_a_plan_finds_its_document():
    assert all(thing.title in found(thing.title) for thing in world().things.values())


@pytest.mark.parametrize(("hops", "least", "most"), [(1, 0.95, 1.0), (2, 0.0, 0.05), (3, 0.0, 0.05)])
def test_one_search_is_not_enough_where_there_is_more_than_one_hop(hops, least, most):
    questions = [asked(hops, seed) for seed in SEEDS]

    assert least <= mean(question.plan[-1].title in found(question.text) for question in questions) <= most
    assert least <= mean(question.plan[-1].title in found(question.plan[0].title) for question in questions) <= most


@pytest.mark.parametrize("hops", [2, 3])
def test_the_question_contains_no_intermediate_answer_and_only_the_last_document_the_final_one(hops):
    for seed in SEEDS:
        question = asked(hops, seed)
        for hop in question.plan:
            assert hop.answer not in question.text
        for hop in question.plan[:-1]:
            assert question.answers[0] not in by_title(hop.title).text


def test_every_relation_of_the_world_can_be_asked_for_and_is_in_some_question():
    kinds = {(thing.kind, relation) for thing in world().things.values() for relation in thing.facts}
    assert set(RELATIONS) == kinds
    assert set(SUBJECTS) == {kind for kind, _ in kinds}
    assert {asked(1, seed).last for seed in range(2000)} == kinds


@pytest.mark.parametrize("hops", [2, 3])
def test_an_agent_that_searches_reads_and_searches_again_finds_the_answer(hops):
    env = ToolEnv(MultiHop(hops), "search", max_calls=hops)
    for seed in SEEDS:
        observation, _ = env.reset(seed=seed)
        for hop in env.unwrapped.question.plan:
            assert hop.title in observation
            observation = env.step(f"<search>{hop.title}</search>").observation
        # The last result has the answer: one of its lines is the document that the plan names.
        line = next(line for line in observation.splitlines() if f"(Title: {hop.title})" in line)
        assert hop.answer in line
        step = env.step(f"\\boxed{{{hop.answer}}}")
        assert (step.reward, step.info["success"], step.info["tool_use_counter"]) == (1, True, hops)


def test_the_expert_searches_where_it_can_and_answers_at_once_where_it_cannot():
    alone, searching = MultiHop(2), ToolEnv(MultiHop(2), "search,fetch")
    for env, turns in ((alone, 1), (searching, 3)):
        env.reset(seed=1)
        actions = []
        done = False
        while not done:
            actions.append(env.expert_action())
            step = env.step(actions[-1])
            done = step.done
        assert (step.reward, len(actions)) == (1, turns)
    assert re.fullmatch(r"<search>.*</search>", actions[0])
    assert actions[0] != actions[1]


def test_random_play_searches_and_fetches_existing_documents_with_the_available_tools():
    for tools, used in (("search,fetch", {"search", "fetch"}), ("search", {"search"})):
        env = ToolEnv(MultiHop(2), tools, max_calls=None)
        called = set()
        for seed in range(20):
            env.reset(seed=seed)
            while not (step := env.step(env.sample_action())).done:
                assert step.info["tool"]["status"] == "ok"
                assert "No document" not in step.observation
                called.add(step.info["tool"]["name"])
            assert "malformed" not in step.info
        assert called == used

    alone = MultiHop(2)
    alone.reset(seed=0)
    assert all(alone.sample_action().startswith("\\boxed{") for _ in range(20))


@pytest.mark.parametrize(
    ("reply", "reward"),
    [
        ("\\boxed{River Tessel}", 1),
        ("It is \\boxed{the river tessel.}", 1),
        ("\\boxed{Tessel}", 1),
        ("<answer> The Tessel </answer>", 1),
        ("\\boxed{Aulel} <answer>Tessel</answer>", 0),
        ("\\boxed{River Tessel in Dunholt}", 0),
        ("\\boxed{}", 0),
        ("River Tessel", 0),
        ("", 0),
    ],
)
def test_an_answer_is_right_if_it_is_equal_after_normalisation(reply, reward):
    env = MultiHop(1)
    env.reset(seed=0)
    env.question = env.question._replace(answers=("River Tessel", "Tessel"))

    step = env.step(reply)

    assert (step.reward, step.terminated, step.info["success"]) == (reward, True, reward == 1)


def test_after_a_wrong_answer_no_observation_gives_the_right_one():
    env = MultiHop(2)
    env.reset(seed=0)
    assert env.step("\\boxed{Nowhere}").observation == "That is wrong."


def test_a_number_may_be_given_with_its_unit():
    questions = [asked(1, seed) for seed in range(500)]
    heights = [question for question in questions if question.last == ("mountain", "height")]

    assert heights
    assert all(question.answers[1] == f"{question.answers[0]} metres" for question in heights)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("1234", True),
        ("1,234", True),
        ("1234 metres.", True),
        ("1234.0 Metres", True),
        ("12.34", False),
        ("123.4 metres", False),
        ("1-2-3-4", False),
        ("4", False),
        ("about 1234", False),
    ],
)
def test_a_number_is_right_in_every_notation_and_no_other_is(reply, right):
    env = MultiHop(1)
    env.reset(seed=0)
    env.question = env.question._replace(answers=("1234", "1234 metres"))

    assert env.step(f"\\boxed{{{reply}}}").info["success"] == right
    assert not any(thing.title[0].isdecimal() for thing in world().things.values())
