"""The names of gem-llm that ROLL imports, on GEM: docs/frameworks/roll.md says where to copy this file."""

import math

from gem.answers.matching import exact_match
from gem.answers.parsing import boxed, fenced_code, tagged
from gem_interop.gem_llm import Env, make, register

__all__ = ["BaseTool", "Env", "MathEnv", "QaEnv", "ToolEnvWrapper", "make", "register"]

TERMINAL_STATE = "<｜TERMINAL_STATE｜>"
extract_last_boxed_answer, extract_code_from_model = boxed, fenced_code


class MathEnv(Env):
    """The grader of ROLL's `roll_math`, which asks the questions itself."""

    @staticmethod
    def check_correct(model_answer, gt_answer):
        """True if an answer, alone or in its box, is one of the right ones; needs gem-envs-math."""
        from gem_envs_math.grading import grade

        answer = boxed(model_answer)
        return grade(model_answer if answer is None else answer, _golds(gt_answer)).right


class QaEnv(Env):
    """The rows and the matcher of ROLL's `roll_qa`, which asks and answers itself.

    Rows of Hugging Face's `datasets` in an order that `seed` shuffles, whose questions say how to answer.
    """

    prompt = (
        "Reason step by step between <think> and </think>, and then give your answer between <answer> and </answer>."
        "\n\nQuestion: {question}\n"
    )

    def __init__(
        self,
        dataset_name="",
        split=None,
        dataset=None,
        question_key="question",
        answer_key="answer",
        seed=0,
        extract_boxed=False,
        **_,
    ):
        if dataset is None:
            from datasets import load_dataset

            dataset = load_dataset(dataset_name)
        if hasattr(dataset, "keys"):
            dataset = dataset[split or next(iter(dataset))]
        self.question_key, self.answer_key, self.seed = question_key, answer_key, seed
        self.extractor = boxed if extract_boxed else tagged
        self.idx = self.epoch = 0
        asked = dataset.shuffle(seed=seed)
        self.dataset = asked.map(lambda row: {question_key: self.prompt.format(question=row[question_key])})

    @staticmethod
    def check_correct(model_answer, gt_answer):
        """True if an answer matches one of the right ones."""
        return any(exact_match(model_answer, gold) for gold in _golds(gt_answer))


def _golds(answer):
    return [str(each) for each in answer] if isinstance(answer, list) else [str(answer)]


class BaseTool:
    """A tool that finds its own calls in the text of an action, from which ROLL's MCP tool derives."""

    tool_type = "base"

    def __init__(self, num_workers=1):
        self.num_workers = num_workers


class ToolEnvWrapper(Env):
    """Tools around an environment: an action in which one finds a call does not reach the environment."""

    def __init__(self, env, tools, tool_reward=0.0, tool_success_reward=0.0, max_tool_uses=10):
        self.env, self.tools = env, list(tools)
        self.tool_reward, self.tool_success_reward = tool_reward, tool_success_reward
        self.max_tool_uses = math.inf if max_tool_uses is None else max_tool_uses
        self.tool_use_counter = self.tool_success_counter = 0

    def __getattr__(self, name):
        if name.startswith("__") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    @property
    def unwrapped(self):
        return self.env.unwrapped

    def reset(self, seed=None):
        before = {f"prev_ep_{name}": value for name, value in self._counters().items()}
        self.tool_use_counter = self.tool_success_counter = 0
        observation, info = self.env.reset(seed=seed)
        told = "\n".join(tool.instruction_string() for tool in self.tools)
        heading = "Available tools:\n" if len(self.tools) > 1 else ""
        return f"{observation}\n{heading}{told}", {**info, **before, **self._counters(), "use_tool": False}

    def step(self, action, verbose=False):
        call = self._call(action) if self.tool_use_counter < self.max_tool_uses else None
        if call is None:
            observation, reward, terminated, truncated, info = self.env.step(action)
            # In gem-llm this is True even for what the environment answers.
            return observation, reward, terminated, truncated, {**info, **self._counters(), "use_tool": True}
        tool, failed, result, read = call
        self.tool_use_counter += 1
        self.tool_success_counter += not failed
        if self.tool_use_counter == self.max_tool_uses:
            result += "\n\nThat was the last call of a tool: give your final answer."
        reward = self.tool_reward + (0.0 if failed else self.tool_success_reward)
        info = {"parsed_action": read, "tool_type": tool.tool_type, **self._counters(), "use_tool": True}
        return result, reward, False, False, info

    def _call(self, action):
        """The first call that was carried out, or else the last one that failed, or else None."""
        last = None
        for tool in self.tools:
            found, failed, result, read = tool.execute_action(action)
            if found:
                last = (tool, failed, result, read)
                if not failed:
                    break
        return last

    def _counters(self):
        return {"tool_use_counter": self.tool_use_counter, "tool_success_counter": self.tool_success_counter}
