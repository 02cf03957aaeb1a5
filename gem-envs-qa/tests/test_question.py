"""Questions: reading an answer, grading it, and what the agent is shown."""

import doctest

import pytest

import gem
from gem.errors import ConfigError
from gem.tool import ToolCall
from gem.wrappers.tool_env import ToolResult
from gem_envs_qa import question, reading, truth
from gem_envs_qa.question import Question
from gem_envs_qa.rule_taker import RuleTaker

ROWS = [
    {
        "question": "What is the capital of Norway?",
        "answer": ["Oslo", "the city of Oslo"],
        "titles": ["Norway", "Oslo"],
    },
    {"question": "How high is the tower, in metres?", "answer": 12.5},
]
STATEMENTS = [
    {"question": "Bob is big. Is Bob big?", "answer": True},
    {"question": "Bob is big. Is Bob sad?", "answer": "False"},
]


def asked(index=0, rows=ROWS, kind=Question, **settings):
    env = kind(rows, **settings)
    env.reset(seed=0, options={"index": index})
    return env


@pytest.mark.parametrize("module", [question, reading, truth])
def test_the_examples_in_the_docstrings_are_true(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("index", "reply", "right"),
    [
        (0, "<answer>Oslo</answer>", True),
        (0, "I think <answer> the  OSLO. </answer> is right.", True),
        (0, "<answer>City of Oslo</answer>", True),
        (0, "\\boxed{Oslo}", True),
        (0, "\\boxed{\\text{Oslo}}", True),
        (0, "<answer>Bergen</answer> wait: <answer>Oslo</answer> <answer></answer>", True),
        (0, "<answer>Bergen</answer> \\boxed{Oslo}", False),
        (0, "<answer>Oslo</answer> <answer>Bergen</answer>", False),
        (0, "<answer>Oslo or Bergen</answer>", False),
        (0, "<answer>not Oslo</answer>", False),
        (0, "<answer>O s l o</answer>", False),
        (0, "<answer>Oslo" * 500 + "</answer>", True),  # the last one that is opened
        (0, "<answer>" + "Oslo " * 20_000 + "</answer>", False),
        (0, "<answer>Oslo\x00</answer>", False),
        (0, "<answer>\ud800</answer>", False),
        (0, "\\boxed{" * 10_000 + "Oslo", False),
        (0, "<answer>['Oslo', 'the city of Oslo']</answer>", False),
        (0, "<answer>.*</answer>", False),
        (1, "<answer>12.5</answer>", True),
        (1, "<answer>12.50</answer>", True),
        (1, "<answer>125</answer>", False),
        (1, "<answer>-12.5</answer>", False),
    ],
)
def test_an_answer_is_right_if_it_says_the_same_as_one_of_the_golds(index, reply, right):
    step = asked(index).step(reply)

    assert (step.reward, step.info["success"]) == (float(right), right)


@pytest.mark.parametrize("reply", ["Oslo", "", "<answer></answer>", "\\boxed{}", "<answer>Oslo", "Oslo</answer>"])
def test_a_reply_without_an_answer_is_malformed_and_earns_what_is_said(reply):
    step = asked().step(reply)

    assert (step.reward, step.info) == (0.0, {"success": False, "malformed": True})
    assert asked(format_error_reward=-0.1).step(reply).reward == -0.1


@pytest.mark.parametrize("form", ["tags", "box"])
@pytest.mark.parametrize("index", [0, 1])
def test_the_expert_answers_in_the_form_that_is_asked_for(form, index):
    env = Question(ROWS, form=form)
    text, _ = env.reset(options={"index": index})

    assert ("\\boxed{}" in text, "<answer>" in text) == (form == "box", form == "tags")
    assert env.expert_action().startswith("\\boxed{" if form == "box" else "<answer>")
    assert env.step(env.expert_action()).reward == 1.0


def test_a_gold_that_a_box_cannot_hold_is_answered_in_tags():
    env = asked(rows=[{"question": "Which emoticon?", "answer": ":-}"}], form="box")

    assert env.step(env.expert_action()).info["success"]


@pytest.mark.parametrize(
    ("reply", "reward", "success"), [("Oslo", 1.0, True), ("Oslo, Norway", 2 / 3, False), ("Bergen", 0.0, False)]
)
def test_f1_rewards_the_words_that_are_right_and_success_is_still_an_exact_match(reply, reward, success):
    step = asked(score="f1").step(f"<answer>{reply}</answer>")

    assert step.reward == pytest.approx(reward)
    assert step.info["success"] == success


def test_another_attempt_follows_a_wrong_answer_if_there_is_one():
    env = asked(max_attempts=2)
    first = env.step("<answer>Bergen</answer>")

    assert (first.reward, first.terminated, "success" in first.info) == (0.0, False, False)
    assert "Try again" in first.observation
    assert env.step("<answer>Oslo</answer>").info["success"]


