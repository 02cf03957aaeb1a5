"""Chat models as parts of envs and rewards, such as a judge or a user: found by role, asked for answers."""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast

from msgspec.structs import replace

from gem import roles
from gem.checks import check_int
from gem.core import ChatMessage
from gem.episode import Usage
from gem.errors import ConfigError, Fault, Unreachable
from gem.llm.askers import ApiAsker, Asker, PolicyAsker, Reply
from gem.llm.errors import AccessRefused, UnusableAnswer
from gem.llm.policy import ChatPolicy
from gem.llm.reply_cache import ReplyCache
from gem.llm.structured import Structure
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.roles import Asked, RoleModel, Roles, RoleSettings
from gem.rollout.function_policy import FunctionPolicy
from gem.rollout.named_policies import LOCAL_MODELS, check_policy, make_policy, policy_ref
from gem.rollout.policy import Policy
from gem.work.loops import shared_loop

MOST_REPLIES = 3
"""Replies of a model for one answer with a schema: the first, and those after it did not fit."""
_CHARACTERS = 4
"""Characters of a token, where the server does not count."""
_UNTOLD = frozenset({"concurrency", "timeout", "retries", "key_variable"})
"""Settings of a model that do not change what it says."""

Message = ChatMessage | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a chat model."""

    text: str
    """What it says; empty where it calls tools only."""
    value: Any
    """What the schema asks for, checked; None without a schema."""
    usage: Usage
    """Tokens and seconds of all replies that it took; nothing if it is from the cache. Estimated if nobody counts."""
    message: Mapping[str, Any]
    """The assistant's message, with `tool_calls` if the model called tools."""
    cached: bool = False
    """Whether it is from the cache."""


