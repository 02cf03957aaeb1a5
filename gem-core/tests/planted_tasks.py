"""Tasks for the audit: a sound one, and ones with a defect each."""

import gem


class Sum(gem.TurnEnv):
    """Add two numbers. 1 for the sum; a reply without a box costs 0.1."""

    def _reset(self, options):
        self.terms = self.rng.randrange(100, 1000), self.rng.randrange(100, 1000)
        return f"What is {self.terms[0]} + {self.terms[1]}? Answer in \\boxed{{}}."

    def _step(self, action):
        answer = gem.answers.boxed(action)
        if answer is None:
            return self.malformed("There is no box in your reply.")
        right = answer.strip() == str(sum(self.terms))
        return gem.Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randrange(200, 2000)}}}"

    def expert_action(self):
        return f"\\boxed{{{sum(self.terms)}}}"


class SilenceWins(Sum):
    """An empty reply counts as right for even sums."""

    def _step(self, action):
        if not action and sum(self.terms) % 2 == 0:
            return gem.Step.final("Right.", 1.0, success=True)
        return super()._step(action)


class GoldInInfo(Sum):
    """The info of the reset has the answer."""

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "answer": sum(self.terms) + 10_000, "gold": str(sum(self.terms)).zfill(4)}

    def expert_action(self):
        return f"\\boxed{{{str(sum(self.terms)).zfill(4)}}}"

    def _step(self, action):
        answer = gem.answers.boxed(action)
        return super()._step(f"\\boxed{{{(answer or '').lstrip('0')}}}")


class Hangs(Sum):
    """It does not return from `reset`."""

    def _reset(self, options):
        while True:
            pass


class Dies(Sum):
    """It ends the process."""

    def _step(self, action):
        import os

        os._exit(3)
