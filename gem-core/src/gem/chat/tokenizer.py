"""The interface of a tokenizer."""

from typing import Any, Protocol


class ChatTokenizer(Protocol):
    """The part of a tokenizer of transformers that `ChatEncoder` uses."""

    name_or_path: str
    """The name in messages."""
    chat_template: Any
    """The template, in Jinja."""
    is_fast: bool
    """True if it has a `backend_tokenizer`."""

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
