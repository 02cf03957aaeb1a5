"""Replies that are no answers: empty boxes, wildcards, values that break comparisons, very long ones."""

from collections.abc import Iterator

from gem.audit.cheats import Cheat, winning
from gem.audit.finding import Finding
from gem.audit.form import form_of
from gem.audit.task import Task

LONG = 20_000
"""The length of a long reply in characters."""
REPLIES = (
    "\\boxed{}",
    "\\boxed{",
    "\\boxed",
    "<answer></answer>",
    "<answer>",
    "```\n```",
    "\x00\x01\x02\x1b[0m",
    "{",
    "N/A",
    "I cannot answer this.",
    "x" * LONG,
)
CONTENTS = (
    " ", "nan", "inf", "-inf", "0/0", "1e999999", "None", "null", "True", "int", "str", "object", "lambda *_: True",
    "__import__('builtins').True", "1 == 1", "1 or 1", "{answer}", "{self}", "{{gold}}", ".*", "*", "?", "^", "%",
    "' OR '1'='1", "[]", "()", "{}", "\\text{}", "\x00", "\u200b", "9" * 5000, "x" * LONG,
)  # fmt: skip
PROGRAMS = ("", "pass", "exit()", "None")


def probe(task: Task) -> Iterator[Finding]:
    """A reply that is no answer does not win."""
    at_random, by_expert = task.examples
    form = form_of((by_expert or at_random)[0].actions[0])
    right = {form_of(reply).content.strip().lower() for game in by_expert for reply in game.actions}
    inside = [each for each in (PROGRAMS if form.kind == "fence" else CONTENTS) if each.strip().lower() not in right]
    texts = dict.fromkeys((*(form.with_content(each) for each in inside), *REPLIES))
    cheats: dict[str, Cheat] = {text: lambda _, text=text: text for text in texts}
    for found in winning(task, cheats):
        yield Finding.of(
            found.first,
            f"The reply {found.name!r:.60} wins {found.won} of {len(found.episodes)} episodes.",
            "Read an answer before comparing it, as `gem.answers` does, and refuse what is not one.",
        )
