"""The specs of this pack. Listing environments loads this module, but no environment."""

import gem

GEM_API = 1
{% if cookiecutter.kind == "game" %}


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Lamps-v0{variant}",
            entry_point="{{ cookiecutter.package }}.lamps:Lamps",
            kwargs={"lamps": lamps, "max_turns": 2 * lamps},
            description=f"Switch on a row of {lamps} lamps, where each switch also works the neighbours",
            tags=("game", "multi-turn"),
            known_findings={"duplicates": "a short row has few starts: it is an example"},
        )
        for variant, lamps in {"-easy": 3, "": 5, "-hard": 9}.items()
    ]
{% elif cookiecutter.kind == "questions" %}


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Articles{variant}",
            entry_point="{{ cookiecutter.package }}.articles:Articles",
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
{% else %}


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"{{ cookiecutter.namespace }}:Storeroom-v0{variant}",
            entry_point="{{ cookiecutter.package }}.storeroom:Storeroom",
            kwargs={"things": things, "max_turns": 4 * things},
            # The env counts turns itself.
            wrappers=({"name": "tool_env", "max_calls": None, "max_refused": None},),
            description=f"Move one of {things} things to another shelf with tools",
            tags=("tools", "multi-turn"),
            known_findings={"duplicates": "three shelves have few starts: it is an example"},
        )
        for variant, things in {"-easy": 2, "": 4}.items()
    ]
{% endif %}
