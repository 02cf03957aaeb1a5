"""The table of generated problems: family → environment and description. Imports no environment."""

from collections.abc import Mapping

from gem import EnvSpec

GEOMETRY = "gem_envs_math.geometry.env:Geometry"

FAMILIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "Algebra": (
        "gem_envs_math.algebra.env:Algebra",
        {
            "easy": "Linear equations, terms and sequences with small numbers",
            "medium": "Equations, systems, polynomials, functions and sequences",
            "hard": "Systems of three equations, cubics, roots, exponentials and logarithms",
        },
    ),
    "NumberTheory": (
        "gem_envs_math.number_theory:NumberTheory",
        {
            "easy": "Divisors, multiples, primes and remainders of small numbers",
            "medium": "Factorisations, modular inverses and powers, bases, counting multiples",
            "hard": "Congruences, orders, towers of powers, factorials in other bases, Diophantine equations",
        },
    ),
    "Combinatorics": (
        "gem_envs_math.combinatorics.env:Combinatorics",
        {
            "easy": "Counting choices, orders, pairs and codes of a few things",
            "medium": "Counting words, paths, committees and couples; probabilities",
            "hard": "Derangements, surjections, necklaces, partitions, colourings; expected values",
        },
    ),
    "Calculus": (
        "gem_envs_math.calculus.env:Calculus",
        {
            "easy": "Derivatives and integrals of polynomials with small numbers",
            "medium": "Derivatives, integrals, limits, tangents and the rules between them",
            "hard": "Exact integrals, Taylor series, infinite sums, implicit curves, optima",
        },
    ),
    "Geometry": (
        GEOMETRY,
        {
            "easy": "Angles and areas of triangles and rectangles, described in words",
            "medium": "Lengths, angles and areas of plane figures, described in words",
            "hard": "Circles, triangles and their special lines, described in words",
        },
    ),
}


def specs() -> list[EnvSpec]:
    """The specs of every family and difficulty; of geometry also with drawn figures."""
    found: list[EnvSpec] = []
    for family, (entry_point, descriptions) in FAMILIES.items():
        for difficulty, description in descriptions.items():
            kwargs, tags = {"difficulty": difficulty}, ("math", "single-turn", "procedural")
            id = f"math:{family}-v0" + ("" if difficulty == "medium" else f"-{difficulty}")
            found.append(EnvSpec(id=id, entry_point=entry_point, kwargs=kwargs, description=description, tags=tags))
            if entry_point == GEOMETRY:
                drawn = description.replace("described in words", "drawn as a PNG image")
                kwargs, tags, id = {**kwargs, "figure": "image"}, (*tags, "images"), f"{id}-drawn"
                found.append(EnvSpec(id=id, entry_point=entry_point, kwargs=kwargs, description=drawn, tags=tags))
    return found
