"""The gold answer in what the agent, or a trainer, is given before it is due."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from gem.audit.finding import Finding
from gem.audit.showing import CODES, bare, beside_what_is_asked, holds, marked, same_place, shown
from gem.audit.task import Task
from gem.core import Env
from gem.dataset_env import QuestionEnv
from gem.testing.play import act, start
from gem.testing.subject import Inapplicable
from gem.tool.content import text_of

ATTEMPTS = 3
"""Replies to a question whose feedback is read."""
BAD_OPTIONS = ({"no such option": 0}, {"index": -1})
"""What `reset` refuses."""
FEW = 16
"""Questions whose feedback and errors are read."""


class _Asked(NamedTuple):
    """An episode that is won by the expert, whose last reply is the `gold` answer."""

    seed: int
    observation: str
    info: str
    gold: str
    reply: str
    turns: int


def probe(task: Task) -> Iterator[Finding]:
    """Before the end nothing shows the gold answer more often than that of another question."""
    asked = [
        _Asked(
            each.seed,
            each.observations[0],
            repr(each.infos[0]),
            bare(each.actions[-1]),
            each.actions[-1],
            len(each.actions),
        )
        for each in task.by_expert
        if each.won
    ]
    if len({each.gold for each in asked}) < 2:
        raise Inapplicable("the env knows no answers, or always the same one")
    yield from _at_start(asked)
    yield from _in_infos(task, asked)
    yield from _in_feedback(task, asked)
    yield from _in_errors(task, asked)


def _at_start(asked: Sequence[_Asked]) -> Iterator[Finding]:
    golds = [each.gold for each in asked]
    infos = [each.info for each in asked]
    seen = [f"{each.observation}\n{each.info}" for each in asked]
    if all(each.turns == 1 for each in asked):
        place = same_place([each.observation for each in asked], golds)
        ways = {"behind a word such as “answer”": marked, **({"always in the same place": place} if place else {})}
    else:
        ways = {"behind a word such as “answer”": marked}
    for how, shows in (*ways.items(), *CODES.items()):
        if found := shown(shows, [each.observation for each in asked], golds):
            yield _finding(asked, found, f"The first observation shows the gold answer {how}")
            return
    if found := shown(holds, beside_what_is_asked([each.observation for each in asked]), golds):
        yield _finding(
            asked, found, "A text that all first observations have, such as that of a tool, holds the gold answer"
        )
    if found := shown(holds, infos, golds):
        yield _finding(asked, found, "The info of the reset holds the gold answer")
    numbers = [str(each.seed) for each in asked]
    if found := shown(holds, seen, numbers):
        yield _finding(
            asked, found, "The reset shows the seed, from which it can be computed, instead of the gold answer"
        )


def _in_infos(task: Task, asked: Sequence[_Asked]) -> Iterator[Finding]:
    """Infos of steps of random play that are not the last."""
    played = {each.seed: each for each in task.at_random}
    texts = [repr(played[one.seed].infos[1:-1]) for one in asked]
    if found := shown(holds, texts, [each.gold for each in asked]):
        yield _finding(asked, found, "The infos of random play hold, before the end, the gold answer")


def _in_feedback(task: Task, asked: Sequence[_Asked]) -> Iterator[Finding]:
    """What is said to a wrong answer, and to a reply without one, when there are further attempts."""
    few = asked[:FEW]
    golds = [each.gold for each in few]
    with _several_attempts(task) as env:
        for name, replies in (
            ("a reply without an answer", ["" for _ in few]),
            ("a wrong answer", [_another_reply(asked, one) for one in few]),
        ):
            texts = [_answered(env, one, reply) for one, reply in zip(few, replies, strict=True)]
            if found := shown(holds, texts, golds):
                yield _finding(few, found, f"The observation after {name} shows the gold answer", (replies[found[0]],))
                return


def _several_attempts(task: Task) -> Env:
    """The env; one with a single question, with several attempts if it can give them."""
    with task.make() as env:
        made = type(env.unwrapped)
    several = issubclass(made, QuestionEnv) and "max_attempts" in inspect.signature(cast("type[Env]", made)).parameters
    return task.make(max_attempts=ATTEMPTS) if several else task.make()


def _answered(env: Env, one: _Asked, reply: str) -> str:
    """What is new in the observation after a reply that does not end the episode."""
    start(env, one.seed)
    step = act(env, reply)
    return "" if step.over or holds(one.observation, one.gold) else text_of(step.raw[0])


def _another_reply(asked: Sequence[_Asked], one: _Asked) -> str:
    """The right reply to another question."""
    return next(each.reply for each in asked if each.gold != one.gold)


def _in_errors(task: Task, asked: Sequence[_Asked]) -> Iterator[Finding]:
    """What `reset` says to options that it refuses."""
    few = asked[:FEW]
    with task.make() as env:
        for options in BAD_OPTIONS:
            texts: list[str] = []
            for one in few:
                env.reset(seed=one.seed)
                try:
                    env.reset(seed=one.seed, options=options)
                except Exception as error:
                    texts.append(str(error))
                else:
                    texts.append("")
            if found := shown(holds, texts, [each.gold for each in few]):
                what = f"The error of reset(options={options}) shows the gold answer"
                yield _finding(few, found, what, options=options)
                return


def _finding(
    asked: Sequence[_Asked],
    found: Sequence[int],
    what: str,
    actions: tuple[str, ...] = (),
    options: Mapping[str, Any] | None = None,
) -> Finding:
    first = asked[found[0]]
    return Finding(
        f"{what} of {len(found)} of {len(asked)} questions, such as {first.gold!r:.60}.",
        "Leave it out until the episode is over: the agent, or who reads a recording, has it before it is due.",
        first.seed,
        actions,
        options or {},
    )
