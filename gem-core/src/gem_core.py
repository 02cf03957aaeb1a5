"""Where the command `gemx` starts: outside of the package `gem`, which another distribution may have overwritten.

gem-llm installs a folder `gem` too. In one environment, files of both lie in it, and the last one installed wins; so
`import gem` may find gem-llm's, or a mixture of both. This module imports nothing of GEM before it has to.
"""

import sys

try:
    import hashlib
    from base64 import urlsafe_b64encode
    from collections.abc import Iterable
    from importlib import metadata
    from importlib.util import find_spec
    from pathlib import Path
    from typing import NamedTuple
except KeyboardInterrupt:  # they take a moment
    sys.exit(130)

FOLDER = "gem"
OWN = "gem-core"
REINSTALL = "pip install --force-reinstall --no-deps ./gem-core in a clone of the GEM repository"


class Clash(NamedTuple):
    """What is wrong with the folder `gem`, on one line, and what to do about it."""

    reason: str
    fix: str


def main() -> None:
    """The command `gemx`; if `gem` cannot be imported because of a clash, say so and exit with status 1."""
    try:
        from gem.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)  # as gem.cli ends after Ctrl-C
    except Exception as error:  # another package may raise anything
        clash = find_clash()
        if clash is None:
            raise
        sys.exit(f"GEM cannot start ({type(error).__name__}: {error}): {clash.reason}.\nTo fix it: {clash.fix}.")
    run()


def find_clash() -> Clash | None:
    """What clashes with the folder `gem` of gem-core; None if nothing does.

    Found from the metadata of the installed distributions and the files of gem-core, without importing `gem`.
    """
    others = _others(metadata.distributions())
    own = _files()
    lost = _lost(own)
    found = find_spec(FOLDER)
    folder = Path(found.origin).parent if found is not None and found.origin else None
    elsewhere = folder if folder != Path(__file__).parent / FOLDER else None
    if others:
        names = " and ".join(others)
        state = "gem-core was installed last"
        if elsewhere:
            state = f"`import gem` finds {elsewhere}, not gem-core's"
        elif lost:
            state = f"{len(lost)} files of gem-core are overwritten or missing, such as {lost[0]}"
        removal = f"pip uninstall {' '.join(name.partition(' ')[0] for name in others)}"
        return Clash(
            f"gem-core and {names} install the same folder, {FOLDER}, so only one of them can work ({state})",
            f"{removal}{f', then {REINSTALL}' if own else ''}. "
            f"For a framework that asks for gem-llm, docs/coming-from-gem-llm.md says how it works without",
        )
    if elsewhere:
        return Clash(
            f"`import gem` finds {elsewhere}, which is not gem-core's", f"take {elsewhere.parent} off Python's path"
        )
    if lost:
        return Clash(f"{len(lost)} files of gem-core are changed or missing, such as {lost[0]}", REINSTALL)
    return None


def _others(distributions: Iterable[metadata.Distribution]) -> list[str]:
    """The name and the version of each other distribution that installs the folder."""
    found: set[str] = set()
    for distribution in distributions:
        listed = "\n" + (distribution.read_text("RECORD") or "")
        tops = (distribution.read_text("top_level.txt") or "").split()  # of setuptools, editable installs included
        if f"\n{FOLDER}/" in listed or FOLDER in tops:
            name = distribution.metadata["Name"]
            if name and name != OWN:
                found.add(f"{name} {distribution.version}")
    return sorted(found)


def _files() -> list[metadata.PackagePath]:
    """The files of gem-core in the folder that were installed; none if it is editable, or only on Python's path."""
    try:
        files = metadata.distribution(OWN).files
    except metadata.PackageNotFoundError:
        return []
    return [file for file in files or () if file.parts[0] == FOLDER and file.hash]


def _lost(files: Iterable[metadata.PackagePath]) -> list[str]:
    """Those that are missing or changed."""
    lost: list[str] = []
    for file in files:
        at = Path(str(file.locate()))
        if not at.is_file() or (file.hash and _sha256(at) != file.hash.value):
            lost.append(str(file))
    return lost


def _sha256(file: Path) -> str:
    """As in a RECORD."""
    return urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
