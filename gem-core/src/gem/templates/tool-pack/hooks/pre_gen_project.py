"""Refuses names that Python, pip or GEM would not accept."""

import keyword
import re
import sys

NAMES = {
    "namespace": ("{{ cookiecutter.namespace }}", r"[a-z][a-z0-9_]*", "lower-case letters, digits and underscores"),
    "distribution": (
        "{{ cookiecutter.distribution }}",
        r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?",
        "letters, digits, and '-', '_' or '.' between them",
    ),
    "package": ("{{ cookiecutter.package }}", r"[a-z_][a-z0-9_]*", "lower-case letters, digits and underscores"),
}

for what, (name, pattern, allowed) in NAMES.items():
    if not re.fullmatch(pattern, name):
        sys.exit(f"{name!r} cannot be the {what}: it has {allowed}, and begins with a letter")
    if what == "package" and (keyword.iskeyword(name) or name in sys.stdlib_module_names):
        sys.exit(f"{name!r} cannot be the package: Python uses this name itself")
