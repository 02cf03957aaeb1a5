"""Texts after which a reply ends: `info["stop"]` of the observation, as a `ToolEnv` gives it."""

from types import SimpleNamespace

import pytest

from gem.chat.encoder import ChatEncoder
from gem.chat.stops import StopTexts
from gem.episode import Completion, Episode, Trace, Turn
from gem.rollout.transcript import Transcript
from gem_train.engines.hf import HFSampler
from gem_train.models.tiny import tiny_model, tiny_tokenizer

STOPS = [*"aeiou0123456789", "é"]
REPLIES = 12


@pytest.fixture(scope="module")
def policy() -> HFSampler:
    turn = Turn("Compute 7 é.", Completion("<python>print(7)</python>"), 0.0, {})
    tokenizer = tiny_tokenizer(
        [
            Episode(
                id="", seed=0, traces=(Trace((turn,)),), observation="", terminated=True, truncated=False, success=True
            )
        ]
        * 4
    )
    return HFSampler(tiny_model(tokenizer, 0), ChatEncoder(tokenizer), max_new_tokens=64)


def replies(policy: HFSampler, stops: list[str]) -> dict[int, Completion]:
    """Replies of random weights, one per conversation; the first tokens are the same whatever the stops."""
    found = {}
    for slot in range(REPLIES):
        policy.reseed(slot)
        policy.send({slot: Transcript("Compute 7 é.", {"stop": stops})})
        found.update(policy.recv())
        policy.forget(slot)
    return found


def test_a_reply_ends_with_the_token_that_completes_a_stop_text(policy):
    free, stopped = replies(policy, []), replies(policy, STOPS)
    ended = 0
    for slot, completion in stopped.items():
        ids = completion.ids
        assert ids == free[slot].ids[: len(ids)]
        assert not any(stop in policy.chat.text(ids[:-1]) for stop in STOPS)
        at_a_stop = any(stop in completion.text for stop in STOPS)
        ended += at_a_stop
        assert completion.finish_reason == ("stop" if at_a_stop else free[slot].finish_reason)
        assert at_a_stop or ids == free[slot].ids
        assert len(completion.logprobs) == len(ids)
    assert ended > 2


def test_a_conversation_continues_after_a_stop_text_as_the_template_renders_it(policy):
    slot, completion = next((s, c) for s, c in replies(policy, STOPS).items() if c.text and c.text[-1] in STOPS)
    policy.reseed(slot)
    transcript = Transcript("Compute 7 é.", {"stop": STOPS})
    policy.send({0: transcript})
    first = policy.recv()[0]
    assert first.ids == completion.ids
    transcript.add(first, 0.0, "It is 7.", {"stop": STOPS})
    policy.send({0: transcript})
    second = policy.recv()[0]
    whole = policy.chat.tokenizer.decode([*first.prompt_ids, *first.ids, *second.prompt_ids])
    assert whole == policy.chat.tokenizer.apply_chat_template(
        transcript.messages(), tokenize=False, add_generation_prompt=True
    )
    policy.forget(0)


def test_only_a_token_that_may_complete_a_stop_text_is_decoded_with_those_before_it(policy):
    stops = StopTexts(policy.chat)
    decoded: list[int] = []
    text = policy.chat.text

    def counting(ids: tuple[int, ...]) -> str:
        decoded.append(len(ids))
        return text(ids)

    stops._chat = SimpleNamespace(text=counting)
    reply = policy.chat.encode("Compute 7 é, and then <b>more</b> of 7 é")
    found = [stops.reached(["</b>"], reply[: end + 1]) for end in range(len(reply))]
    assert [text(reply[: end + 1]).endswith("</b>") for end in range(len(reply))] == found
    assert sum(found) == 1
    assert sum(length > 1 for length in decoded) < 0.4 * len(reply)
