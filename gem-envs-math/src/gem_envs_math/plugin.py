"""What this pack offers: a table of specs. Listing loads this module and no environment."""

import gem

GEM_API = 1

ARITHMETIC = "gem_envs_math.arithmetic:Arithmetic"


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
            kwargs={"operands": 2, "digits": 1, "operators": "+-"},
            description="Add or subtract two numbers below 10",
            tags=("math", "single-turn", "procedural"),
        ),
        gem.EnvSpec(
            id="math:Arithmetic-v0-hard",
            entry_point=ARITHMETIC,
            kwargs={"operands": 6, "digits": 3, "operators": "+-*"},
            description="Work out an expression of six numbers below 1000 with +, - and *",
            tags=("math", "single-turn", "procedural"),
        ),
    ]
