"""The ids of data sets: gem-llm's, with its names, splits and columns, and the sample of this pack."""

from typing import Any, NamedTuple

import gem

QUESTION = "gem_envs_math.questions:MathQuestion"
FIGURE_QUESTION = "gem_envs_math.figure_questions:FigureQuestion"


class Source(NamedTuple):
    """A data set of the hub. The columns are `problem` and `answer`, and `images` of a `FIGURE_QUESTION`."""

    id: str
    name: str
    split: str
    licence: str
    """The licence of the original; whether gem-llm's copy on the hub states one of its own is not known here."""
    about: str
    entry_point: str = QUESTION


_MATH = "MIT (MATH)"
_ASKED = "20 is 20%, and 60 is 60 degrees, where a question asks for them, and digits are those of the base it names"
_CONTESTS = "not stated; the problems are the Mathematical Association of America's"

SOURCES = (
    Source("math:ASDiv2K", "axon-rl/ASDIV-2k", "train", "CC BY-NC 4.0 (ASDiv)",
           "Word problems of elementary school (Miao, Liang and Su 2020); numbers, none of them percents"),
    Source("math:GSM8K", "axon-rl/GSM-8k", "train", "MIT (GSM8K)",
           "Word problems of two to eight steps with integers as answers (Cobbe et al., arXiv 2110.14168); 20 is 20% "
           "where a question asks for percents"),
    Source("math:Math12K", "axon-rl/MATH-12k", "train", _MATH,
           "Competition problems of high schools, all levels (Hendrycks et al., arXiv 2103.03874); " + _ASKED),
    Source("math:Math8K-3to5", "axon-rl/MATH-lvl3to5-8k", "train", _MATH,
           "Competition problems of high schools, levels 3 to 5 (Hendrycks et al., arXiv 2103.03874); " + _ASKED),
    Source("math:Orz57K", "axon-rl/ORZ-57k", "train", "MIT (Open-Reasoner-Zero)",
           "Competition problems collected for Open-Reasoner-Zero (Hu et al., arXiv 2503.24290); " + _ASKED),
    Source("math:DeepScaleR40K", "axon-rl/DeepScaleR-40K", "train", "MIT (DeepScaleR)",
           "Competition problems of AIME, AMC, Omni-MATH and STILL, collected for DeepScaleR (Luo et al. 2025); "
           + _ASKED),
    Source("math:Geometry3K", "axon-rl/geometry3k", "train", "MIT (Inter-GPS)",
           "Plane geometry with figures, of textbooks (Lu et al., arXiv 2105.04165)", FIGURE_QUESTION),
    Source("eval:MATH500", "axon-rl/math-eval", "math", _MATH,
           "500 competition problems of MATH (Lightman et al., arXiv 2305.20050); " + _ASKED),
    Source("eval:AMC", "axon-rl/math-eval", "amc", _CONTESTS,
           "Problems of the American Mathematics Competitions with integers as answers"),
    Source("eval:OlympiadBench", "axon-rl/math-eval", "olympiad_bench", "MIT (OlympiadBench)",
           "Olympiad problems in English, as text alone (He et al., arXiv 2402.14008); " + _ASKED),
    Source("eval:Minerva", "axon-rl/math-eval", "minerva", "not stated; the problems are of MIT OpenCourseWare",
           "272 problems of university courses in the sciences (Lewkowycz et al., arXiv 2206.14858); a decimal that "
           "rounds to the gold is right where a question names the place"),
    Source("eval:AIME24", "axon-rl/math-eval", "aime24", _CONTESTS,
           "The 30 problems of the American Invitational Mathematics Examination of 2024"),
)  # fmt: skip
"""gem-llm's data sets, under its ids."""

SAMPLE = gem.EnvSpec(
    id="math:Sample",
    entry_point=QUESTION,
    kwargs={
        "data": {
            "name": "gem_envs_math:sample.jsonl",
            "licence": "Apache-2.0",
            "about": "Questions with 31 kinds of answers and five levels of difficulty, written for GEM",
        }
    },
    description="Questions with 31 kinds of answers, from integers to matrices, that come with the pack",
    tags=("math", "single-turn", "data-set"),
)


def specs() -> list[gem.EnvSpec]:
    """The specs of all data sets."""
    return [SAMPLE, *map(_spec, SOURCES)]


def _spec(source: Source) -> gem.EnvSpec:
    data: dict[str, Any] = {"name": source.name, "split": source.split}
    return gem.EnvSpec(
        id=source.id,
        entry_point=source.entry_point,
        kwargs={"data": {**data, "licence": source.licence, "about": source.about}},
        description=source.about.partition(" (")[0],
        tags=("math", "single-turn", "data-set", *(("images",) if source.entry_point == FIGURE_QUESTION else ())),
    )
