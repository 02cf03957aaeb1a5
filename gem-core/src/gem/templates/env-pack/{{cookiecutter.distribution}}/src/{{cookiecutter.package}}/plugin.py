"""The specs of this pack. Listing environments loads this module, but no environment."""

import gem

GEM_API = 1

{% if cookiecutter.kind == "game" %}
LAMPS = "{{ cookiecutter.package }}.lamps:Lamps"


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Lamps-v0{variant}",
            entry_point=LAMPS,
            kwargs={"lamps": lamps, "max_turns": 2 * lamps},
            description=f"Switch on a row of {lamps} lamps, where each switch also works the neighbours",
            tags=("game", "multi-turn"),
        )
        for variant, lamps in {"-easy": 3, "": 5, "-hard": 9}.items()
    ]


@gem.hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # The settings that a recording from someone else may choose: none of their values does harm.
    return {LAMPS: ("lamps",)}
{% elif cookiecutter.kind == "questions" %}
ARTICLES = "{{ cookiecutter.package }}.articles:Articles"


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Articles{variant}",
            entry_point=ARTICLES,
            kwargs={
                "data": {
                    "name": "{{ cookiecutter.package }}:articles.jsonl",
                    "where": {"split": split},
                    "licence": "{{ cookiecutter.licence if cookiecutter.licence != 'none' else '' }}",
                    "about": "Words and their articles, written for this pack",
                }
            },
            description=f"Say which article goes before a word ({split} rows)",
            tags=("questions", "single-turn", "data-set"),
        )
        for variant, split in {"": "train", "-test": "test"}.items()
    ]


@gem.hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # The settings that a recording from someone else may choose: none of their values does harm.
    return {ARTICLES: ("instruction", "max_attempts", "format_error_reward")}
{% else %}
STOREROOM = "{{ cookiecutter.package }}.storeroom:Storeroom"


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Storeroom-v0{variant}",
            entry_point=STOREROOM,
            kwargs={"things": things, "max_turns": 4 * things},
            # The env counts turns itself.
            wrappers=({"name": "tool_env", "format": "hermes", "max_calls": None, "max_refused": None},),
            description=f"Move one of {things} things to another shelf with tools",
            tags=("tools", "multi-turn"),
        )
        for variant, things in {"-easy": 2, "": 4}.items()
    ]


@gem.hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # The settings that a recording from someone else may choose: none of their values does harm.
    return {STOREROOM: ("things",)}
{% endif %}
