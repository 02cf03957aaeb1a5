"""The ids of data sets: gem-llm's, with its names, splits and columns."""

from typing import NamedTuple

import gem

QUESTION = "gem_envs_code.questions:CodeQuestion"


class Source(NamedTuple):
    """A data set of the hub, with the columns `problem` and `tests`."""

    id: str
    name: str
    split: str
    licence: str
    """The licence of the original. gem-llm's copies do not state one."""
    about: str


SOURCES = (
    Source("code:CodeContest", "axon-rl/CodeContest", "train", "CC BY 4.0 (CodeContests)",
           "Problems of programming contests (Li et al., arXiv 2203.07814)"),
    Source("code:Taco8k", "axon-rl/TACO-8k", "train", "Apache-2.0 (TACO)",
           "Problems of programming contests and exercises, 8,000 of TACO (Li et al., arXiv 2312.14852)"),
    Source("code:PrimeIntellect15k", "axon-rl/PrimeIntellect-15k", "train", "Apache-2.0 (SYNTHETIC-1)",
           "Programming problems collected for SYNTHETIC-1 by Prime Intellect, 15,000 of them"),
    Source("eval:CodeContest", "axon-rl/CodeContest", "test", "CC BY 4.0 (CodeContests)",
           "The test split of the problems of programming contests (Li et al., arXiv 2203.07814)"),
)  # fmt: skip
"""gem-llm's data sets, under its ids."""


SAMPLE = gem.EnvSpec(
    id="code:Sample",
    entry_point=QUESTION,
    kwargs={
        "data": {
            "name": "gem_envs_code:sample.jsonl",
            "licence": "Apache-2.0",
            "about": "40 problems about standard input, functions and assertions, written for GEM",
        },
        "max_tests": 20,
    },
    description="Problems about standard input, functions and assertions that come with the pack",
    tags=("code", "single-turn", "data-set", "runs-programs"),
)


def specs() -> list[gem.EnvSpec]:
    """The ids of data sets."""
    return [SAMPLE, *map(_spec, SOURCES)]


def _spec(source: Source) -> gem.EnvSpec:
    data = {"name": source.name, "split": source.split, "licence": source.licence, "about": source.about}
    return gem.EnvSpec(
        id=source.id,
        entry_point=QUESTION,
        kwargs={"data": data},
        description=source.about.partition(" (")[0],
        tags=("code", "single-turn", "data-set", "runs-programs"),
    )
