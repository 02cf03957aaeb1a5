"""`Job`: one program, with its input."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gem_sandbox.files import check_names
from gem_sandbox.languages import Language, check_language
from gem_sandbox.limits import Limits


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
        ConfigError: there is no such language, or the folder cannot hold files of these names.
    """

    code: str
    stdin: str | bytes = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict[str, str | bytes])
    limits: Limits | None = None
    language: Language = "python"

    def __post_init__(self) -> None:
        check_names(self.files)
        check_language(self.language)
