"""Makes the corpus that ships with gem-tools: a small fictional world.

    python gem-tools/world/make_world.py [--out FILE]

The same file comes out on every machine. A row is a document with its facts: `facts` maps a relation to a number, or
to the id of another document. Facts are consistent (no book is written before its author's birth, no one studies at a
school that does not exist yet or is taught by a younger person), and each is stated once, in its subject's document.
"""

import argparse
import json
from pathlib import Path
from random import Random

import names
import sentences

SEED = 20251001
OUT = Path(__file__).parents[1] / "src/gem_tools/data/world.jsonl"
ROLES = {"writer": 36, "painter": 16, "composer": 14, "architect": 16, "climber": 14, "founder": 44, "scholar": 44,
         "politician": 40}  # fmt: skip
LIVING = 1940
"""Year of birth since which a person may hold an office."""


class WorldBuilder:
    """Things by id, in the order in which they were made; a thing is a dict with kind, title and facts."""

    def __init__(self, seed):
        self.rng = Random(seed)
        self.things = {}
        self.roles = {}

    def add(self, kind, title, **facts):
        number = sum(thing["kind"] == kind for thing in self.things.values()) + 1
        id = f"{kind}-{number:03}"
        self.things[id] = {"kind": kind, "title": title, "facts": facts}
        return id

    def of(self, kind):
        return [id for id, thing in self.things.items() if thing["kind"] == kind]

    def any(self, kind):
        return self.rng.choice(self.of(kind))

    def fact(self, id, name):
        return self.things[id]["facts"][name]

    def named(self, id, end):
        return self.things[id]["title"].endswith(end)

    def person(self, *roles, living=False):
        """Somebody of one of the roles."""
        return self.rng.choice(
            [id for id, role in self.roles.items() if role in roles and (self.born(id) >= LIVING or not living)]
        )

    def born(self, id):
        return self.fact(id, "birth_year")

    def later(self, id, low, high):
        """A year in which this person was from `low` to `high` years old."""
        return self.born(id) + self.rng.randint(low, high)


def build(seed):
    """The whole world. What is made later refers to what was made before."""
    world = WorldBuilder(seed)
    rng = world.rng
    for title in names.PROVINCES:
        world.add("province", title)
    for name in names.MOUNTAINS:
        world.add("mountain", f"Mount {name}", province=world.any("province"), height=rng.randint(900, 4400))
    for name in names.RIVERS:
        world.add("river", f"River {name}", source=world.any("mountain"), length=rng.randint(40, 900))
    for name in rng.sample(names.TOWNS, 64):
        facts = {"river": world.any("river"), "province": world.any("province"), "year": rng.randint(880, 1590)}
        world.add("town", name, **facts)
    for title in names.with_ends(rng, names.INSTITUTES, names.INSTITUTE_ENDS, 20):
        world.add("institute", title, town=world.any("town"), year=rng.randint(1620, 1830))
    add_people(world)
    add_offices(world)
    add_companies_and_buildings(world)
    add_works(world, books=72, paintings=40, operas=28)
    add_lives(world)
    return world


def add_people(world):
    roles = [role for role, count in ROLES.items() for _ in range(count)]
    for role, (name, pronoun) in zip(roles, names.people(world.rng, len(roles)), strict=True):
        born = world.rng.randint(LIVING if role == "politician" else 1850, 1975)
        id = world.add("person", name, birthplace=world.any("town"), birth_year=born)
        world.things[id]["pronoun"] = pronoun
        world.roles[id] = role


def add_offices(world):
    politicians = [id for id, role in world.roles.items() if role == "politician"]
    for id in world.of("town"):
        world.things[id]["facts"]["mayor"] = world.rng.choice(politicians)
    for id in world.of("province"):
        towns = [town for town in world.of("town") if world.fact(town, "province") == id]
        world.things[id]["facts"] |= {"capital": world.rng.choice(towns), "governor": world.rng.choice(politicians)}
    for id in world.of("institute"):
        world.things[id]["facts"]["director"] = world.person("scholar", living=True)
    for id in world.of("mountain"):
        world.things[id]["facts"]["climber"] = world.person("climber")


def add_companies_and_buildings(world):
    rng = world.rng
    for title in names.with_ends(rng, names.COMPANIES, names.COMPANY_ENDS, 30):
        founder = world.person("founder")
        world.add("company", title, founder=founder, seat=world.any("town"), year=world.later(founder, 22, 45))
    for name in rng.sample(names.BUILDINGS, 32):
        architect = world.person("architect")
        use = rng.choice(("Museum", "Theatre", "Museum", "Theatre", "Library"))
        facts = {"architect": architect, "town": world.any("town"), "year": world.later(architect, 27, 60)}
        world.add("building", f"{name} {use}", **facts)
    for name in names.PRIZES:
        world.add(
            "prize", f"{name} Prize", founder=world.person("founder", "scholar"), institute=world.any("institute")
        )


