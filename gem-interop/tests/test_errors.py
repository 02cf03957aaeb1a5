"""Mistakes of callers: a call, its error, and a fragment of the message."""

import pytest
from session_samples import Count, tokenizer

import gem
from gem.chat import ChatEncoder
from gem.errors import ConfigError, MissingExtra, SpecError, UnknownId, Unreachable
from gem_interop import gem_llm
from gem_interop.playing import Player, start_of, starts
from gem_interop.session import MessageSession, Session, Sessions
from gem_interop.versions import check

ID, ECHO = "session_samples:Count", "core:Echo-v0"
NO_ROLE = "{% for m in messages %}{{ m.role }}{% endfor %}"
PROMPTS = ("Hello", "{}", "3", '{"env": "a:B"}', '{"env": "a:B", "seed": "x"}', None, [{}])

CASES = [
    # Starts and players.
    (lambda: starts([], 5, 0), ConfigError, "rows need an id"),
    (lambda: starts([ECHO, "core:Eco-v0"], 5, 0), UnknownId, "Did you mean 'core:Echo-v0'"),
    *((lambda prompt=prompt: start_of(prompt), ConfigError, "the start of an episode") for prompt in PROMPTS),
    (lambda: Player(score="mean"), ConfigError, "not 'mean'"),
    # Sessions.
    (lambda: Session(gem.make(ID), tokenizer(), env_kwargs={"max_turns": 3}), ConfigError, "are for ids"),
    (lambda: Session(ID, ChatEncoder(tokenizer()), stop_ids=[3]), ConfigError, "has stop_ids already"),
    (lambda: Session(ID, tokenizer(), env_kwargs={"max_turnz": 3}), SpecError, "max_turnz"),
    (lambda: Session(ID, tokenizer("{{ 1 +")), ConfigError, "TemplateSyntaxError"),
    (lambda: Session(ID, tokenizer(NO_ROLE)), ConfigError, "leaves out messages"),
    (lambda: Session(ID, tokenizer(), history="kept"), ConfigError, "not 'kept'"),
    (lambda: Session(ID, tokenizer(), stop_ids=["</s>"]), ConfigError, "not '</s>'"),
    (lambda: Session(Count, tokenizer()), ConfigError, "not <class"),
    (lambda: Session(ID, None), ConfigError, "not None"),
    (lambda: Session(ID, "folder"), ConfigError, "ChatEncoder, not 'folder'"),
    (lambda: Sessions(ID, step_timeout="5"), ConfigError, "not '5'"),
    (lambda: Sessions(Count(), tokenizer()), ConfigError, "give the id"),
    (lambda: Sessions(ID).session(), ConfigError, "needs a tokenizer"),
    (lambda: MessageSession(ID, max_turns=0), ConfigError, "max_turns"),
    # Libraries of others.
    (lambda: check("no-such-trainer", "1.0", "1.2"), MissingExtra, "pip install no-such-trainer==1.2"),
    (lambda: check("no-such-trainer", "1.0", "1.2", "git+https://it"), MissingExtra, "pip install git+https://it"),
    (lambda: check("pytest", "999.1", "999.2"), ConfigError, "is too old, and GEM needs 999.1: pip install pytest"),
    (lambda: gem.make("openenv:localhost:8000"), SpecError, "such as 'openenv:http://localhost:8000'"),
    (lambda: gem.make("nemo:localhost:8000#a"), SpecError, "such as 'nemo:http://localhost:8000#a'"),
    (lambda: gem.make("nemo:host"), ConfigError, "like http://localhost:8000 or https://…, not 'host'"),
    (lambda: gem.make("nemo:ftp://a"), ConfigError, "not 'ftp://a'"),
    (lambda: gem.make("nemo:http://a:b"), ConfigError, "not 'http://a:b'"),
    (lambda: gem.make("nemo:http://127.0.0.1:9"), Unreachable, "http://127.0.0.1:9 cannot be reached"),
    # Names of gem-llm.
    (lambda: gem_llm.get_wrapper_fns("concat,nothing"), ConfigError, "has no wrapper 'nothing'"),
    (lambda: gem_llm.make(ECHO).spawn(same_state=True, seed=3), ValueError, "leave out seed"),
]


@pytest.mark.parametrize(("call", "error", "fragment"), CASES)
def test_a_mistake_is_named(call, error, fragment):
    with pytest.raises(error) as raised:
        call()
    assert fragment in str(raised.value)
