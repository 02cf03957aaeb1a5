"""OpenRLHF's own rollout actor, with vLLM itself on CPU: what is trained is what vLLM read and said."""

import openrlhf_parts as parts
import pytest
import torch
from agreement import (
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from openrlhf_actor import RolloutRayActor
from samples import tiny_model, tokenizer
from transformers import Qwen3Config, Qwen3ForCausalLM

from gem_interop.openrlhf import rows

pytestmark = pytest.mark.filterwarnings("default")  # OpenRLHF's, Ray's and DeepSpeed's own
LENGTH, TEMPERATURE = 256, 0.8
TOLERANCE = 1e-4  # were the end of a reply kept from being its first id, the gap would be about 1 / 259


def test_it_trains_on_what_vllm_read_and_said(tmp_path):
    torch.manual_seed(0)
    # vLLM's attention on CPU wants heads of at least 32.
    model = Qwen3ForCausalLM(Qwen3Config(**{**tiny_model().config.to_dict(), "head_dim": 32}))
    model.save_pretrained(tmp_path / "model")
    tokenizer().save_pretrained(tmp_path / "model")
    agent, kept = parts.write_agent(tmp_path, retries=0)
    with parts.ray_here(VLLM_CPU_KVCACHE_SPACE="1", VLLM_NO_USAGE_STATS="1"):
        # As create_vllm_engines does it, but for the GPU and bfloat16.
        actor = RolloutRayActor.options(num_cpus=1).remote(
            model=str(tmp_path / "model"),
            agent_func_path=agent,
            worker_extension_cls="openrlhf.trainer.ray.vllm_worker_wrap.WorkerWrap",
            distributed_executor_backend="uni",
            dtype="float32",
            max_model_len=LENGTH,
            enforce_eager=True,
            enable_prefix_caching=True,
            logprobs_mode="processed_logprobs",
            max_logprobs=1,
            seed=0,
            num_gpus=0,
        )
        made = parts.generate(
            parts.settings(),
            tokenizer(),
            rows("interop_envs:Talk", 25),
            [actor],
            max_len=LENGTH,
            temperature=TEMPERATURE,
        )
        batches = parts.make_experiences(parts.settings(), tokenizer(), parts.Learner(model, TEMPERATURE), made)
        results = parts.read_results(kept)
    assert len(made) == len(results) == 100
    pairs = assert_what_was_read_and_said_is_trained(parts.rows_of_the_loss(batches), results, TOLERANCE)
    assert_returns_are_those_of_a_replay(results)
    assert any(result.failure is not None for result in results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)
    for batch in batches:  # what OpenRLHF corrects by is what vLLM said, at the places of what is trained
        gap = (batch.rollout_log_probs - batch.action_log_probs)[batch.action_mask.bool()]
        assert float(gap.abs().max()) < TOLERANCE
