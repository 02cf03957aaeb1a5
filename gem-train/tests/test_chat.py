"""Chat templates: what is appended, and when a new segment starts."""

from typing import cast

import pytest
from replicas import FAMILIES, PLAIN, byte_level, family, unigram
from transformers import GenerationConfig, PreTrainedModel

import gem
from gem.chat.encoder import ChatEncoder
from gem.episode import Completion
from gem.errors import ConfigError
from gem.rollout.transcript import Transcript
from gem.tool.formats import FORMATS
from gem.wrappers import ConcatChat
from gem_train.chat.make import make_chat
from gem_train.chat.rewriting import cost_of_rewriting, rewriting_warning
from gem_train.config.sections import RolloutConfig
from gem_train.models.loading import LoadedModel
from gem_train.models.tiny import tiny_model, tiny_tokenizer

THOUGHT = "<think>\nhm\n</think>\n\na"


def play(chat: ChatEncoder, observations: list[str], answers: list[str]) -> tuple[list[int], list[bool]]:
    """Run a conversation through the encoder; the engine's context at the end, and where segments started."""
    context: list[int] = []
    restarts = []
    past = Transcript(observations[0])
    for answer, following in zip(answers, [*observations[1:], ""], strict=True):
        prompt = chat.prompt(past, context)
        reply = (*chat.encode(answer), chat.end_id)
        context = ([] if prompt.new_segment else context) + [*prompt.ids, *reply]
        restarts.append(prompt.new_segment)
        past.add(Completion(answer, prompt.ids, reply), 0.0, following, {})
    return context, restarts


def test_appending_gives_what_the_template_gives():
    chat = ChatEncoder(byte_level(PLAIN))
    context, restarts = play(chat, ["hello", " two\n", "[x]"], ["<think>a</think>b ", "", "so\n"])
    assert restarts == [False, False, False]
    assert chat.tokenizer.decode(context) == (
        "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n<think>a</think>b <|im_end|>\n"
        "<|im_start|>user\n two\n<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
        "<|im_start|>user\n[x]<|im_end|>\n<|im_start|>assistant\nso\n<|im_end|>"
    )


