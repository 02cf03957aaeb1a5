"""One environment that keeps the contract, and many that each break one promise of it."""

import os
import pickle
import random
import sys
import threading
from random import choice, seed

import numpy as np

from gem.answers.parsing import boxed
from gem.core import Step
from gem.turn_env import TurnEnv

LETTERS = "ab"
WORDS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis")
SPAWNED = "gem.testing.spawned:serve" in sys.argv


class Good(TurnEnv):
    r"""Say the letter that is shown, `\boxed{a}`, four times: 1 for each right one, and one of them wins."""

    def __init__(self):
        super().__init__()
        self.letter, self.right = "", 0

    def _reset(self, options):
        self.right = 0
        return self._show()

    def _step(self, action):
        answer = boxed(action)
        if answer is None:
            return self.malformed("There is no box.")
        right = answer == self.letter
        self.right += right
        if self.turn >= 4:
            return Step.final(f"You had {self.right} right.", float(right), success=self.right > 0)
        return Step.ongoing(self._show(), float(right))

    def _show(self):
        self.letter = self._draw()
        return f"Say {self.letter}."

    def _draw(self):
        return self.rng.choice(LETTERS)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice(LETTERS)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.letter}}}"


class Parts(Good):
    """Keeps the contract: speaks in content parts, knows no expert, is cut off, and puts a set into its info."""

    def __init__(self):
        super().__init__()
        self.max_turns = 3

    def _show(self):
        return [{"type": "text", "text": super()._show()}, {"type": "image_url", "image_url": {"url": "data:,"}}]

    def step(self, action):
        step = super().step(action)
        return step._replace(info={**step.info, "words": set(WORDS), "numbers": np.arange(3)})

    def expert_action(self):
        return None


# types


class Altered(Good):
    """Each row below alters its steps."""

    def step(self, action):
        return self._alter(super().step(action))


class PlainTuple(Altered):
    def _alter(self, step):
        return tuple(step)


class NanReward(Altered):
    def _alter(self, step):
        return step._replace(reward=float("nan"))


class BoolReward(Altered):
    def _alter(self, step):
        return step._replace(reward=step.reward > 0)


class NumpyFlag(Altered):
    def _alter(self, step):
        return step._replace(truncated=np.bool_(step.truncated))


class BytesObservation(Altered):
    def _alter(self, step):
        return step._replace(observation=step.observation.encode())


class EmptyPart(Altered):
    def _alter(self, step):
        return step._replace(observation=[{"type": "text"}])


class NumberedInfo(Altered):
    def _alter(self, step):
        return step._replace(info={**step.info, 1: "one"})


class BareReset(Good):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


# endings


class BothFlags(Altered):
    def _alter(self, step):
        return step._replace(truncated=step.terminated)


class NoSuccess(Altered):
    def _alter(self, step):
        return step._replace(info={})


class NumberSuccess(Altered):
    def _alter(self, step):
        return step._replace(info={**step.info, "success": int(step.info.get("success", 0))})


# reset_needed, episode_over


class StartsItself(Good):
    def step(self, action):
        if self._over is None:
            self.reset(seed=0)
        return super().step(action)


class NeverOver(Good):
    def step(self, action):
        if not self._over:
            self.last = super().step(action)
        return self.last


# resets, history


class Lingering(Good):
    """Shows the turns since the last end, which a reset in mid-episode does not forget."""

    turns = 0

    def _step(self, action):
        step = super()._step(action)
        self.turns = 0 if step.done else self.turns + 1
        return step

    def _show(self):
        return f"{super()._show()} {self.turns}"


