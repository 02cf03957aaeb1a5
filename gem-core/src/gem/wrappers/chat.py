"""The episode so far as one chat prompt, for trainers that expect one string per step."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from gem.core import ChatMessage, Env, Info, Observation, Step, Wrapper
from gem.tool.content import map_texts
from gem.tool.escaping import escape_turn_marks
from gem.wrappers.concat import ConcatWithAction, check_length, check_one_player, line, text_of


@runtime_checkable
class HasChatTemplate(Protocol):
    """The method of a tokenizer that these wrappers need, as in `transformers`."""

    def apply_chat_template(self, conversation: Any, /, *, tokenize: bool, add_generation_prompt: bool) -> Any:
        """The conversation as text, if `tokenize` is false, up to the beginning of the assistant's next message."""


ChatTemplate = HasChatTemplate | Callable[[list[ChatMessage]], str]
"""A tokenizer, or a function from the messages to the prompt."""


def chatml(messages: list[ChatMessage]) -> str:
    """The default template: ChatML, as for Qwen models, without a system message."""
    turns = [f"<|im_start|>{message['role']}\n{text_of(message['content'])}<|im_end|>\n" for message in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


def render(template: ChatTemplate | None, messages: list[ChatMessage]) -> str:
    """The prompt for the assistant's reply to `messages`."""
    if isinstance(template, HasChatTemplate):
        return template.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return (template or chatml)(messages)


class ConcatChat(Wrapper):
    """The whole episode so far as a chat prompt, in each observation.

    Observations are messages of the user, actions of the assistant. The template is applied to the whole conversation
    at every step, because it may change earlier messages (for example, drop old reasoning).

    Args:
        tokenizer: an object with `apply_chat_template`, or a function from messages to the prompt; by default ChatML.
        max_history_length: the most turns in the prompt, besides the first observation; None for all.

    Raises:
        ConfigError: the env has several players.
    """

    _unsaved = Wrapper._unsaved | {"tokenizer"}

    def __init__(
        self, env: Env, tokenizer: ChatTemplate | None = None, *, max_history_length: int | None = None
    ) -> None:
        super().__init__(env)
        check_one_player(self, env)
        self.tokenizer = tokenizer
        self.max_history_length = check_length(max_history_length)
        self._messages: list[ChatMessage] = []

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._messages = [{"role": "user", "content": map_texts(observation, escape_turn_marks)}]
        return render(self.tokenizer, self._messages), info

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._messages.append({"role": "assistant", "content": action})
        self._messages.append({"role": "user", "content": map_texts(observation, escape_turn_marks)})
        if self.max_history_length is not None and len(self._messages) > 1 + 2 * self.max_history_length:
            del self._messages[1:3]
        return Step(render(self.tokenizer, self._messages), reward, terminated, truncated, info)


class ConcatChatOnReset(ConcatWithAction):
    """`ConcatWithAction` with the first observation as a chat prompt; the rest is plain text.

    So the whole episode is one long reply of the assistant. For `tokenizer` and `max_history_length` see `ConcatChat`.
    """

    _unsaved = ConcatWithAction._unsaved | {"tokenizer"}

    def __init__(
        self, env: Env, tokenizer: ChatTemplate | None = None, *, max_history_length: int | None = None
    ) -> None:
        super().__init__(env, max_history_length=max_history_length)
        self.tokenizer = tokenizer

    def _first(self, observation: Observation) -> str:
        return line(render(self.tokenizer, [{"role": "user", "content": map_texts(observation, escape_turn_marks)}]))

    def _turn(self, action: str, observation: str) -> str:
        return super()._turn(action, escape_turn_marks(observation))
