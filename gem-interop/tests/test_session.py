"""Sessions: what a trainer reads, what is kept of what it says, and how episodes end."""

import json
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel
from session_samples import CHATML, Count, tokenizer

import gem
from gem import Step
from gem.episode import Completion, Turn
from gem.episode.segments import segments_of
from gem.errors import ConfigError, EpisodeOver, ResetNeeded, SpecError
from gem_interop.session import MessageSession, Session

ID = "session_samples:Count"
TOOLS = {"name": "tool_env", "format": "tags"}
FORGETS = CHATML.replace("m.content", "m.content.split('</think>')[-1]")


@pytest.fixture
def session():
    with Session(ID, tokenizer()) as made:
        yield made


def ids(session: Session, text: str) -> list[int]:
    return list(session.chat.encode(text))


def test_an_episode_is_read_and_said_in_ids_and_ends_with_segments(session):
    first = session.start(0, {"what": "it"})
    assert session.chat.decode(first) == "<|im_start|>user\nSay it ☃.<|im_end|>\n<|im_start|>assistant\n"
    hi = ids(session, "hé<|im_end|>")
    second = session.said(hi, [-0.5] * len(hi))
    bridge = "\n<|im_start|>user\nYou said hé.<|im_end|>\n<|im_start|>assistant\n"
    assert second == [*first, *hi, *ids(session, bridge)]
    assert session.read_anew == len(ids(session, bridge))
    assert [(turn.completion.ids, turn.reward) for turn in session.turns] == [(tuple(hi), 2.0)]
    assert session.said(ids(session, "end<|im_end|>")) is None

    result = session.result
    assert session.turns == result.episode.turns
    assert (result.success, result.total_reward, result.failure) == (True, 12.0, None)
    [segment] = result.segments
    assert list(segment.prompt_ids) == first
    assert [*first, *segment.response_ids] == [*second, *ids(session, "end<|im_end|>")]
    assert segment.mask == (1,) * 4 + (0,) * len(ids(session, bridge)) + (1,) * 4
    assert segment.logprobs[:5] == (-0.5, -0.5, -0.5, -0.5, 0.0)
    assert {place: reward for place, reward in enumerate(segment.rewards) if reward} == {
        3: 2.0,
        len(segment.mask) - 1: 10.0,
    }
    assert [turn.action for turn in result.episode.turns] == ["hé", "end"]


def test_what_follows_an_end_is_dropped_and_so_is_what_exceeds_the_limit():
    with Session(ID, tokenizer(), wrappers=TOOLS, max_new_tokens=40) as session:
        session.start(0)
        assert session.stop == ("</add>",)
        call = '<add>{"a": 2, "b": 3}</add>'
        session.said(ids(session, f"{call} and more<|im_end|>"))
        session.said(ids(session, "no<|im_end|>yes<|im_end|>"))
        session.said(ids(session, "x" * 50))
        session.said(ids(session, "y"), finish_reason="length")
        session.said(ids(session, "z"))
        session.said(ids(session, "end<|im_end|>"))
    turns = session.result.episode.turns
    assert [turn.action for turn in turns] == [call, "no", "x" * 40, "y", "z", "end"]
    reasons = [turn.completion.finish_reason for turn in turns]
    assert reasons == ["stop", "stop", "length", "length", "stop", "stop"]
    assert turns[0].info["tool"] == {"name": "add", "status": "ok"}


def test_a_conversation_that_fills_the_context_is_truncated_and_no_success():
    with Session(ID, tokenizer(), max_context=125, max_new_tokens=20) as session:
        first = session.start(0)
        assert session.max_tokens == 20
        second = session.said(ids(session, "a" * 20))
        assert len(second) + session.max_tokens == 125
        assert session.said(ids(session, "b" * session.max_tokens)) is None
        result = session.result
        assert [turn.completion.finish_reason for turn in result.episode.turns] == ["length", "context"]
        assert (result.episode.out_of_context, result.success, result.failure) == (True, False, None)
        assert len(first) + len(result.segments[0].response_ids) == 125
    with Session(ID, tokenizer(), max_context=10) as session:
        assert session.start(0) is None
        assert (session.result.segments, session.result.episode.out_of_context) == ((), True)


def test_a_template_that_changes_earlier_messages_begins_a_new_segment():
    said = []
    with Session(ID, tokenizer(FORGETS)) as session:
        assert not session.chat.appends
        said.append(session.start(0))
        said.append(session.said(ids(session, "one<|im_end|>")))
        assert session.read_anew < len(session.context)
        said.append(session.said(ids(session, "<think>hm</think>two<|im_end|>")))
        assert session.read_anew == len(session.context)
        assert session.said(ids(session, "end<|im_end|>")) is None
    segments = session.result.segments
    assert [list(segment.prompt_ids) for segment in segments] == [said[0], said[2]]
    assert [sum(segment.rewards) for segment in segments] == [3.0 + 20.0, 10.0]
    assert [set(segment.turns) - {-1} for segment in segments] == [{0, 1}, {2}]


