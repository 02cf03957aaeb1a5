"""Removes the files of the choices that were not made, and what pip has compiled of the template."""

import shutil
from pathlib import Path

if "{{ cookiecutter.licence }}" == "none":
    Path("LICENSE").unlink()
if "{{ cookiecutter.ci }}" == "none":
    shutil.rmtree(".github")
for compiled in list(Path().rglob("__pycache__")):
    shutil.rmtree(compiled)
