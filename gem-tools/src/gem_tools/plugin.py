"""What this pack offers: a table of tools, by name. It is empty yet."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_tools() -> dict[str, str]:
    return {}
