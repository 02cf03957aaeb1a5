"""The other libraries, each in a virtual environment of its own, which is made on first use and kept."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PEERS = {"gem-llm": "gem-llm==0.1.0", "gymnasium": "gymnasium==1.2.2"}
FOLDER = Path(tempfile.gettempdir()) / "gem-benchmarks"


def python_of(peer: str, folder: Path = FOLDER) -> Path:
    """The interpreter of the virtual environment that has `peer`."""
    requirement = PEERS[peer]
    home = folder / requirement
    python = home / "bin" / "python"
    name = peer if peer == "gymnasium" else "gem"
    if not python.exists() or subprocess.run([python, "-c", f"import {name}"], check=False).returncode:
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True)
    return python


def ask(python: Path | str, *arguments: str) -> str:
    """The last line that a program prints. A peer's interpreter sees nothing that PYTHONPATH adds to ours."""
    ours = str(python) == sys.executable
    environ = {name: value for name, value in os.environ.items() if ours or name != "PYTHONPATH"}
    command = [python, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environ).stdout.splitlines()[-1]
