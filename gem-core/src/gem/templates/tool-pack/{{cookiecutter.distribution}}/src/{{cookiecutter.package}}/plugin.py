"""The tools of this pack. Listing tools loads this module, but no tool."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_tools() -> dict[str, str]:
    return {"convert": "{{ cookiecutter.package }}.convert:convert"}
