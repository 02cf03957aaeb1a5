"""The names of the fictional world: invented roots, put together so that no two names share a telling word."""

from itertools import product
from random import Random


def words(text: str) -> list[str]:
    return text.split()


def joined(heads: str, tails: str) -> list[str]:
    return [head + tail for head, tail in product(words(heads), words(tails))]


FEMALE = words(
    "Adela Agneta Berit Brenna Calla Cerys Dagny Dorothea Elin Elsbet Fenna Gerda Gwenda Hedda Hester Ilsa Ingrith "
    "Jorun Katrin Liesel Linnea Maren Mira Nerys Odile Petra Ragna Rosalind Sabeth Sigrun Tamsin Thea Tova Ursa Vilma "
    "Wanda Ysolde Zelda"
)
MALE = words(
    "Aldric Anders Bastian Bjarne Caspar Corin Darrow Edmund Eskil Falk Florian Garrick Gorm Halvar Hendrik Ivo Jasper "
    "Jorik Kaspian Lambert Leif Magnus Matthis Nils Oswin Ottokar Percival Quillon Ruben Rurik Severin Stellan Tancred "
    "Torben Ulric Viggo Wendel Yorick"
)


SURNAMES = joined(
    "Aber Brack Dray Esk Hal Kest Lund Orr Pel Quar Rav Sten Tarn Ven Wyn", "low dahl ager mont ick strom"
)
TOWNS = joined("Ask Bren Cald Dun Elm Frost Gold Harrow Ives Kar Larch Mol Nor", "haven by minster ford holt stead")
RIVERS = joined("Tess Aul Ombr Vir Lyn", "el ane ith owen")
MOUNTAINS = joined("Kar Dro Zul Hesp", "eth mund agar ion")
PROVINCES = words("Aldermark Boskany Cindria Eastreach Greywold Lowmoor Silvania Upper-Tarrow")
COMPANIES = joined("Corv Zeph Nim Albi Tri Helio", "ax anta edon ium os")
COMPANY_ENDS = ("Works", "Mills", "Press", "Press", "Brewery", "Shipyards", "Foundry", "Glassworks", "Instruments")
INSTITUTES = joined("Saff Emer Indig Ochr Umb Verm", "ron ald ola ise")
INSTITUTE_ENDS = ("Academy", "Institute", "College", "School of Mines", "Conservatory")
BUILDINGS = joined("Lantern Thistle Heron Copper Willow Falcon Juniper Beacon Otter Rowan", "gate side court field")
PRIZES = ("Amberlight", "Bluequill", "Firstfrost", "Goldenreed", "Highwater", "Ironleaf", "Longbow", "Moonstone",
          "Nightjar", "Sunstone", "Truenorth", "Whitethorn")  # fmt: skip

_ADJECTIVES = words(
    "Broken Crimson Distant Drowned Empty Forgotten Frozen Gilded Hidden Hollow Last Midnight Nameless Paper Patient "
    "Restless Salted Scarlet Second Seventh Shattered Silent Sleeping Stolen Tidal Unlit Velvet Wandering Wooden"
)
_NOUNS = words(
    "Almanac Anchor Archive Bell Candle Carousel Compass Crown Feather Ferryman Garden Gatekeeper Harvest Hourglass "
    "Inheritance Kingdom Ladder Letter Lighthouse Mirror Orchard Pilgrim Quarry Sparrow Staircase Tailor Violin Voyage "
    "Watchmaker Weaver"
)


def people(rng: Random, count: int) -> list[tuple[str, str]]:
    """Full names with the pronoun of each; two or three people share a surname, and full names are unique."""
    surnames = SURNAMES * (count // len(SURNAMES) + 1)
    rng.shuffle(surnames)
    names: dict[str, str] = {}
    for surname in surnames:
        pronoun = rng.choice(("she", "he"))
        names.setdefault(f"{rng.choice(FEMALE if pronoun == 'she' else MALE)} {surname}", pronoun)
    return list(names.items())[:count]


def works(rng: Random, count: int, taken: set[str]) -> list[str]:
    """Titles of books, paintings and operas, all different, without those that are taken."""
    titles = [f"The {adjective} {noun}" for adjective, noun in product(_ADJECTIVES, _NOUNS)]
    return rng.sample([title for title in titles if title not in taken], count)


def with_ends(rng: Random, names: list[str], ends: tuple[str, ...], count: int) -> list[str]:
    """`count` of the names, each with an end."""
    return [f"{name} {rng.choice(ends)}" for name in rng.sample(names, count)]
