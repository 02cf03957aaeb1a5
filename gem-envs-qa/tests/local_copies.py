"""A few rows of every data set of the pack, with the names, splits, columns and types of answers of the originals."""

from typing import Any

_THEORY = "Bob is big. If someone is big then they are kind. Question: Bob is "
_EVAL = ("2wiki", "popqa", "tq", "hotpotqa", "bamboogle", "nq", "musique")

COPIES: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("axon-rl/NaturalQuestions", "train"): [
        {"problem": "who wrote the origin of species", "answer": ["Charles Darwin", "Darwin"]},
        {"problem": "when did apollo 11 land on the moon", "answer": ["July 20, 1969"]},
    ],
    ("axon-rl/HotpotQA", "train"): [
        {"problem": "Are Oslo and Bergen in the same country?", "answer": "yes"},
        {"problem": "Which river flows through the capital of Austria?", "answer": "The Danube"},
    ],
    ("google-research-datasets/nq_open", "validation"): [
        {"question": "how many sides has a hexagon", "answer": ["6", "six"]},
        {"question": "what is the boiling point of water in celsius", "answer": ["100", "100 °C"]},
    ],
    **{
        ("axon-rl/search-eval", split): [
            {"question": f"What is the capital of Norway ({split})?", "answer": ["Oslo", "the city of Oslo"]},
            {"question": f"How high is the tower ({split})?", "answer": ["12.5 m"]},
        ]
        for split in _EVAL
    },
    **{
        (f"axon-rl/RuleTaker-d{depth}-70k", "train"): [
            {"question": f"{_THEORY}kind.", "answer": "True"},
            {"question": f"{_THEORY}sad.", "answer": "False"},
        ]
        for depth in (0, 1, 2, 3, 5)
    },
}
"""(data set, split) → rows."""
