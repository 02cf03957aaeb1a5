"""Sound tasks with one question: the bases of the planted defects."""

from typing import ClassVar

from gem import Step
from gem.answers import boxed, exact_match, read_number
from gem.dataset_env import DatasetEnv, QuestionEnv

FACTS = {
    "Algeria": "Algiers", "Argentina": "Buenos Aires", "Austria": "Vienna", "Belgium": "Brussels",
    "Bulgaria": "Sofia", "Canada": "Ottawa", "Chad": "N'Djamena", "Chile": "Santiago", "China": "Beijing",
    "Colombia": "Bogota", "Croatia": "Zagreb", "Cuba": "Havana", "Denmark": "Copenhagen", "Ecuador": "Quito",
    "Egypt": "Cairo", "Estonia": "Tallinn", "Ethiopia": "Addis Ababa", "Fiji": "Suva", "Finland": "Helsinki",
    "France": "Paris", "Gabon": "Libreville", "Germany": "Berlin", "Ghana": "Accra", "Greece": "Athens",
    "Hungary": "Budapest", "Iceland": "Reykjavik", "India": "New Delhi", "Indonesia": "Jakarta", "Iran": "Tehran",
    "Iraq": "Baghdad", "Ireland": "Dublin", "Italy": "Rome", "Japan": "Tokyo", "Jordan": "Amman", "Kenya": "Nairobi",
    "Latvia": "Riga", "Libya": "Tripoli", "Lithuania": "Vilnius", "Mali": "Bamako", "Malta": "Valletta",
    "Morocco": "Rabat", "Nepal": "Kathmandu", "Norway": "Oslo", "Oman": "Muscat", "Peru": "Lima",
    "Poland": "Warsaw", "Portugal": "Lisbon", "Qatar": "Doha", "Romania": "Bucharest", "Senegal": "Dakar",
    "Serbia": "Belgrade", "Slovenia": "Ljubljana", "Spain": "Madrid", "Sudan": "Khartoum", "Sweden": "Stockholm",
    "Thailand": "Bangkok", "Tunisia": "Tunis", "Uganda": "Kampala", "Ukraine": "Kyiv", "Vietnam": "Hanoi",
}  # fmt: skip


def rows():
    """A row for each capital."""
    return [{"question": f"What is the capital of {country}?", "answer": city} for country, city in FACTS.items()]


class Sum(QuestionEnv[str]):
    """Add two numbers: 1 for the sum in a box, otherwise 0; a reply without a box costs 0.1."""

    answer_form = "number inside \\boxed{}"
    most = 999

    def _reset(self, options):
        self.terms = [self.rng.randint(100, self.most), self.rng.randint(100, self.most)]
        return self._text()

    def _text(self):
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer with a number inside \\boxed{{}}."

    @property
    def gold(self):
        return sum(self.terms)

    def _read(self, reply):
        return boxed(reply)

    def _right(self, answer):
        return read_number(answer) == self.gold

    def _grade(self, answer):
        right = self._right(answer)
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(200, 2 * self.most)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.gold}}}"


class Difference(Sum):
    """Subtract a number from another; the result may be below 0."""

    def _text(self):
        return f"What is {self.terms[0]} - {self.terms[1]}? Answer with a number inside \\boxed{{}}."

    @property
    def gold(self):
        return self.terms[0] - self.terms[1]

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(-899, 899)}}}"


class Quiz(QuestionEnv[str]):
    """Choose one of four capitals: 1 for the letter of the right one in a box."""

    answer_form = "letter inside \\boxed{}"

    def _reset(self, options):
        self.country, *others = self.rng.sample(sorted(FACTS), 4)
        self.gold = self._letter()
        cities = [FACTS[other] for other in others]
        cities.insert("ABCD".index(self.gold), FACTS[self.country])
        listed = "\n".join(f"{letter}. {city}" for letter, city in zip("ABCD", cities, strict=True))
        return f"What is the capital of {self.country}?\n{listed}\nAnswer with one letter inside \\boxed{{}}."

    def _letter(self):
        return self.rng.choice("ABCD")

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        right = answer.strip().upper() == self.gold
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice('ABCD')}}}"

    def expert_action(self):
        return f"\\boxed{{{self.gold}}}"


class Words(QuestionEnv[str]):
    """Sort six words: 1 for all of them in alphabetical order, separated by spaces, in a box."""

    answer_form = "list of words inside \\boxed{}"
    form = "Answer with the words inside \\boxed{}."

    def _reset(self, options):
        self.words = self.rng.sample(sorted(country.lower() for country in FACTS), 6)
        return f"Put these words into alphabetical order: {' '.join(self.words)}. {self.form}"

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        right = answer.lower().split() == sorted(self.words)
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{' '.join(self.action_rng.sample(self.words, 6))}}}"

    def expert_action(self):
        return f"\\boxed{{{' '.join(sorted(self.words))}}}"


class Primes(QuestionEnv[str]):
    """Name the primes among eight numbers: 1 for exactly these in a box, separated by commas, in any order."""

    answer_form = "list of numbers inside \\boxed{}"

    def _reset(self, options):
        self.numbers = self.rng.sample(range(23, 400), 8)
        while not self.gold:
            self.numbers = self.rng.sample(range(23, 400), 8)
        return (
            f"Which of these numbers are primes: {', '.join(map(str, self.numbers))}? "
            "Answer with all of them inside \\boxed{}, separated by commas."
        )

    @property
    def gold(self):
        return {number for number in self.numbers if all(number % divisor for divisor in range(2, 20))}

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        said = [read_number(part) for part in answer.split(",")]
        right = None not in said and set(said) == self.gold
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{', '.join(map(str, self.action_rng.sample(self.numbers, 2)))}}}"

    def expert_action(self):
        return f"\\boxed{{{', '.join(map(str, sorted(self.gold)))}}}"


class Capitals(DatasetEnv):
    """Name a capital: 1 for the right one in a box, as question answering compares texts."""

    columns: ClassVar = {"question": "question", "answer": "answer"}
    default_instruction = "Give the name inside \\boxed{}."
    answer_form = "name inside \\boxed{}"

    def __init__(self, data="planted_defects.questions:rows", **kwargs):
        super().__init__(data, **kwargs)

    def _question(self, row):
        return row["question"]

    def _read(self, reply):
        return boxed(reply)

    def _right(self, answer):
        return exact_match(answer, self.row["answer"])

    def _grade(self, answer):
        right = self._right(answer)
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def _gold(self, row):
        return f"\\boxed{{{row['answer']}}}"

    def sample_action(self):
        return self._gold(self.action_rng.choice(self.rows))