class ChatModel:
    """A chat model that envs and rewards ask; `gem.chat_model` finds one.

    One on this machine is loaded when it is first asked.

    Calls may come from any thread and any event loop, as many at once as there are. A pickled one finds its model again
    where it is unpickled, as in a snapshot of an env.
    """

    def __init__(self, name: str, model: RoleModel, of: Roles | None, cache: str | None = None) -> None:
        self.name = name
        """The role, or the model where it plays none."""
        self._model, self._of = model, of
        self._cache = ReplyCache(Path(cache)) if cache else None
        self._identity = _identity(model)
        self._lock = threading.Lock()
        self._asker: Asker | None = None
        if not _is_local(model):  # which takes memory, and is loaded with the first question
            self._opened()

    async def ask(
        self,
        messages: Sequence[Message] | str,
        *,
        schema: Any = None,
        tools: Sequence[Mapping[str, Any]] = (),
        sample: int = 0,
    ) -> Answer:
        """Ask for an answer.

        Args:
            messages: chat messages, of the roles `system`, `user` and `assistant`; a text is one message of the user.
            schema: what the answer is to be: a type that pydantic or msgspec can check, or a JSON schema. The server
                is asked to keep to it; where it cannot, the prompt says it. An answer that does not fit is asked for
                again, with what was wrong, up to `MOST_REPLIES` replies in all.
            tools: functions as chat APIs take them, which the model may call.
            sample: the number of the answer, where several are asked for to the same messages. The cache keeps each.

        Raises:
            UnusableAnswer: no reply fits the schema.
            Fault: the model cannot answer this: see `gem.llm.errors`.
            Unreachable: nor anything else, as with a wrong key or address.
            ConfigError: an argument is invalid.
        """
        asked = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        if not asked or asked[-1].get("role") == "assistant":
            raise ConfigError("a model is asked with messages, of which the last is not its own")
        check_int("sample", sample, 0)
        structure = None if schema is None else Structure(schema)
        self._opened()
        work = self._answer(cast("list[Mapping[str, Any]]", asked), structure, tools, sample)
        # Connections belong to one event loop.
        return await (work if shared_loop.is_current else asyncio.wrap_future(shared_loop.submit(work)))

    def ask_sync(
        self,
        messages: Sequence[Message] | str,
        *,
        schema: Any = None,
        tools: Sequence[Mapping[str, Any]] = (),
        sample: int = 0,
    ) -> Answer:
        """Ask for an answer, and wait for it; see `ask`. For code that is not async, such as the step of an env."""
        self._opened()  # here, and not in the loop, where others wait
        return shared_loop.call(self.ask(messages, schema=schema, tools=tools, sample=sample))

    def close(self) -> None:
        """Close the connections, or unload the model. `Models` closes those of its roles."""
        with self._lock:
            asker, self._asker = self._asker, None
        if asker is not None:
            shared_loop.call(asker.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return chat_model, (self.name if self._of is not None else self._model,)

    def _opened(self) -> Asker:
        with self._lock:
            if self._asker is None:
                self._asker = _asker_of(self._model)
            return self._asker

    async def _answer(
        self,
        messages: Sequence[Mapping[str, Any]],
        structure: Structure | None,
        tools: Sequence[Mapping[str, Any]],
        sample: int,
    ) -> Answer:
        cache = self._cache
        key = ""
        if cache is not None:
            key = cache.key(self._identity, messages, structure and structure.schema, list(tools), sample)
            if (found := _from_cache(cache, key, structure)) is not None:
                self._count(Asked(cached=1))
                return found
        spent = Usage()
        said, why = list(messages), ""
        for _ in range(MOST_REPLIES if structure else 1):
            reply = await self._reply(said, structure, tools)
            spent += reply.usage
            try:
                value = _value(reply, structure)
            except ValueError as error:
                why = str(error)
                said = [*said, {"role": "assistant", "content": reply.text}, _again(structure, why)]
                continue
            if cache is not None and reply.complete:
                cache.put(key, {"message": reply.message, "text": reply.text})
            return Answer(reply.text, value, spent, reply.message)
        self._count(Asked(failed=1))
        raise UnusableAnswer(f"the model {self.name!r} gave no usable answer: {why}")

    async def _reply(
        self, messages: Sequence[Mapping[str, Any]], structure: Structure | None, tools: Sequence[Mapping[str, Any]]
    ) -> Reply:
        try:
            reply = await self._opened().ask(messages, structure, tools)
        except AccessRefused as error:
            self._count(Asked(failed=1))
            raise Unreachable(f"the model {self.name!r} cannot be asked: {error}") from error
        except Fault:
            self._count(Asked(failed=1))
            raise
        if not reply.usage.prompt + reply.usage.completion:  # the server does not count
            reply = reply._replace(usage=_estimated(reply, messages))
        self._count(Asked(reply.usage, replies=1))
        return reply

    def _count(self, asked: Asked) -> None:
        if self._of is not None:
            self._of.count({self.name: asked})


class Models:
    """Models that play roles from `gem.use_models` on until it is closed; a context manager does that."""

    def __init__(self, of: Roles) -> None:
        self._of = of

    @property
    def asked(self) -> Mapping[str, Asked]:
        """What each role has been asked for so far."""
        return self._of.asked

    def close(self) -> None:
        """End it: the roles have the models again that they had before. Closing twice is fine."""
        self._of.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def use_models(models: Mapping[str, RoleModel], *, cache: str | PathLike[str] | None = None) -> Models:
    """Let models play roles, in this process and in the workers of vectors that are made from now on.

    Args:
        models: role → what `gemx eval --model` takes, with or without settings, or a function as of `FunctionPolicy`.
            Roles that are not among them stay as they are.
        cache: a folder that keeps complete answers by what was asked, so that the same is not asked twice. Several
            processes may share it.

    Raises:
        ConfigError: it is not a mapping from roles to models.
        UnknownId, SpecError: a model does not exist, or has a setting twice.
    """
    before = roles.current()
    named: dict[str, RoleModel] = dict(before.settings.models) if before else {}
    for role, model in models.items():
        if not role.isidentifier():
            raise ConfigError(f"a role is a word, such as judge or user, not {role!r}")
        if not callable(model):
            check_policy(model)
        named[role] = model if callable(model) else policy_ref(model)
    kept = str(Path(cache).absolute()) if cache else before.settings.cache if before else None
    used = Roles(RoleSettings(named, kept))
    roles.use(used)
    return Models(used)


def chat_model(model: str | ComponentRef) -> ChatModel:
    """The model that plays a role, such as `judge`; or one by its own name, such as `openai:NAME`, which plays none.

    Call it where an env is made, so that a role that nobody set is found before the first episode.

    Raises:
        ConfigError: nobody has set the role, or its model cannot run here.
        UnknownId, SpecError, PolicyError, MissingExtra: see `make_policy`.
    """
    used = roles.current()
    if isinstance(model, str) and used is not None and model in used.settings.models:
        return _of_role(used, model)
    if isinstance(model, str) and model.isidentifier():
        has = f"; those that are set: {', '.join(used.settings.models)}" if used and used.settings.models else ""
        raise ConfigError(
            f"no model plays the role {model!r}{has}. Set it: `gemx eval --role {model}=openai:NAME`, "
            f'gem.use_models({{"{model}": "openai:NAME"}}), or the settings [models.{model}] of a run'
        )
    return ChatModel(_title(model), model, None)


def _of_role(used: Roles, role: str) -> ChatModel:
    with used.lock:
        if role not in used.built:
            model = used.settings.models[role]
            if used.in_worker and _is_local(model):
                raise ConfigError(
                    f"the role {role!r} has the model {_title(model)}, which runs in one process, and not in each "
                    'worker: use backend="thread", or serve it (`vllm serve`) and name it openai:NAME'
                )
            used.built[role] = ChatModel(role, model, used, used.settings.cache)
        return used.built[role]


def _is_local(model: RoleModel) -> bool:
    return not callable(model) and name_and_settings(policy_ref(model))[0] in LOCAL_MODELS


def _estimated(reply: Reply, messages: Sequence[Mapping[str, Any]]) -> Usage:
    """The usage by the lengths of texts, so that a server that does not count ends a budget too."""
    read = sum(len(str(message.get("content") or "")) for message in messages)
    written = len(json.dumps(reply.message.get("tool_calls") or reply.text))
    return replace(reply.usage, prompt=-(-read // _CHARACTERS), completion=-(-written // _CHARACTERS))


def _asker_of(model: RoleModel) -> Asker:
    policy: Policy = FunctionPolicy(model) if callable(model) else make_policy(model)
    return ApiAsker(policy) if isinstance(policy, ChatPolicy) else PolicyAsker(policy)


def _title(model: RoleModel) -> str:
    if callable(model):
        return getattr(model, "__qualname__", repr(model))
    name, settings = name_and_settings(model)
    return f"{name}:{settings['model']}" if "model" in settings else name


def _identity(model: RoleModel) -> Any:
    """What tells a model from others, for the cache."""
    if callable(model):
        return f"{model.__module__}:{_title(model)}"
    name, settings = name_and_settings(policy_ref(model))
    return [name, json.loads(json.dumps({key: settings[key] for key in settings if key not in _UNTOLD}, default=repr))]


def _value(reply: Reply, structure: Structure | None) -> Any:
    if structure is None or reply.message.get("tool_calls"):
        return None
    if not reply.complete:
        raise ValueError("it was cut off at the limit of tokens")
    return structure.read(reply.text)


def _again(structure: Structure | None, why: str) -> Message:
    wanted = structure.in_words if structure else ""
    return {"role": "user", "content": f"That reply cannot be used: {why}.\n\n{wanted}"}


def _from_cache(cache: ReplyCache, key: str, structure: Structure | None) -> Answer | None:
    found = cache.get(key)
    if found is None or not isinstance(found.get("message"), dict):
        return None
    reply = Reply(found["message"], str(found.get("text", "")), Usage(), complete=True)
    try:
        return Answer(reply.text, _value(reply, structure), Usage(), reply.message, cached=True)
    except ValueError:  # another type with the same schema
        return None