class Deaf(Good):
    """Does not listen to the seed while an episode is under way."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=None if self._over is False else seed)


class Remembering(Good):
    """Counts its episodes aloud."""

    played = 0

    def _step(self, action):
        step = super()._step(action)
        self.played += step.done
        return step

    def _show(self):
        return f"Episode {self.played}. {super()._show()}"


# independence


class Shared(Good):
    """Holds the letter in its class; a snapshot holds it too."""

    held = ""

    @property
    def letter(self):
        return Shared.held

    @letter.setter
    def letter(self, letter):
        Shared.held = letter

    def snapshot(self):
        return pickle.dumps((Shared.held, super().snapshot()))

    def restore(self, state):
        Shared.held, state = pickle.loads(state)
        super().restore(state)


# own_generators


class GlobalRandom(Good):
    def _draw(self):
        random.seed(self.rng.getrandbits(32))
        return random.choice(LETTERS)


class GlobalNumpy(Good):
    def _draw(self):
        np.random.seed(self.rng.getrandbits(32))  # noqa: NPY002
        return LETTERS[np.random.randint(2)]  # noqa: NPY002


class GlobalByName(Good):
    def _draw(self):
        seed(self.rng.getrandbits(32))
        return choice(LETTERS)


class GlobalSample(Good):
    def sample_action(self):
        random.seed(self.action_rng.getrandbits(32))
        return f"\\boxed{{{random.choice(LETTERS)}}}"


# suggestions


class SampleMovesTheWorld(Good):
    def sample_action(self):
        return f"\\boxed{{{self.rng.choice(LETTERS)}}}"


class ExpertMovesTheWorld(Good):
    def expert_action(self):
        self.rng.random()
        return super().expert_action()


# determinism


class HashOrder(Good):
    def _show(self):
        return f"{super()._show()} {' '.join(set(WORDS))}"


class ProcessNumber(Good):
    def _show(self):
        return f"{super()._show()} {os.getpid()}"


# spawning


class OnlyAtHome(Good):
    """Depends on what only the main process has set up."""

    def _show(self):
        return f"{super()._show()} {not SPAWNED}"


class RaisesWhenSpawned(Good):
    def _reset(self, options):
        assert not SPAWNED, "daemonic processes are not allowed to have children"
        return super()._reset(options)


class DiesWhenSpawned(Good):
    def _reset(self, options):
        if SPAWNED:
            os._exit(7)
        return super()._reset(options)


class Configured(Good):
    """Takes any keyword, such as one that does not pickle."""

    def __init__(self, draw=None):
        super().__init__()


# snapshots


class ForgetsItsGenerator(Good):
    def snapshot(self):
        kept, self._rng = self._rng, None
        try:
            return super().snapshot()
        finally:
            self._rng = kept

    def restore(self, state):
        super().restore(state)
        self._rng = random.Random(0)


class HoldsALock(Good):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


class SnapshotOfText(Good):
    def snapshot(self):
        return super().snapshot().hex()

    def restore(self, state):
        super().restore(bytes.fromhex(state))


class SnapshotDraws(Good):
    def snapshot(self):
        self.rng.random()
        return super().snapshot()


class OnlyItself(Good):
    """A snapshot is a number that only the instance that made it understands."""

    def __init__(self):
        super().__init__()
        self.states = []

    def snapshot(self):
        self.states.append({name: pickle.dumps(value) for name, value in self.__dict__.items() if name != "states"})
        return str(len(self.states) - 1).encode()

    def restore(self, state):
        if int(state) < len(self.states):
            self.__dict__.update({name: pickle.loads(value) for name, value in self.states[int(state)].items()})
        else:
            self.reset(seed=0)


# sample_action, junk, expert


class Mumbling(Good):
    def sample_action(self):
        return self.action_rng.choice(["hm", "\\boxed{a}", "\\boxed{b}"])


class Brittle(Good):
    def _step(self, action):
        return super()._step(f"\\boxed{{{boxed(action).strip()}}}")


class Digits(Good):
    """Reads numbers as Python does: not with more than 4,300 digits."""

    def _step(self, action):
        answer = boxed(action) or ""
        if answer.isascii() and answer.isdigit():
            int(answer)
        return super()._step(action)


class Patient(Good):
    """Asks again for as long as there is no box."""

    def _step(self, action):
        if boxed(action) not in tuple(LETTERS):
            self.turn -= 1
            return Step.ongoing("Once more, please.")
        return super()._step(action)


class Parrot(Good):
    def _step(self, action):
        step = super()._step(action)
        return step._replace(observation=f"{action}? {step.observation}")


class Loser(Good):
    def expert_action(self):
        return "\\boxed{z}"


class Duel(Good):
    """The good env as a game of two players who act in turn; each row below spoils it."""

    players = ("left", "right")

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "player": "left"}

    def step(self, action):
        actor = self.players[self.turn % 2]
        step = super().step(action)
        given = {"rewards": {actor: step.reward}}
        given |= {"won": [actor] * step.info["success"]} if step.done else {"player": self.players[self.turn % 2]}
        return step._replace(info={**step.info, **self._spoilt(given)})

    def _spoilt(self, given):
        return given


class StrangerActs(Duel):
    def _spoilt(self, given):
        return given | {"player": "middle"}


class StrangerEarns(Duel):
    def _spoilt(self, given):
        return given | {"rewards": {"middle": sum(given["rewards"].values())}}


class LostReward(Duel):
    def _spoilt(self, given):
        return given | {"rewards": {player: {"game": reward + 0.5} for player, reward in given["rewards"].items()}}


class NobodyWon(Duel):
    def _spoilt(self, given):
        return {name: value for name, value in given.items() if name != "won"}


class Undeclared(Duel):
    players = ()

    def step(self, action):
        return TurnEnv.step(self, action)
