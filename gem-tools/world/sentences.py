"""The sentences of the fictional world: for each kind of thing a first sentence, and for each fact several others.

`{s}` is the subject (its name, or a pronoun or a noun for it), `{v}` the value of the fact, `{p}` and `{is_}` fit the
person's gender and time. Facts are stated only in the document of their subject.
"""

OPENINGS = {
    "person": ("{name} {is_} {a} {profession}.", "{name} {is_} known as {a} {profession}."),
    "town": (
        "{name} is a town with some {population} inhabitants, known for its {speciality}.",
        "{name} is a market town of about {population} people. Visitors come for its {speciality}.",
    ),
    "river": ("The {name} is a slow, winding river.", "The {name} is a river of clear, cold water."),
    "mountain": ("{name} is a bare, wind-swept mountain.", "{name} is a mountain with snow on its top all year."),
    "province": ("{name} is a province of hills and wide fields.", "{name} is one of the eight provinces."),
    "company": ("{name} is a company that makes {product}.", "{name} is a company best known for its {product}."),
    "institute": ("The {name} is a place of learning with a large library.", "The {name} teaches about {n} students."),
    "building": ("The {name} is a {style} building.", "The {name}, a {style} building, is open to all."),
    "book": ('"{name}" is a novel about {theme}.', '"{name}" is a novel. It tells of {theme}.'),
    "painting": ('"{name}" is a painting in {colour} tones.', '"{name}" is an oil painting, mostly in {colour}.'),
    "opera": (
        '"{name}" is an opera about {theme}.',
        '"{name}" is an opera in three acts. Its story is one of {theme}.',
    ),
    "prize": ("The {name} is given every year for {merit}.", "The {name} is a yearly award for {merit}."),
}

STAND_INS = {
    "town": "the town", "river": "the river", "mountain": "the mountain", "province": "the province",
    "company": "the company", "institute": "the school", "building": "the house", "book": "the book",
    "painting": "the picture", "opera": "the opera", "prize": "the prize",
}  # fmt: skip
"""Pronoun of a thing after its first sentence, where it is not "it". People are "she" or "he"."""