def test_an_observation_with_an_image_is_refused_and_one_of_texts_is_not():
    chat = ChatEncoder(byte_level(PLAIN))
    text, image = {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:,"}}
    assert chat.prompt(Transcript([text, text]), []).ids
    with pytest.raises(ConfigError, match="a part of the type 'image_url', and models are trained on text"):
        chat.prompt(Transcript([image, text]), [])


def test_a_reply_that_was_cut_off_is_closed():
    chat = ChatEncoder(byte_level(PLAIN))
    past = Transcript("hello")
    prompt = chat.prompt(past, [])
    reply = chat.encode("so I")
    past.add(Completion("so I", prompt.ids, reply, finish_reason="length"), 0.0, "go on", {})
    bridge = chat.prompt(past, [*prompt.ids, *reply])
    assert chat.tokenizer.decode(list(bridge.ids)) == (
        "<|im_end|>\n<|im_start|>user\ngo on<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_that_rewrites_history_starts_a_new_segment():
    chat = ChatEncoder(family("qwen3"))
    context, restarts = play(chat, ["one", "two", "three"], [THOUGHT, "b", "c"])
    # The second prompt drops the reasoning; the third has none to drop.
    assert restarts == [False, True, False]
    assert "hm" not in chat.tokenizer.decode(context)


def test_history_can_be_kept_against_the_template():
    chat = ChatEncoder(family("qwen3"), history="keep")
    context, restarts = play(chat, ["one", "two"], [THOUGHT, "b"])
    assert restarts == [False, False]
    assert "hm" in chat.tokenizer.decode(context)


def test_reasoning_before_a_call_is_kept_while_nothing_but_the_tool_answers():
    response = cast("str", FORMATS["hermes"].frame("4\n\nThat was your last call. Go on without a tool."))
    for observation, kept in ((response, True), (f"{response}\n\nYou have 3 turns.", False)):
        context, restarts = play(ChatEncoder(family("qwen3")), ["2 + 2?", observation], [THOUGHT, "4"])
        assert restarts == [False, not kept]
        assert ("hm" in ChatEncoder(family("qwen3")).decode(context)) == kept


NO_THINKING = {"enable_thinking": False}
REWRITING = [("qwen3", NO_THINKING), ("deepseek-r1", {}), ("glm4", {})]


@pytest.mark.parametrize(("name", "settings"), REWRITING)
def test_what_a_template_that_rewrites_every_reply_costs_is_measured_and_said(name, settings):
    chat = ChatEncoder(family(name), template_kwargs=settings)
    turns = [("some words", "a reply")] * 16
    said = list(chat.as_sampled(turns))
    assert [each.new_segment for each in said] == [False] + [True] * 15
    followed = sum(len(each.prompt_ids) + len(each.ids) for each in said)
    kept = sum(len(each.prompt_ids) + len(each.ids) for each in chat.as_sampled(turns, history="keep"))
    # 1 + 2 + … + 16 turns in the place of 16 would be 8.5; what is dropped is not read.
    assert 7 < followed / kept < 9
    assert cost_of_rewriting(chat, "a reply") == pytest.approx(8.5, rel=0.05)
    warning = rewriting_warning(chat)
    assert warning is not None
    assert f"{cost_of_rewriting(chat):.1f} times as many ids" in warning
    assert 'rollout.history = "keep"' in warning
    assert rewriting_warning(ChatEncoder(family(name), template_kwargs=settings, history="keep")) is None


@pytest.mark.parametrize("name", ["qwen2.5", "llama3", "mistral"])
def test_a_template_that_appends_causes_no_warning(name):
    chat = ChatEncoder(family(name))
    assert [each.new_segment for each in chat.as_sampled([("one", "a b"), ("two", "c")])] == [False, False]
    assert (cost_of_rewriting(chat), rewriting_warning(chat)) == (1.0, None)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reply_that_is_known_as_text_has_the_ids_that_its_template_gives_it(name):
    chat = ChatEncoder(family(name))
    asked, reply = chat.prompt(Transcript("one"), []).ids, chat.reply("two")
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    shown = chat.tokenizer.apply_chat_template([*messages, messages[0]], tokenize=False)
    last = chat.tokenizer.apply_chat_template(messages, tokenize=False)
    read = chat.decode([*asked, *reply])
    if name == "deepseek-r1":  # the prompt opened thoughts, which the reply ends
        assert (
            read == "<｜begin▁of▁sentence｜><｜User｜>one<｜Assistant｜><think>\n\n</think>\n\ntwo<｜end▁of▁sentence｜>"
        )
    else:
        assert shown.startswith(read) or last.startswith(read)
    assert reply[-1] == chat.end_id


def test_both_the_end_of_sequence_and_the_end_of_message_stop():
    chat = ChatEncoder(byte_level(PLAIN))
    stops = {chat.tokenizer.decode([stop]) for stop in chat.stop_ids}
    assert stops == {"<|endoftext|>", "<|im_end|>"}
    assert chat.text((*chat.encode("yes"), chat.encode("<|im_end|>")[0])) == "yes"


def test_a_tokenizer_without_a_template_is_refused():
    with pytest.raises(ConfigError, match="chat template"):
        ChatEncoder(byte_level(None))


def test_every_end_of_sequence_of_the_generation_config_ends_a_reply():
    tokenizer = family("llama3")
    ends = [tokenizer.convert_tokens_to_ids(token) for token in ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>")]
    model = tiny_model(tiny_tokenizer([]), 0)
    for given, expected in ((ends, ends), (ends[1], ends), (None, [ends[0], ends[2]])):
        model.generation_config = GenerationConfig(eos_token_id=given)
        chat = make_chat(LoadedModel(cast("PreTrainedModel", model), tokenizer), RolloutConfig())
        assert sorted(chat.stop_ids) == sorted(expected)
        assert chat.text((*chat.encode("yes"), chat.stop_ids[-1])) == "yes"


def test_a_reply_keeps_its_spaces_whatever_the_tokenizer_makes_of_them():
    tokenizer = unigram(PLAIN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.clean_up_tokenization_spaces = True
    chat = ChatEncoder(tokenizer)
    assert chat.text(chat.reply("x = a [ 0 ] . b , c ' s")) == "x = a [ 0 ] . b , c ' s"


def test_the_wrapper_concat_chat_takes_a_tokenizer_of_transformers():
    env = ConcatChat(gem.make("core:Echo-v0"), byte_level(PLAIN))
    question, _ = gem.make("core:Echo-v0").reset(seed=0)
    shown = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"

    assert env.reset(seed=0)[0] == shown
    assert env.step("\\boxed{?}").observation == (
        f"{shown}\\boxed{{?}}<|im_end|>\n<|im_start|>user\nThat is not the word.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_system_message_of_an_env_is_read_first_and_by_imitation_too():
    chat = ChatEncoder(family("qwen2.5"))
    asked = chat.prompt(Transcript("Hi", {"system": "Be brief."}), [])

    assert chat.decode(asked.ids).startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi")
    [said] = chat.as_sampled([("Hi", "Yes")], system="Be brief.")
    assert said.prompt_ids == asked.ids
