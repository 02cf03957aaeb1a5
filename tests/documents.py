"""Markdown as the tests of the documentation read it, and a program that runs what a document says.

    python tests/documents.py DOCUMENT

runs a document's blocks in order, in the current folder, as a reader would who starts with an empty one:

- A block whose first line is a comment with a file's name (`# coin.py`) is that file. Files are written first.
- `python` blocks run in one namespace; in a README each has its own, because people copy one of them.
- In `console` blocks the lines that begin with `$ ` are commands, and so are further lines of one, after a backslash;
  `COMMANDS` says how each is run. Whatever else appears there must be part of what the command before it prints; `…`
  matches anything. `> FILE` at its end is the file of what it prints. A command that ends in `# exit status 1` has to
  fail with it.
- The blocks of docs/notebook.md are the cells of a notebook, run by a kernel.
- A block under `<!-- not run: the reason -->` is not run, and neither is one in another language.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: \S.* -->\n\Z")
_FILE = re.compile(r"# ([\w./-]+\.(?:py|toml))\n")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"`([^`]+)`")
_STATUS = re.compile(r"# exit status ([0-9]+)$")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

SITE = ".site"
"""Where a document's own pack is installed, below the folder it is run in."""

PIP = (sys.executable, "-m", "pip", "--quiet", "install", "--no-index", "--no-deps", "--no-build-isolation")
COMMANDS = {
    "gemx": (sys.executable, "-m", "gem"),
    "python": (sys.executable,),
    "pytest": (sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
    "pip install -e .": (*PIP, "--target", SITE, "."),
}
"""How a command is run: by this interpreter, and without a network."""

NOTEBOOK = "notebook.md"

LONGEST = 120
"""Seconds that a command may take."""

SET_UP = ("apt-get install ", "pip install ", "git clone ", "make ", "source ")
"""What a reader does before anything else; the tests run in the outcome of it."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    text: str
    line: int
    """The line of the document on which the text begins."""
    run: bool

    @property
    def file(self) -> str | None:
        """The file that this block is, if it says so."""
        match = _FILE.match(self.text)
        return match[1] if match else None

    @property
    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command of a console block, with the lines that it is shown to print."""
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, *shown = re.sub(r"\\\n *", "", part).splitlines()
            yield command, [line for line in shown if line.strip()]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 2, not _NOT_RUN.search(text[: match.start()]))
        for match in _FENCE.finditer(text)
    ]


def prose(text: str) -> str:
    """The document without its fenced blocks."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    """The targets of the document's links, the world's addresses left out."""
    return [link for link in _LINK.findall(prose(text)) if not link.startswith(("https://", "http://", "mailto:"))]


def inline_code(text: str) -> list[str]:
    """The text between single back-ticks."""
    return [" ".join(code.split()) for code in _INLINE.findall(prose(text))]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings."""
    titles = [re.sub(r"[^\w\- ]", "", title.lower()) for title in _HEADING.findall(prose(text))]
    return {title.strip().replace(" ", "-") for title in titles}


def run(document: Path) -> None:
    """Run a document's blocks in the current folder."""
    found = blocks(document.read_text("utf-8"))
    for block in found:
        if block.file is not None:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
    if document.name == NOTEBOOK:
        _run_cells([block.text for block in found if block.run and block.language == "python"])
        return
    # A module of its own, so that the classes in it can be pickled.
    module = sys.modules["document"] = ModuleType("document")
    for block in found:
        if not block.run or block.file is not None:
            continue
        if block.language == "python":
            if document.name == "README.md":
                module = sys.modules["document"] = ModuleType("document")
            # Empty lines before it make the traceback name the document's own lines.
            exec(compile("\n" * (block.line - 1) + block.text, document, "exec"), module.__dict__)
        elif block.language == "console":
            for command, shown in block.commands:
                _run_command(command, shown)


def _run_cells(cells: list[str]) -> None:
    """Run the cells of a notebook in a kernel; `CellExecutionError` for one that raises."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=LONGEST, kernel_name="python3").execute()


def _run_command(command: str, shown: list[str]) -> None:
    if command.startswith(SET_UP) and command not in COMMANDS:
        return
    words = shlex.split(command, comments=True)
    *words, file = (*words[:-2], words[-1]) if words[-2:-1] == [">"] else (*words, None)
    name = command if command in COMMANDS else words[0]
    assert name in COMMANDS, f"{command!r}: tests/documents.py does not know how to run this"
    arguments = [] if name == command else words[1:]
    done = subprocess.run(
        [*COMMANDS[name], *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if file is not None:
        Path(file).write_text(done.stdout, "utf-8")
    session = f"$ {command}\n{done.stdout}{done.stderr}"
    assert done.returncode == int((_STATUS.search(command) or [0, 0])[1]), session
    printed = _spaced(done.stdout + done.stderr)
    for line in shown:
        pattern = ".*".join(re.escape(_spaced(part).strip()) for part in line.split("…"))
        assert re.search(pattern, printed, re.DOTALL), f"{line!r} is not in what this prints:\n{session}"


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def main() -> None:
    """Run the document that is named on the command line."""
    site = str(Path(SITE).absolute())
    sys.path[:0] = [os.getcwd(), site]
    os.environ["PYTHONPATH"] = site
    run(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