FACTS = {
    ("person", "birthplace"): ("{s} was born in {v}.", "{s} came into the world in {v}.", "{v} is {p} birthplace."),
    ("person", "birth_year"): ("{s} was born in {v}.", "The year of {p} birth is {v}."),
    ("person", "teacher"): ("{s} learned the craft from {v}.", "{p} teacher was {v}.", "{s} was a pupil of {v}."),
    ("person", "school"): ("{s} studied at {v}.", "{s} was a student of {v}.", "{s} took a degree at {v}."),
    ("person", "employer"): ("{s} worked for {v}.", "{s} spent many years at {v}.", "{p} employer was {v}."),
    ("person", "spouse"): ("{s} married {v}.", "{s} was joined in marriage with {v}."),
    ("town", "river"): ("{s} lies on {v}.", "{v} flows through {s}.", "{s} was built on the banks of {v}."),
    ("town", "province"): ("{s} belongs to the province of {v}.", "{s} is in {v}."),
    ("town", "mayor"): ("The mayor is {v}.", "{v} is mayor of {s}.", "{s} elected {v} as its mayor."),
    ("town", "year"): ("{s} was founded in {v}.", "{s} received its charter in {v}, the year of its founding."),
    ("river", "source"): ("{s} rises on {v}.", "The springs of {s} are on the slopes of {v}.", "Its source is on {v}."),
    ("river", "length"): ("{s} is {v} kilometres long.", "From source to mouth it measures {v} kilometres."),
    ("mountain", "climber"): ("{v} was the first to climb {s}.", "{s} was first climbed by {v}."),
    ("mountain", "province"): ("{s} stands in {v}.", "{s} is a landmark of {v}."),
    ("mountain", "height"): ("{s} is {v} metres high.", "Its top lies {v} metres above the sea."),
    ("province", "capital"): ("Its capital is {v}.", "{s} is ruled from its capital, {v}."),
    ("province", "governor"): ("The governor is {v}.", "{s} is governed by {v}."),
    ("company", "founder"): ("{s} was founded by {v}.", "{v} founded {s}.", "{s} was started by {v}."),
    ("company", "seat"): ("{s} has its head office in {v}.", "{s} is based in {v}.", "Its head office is in {v}."),
    ("company", "year"): ("{s} was founded in {v}.", "It has been in business since {v}."),
    ("institute", "town"): ("{s} is in {v}.", "{s} has its seat in {v}.", "It stands in the middle of {v}."),
    ("institute", "director"): ("{s} is headed by {v}.", "Its director is {v}.", "{v} is the director."),
    ("institute", "year"): ("{s} was founded in {v}.", "Its first students came in {v}, when it was founded."),
    ("building", "architect"): ("{s} was designed by {v}.", "{v} was the architect.", "Its architect was {v}."),
    ("building", "town"): ("{s} is in {v}.", "{s} stands in {v}.", "{s} can be visited in {v}."),
    ("building", "year"): ("{s} was opened in {v}.", "It opened its doors in {v}."),
    ("book", "author"): ("{s} was written by {v}.", "{v} wrote it.", "Its author is {v}."),
    ("book", "publisher"): ("{s} was published by {v}.", "Its publisher is {v}.", "{v} brought it out."),
    ("book", "setting"): ("The story is set in {v}.", "{s} plays in {v}.", "Most of it takes place in {v}."),
    ("book", "year"): ("{s} was published in {v}.", "{s} came out in {v}."),
    ("painting", "painter"): ("{s} was painted by {v}.", "{v} painted it.", "It is a work of {v}."),
    ("painting", "museum"): ("{s} hangs in {v}.", "{s} is on display in {v}.", "It can be seen in {v}."),
    ("painting", "year"): ("{s} was painted in {v}.", "It was finished in {v}."),
    ("opera", "composer"): ("{s} was composed by {v}.", "{v} composed it.", "The music is by {v}."),
    ("opera", "theatre"): ("{s} was first performed in {v}.", "Its first night was in {v}."),
    ("opera", "year"): ("{s} was first performed in {v}.", "It was heard for the first time in {v}."),
    ("prize", "founder"): ("{s} was founded by {v}.", "{v} left the money for it.", "It goes back to {v}."),
    ("prize", "institute"): ("{s} is awarded by {v}.", "{v} awards it.", "The winners are chosen by {v}."),
}  # fmt: skip

COLOURS = {
    "profession": {
        "writer": ("novelist", "writer", "storyteller"), "painter": ("painter", "landscape painter"),
        "composer": ("composer",), "architect": ("architect",), "climber": ("mountaineer", "explorer"),
        "founder": ("merchant", "manufacturer", "inventor"),
        "scholar": ("botanist", "astronomer", "historian", "physician", "geologist", "clockmaker"),
        "politician": ("politician", "lawyer", "former teacher"),
    },
    "population": ("four thousand", "nine thousand", "twelve thousand", "thirty thousand", "fifty thousand"),
    "speciality": ("smoked eel", "blue pottery", "honey cakes", "cheese market", "bell foundry", "wool", "cider",
                   "carved doors", "winter fair", "rope bridges", "rose gardens", "pear brandy"),
    "product": {
        "Works": ("lamps", "bicycles", "clocks"), "Mills": ("woollen cloth", "paper"), "Press": ("books",),
        "Brewery": ("dark beer",), "Shipyards": ("ferries",), "Foundry": ("church bells",),
        "Glassworks": ("window glass",), "Instruments": ("barometers", "telescopes"),
    },
    "n": ("three hundred", "six hundred", "two thousand"),
    "style": ("brick", "timber", "sandstone", "marble", "long, low", "tall, narrow"),
    "theme": ("a feud between two families", "a journey in winter", "a lost brother", "a great flood", "a forged will",
              "a clerk who cannot lie", "a village without children", "a debt of honour"),
    "colour": ("grey", "ochre", "deep blue", "green", "rust-red"),
    "merit": ("a first novel", "work in astronomy", "courage at sea", "the best new song", "the study of plants"),
}  # fmt: skip
"""Fillers of the rest of an opening; no question asks for it. A profession depends on the person's role, a
product on the company's name."""
