"""The specs of this pack. Listing environments loads this module, but no environment."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import gem

GEM_API = 1

QUESTION = "gem_envs_qa.question:Question"
RULES = "gem_envs_qa.rules.env:Rules"
RULE_TAKER = "gem_envs_qa.rule_taker:RuleTaker"


class Hub(NamedTuple):
    """A data set of the hub."""

    id: str
    name: str
    split: str
    question: str
    """The column with the questions."""
    licence: str
    about: str


_COPY = "a copy for gem-llm"
HUB = (
    Hub("qa:NaturalQuestions", "axon-rl/NaturalQuestions", "train", "problem", "CC BY-SA 3.0 (Natural Questions)",
        f"Questions that people asked Google (Kwiatkowski et al. 2019); {_COPY}"),
    Hub("qa:HotpotQA", "axon-rl/HotpotQA", "train", "problem", "CC BY-SA 4.0 (HotpotQA)",
        f"Questions over two articles of Wikipedia (Yang et al., arXiv 1809.09600); {_COPY}"),
    Hub("eval:QaOpen", "google-research-datasets/nq_open", "validation", "question", "CC BY-SA 3.0 (Natural Questions)",
        "Natural Questions with short answers, without documents (Lee et al., arXiv 1906.00300)"),
    Hub("eval:2Wiki", "axon-rl/search-eval", "2wiki", "question", "Apache-2.0 (2WikiMultihopQA)",
        f"512 questions of 2WikiMultihopQA over several articles (Ho et al., arXiv 2011.01060); {_COPY}"),
    Hub("eval:PopQA", "axon-rl/search-eval", "popqa", "question", "MIT (PopQA)",
        f"512 questions of PopQA about entities, many little known (Mallen et al., arXiv 2212.10511); {_COPY}"),
    Hub("eval:TriviaQA", "axon-rl/search-eval", "tq", "question", "not stated (TriviaQA)",
        f"512 trivia questions of TriviaQA (Joshi et al., arXiv 1705.03551); {_COPY}"),
    Hub("eval:HotpotQA", "axon-rl/search-eval", "hotpotqa", "question", "CC BY-SA 4.0 (HotpotQA)",
        f"512 questions of HotpotQA over two articles (Yang et al., arXiv 1809.09600); {_COPY}"),
    Hub("eval:Bamboogle", "axon-rl/search-eval", "bamboogle", "question", "MIT (Bamboogle)",
        f"Two-step questions that a search engine does not answer (Press et al., arXiv 2210.03350); {_COPY}"),
    Hub("eval:NaturalQuestions", "axon-rl/search-eval", "nq", "question", "CC BY-SA 3.0 (Natural Questions)",
        f"512 questions of Natural Questions (Kwiatkowski et al. 2019); {_COPY}"),
    Hub("eval:Musique", "axon-rl/search-eval", "musique", "question", "CC BY 4.0 (MuSiQue)",
        f"512 questions of MuSiQue that take 2 to 4 steps (Trivedi et al., arXiv 2108.00573); {_COPY}"),
)  # fmt: skip
"""The data sets of questions, under gem-llm's ids, with its names, splits and columns."""

DEPTHS = (0, 1, 2, 3, 5)
"""The depths of RuleTaker's data sets: how many rules lead to an answer, at most."""

SAMPLE = {
    "name": "gem_envs_qa:sample.jsonl",
    "licence": "Apache-2.0",
    "about": "200 questions written for GEM, about 104 documents of its own: gem_envs_qa:corpus.jsonl",
}

_RULES: Mapping[str, Mapping[str, Any]] = {
    "": {"depth": 3, "world": "closed"},
    "-easy": {"depth": 1, "world": "closed"},
    "-hard": {"depth": 5, "world": "closed"},
    "-open": {"depth": 3, "world": "open"},
    "-open-easy": {"depth": 1, "world": "open"},
    "-open-hard": {"depth": 5, "world": "open"},
}
"""Variant → kwargs."""

_KINDS = ("question-answering", "single-turn", "data-set")


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [*_samples(), *map(_hub, HUB), *map(_rule_taker, DEPTHS), *map(_rules, _RULES)]


def _samples() -> list[gem.EnvSpec]:
    several = {**SAMPLE, "where": {"kind": ["two-hop", "three-hop"]}}
    about = "Questions about a fictional world and about facts that do not change"
    return [
        gem.EnvSpec(
            id=id,
            entry_point=QUESTION,
            kwargs={"data": data},
            description=description,
            tags=_KINDS,
            known_findings=known,
        )
        for id, data, description, known in (
            (
                "qa:Sample",
                SAMPLE,
                f"{about}, of one to three steps",
                {"overlap": "The hard questions are a part of these, not a split of their own."},
            ),
            ("qa:Sample-hard", several, f"{about}, of two or three steps", {}),
        )
    ]


def _rules(variant: str) -> gem.EnvSpec:
    kwargs = _RULES[variant]
    answers = "True or False" if kwargs["world"] == "closed" else "True, False or Unknown"
    return gem.EnvSpec(
        id=f"logic:Rules-v0{variant}",
        entry_point=RULES,
        kwargs=kwargs,
        description=f"Does a statement follow from random facts and rules? {answers} (depth={kwargs['depth']})",
        tags=("logic", "single-turn", "procedural"),
    )


def _hub(hub: Hub) -> gem.EnvSpec:
    columns = {} if hub.question == "question" else {"columns": {"question": hub.question}}
    data: dict[str, Any] = {"name": hub.name, "split": hub.split, **columns}
    return gem.EnvSpec(
        id=hub.id,
        entry_point=QUESTION,
        kwargs={"data": {**data, "licence": hub.licence, "about": hub.about}},
        description=hub.about.partition(" (")[0],
        tags=_KINDS,
    )


def _rule_taker(depth: int) -> gem.EnvSpec:
    about = "Does a statement follow from facts and rules?"
    data = {"name": f"axon-rl/RuleTaker-d{depth}-70k", "split": "train", "licence": "Apache-2.0 (RuleTaker)"}
    return gem.EnvSpec(
        id=f"logic:RuleTaker-d{depth}",
        entry_point=RULE_TAKER,
        kwargs={"data": {**data, "about": f"{about} RuleTaker (Clark et al., arXiv 2002.05867); {_COPY}"}},
        description=f"{about} Up to {depth} rules lead to the answer",
        tags=("logic", *_KINDS[1:]),
    )
