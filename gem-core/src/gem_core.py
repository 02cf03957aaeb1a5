"""Start of the command `gemx`: outside of the package `gem`, which another distribution may have overwritten.

gem-llm installs a folder `gem` too. In one environment, files of both lie in it, and the last one installed wins; so
`import gem` may find gem-llm's, or a mixture of both. This module imports nothing of GEM before it has to.
"""

import os
import sys

try:
    from importlib import metadata
except KeyboardInterrupt:  # it takes a moment
    sys.exit(130)

OWN = "gem-core"


def main() -> None:
    """Run the command `gemx`; if `gem` cannot be imported because of a clash, say so and exit with status 1."""
    # It reads the entry points of every installed package, of which one may be broken, and imports theirs.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    try:
        from gem.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)  # as gem.cli ends after Ctrl-C
    except Exception as error:  # another package may raise anything
        if not (others := find_clash()):
            raise
        sys.exit(f"GEM cannot start ({type(error).__name__}: {error}): {reason(others)}.\nTo fix it: {fix(others)}.")
    run()


def find_clash() -> list[str]:
    """Other distributions that install the folder `gem`, from the metadata of all that are installed."""
    return sorted({*metadata.packages_distributions().get("gem", ())} - {OWN})


def reason(others: list[str]) -> str:
    """The clash, on one line."""
    return f"{OWN} and {' and '.join(others)} install the same folder, gem, so only one of them can work"


def fix(others: list[str]) -> str:
    """The way out of it. Uninstalling the others takes the files with it that both have."""
    return (
        f"pip uninstall {' '.join(others)}, then pip install --force-reinstall --no-deps ./gem-core in a clone of the "
        "GEM repository. For a framework that asks for gem-llm, docs/coming-from-gem-llm.md says how it works without"
    )
