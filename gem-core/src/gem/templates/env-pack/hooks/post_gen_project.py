"""Removes the files of the choices that were not made, and what pip has compiled of the template."""

import shutil
from pathlib import Path

KINDS = {
    "game": ("lamps.py", "test_lamps.py"),
    "questions": ("articles.py", "articles.jsonl", "test_articles.py"),
    "tools": ("storeroom.py", "test_storeroom.py"),
}

unwanted = {name for kind, names in KINDS.items() if kind != "{{ cookiecutter.kind }}" for name in names}
for folder in (Path("src/{{ cookiecutter.package }}"), Path("tests")):
    for name in unwanted:
        (folder / name).unlink(missing_ok=True)
if "{{ cookiecutter.licence }}" == "none":
    Path("LICENSE").unlink()
if "{{ cookiecutter.ci }}" == "none":
    shutil.rmtree(".github")
for compiled in list(Path().rglob("__pycache__")):
    shutil.rmtree(compiled)
