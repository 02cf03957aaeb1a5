"""TRL's side of `grpo_step.py` and of `gpu.py`: its GRPOTrainer, sampling with transformers."""

import tempfile
import time

import torch
from datasets import Dataset
from sides.even import BATCH, GROUP, PROMPTS, RATE, TOKENS, reward
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class Clock(TrainerCallback):
    """Notes when each step began and ended."""

    def __init__(self):
        self.ends, self.tokens, self.norms = [], [], []

    def on_train_begin(self, args, state, control, **kwargs):
        self.ends.append((time.perf_counter(), time.process_time()))

    def on_step_end(self, args, state, control, **kwargs):
        self.ends.append((time.perf_counter(), time.process_time()))

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "completions/mean_length" in logs:
            self.tokens.append(logs["completions/mean_length"])
            self.norms.append(logs["grad_norm"])


def play(case):
    """Wall and CPU seconds of each step, and the mean ids of a reply."""
    torch.set_num_threads(1)
    cpu = case.get("device", "cpu") == "cpu"
    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder,
            max_steps=case["steps"],
            per_device_train_batch_size=BATCH,
            num_generations=GROUP,
            max_completion_length=TOKENS,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            use_cpu=cpu,
            bf16=not cpu,
            gradient_checkpointing=False,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        clock = Clock()
        trainer = GRPOTrainer(
            model=case["model"],
            args=settings,
            reward_funcs=lambda completions, **kwargs: [reward(reply[0]["content"]) for reply in completions],
            train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": text}]} for text in PROMPTS]),
            callbacks=[clock],
        )
        trainer.train()
    assert all(clock.norms), "a step without an update"
    return {"ends": clock.ends, "tokens": sum(clock.tokens) / len(clock.tokens)}
