"""The other libraries, each in a virtual environment of its own, which is made on first use and kept."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PEERS = {
    "gem-llm": "gem-llm==0.1.0",
    "gymnasium": "gymnasium==1.4.0",
    "openenv": "openenv==0.10.0",
    "trl": "trl==1.16.0",
    "verifiers": "verifiers==0.1.14",
    "verifiers-newest": "verifiers==0.4.0",
}
_MODULES = {
    "gem-llm": "gem, datasets, pandas, pylatexenc, requests",
    "gymnasium": "gymnasium",
    "openenv": "openenv",
    "trl": "trl",
    "verifiers": "verifiers",
    "verifiers-newest": "verifiers.v1",
}
_BESIDES = {
    "gem-llm": ["datasets", "pandas", "pylatexenc", "requests"],
    "trl": ["torch==2.13.0", "transformers==5.19.0"],
}
"""What a peer imports without naming it among its dependencies, or must have in the version that we have."""
FOLDER = Path(tempfile.gettempdir()) / "gem-benchmarks"


def python_of(peer: str, folder: Path = FOLDER) -> Path:
    """The interpreter of the virtual environment that has `peer`.

    It is made if it is not there. What is there is never cleared, because it may be somebody else's, or a link to that.
    """
    requirement = PEERS[peer]
    home = folder / requirement
    python = home / "bin" / "python"
    if not home.exists():
        venv.create(home, with_pip=True)
        requirements = [requirement, *_BESIDES.get(peer, [])]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
    elif not python.exists() or subprocess.run([python, "-c", f"import {_MODULES[peer]}"], check=False).returncode:
        raise SystemExit(
            f"{home} cannot import {_MODULES[peer]}. Remove it if it is yours, or give another --venv-dir."
        )
    return python


def ask(python: Path | str, *arguments: str) -> str:
    """The last line that a program prints. A peer's interpreter sees nothing that PYTHONPATH adds to ours."""
    ours = str(python) == sys.executable
    environ = {name: value for name, value in os.environ.items() if ours or name != "PYTHONPATH"}
    command = [python, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environ).stdout.splitlines()[-1]


def options(description: str, repeats: int) -> argparse.ArgumentParser:
    """The options that every benchmark with peers has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--venv-dir", type=Path, default=FOLDER, help="where the peers are installed")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    return parser


def show(report: dict, table: str, file: Path | None) -> None:
    """Print the report and its table, and write the report to `file`."""
    text = json.dumps(report, indent=2)
    if file:
        file.write_text(text + "\n")
    print(text, table, sep="\n\n")
