"""`Job`: one program, with its input."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gem_sandbox.checks import check_type
from gem_sandbox.files import check_names
from gem_sandbox.languages import Language, check_language
from gem_sandbox.limits import Limits


def _no_files() -> dict[str, str | bytes]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One program, with its input.

    Attributes:
        code: The program.
        stdin: What it reads from standard input.
        files: What its folder holds when it starts: contents by name, relative to the folder.
        limits: What it may use. None: what its sandbox says.
        language: What it is written in.

    Raises:
        ConfigError: one of them is of another type, or the folder cannot hold files of these names.
    """

    code: str
    stdin: str | bytes = ""
    files: Mapping[str, str | bytes] = field(default_factory=_no_files)
    limits: Limits | None = None
    language: Language = "python"

    def __post_init__(self) -> None:
        check_type("code", self.code, str)
        check_type("stdin", self.stdin, str, bytes)
        check_type("files", self.files, Mapping)
        if self.limits is not None:
            check_type("limits", self.limits, Limits)
        for name, content in self.files.items():
            check_type("the name of a file", name, str)
            check_type(f"the content of the file {name!r}", content, str, bytes)
        check_names(self.files)
        check_language(self.language)
