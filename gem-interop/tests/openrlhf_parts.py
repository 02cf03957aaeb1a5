"""OpenRLHF on CPU: its own parts, and the few that stand in for what needs a GPU."""

import os
import pickle
import sys
import warnings
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import torch
import transformers.utils  # looks for flash-attn, before something stands in for it

os.environ["DS_ACCELERATOR"] = "cpu"


def _stand_in_for_flash_attention() -> None:
    """Names that OpenRLHF imports from flash-attn, which has no CPU build, and calls for packed samples only."""
    names = {
        "bert_padding": "index_first_axis pad_input rearrange unpad_input",
        "utils": "",
        "utils.distributed": "all_gather",
    }
    for module in ("flash_attn", *(f"flash_attn.{name}" for name in names)):
        sys.modules[module] = ModuleType(module)
        sys.modules[module].__spec__ = ModuleSpec(module, None)
        for name in names.get(module.partition(".")[2], "").split():
            setattr(sys.modules[module], name, None)


assert not transformers.utils.is_flash_attn_2_available()
_stand_in_for_flash_attention()

from agreement import Trained  # noqa: E402

with warnings.catch_warnings(action="ignore"):  # what they import warns, at import
    import ray
    from openrlhf.models import Actor, PolicyLoss
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
    from openrlhf.trainer.ppo_utils.kl_controller import FixedKLController
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
    from openrlhf.trainer.ray.ppo_actor import ActorPPOTrainer
    from openrlhf.utils.config import hierarchize


class Learner:
    """In place of OpenRLHF's group of GPU workers: its own `Actor`, in this process."""

    def __init__(self, model, temperature):
        # `Actor` sets this only where it loads the model itself, onto a GPU.
        self.actor = Actor(model, temperature=temperature)
        self.actor.packing_samples = False

    def async_run_method_batch(self, method_name, sequences, action_mask, attention_mask, mm_train_inputs_list):
        assert method_name == "forward"
        return [ray.put([self.actor(*row) for row in zip(sequences, action_mask, attention_mask, strict=True)])]


@contextmanager
def ray_here(**environment):
    """Ray on this machine. Its workers find the modules of these tests."""
    environment["PYTHONPATH"] = str(Path(__file__).parent)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": environment})
    try:
        yield
    finally:
        ray.shutdown()


COLUMNS = ["sequences", "attention_mask", "action_mask", "action_log_probs", "rollout_log_probs", "advantages"]
"""What a training step reads of a batch."""


def gradient_of_a_step(model, temperature, batch):
    """The gradient of a step of OpenRLHF's trainer of the actor, which DeepSpeed would make on a GPU."""
    trainer = object.__new__(ActorPPOTrainer)
    trainer.args = settings(**{"actor.entropy_coef": None})
    trainer.actor = Learner(model, temperature).actor
    trainer.actor_loss_fn = PolicyLoss(is_correction_level="token")
    trainer.actor_scheduler = SimpleNamespace(get_last_lr=lambda: [0.0])
    trainer.actor_optim = trainer.ema_model = trainer.aux_loss = trainer.replay_buffer = None
    trainer.strategy = SimpleNamespace(
        ring_attn_group=None,
        backward=lambda loss, *_: loss.backward(),
        optimizer_step=lambda *_, **__: None,
        get_grad_norm=lambda _: 0.0,
    )
    trainer.training_step(batch, 0.0, 0)
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def settings(**changed):
    """What the parts read of the settings of OpenRLHF's trainer, by its own names."""
    given = {
        "algo.advantage.estimator": "group_norm",
        "algo.advantage.gamma": 1.0,
        "algo.advantage.is_correction_level": "token",
        "algo.advantage.no_std_norm": False,
        "algo.dynamic_filtering_enable": False,
        "algo.dynamic_filtering_range": (0, 1),
        "algo.kl.estimator": "k1",
        "algo.kl.use_loss": False,
        "ds.ring_attn_size": 1,
        "ds.tensor_parallel_size": 1,
        "reward.clip_range": None,
        "rollout.batch_size": 8,
        "rollout.micro_batch_size": 8,
        "rollout.n_samples_per_prompt": 4,
        "train.colocate_actor_ref": False,
        "train.colocate_all": False,
        "train.dynamic_batch_enable": False,
        "vllm.enable_sleep": False,
    }
    return hierarchize(SimpleNamespace(**{**given, **changed}))


def generate(args, tokenizer, rows, engines, **kwargs):
    """The experiences of all rows by OpenRLHF's own generator, in the order of the rows."""
    loader = [((), [row["input"]], [""], [None]) for row in rows]
    generator = SamplesGenerator(SimpleNamespace(args=args), loader, None, tokenizer, engines)
    made = []
    exhausted = False
    while not exhausted:
        experiences, _, _, exhausted = generator.generate_samples(**kwargs)
        made += experiences
    return made


def make_experiences(args, tokenizer, learner, experiences):
    """Rewards, log-probabilities and advantages by OpenRLHF's own maker."""
    maker = RemoteExperienceMaker(
        learner, None, None, None, FixedKLController(0.0), SimpleNamespace(args=args), tokenizer
    )
    return maker.make_experience_batch(experiences)


def rows_of_the_loss(batches):
    """What the loss is computed from, episode by episode and without padding."""
    rows = []
    for batch in batches:
        for ids, there, mask, logprobs, advantages in zip(
            batch.sequences,
            batch.attention_mask,
            batch.action_mask,
            batch.action_log_probs,
            batch.advantages,
            strict=True,
        ):
            length = int(there.sum())
            on = mask[: length - 1].tolist()
            # OpenRLHF's mask has the prompt too: a response begins with its first trained id.
            first = on.index(1) if any(on) else length - 2
            advantage = float(advantages[mask.bool()][0]) if any(on) else None
            rows.append(Trained(ids[:length].tolist(), on[first:], logprobs[first : length - 1].tolist(), advantage))
    return rows


AGENT = """
import pickle
from gem_interop.openrlhf import Executor

class AgentExecutor(Executor):
    def __init__(self):
        super().__init__(max_new_tokens=6, {settings})

    def ended(self, result):
        with open({results!r}, "ab") as file:
            pickle.dump(result, file)
"""


def write_agent(folder, **settings):
    """The file of a user for `--train.agent_func_path`, and where it keeps the episodes."""
    agent, results = folder / "agent.py", folder / "results.pickle"
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    agent.write_text(AGENT.format(settings=given, results=str(results)))
    return str(agent), results


def read_results(path):
    results = []
    with path.open("rb") as file:
        while file.peek(1):
            results.append(pickle.load(file))
    return results
