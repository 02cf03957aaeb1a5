"""Documents, and corpora of them: the one that ships, or any JSONL file."""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from gem.data.place import place
from gem.data.source import DataSource, package_file
from gem.errors import ConfigError

SHIPPED = "data/world.jsonl"
"""The corpus that ships with this package. `data/README.md` says where it comes from."""


@dataclass(frozen=True, slots=True)
class Document:
    """A `text` with a `title`, and an `id` that no other document of its corpus has."""

    id: str
    title: str
    text: str

    @property
    def contents(self) -> str:
        """Title and text in one string, as the corpora of Search-R1 keep them."""
        return f'"{self.title}"\n{self.text}'

    @classmethod
    def of(cls, row: Mapping[str, Any], default_id: str) -> Self:
        """A document from a row with `text` (and `title`), or with `contents`, whose first line is the title.

        Raises:
            ConfigError: the row has neither.
        """
        text, title = row.get("text"), row.get("title", "")
        if text is None and isinstance(row.get("contents"), str):
            title, _, text = row["contents"].partition("\n")
            title = title.strip('"')
        if not isinstance(text, str) or not isinstance(title, str):
            raise ConfigError(f"a document needs a 'text' or 'contents' that is a string; this row has {sorted(row)}")
        return cls(str(row.get("id", default_id)), title, text)


class Corpus(tuple[Document, ...]):
    """Documents in order, all in memory: at least one, with distinct ids.

    Raises:
        ConfigError: there are no documents, or two have the same id.
    """

    def __new__(cls, documents: Iterable[Document]) -> Self:
        corpus = super().__new__(cls, documents)
        if not corpus:
            raise ConfigError("this corpus has no documents")
        if len(corpus._by_id) < len(corpus):
            seen: set[str] = set()
            twice = next(each.id for each in corpus if each.id in seen or seen.add(each.id))
            raise ConfigError(f"two documents of this corpus have the id {twice!r}")
        return corpus

    @classmethod
    def shipped(cls) -> Self:
        """The corpus that comes with this package: 806 short documents about a fictional world."""
        text = files("gem_tools").joinpath(SHIPPED).read_text("utf-8")
        return cls(_read(text.splitlines(), SHIPPED))

    @classmethod
    def from_jsonl(cls, path: str | Path) -> Self:
        """A corpus from a file with one JSON object per line (`Document.of`); the line's number is the default id.

        The file may be in an installed package: `"gem_envs_qa:corpus.jsonl"`.

        Raises:
            ConfigError: there is no such file, it cannot be read, or a line is not a document.
        """
        try:
            with corpus_file(path).open(encoding="utf-8") as lines:
                return cls(_read(lines, str(path)))
        except FileNotFoundError as error:
            raise ConfigError(f"there is no file {str(path)!r} to read a corpus from") from error
        except OSError as error:
            raise ConfigError(f"no corpus can be read from {str(path)!r}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{str(path)!r} is not a corpus: it is not text in UTF-8 ({error.reason})") from error

    def find(self, name: str) -> Document | None:
        """The document with this id, or else the first with this title (upper and lower case are the same)."""
        return self._by_id.get(name) or self._by_title.get(name.strip().strip('"').casefold())

    def near(self, name: str, most: int = 3) -> list[str]:
        """The titles most similar to `name` in spelling."""
        found = difflib.get_close_matches(name.casefold(), self._by_title, n=most, cutoff=0.5)
        return [self._by_title[title].title for title in found]

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self}

    @cached_property
    def _by_title(self) -> dict[str, Document]:
        return {document.title.casefold(): document for document in reversed(self)}


def corpus_file(path: str | Path) -> Path:
    """The file that a path or `"package:file.jsonl"` names.

    Raises:
        ConfigError: there is no such package.
    """
    found = place(DataSource(name=str(path))) if package_file(str(path)) else None
    return found or Path(path)


def _read(lines: Iterable[str], name: str) -> Iterator[Document]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield Document.of(json.loads(line), str(number))
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{name}, line {number}: {error}") from error
