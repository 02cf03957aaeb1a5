"""All answers in one reply."""

from collections.abc import Iterator
from itertools import islice

from gem.audit.chance import wins_more
from gem.audit.cheats import Cheat, winning
from gem.audit.finding import Finding
from gem.audit.form import form_of
from gem.audit.task import Task, won

MOST = 40
"""How many answers are listed."""
OPTIONS = ("A, B, C, D, E", "ABCD", "yes no", "yes or no", "True False", "true or false")
SEPARATORS = {"a comma": ", ", "a space": " ", "a line each": "\n", '"or"': " or "}


def probe(task: Task) -> Iterator[Finding]:
    """A reply that lists many answers does not win more than one of them does.

    Y. Zhu et al., "Establishing Best Practices for Building Rigorous Agentic Benchmarks", arXiv 2507.02825, report that
    it does in tau-bench.
    """
    replies = (reply for games in reversed(task.examples) for game in games for reply in game.actions)
    chosen = list(islice(dict.fromkeys(replies), MOST))
    forms = [form_of(reply) for reply in chosen]
    if all(form.kind == "fence" for form in forms):
        return
    first, listed = forms[0], list(dict.fromkeys(form.content for form in forms))
    texts = {f"{len(forms)} replies in one": "\n".join(chosen)}
    texts |= {
        f"{len(listed)} answers in one reply, with {name} between them": first.with_content(between.join(listed))
        for name, between in SEPARATORS.items()
    }
    texts |= {f"The reply {reply!r}": reply for each in OPTIONS for reply in (first.with_content(each), each)}
    cheats: dict[str, Cheat] = {name: lambda _, text=text: text for name, text in texts.items()}
    for found in winning(task, cheats):
        alone = max(won(task.repeat([reply])) for reply in (*chosen[:10], chosen[-1]))
        if not wins_more(found.won, len(found.episodes), alone, len(task.seeds())):
            continue  # one of them was read
        yield Finding.of(
            found.first,
            f"{found.name}, wins {found.won} of {len(found.episodes)} episodes.",
            "Read one answer from a reply, the last one, and refuse an answer that names several.",
        )
