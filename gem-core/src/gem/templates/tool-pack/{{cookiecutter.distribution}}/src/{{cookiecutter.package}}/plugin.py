"""The tools of this pack. Listing tools loads this module, but no tool."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_tools() -> dict[str, str]:
    return {"convert": "{{ cookiecutter.package }}.convert:convert"}


@gem.hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # What a recording from someone else may use, and with which settings: this tool does no harm, and takes none.
    return {"{{ cookiecutter.package }}.convert:convert": ()}
