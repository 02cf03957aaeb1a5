"""The wording of relations in questions."""

from typing import NamedTuple


class Relation(NamedTuple):
    """`{}` is the subject."""

    question: str
    """Asks for the relation's value."""
    noun: str | None
    """Names the value in a longer question; None for a number, which ends a question."""
    unit: str | None = None
    """Words that an answer may have after the number."""


SUBJECTS = {
    "book": 'the novel "{}"', "building": "the {}", "company": "the company {}", "institute": "the {}",
    "mountain": "{}", "opera": 'the opera "{}"', "painting": 'the painting "{}"', "person": "{}", "prize": "the {}",
    "province": "the province of {}", "river": "the {}", "town": "the town of {}",
}  # fmt: skip
"""Kind → how a question names its first thing."""

RELATIONS = {
    ("book", "author"): Relation("Who wrote {}?", "the author of {}"),
    ("book", "publisher"): Relation("Which company published {}?", "the company that published {}"),
    ("book", "setting"): Relation("In which town is {} set?", "the town in which {} is set"),
    ("book", "year"): Relation("In which year was {} published?", None),
    ("building", "architect"): Relation("Who designed {}?", "the architect of {}"),
    ("building", "town"): Relation("In which town does {} stand?", "the town in which {} stands"),
    ("building", "year"): Relation("In which year was {} opened?", None),
    ("company", "founder"): Relation("Who founded {}?", "the founder of {}"),
    ("company", "seat"): Relation("In which town is the head office of {}?", "the town with the head office of {}"),
    ("company", "year"): Relation("In which year was {} founded?", None),
    ("institute", "director"): Relation("Who is the director of {}?", "the director of {}"),
    ("institute", "town"): Relation("In which town is {}?", "the town in which {} is"),
    ("institute", "year"): Relation("In which year was {} founded?", None),
    ("mountain", "climber"): Relation("Who was the first to climb {}?", "the first person to climb {}"),
    ("mountain", "height"): Relation("How many metres high is {}?", None, "metres"),
    ("mountain", "province"): Relation("In which province is {}?", "the province in which {} stands"),
    ("opera", "composer"): Relation("Who composed {}?", "the composer of {}"),
    ("opera", "theatre"): Relation(
        "In which theatre was {} first performed?", "the theatre in which {} was first performed"
    ),
    ("opera", "year"): Relation("In which year was {} first performed?", None),
    ("painting", "museum"): Relation("In which museum does {} hang?", "the museum that has {}"),
    ("painting", "painter"): Relation("Who painted {}?", "the painter of {}"),
    ("painting", "year"): Relation("In which year was {} painted?", None),
    ("person", "birth_year"): Relation("In which year was {} born?", None),
    ("person", "birthplace"): Relation("In which town was {} born?", "the birthplace of {}"),
    ("person", "employer"): Relation("Which company did {} work for?", "the company that employed {}"),
    ("person", "school"): Relation("At which school did {} study?", "the school that {} went to"),
    ("person", "spouse"): Relation("To whom was {} married?", "the husband or wife of {}"),
    ("person", "teacher"): Relation("Who was the teacher of {}?", "the teacher of {}"),
    ("prize", "founder"): Relation("Who founded {}?", "the founder of {}"),
    ("prize", "institute"): Relation("Which school awards {}?", "the school that awards {}"),
    ("province", "capital"): Relation("Which town is the capital of {}?", "the capital of {}"),
    ("province", "governor"): Relation("Who is the governor of {}?", "the governor of {}"),
    ("river", "length"): Relation("How many kilometres long is {}?", None, "kilometres"),
    ("river", "source"): Relation("On which mountain does {} rise?", "the mountain at the source of {}"),
    ("town", "mayor"): Relation("Who is the mayor of {}?", "the mayor of {}"),
    ("town", "province"): Relation("To which province does {} belong?", "the province of {}"),
    ("town", "river"): Relation("Which river flows through {}?", "the river that flows through {}"),
    ("town", "year"): Relation("In which year was {} founded?", None),
}
