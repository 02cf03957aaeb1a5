"""Local copies of the data sets of the pack: gem-llm's names, splits, columns and types, with rows of our own."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from small_image import png


def copy(name: str, split: str, *rows: tuple[str, Any]) -> tuple[tuple[str, str], list[dict[str, Any]]]:
    return (name, split), [{"problem": problem, "answer": answer} for problem, answer in rows]


COPIES = dict(
    (
        copy(
            "axon-rl/ASDIV-2k",
            "train",
            ("Ann has 3 pens and buys 4. How many has she now?", "7"),
            ("Half of 9?", "4.5"),
        ),
        copy("axon-rl/GSM-8k", "train", ("A box holds 1200 screws. And 3 boxes?", "3600"), ("What is 70 - 77?", "-7")),
        copy(
            "axon-rl/MATH-12k",
            "train",
            (r"Simplify $\sqrt{48}$.", r"4\sqrt{3}"),
            (r"Solve $x^2<4$. Answer in interval notation.", r"(-2,2)"),
        ),
        copy(
            "axon-rl/MATH-lvl3to5-8k",
            "train",
            (r"Invert $\begin{pmatrix}1&1\\0&1\end{pmatrix}$.", r"\begin{pmatrix}1&-1\\0&1\end{pmatrix}"),
            ("Expand $(x+1)^2$.", "x^2+2x+1"),
        ),
        copy(
            "axon-rl/ORZ-57k", "train", ("How many primes are there below 20?", "8"), ("Name the vertex.", "$(2,-3)$")
        ),
        copy(
            "axon-rl/DeepScaleR-40K",
            "train",
            ("What is a half and a third?", r"\frac{5}{6}"),
            ("Find $2^{10}$.", "1024"),
        ),
        copy("axon-rl/math-eval", "math", ("Reduce $6/4$.", r"\frac{3}{2}"), ("Factor $x^2-1$.", "(x-1)(x+1)")),
        copy("axon-rl/math-eval", "amc", ("How many days have four weeks?", 28.0), ("What is $11^2$?", 121.0)),
        copy("axon-rl/math-eval", "olympiad_bench", ("Solve $n^2=n+6$.", ["-2,3"]), ("And $2^5$?", ["32", "2^5"])),
        copy("axon-rl/math-eval", "minerva", ("The speed of light?", r"3\times 10^8"), ("What is $e^0$?", "1")),
        copy("axon-rl/math-eval", "aime24", ("What is $7^{100}$ modulo 1000?", "001"), ("What is $30^2$?", "900")),
        copy("axon-rl/geometry3k", "train", ("<image>Find the area.", "36"), ("<image>Find $x$.", r"5\sqrt{2}")),
    )
)
"""(data set, split) → rows: answers are text, numbers, or lists of answers that are right each."""

for red, figure in enumerate(COPIES["axon-rl/geometry3k", "train"]):
    figure["images"] = [{"bytes": png(8, red), "path": None}]


def write_json_lines(root: Path) -> Path:
    """Write them under `root` as `owner/name/split.jsonl`. JSON does not have bytes, so images are data URLs."""

    def plain(row: dict[str, Any]) -> dict[str, Any]:
        images = [f"data:image/png;base64,{b64encode(each['bytes']).decode()}" for each in row.get("images", ())]
        return {**row, "images": images} if images else row

    for (name, split), rows in COPIES.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(plain(row)) + "\n" for row in rows)
        (root / name / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    return root


def write_parquet(root: Path) -> Path:
    """Write them under `root` as on the hub: Parquet files in `owner/name/data/`, images with their type."""
    from datasets import Dataset, Features, Image, Value

    text = Value("string")
    with_images = Features({"images": [Image()], "problem": text, "answer": text})
    for (name, split), rows in COPIES.items():
        dataset = Dataset.from_list(rows, features=with_images if "images" in rows[0] else None)
        (root / name / "data").mkdir(parents=True, exist_ok=True)
        dataset.to_parquet(str(root / name / "data" / f"{split}-00000-of-00001.parquet"))
    return root
