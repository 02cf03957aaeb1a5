"""Models that play roles in an evaluation: what its settings say of them, and what they are asked for."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gem.llm.models import Models, use_models
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.roles import Asked
from gem.rollout.named_policies import policy_ref
from gem_eval.settings import Prices, Settings

OPENAI = "openai"
"""The policy that asks a chat API."""


def with_models(settings: Settings, at_once: int) -> AbstractContextManager[Models | None]:
    """A context in which models play the roles of the settings; see `playing`."""
    return playing(without_prices(settings.models), settings.cache, at_once)


def playing(
    models: Mapping[str, ComponentRef], cache: str | None, at_once: int
) -> AbstractContextManager[Models | None]:
    """A context in which models play roles; those behind a chat API make `at_once` requests.

    Raises:
        GemError: a model does not exist, or a setting is refused.
    """
    if not models:
        return nullcontext()
    return use_models({role: with_concurrency(policy_ref(each), at_once) for role, each in models.items()}, cache=cache)


def without_prices(models: Mapping[str, ComponentRef]) -> dict[str, ComponentRef]:
    """The models of roles without their `prices`, which are a setting of evaluations."""
    given = {role: name_and_settings(each) for role, each in models.items()}
    return {
        role: {"name": name, **{key: value for key, value in settings.items() if key != "prices"}}
        for role, (name, settings) in given.items()
    }


def with_concurrency(policy: ComponentRef, at_once: int) -> ComponentRef:
    """The policy; if it asks a chat API, with so many requests at once, unless it says how many."""
    name, settings = name_and_settings(policy)
    return {"name": name, "concurrency": at_once, **settings} if name == OPENAI else policy


def prices_of(settings: Settings) -> dict[str, Prices]:
    """Prices of the roles that have others than the model."""
    given = {role: name_and_settings(each)[1].get("prices") for role, each in settings.models.items()}
    return {role: tuple(prices) for role, prices in given.items() if prices is not None}


def as_json(asked: Asked, price: float | None) -> dict[str, Any]:
    """What a role was asked for, for the summary of an evaluation."""
    usage = asked.usage
    counts = {
        "replies": asked.replies,
        "cached": asked.cached,
        "failed": asked.failed,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "requests": usage.requests,
        "seconds": usage.seconds,
    }
    return counts if price is None else {**counts, "cost": price}
