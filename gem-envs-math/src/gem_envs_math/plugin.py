"""The specs of this pack. Listing environments loads this module, but no environment."""

import gem
from gem_envs_math import generated, sources

GEM_API = 1

ARITHMETIC = "gem_envs_math.arithmetic:Arithmetic"
LONG_ARITHMETIC = "gem_envs_math.long_arithmetic:LongArithmetic"


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id="math:Arithmetic-v0",
            entry_point=ARITHMETIC,
            kwargs={"operands": 3, "digits": 2, "operators": "+-*"},
            description="Work out an expression of three numbers below 100 with +, - and *",
            tags=("math", "single-turn", "procedural"),
        ),
        gem.EnvSpec(
            id="math:Arithmetic-v0-easy",
            entry_point=ARITHMETIC,
            kwargs={"operands": 2, "digits": 2, "operators": "+-"},
            description="Add or subtract two numbers below 100",
            tags=("math", "single-turn", "procedural"),
        ),
        gem.EnvSpec(
            id="math:Arithmetic-v0-hard",
            entry_point=ARITHMETIC,
            kwargs={"operands": 6, "digits": 3, "operators": "+-*"},
            description="Work out an expression of six numbers below 1000 with +, - and *",
            tags=("math", "single-turn", "procedural"),
        ),
        gem.EnvSpec(
            id="math:LongArithmetic-v0",
            entry_point=LONG_ARITHMETIC,
            kwargs={"digits": 20},
            description="Multiply two numbers of 20 digits: too long to do mentally",
            tags=("math", "single-turn", "procedural", "tool-use"),
        ),
        gem.EnvSpec(
            id="math:LongArithmetic-v0-easy",
            entry_point=LONG_ARITHMETIC,
            kwargs={"digits": 4},
            description="Multiply two numbers of 4 digits, with a tool or without",
            tags=("math", "single-turn", "procedural", "tool-use"),
        ),
        *generated.specs(),
        *sources.specs(),
    ]
