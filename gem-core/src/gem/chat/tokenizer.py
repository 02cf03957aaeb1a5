"""What the encoder needs of a tokenizer, and a tokenizer that is read from a model's folder without transformers."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from gem.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class ChatTokenizer(Protocol):
    """The part of a tokenizer of transformers that `ChatEncoder` uses."""

    name_or_path: str
    """For messages."""
    chat_template: Any
    """In Jinja."""
    is_fast: bool
    """Whether it has a `backend_tokenizer`."""

    @property
    def eos_token_id(self) -> Any:
        """The id that ends a sequence, or None."""

    @property
    def unk_token_id(self) -> Any:
        """The id of what the vocabulary does not have, or None."""

    @property
    def all_special_ids(self) -> Any:
        """The ids of the named special tokens."""

    @property
    def added_tokens_decoder(self) -> Any:
        """Id → token, for every token that was added to the vocabulary."""

    @property
    def backend_tokenizer(self) -> Any:
        """The `tokenizers.Tokenizer`."""

    def encode(self, text: Any, /, *, add_special_tokens: bool) -> list[int]:
        """The ids of a text."""
        ...

    def decode(self, token_ids: Any, /, *, clean_up_tokenization_spaces: bool) -> Any:
        """The text of ids, special tokens included."""

    def convert_ids_to_tokens(self, ids: Any, /) -> Any:
        """The token of an id, as the vocabulary spells it."""

    def apply_chat_template(self, conversation: Any, /, *, tokenize: bool, add_generation_prompt: bool) -> Any:
        """The conversation as text, or as ids with `tokenize`."""


class FileTokenizer:
    """A tokenizer and its chat template, without transformers: it gives the same ids.

    Args:
        backend: the tokenizer.
        chat_template: in Jinja.
        special: its named tokens, such as `{"eos_token": "<|im_end|>"}`. The template sees them too.
        name: in messages.
    """

    is_fast = True
    """It has a `backend_tokenizer`."""

    def __init__(
        self, backend: "Tokenizer", chat_template: str, *, special: Mapping[str, str], name: str = "a tokenizer"
    ) -> None:
        self.backend_tokenizer = backend
        """The tokenizer itself."""
        self.chat_template = chat_template
        """In Jinja."""
        self.name_or_path = name
        """For messages."""
        self._special = dict(special)
        self.added_tokens_decoder = backend.get_added_tokens_decoder()
        """Id → token, for every token that was added to the vocabulary."""
        self.all_special_ids = [
            id for token in self._special.values() if (id := backend.token_to_id(token)) is not None
        ]
        """The ids of the named tokens."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read `tokenizer.json`, `tokenizer_config.json` and, if there is one, `chat_template.jinja`.

        Raises:
            ConfigError: a file is missing or cannot be read.
            MissingExtra: tokenizers is not installed.
        """
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtra(f"a tokenizer needs tokenizers ({error}): pip install 'gem-core[chat]'") from error
        path = Path(folder).expanduser()
        try:
            config: dict[str, Any] = json.loads((path / "tokenizer_config.json").read_text("utf-8"))
            template = path / "chat_template.jinja"
            found = template.read_text("utf-8") if template.is_file() else config.get("chat_template")
            backend = Tokenizer.from_str((path / "tokenizer.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"cannot read a tokenizer from {path}: {error}. Give the folder of a model with tokenizer.json and "
                "tokenizer_config.json, or load the tokenizer with transformers"
            ) from error
        except Exception as error:  # what tokenizers raises has no class of its own
            raise ConfigError(f"{path / 'tokenizer.json'} is not a tokenizer: {error}") from error
        backend.no_truncation()
        backend.no_padding()
        return cls(backend, _default(found), special=_named_tokens(config), name=str(path))

    @property
    def eos_token_id(self) -> int | None:
        """The id that ends a sequence."""
        return self._id("eos_token")

    @property
    def unk_token_id(self) -> int | None:
        """The id of what the vocabulary does not have."""
        return self._id("unk_token")

    def encode(self, text: str, /, *, add_special_tokens: bool) -> list[int]:
        """The ids of a text."""
        return self.backend_tokenizer.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, token_ids: Sequence[int], /, *, clean_up_tokenization_spaces: bool = False) -> str:
        """The text of ids, special tokens included."""
        return self.backend_tokenizer.decode(token_ids, skip_special_tokens=False)

    def convert_ids_to_tokens(self, ids: int, /) -> str | None:
        """The token of an id, as the vocabulary spells it."""
        return self.backend_tokenizer.id_to_token(ids)

    def apply_chat_template(
        self, conversation: Sequence[Mapping[str, Any]], /, *, tokenize: bool, **variables: Any
    ) -> str | list[int]:
        """The conversation as text, or as ids with `tokenize`; `variables` are the template's."""
        nothing = {"tools": None, "documents": None}
        text = self._render(**{"messages": conversation, **nothing, **self._special, **variables})
        return self.encode(text, add_special_tokens=False) if tokenize else text

    @cached_property
    def _render(self) -> Callable[..., str]:
        try:
            from gem.chat.template import compiled
        except ImportError as error:
            raise MissingExtra(f"chat templates need jinja2 ({error}): pip install 'gem-core[chat]'") from error
        return compiled(self.chat_template)

    def _id(self, name: str) -> int | None:
        token = self._special.get(name)
        return None if token is None else self.backend_tokenizer.token_to_id(token)


def _default(template: object) -> str:
    """A template; some tokenizers have several, by name."""
    if isinstance(template, list):
        named = cast("list[dict[str, str]]", template)
        template = next((each["template"] for each in named if each.get("name") == "default"), None)
    return template if isinstance(template, str) else ""


def _named_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    """The special tokens that `tokenizer_config.json` names: text, or an object with its text."""
    found = {name: value for name, value in config.items() if name.endswith("_token")}
    texts = {
        name: cast("dict[str, Any]", value).get("content") if isinstance(value, dict) else value
        for name, value in found.items()
    }
    return {name: text for name, text in texts.items() if isinstance(text, str)}