def test_the_gold_stands_in_nothing_that_the_agent_is_shown():
    for kind, rows, wrong in ((Question, ROWS, "<answer>Bergen</answer>"), (RuleTaker, STATEMENTS, "\\boxed{False}")):
        env = kind(rows, max_attempts=2)
        text, info = env.reset(options={"index": 0})
        shown = [text, str(info), *(str((step.observation, step.info)) for step in (env.step(wrong), env.step(wrong)))]

        assert not any("Oslo" in each for each in shown)
        # "True or False" is in the instruction, and `success: False` in the last info.
        assert "True" not in "".join(shown[2:])


def test_the_instruction_may_be_left_out_or_be_ones_own():
    assert asked(instruction=False)._instructed("Who?") == "Who?"
    assert asked(instruction="In one word.")._instructed("Who?") == "Who?\n\nIn one word."


def test_random_play_answers_other_questions_of_the_data_set():
    env = asked()

    assert {env.sample_action() for _ in range(40)} == {"<answer>Oslo</answer>", "<answer>12.5</answer>"}


def test_the_expert_searches_for_the_documents_of_the_row_in_their_order():
    env = asked()
    calls = [ToolCall("search", {"query": title}) for title in ("Norway", "Oslo")]
    results = [ToolResult(call, "…", success=True) for call in calls]

    assert [env.expert_call(results[:count]) for count in range(3)] == [*calls, None]
    assert asked(1).expert_call([]) is None


@pytest.mark.parametrize("answer", [None, [], {"start": 3}, ["Oslo", None], b"Oslo"])
def test_a_row_whose_answer_is_not_a_text_or_a_number_is_an_error_that_shows_it(answer):
    with pytest.raises(ConfigError, match="Which city"):
        asked(rows=[{"question": "Which city?", "answer": answer}])


@pytest.mark.parametrize(
    "row",
    [
        {"question": "?", "answers": {"text": ["Oslo", "in Oslo"], "answer_start": [3, 0]}, "context": "…"},
        {"question": "?", "answer": {"value": "Kristiania", "aliases": ["Oslo"], "type": "FreeForm"}},
        {"question": "?", "answer": "['Kristiania', 'Oslo']"},
        {"question": "?", "possible_answers": '["Oslo", "Kristiania"]'},
        {"question": "?", "golden_answers": ["Oslo"]},
        {"question": "?", "answer": "Kristiania", "answer_aliases": ["Oslo"]},
    ],
)
def test_answers_are_understood_as_data_sets_write_them(row):
    assert asked(rows=[row]).step("<answer>oslo</answer>").reward == 1.0
    assert asked(rows=[row]).step("<answer>text</answer>").reward == 0.0


def test_settings_that_do_not_exist_are_refused():
    for settings in ({"form": "xml"}, {"score": "rouge"}, {"max_attempts": 0}):
        with pytest.raises(ConfigError, match=next(iter(settings))):
            Question(ROWS, **settings)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("\\boxed{True}", True),
        ("\\boxed{\\text{true}}.", True),
        ("<answer>True</answer>", True),
        ("\\boxed{Yes}", True),
        ("<answer>True</answer> \\boxed{False}", False),
        ("\\boxed{no}", False),
        ("\\boxed{True and False}", None),
        ("\\boxed{1}", None),
        ("True", None),
    ],
)
def test_rule_taker_grades_the_form_that_it_asks_for(reply, read):
    steps = [asked(index, STATEMENTS, RuleTaker).step(reply) for index in (0, 1)]

    assert [step.info["success"] for step in steps] == [read is True, read is False]
    assert [step.info.get("malformed", False) for step in steps] == [read is None] * 2


@pytest.mark.parametrize(
    ("label", "value"),
    [
        (True, "True"),
        ("TRUE", "True"),
        (1, "True"),
        ("entailment", "True"),
        (0, "False"),
        ("not entailment", "False"),
        ("\\boxed{no}", "False"),
    ],
)
def test_rule_taker_understands_the_labels_of_data_sets(label, value):
    env = asked(rows=[{"question": "Is Bob big?", "answer": label}], kind=RuleTaker)

    assert env.expert_action() == f"\\boxed{{{value}}}"
    assert env.step(env.expert_action()).reward == 1.0


def test_rule_taker_asks_for_a_box_and_refuses_labels_that_are_neither():
    assert (
        gem.make("logic:RuleTaker-d0", data=STATEMENTS)
        .reset(seed=0)[0]
        .endswith(
            "Then answer with True or False, inside \\boxed{}, even if the question asks for other words; "
            "only the last answer counts."
        )
    )
    with pytest.raises(ConfigError, match=r"true or false.*'perhaps'"):
        asked(rows=[{"question": "Is Bob big?", "answer": "perhaps"}], kind=RuleTaker)
