"""Data sets and generators with starts that are the same, contradict each other, or are in the wrong level."""

from planted_defects.questions import Capitals, rows


def contradicting():
    """A row for each capital, and for half of the countries a second one."""
    return rows() + [{**row, "answer": f"Port {row['answer'][:4]}"} for row in rows()[:30]]


def copied():
    """Ten questions, each five times, with different sources."""
    return [{**row, "source": source} for row in rows()[:10] for source in "abcde"]


class TwoConclusions(Capitals):
    """Half of the questions are there twice, with different answers.

    Source: https://github.com/open-thought/reasoning-gym/issues/171: from "1. R 2. Q" follows much, and one conclusion
    is right.
    """

    def __init__(self):
        super().__init__("planted_defects.starts:contradicting")


class FiveCopies(Capitals):
    """Fifty rows, and ten questions.

    Source: https://github.com/epfml/halluhard/issues/6: most questions occur five times, with another `source` each.
    """

    def __init__(self):
        super().__init__("planted_defects.starts:copied")