def add_works(world, *, books, paintings, operas):
    rng = world.rng
    taken = {thing["title"] for thing in world.things.values()}
    titles = iter(names.works(rng, books + paintings + operas, taken))
    museums = [id for id in world.of("building") if world.named(id, "Museum")]
    theatres = [id for id in world.of("building") if world.named(id, "Theatre")]
    for _ in range(books):
        publishers = []
        while not publishers:
            author = world.person("writer")
            year = world.later(author, 23, 65)
            publishers = [
                id for id in world.of("company") if world.named(id, "Press") and world.fact(id, "year") <= year
            ]
        publisher = rng.choice(publishers)
        world.add("book", next(titles), author=author, publisher=publisher, setting=world.any("town"), year=year)
    for _ in range(paintings):
        painter = world.person("painter")
        facts = {"painter": painter, "museum": rng.choice(museums), "year": world.later(painter, 20, 65)}
        world.add("painting", next(titles), **facts)
    for _ in range(operas):
        theatre = rng.choice(theatres)
        opened = world.fact(theatre, "year")
        composers = [id for id, role in world.roles.items() if role == "composer" and world.born(id) + 70 > opened]
        composer = rng.choice(composers)
        year = max(world.later(composer, 24, 60), opened + rng.randint(1, 9))
        world.add("opera", next(titles), composer=composer, theatre=theatre, year=year)


def add_lives(world):
    """Teachers, schools, employers and marriages: most people have one or two of them."""
    rng = world.rng
    for id, role in world.roles.items():
        facts = world.things[id]["facts"]
        masters = [m for m, r in world.roles.items() if r == role and 15 <= world.born(id) - world.born(m) <= 50]
        if masters and rng.random() < 0.5:
            facts["teacher"] = rng.choice(masters)
        if rng.random() < 0.6:
            facts["school"] = world.any("institute")
        employers = [c for c in world.of("company") if world.fact(c, "year") <= world.born(id) + 30]
        if employers and role in ("scholar", "politician") and rng.random() < 0.6:
            facts["employer"] = rng.choice(employers)
    single = list(world.roles)
    rng.shuffle(single)
    for one in single[:80]:
        other = next((o for o in single[80:] if abs(world.born(o) - world.born(one)) <= 12), None)
        if other is not None:
            single.remove(other)
            world.things[one]["facts"]["spouse"], world.things[other]["facts"]["spouse"] = other, one


def mention(thing):
    """A thing inside the sentence of another."""
    article = thing["kind"] in ("river", "institute", "building", "prize")
    return f"the {thing['title']}" if article else thing["title"]


def tell(world, id):
    """The text of a document: its opening, and its facts in any order."""
    rng, thing = world.rng, world.things[id]
    kind, name, pronoun = thing["kind"], thing["title"], thing.get("pronoun", "it")
    colours = dict(sentences.COLOURS)
    if kind == "person":
        colours["profession"] = colours["profession"][world.roles[id]]
    if kind == "company":
        colours["product"] = colours["product"][name.split()[-1]]
    words = {key: rng.choice(list(choices)) for key, choices in colours.items()}
    if kind == "person":
        words["a"] = "an" if words["profession"][0] in "aeiou" else "a"
        words["is_"] = "is" if world.born(id) >= LIVING else "was"
    lines = [rng.choice(sentences.OPENINGS[kind]).format(name=name, **words)]
    facts = list(thing["facts"].items())
    rng.shuffle(facts)
    possessive = {"she": "her", "he": "his", "it": "its"}[pronoun]
    for relation, value in facts:
        subject = rng.choice((pronoun, sentences.STAND_INS.get(kind, pronoun)))
        shown = mention(world.things[value]) if isinstance(value, str) else str(value)
        sentence = rng.choice(sentences.FACTS[kind, relation]).format(s=subject, v=shown, p=possessive)
        lines.append(sentence[0].upper() + sentence[1:])
    return " ".join(lines)


def rows(seed):
    world = build(seed)
    yield from told(world, list(world.things))
    # Later works, with random numbers of their own: what was there before remains as it is.
    known = set(world.things)
    world.rng = Random(seed + 1)
    add_works(world, books=100, paintings=80, operas=60)
    yield from told(world, [id for id in world.things if id not in known])


def told(world, ids):
    for id in ids:
        thing, text = world.things[id], tell(world, id)
        yield {"id": id, "title": thing["title"], "text": text, "kind": thing["kind"], "facts": thing["facts"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows(SEED)]
    arguments.out.write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