def test_an_env_that_fails_is_a_failure_and_not_a_return_of_0(session):
    session.start(0)
    assert session.said(ids(session, "fine<|im_end|>")) is not None
    assert session.said(ids(session, "fail<|im_end|>")) is None
    result = session.result
    assert result.failure is not None
    assert result.failure.error == "ValueError: broken"
    assert (result.total_reward, result.segments, result.success) == (None, (), False)
    assert session.start(13) is None
    assert session.result.failure.error == "OSError: no reset today"
    # A new env plays on.
    session.start(0)
    assert session.said(ids(session, "end<|im_end|>")) is None
    assert session.result.success


def test_a_reply_that_could_not_be_made_fails_the_episode(session):
    session.start(0)
    session.fail(TimeoutError("the engine is gone"))
    assert session.result.failure.error == "TimeoutError: the engine is gone"
    with pytest.raises(EpisodeOver):
        session.said([1])


def test_a_trainer_that_asks_for_no_further_reply_truncates_the_episode(session):
    session.start(0)
    session.said(ids(session, "hé<|im_end|>"))
    session.truncate()
    result = session.result
    assert (result.failure, result.success, result.total_reward) == (None, False, 2.0)
    assert (result.episode.truncated, len(result.segments)) == (True, 1)
    with pytest.raises(EpisodeOver):
        session.truncate()


def test_replies_without_ids_keep_their_rewards(session):
    session.start(0)
    session.said([])
    session.said(ids(session, "ok"))
    session.said([])
    session.said(ids(session, "end<|im_end|>"))
    [segment] = session.result.segments
    assert (sum(segment.rewards), session.result.total_reward) == (12.0, 12.0)
    assert len({len(segment.response_ids), len(segment.mask), len(segment.logprobs), len(segment.rewards)}) == 1


class Paid(Count):
    """Pays for every reply."""

    def _step(self, action):
        return Step.ongoing("You may say more.", reward=1.0)


def test_a_segment_in_which_nothing_was_said_has_its_reward_in_another():
    """It was in none."""
    with Session(Paid(max_turns=2), tokenizer(FORGETS)) as session:
        session.start(0)
        session.said(ids(session, "<think>why</think>ok<|im_end|>"))
        session.said([])
        first, second = session.result.segments
        assert (sum(first.rewards), first.rewards[-1], second.rewards) == (2.0, 2.0, ())
        assert session.result.total_reward == 2.0

    said = [Completion("", (1, 2)), Completion("ok", (1, 3), (4, 5), (-1.0, -1.0), new_segment=True)]
    first, second = segments_of(Turn("", each, 1.0, {}) for each in said)
    assert (first.rewards, second.rewards) == ((), (1.0, 1.0))  # of the first one, in the one after it


def test_misuse_is_refused_in_one_line(session):
    with pytest.raises(ResetNeeded):
        session.said([1])
    with pytest.raises(ResetNeeded):
        _ = session.result
    read = session.start(0)
    with pytest.raises(ConfigError, match="a reply of 2 ids has 1 log-probabilities"):
        session.said([1, 2], [0.0])
    with pytest.raises(ConfigError, match="not 'eos'"):
        session.said([1], finish_reason="eos")
    with pytest.raises(SpecError, match="these sessions play"):
        session.start(0, id="core:Echo-v0")
    assert session.said(ids(session, "still<|im_end|>"))[: len(read)] == read


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (([-1, 5],), "no token has the id -1"),
        (([2**40],), "no token has the id 1099511627776"),
        (([1.5],), r"and not \[1.5\]"),
        (([[1, 2]],), r"and not \[\[1, 2\]\]"),
        (("12",), "and not '12' .* texts and messages are for a MessageSession"),
        ((None,), "and not None"),
        (([1, 2], [-1.0, float("nan")]), "id 1 of the reply has the log-probability nan"),
        (([1], [-float("inf")]), "log-probability -inf"),
        (([1], [0.7]), "log-probability 0.7"),
        (([1, 2], [None, -1.0]), "log-probabilities are one number per id"),
    ],
)
def test_what_is_not_a_reply_is_refused_and_the_episode_waits_for_one_still(session, reply, message):
    read = session.start(0)
    with pytest.raises(ConfigError, match=message):
        session.said(*reply)
    assert (session.context, session.turns) == (read, ())
    [end] = session.chat.encode("<|im_end|>")
    assert session.said([7, end, -1], [-1.0, -0.5, float("nan")])[: len(read) + 2] == [*read, 7, end]


