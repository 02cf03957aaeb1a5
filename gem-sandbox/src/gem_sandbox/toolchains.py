"""Toolchains: what each language needs of this machine, and how a program in it becomes one for a slot."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gem_sandbox import cpp, javascript
from gem_sandbox.errors import ConfigError
from gem_sandbox.image import Image
from gem_sandbox.job import Job
from gem_sandbox.languages import LANGUAGES, Language
from gem_sandbox.slot import encoded
from gem_sandbox.visible import NO_TOOLS, Tools

_TOOLS: dict[Language, Callable[[], Tools]] = {
    "python": lambda: NO_TOOLS,
    "cpp": cpp.tools,
    "javascript": javascript.tools,
}


@dataclass(frozen=True, slots=True)
class LanguageReport:
    """A test of a `language` here: whether its programs run (`works`), and the `reason` why they do not."""

    language: Language
    works: bool
    reason: str


def languages() -> list[LanguageReport]:
    """Every language, and whether what it needs is installed."""
    found: list[LanguageReport] = []
    for language in LANGUAGES:
        try:
            tools_of(language)
            found.append(LanguageReport(language, True, ""))
        except ConfigError as error:
            found.append(LanguageReport(language, False, str(error)))
    return found


def tools_of(language: Language) -> Tools:
    """The tools of a language, on this machine.

    Raises:
        ConfigError: it is not installed.
    """
    return _TOOLS[language]()


def prepared(job: Job, memory: int, run: cpp.Run, known: cpp.Executables) -> tuple[Job, Image | None]:
    """A job that a slot can run, with the image that it runs; None for Python.

    Args:
        memory: Bytes that the process may have.
        run: Runs an image in a folder with some files: a compiler.
        known: What was compiled before.

    Raises:
        ConfigError: what the language needs is not installed.
        NotCompiled: the program does not compile.
    """
    if job.language == "cpp":
        return job, cpp.image(known.get(encoded(job.code), run), memory)
    if job.language == "javascript":
        if javascript.SOURCE in job.files:
            raise ConfigError(f"the program itself is the file {javascript.SOURCE}: call that of `files` another name")
        return replace(job, files={**job.files, javascript.SOURCE: job.code}), javascript.image(memory)
    return job, None
