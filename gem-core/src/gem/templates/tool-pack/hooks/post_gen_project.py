"""Removes the files of the choices that were not made."""

import shutil
from pathlib import Path

if "{{ cookiecutter.licence }}" == "none":
    Path("LICENSE").unlink()
if "{{ cookiecutter.ci }}" == "none":
    shutil.rmtree(".github")