@pytest.mark.parametrize("message", [None, 5, ["a"], {"content": 5}, {"content": None, "tool_calls": [{"id": "a"}]}])
def test_what_is_not_a_message_is_refused_and_the_episode_waits_for_one_still(message):
    with MessageSession(ID, wrappers={"name": "tool_env", "format": "openai"}) as session:
        session.start(0)
        with pytest.raises(ConfigError, match="a reply is a text"):
            session.said(message)
        with pytest.raises(ConfigError, match="'abort'"):
            session.said("we", "abort")
        assert len(session.said("well")) == 3


def test_a_message_may_be_an_object_with_fields_as_a_client_returns_it():
    class Reply(BaseModel):
        role: str = "assistant"
        content: str = "end"

    with MessageSession(ID) as session:
        session.start(0)
        assert session.said(Reply()) is None
        assert session.result.episode.turns[-1].completion.text == "end"


def test_the_id_that_ends_a_reply_may_be_one_as_in_a_generation_config():
    with Session(ID, tokenizer(), stop_ids=0) as session:
        assert session.stop_ids[-1] == 0


def test_a_template_that_cannot_render_a_conversation_fails_its_episode_in_one_line():
    refuses = CHATML + "{% if 'said b' in messages[-1].content %}{{ raise_exception('not this') }}{% endif %}"
    with Session(ID, tokenizer(refuses)) as session:
        session.start(0)
        session.said(ids(session, "a<|im_end|>"))
        with pytest.raises(ConfigError, match="TemplateError: not this"):
            session.said(ids(session, "b<|im_end|>"))
        assert (session.result.segments, "not this" in session.result.failure.error) == ((), True)


def test_an_interrupted_call_ends_its_episode(session, monkeypatch):
    """The reply was in the context twice when it was said again."""
    session.start(0)
    with monkeypatch.context() as patched:
        patched.setattr(Count, "_step", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.said([7])
    with pytest.raises(ResetNeeded):
        session.said([7])
    read = session.start(0)
    assert session.said([8])[: len(read) + 1] == [*read, 8]


def test_a_second_thread_in_one_session_is_refused_and_the_first_has_its_answer(session):
    session.start(0)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(session.said, ids(session, "sleep"))
        while not session._calling.locked():
            time.sleep(0.001)
        with pytest.raises(RuntimeError, match="in another call"):
            session.said([7])
        assert slow.result() is not None
    assert [turn.action for turn in session.turns] == ["sleep"]


def test_a_result_can_be_pickled_and_a_session_says_that_it_cannot(session):
    session.start(0)
    session.said(ids(session, "end<|im_end|>"))
    assert pickle.loads(pickle.dumps(session.result)) == session.result
    with pytest.raises(TypeError, match="neither pickled nor copied"):
        pickle.dumps(session)


def test_several_ids_and_an_env_of_ones_own_can_be_played():
    with Session(["core:Echo-v0", ID], tokenizer()) as session:
        assert "Say" in session.chat.decode(session.start(1, id=ID, group=2))
        session.said(ids(session, "end<|im_end|>"))
        episode = session.result.episode
        assert (episode.id, episode.group, episode.spec.id) == (gem.make(ID).spec.id, 2, gem.make(ID).spec.id)
        assert "Say" not in session.chat.decode(session.start(1)).split("user")[0]
    before = Count.open["envs"]
    with Session(Count(max_turns=2), tokenizer()) as session:
        session.start(0)
        session.said(ids(session, "a<|im_end|>"))
        assert session.said(ids(session, "b<|im_end|>")) is None
        assert session.result.episode.truncated
        session.start(0)
        session.said(ids(session, "fail"))
        session.start(0)
        session.said(ids(session, "end<|im_end|>"))
        assert session.result.success
        assert session.result.episode.id == "session_samples:Count"
    assert Count.open["envs"] == before


def test_a_session_of_messages_calls_tools_as_chat_apis_do():
    with MessageSession(ID, wrappers={"name": "tool_env", "format": "openai"}) as session:
        [asked] = session.start(0)
        assert asked["role"] == "user"
        assert session.tools[0]["function"]["name"] == "add"
        call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": json.dumps({"a": 2, "b": 3})}}
        _, said, answer = session.said({"role": "assistant", "content": None, "tool_calls": [call]})
        assert said["tool_calls"][0]["id"] == "c1"
        assert answer == {"role": "tool", "tool_call_id": "c1", "content": "5"}
        assert len(session.said("well")) == 5
        assert session.said({"role": "assistant", "content": "end"}, "stop") is None
        assert (session.result.success, session.result.total_reward, session.result.segments) == (True, 14.0, ())


def test_the_text_that_ended_a_message_is_put_back():
    with MessageSession(ID, wrappers=TOOLS) as session:
        session.start(0)
        assert session.tools == []
        messages = session.said('<add>{"a": 2, "b": 3}', "stop")
        assert messages[1]["content"].endswith("</add>")
        assert "5" in messages[2]["content"]
