"""Environments written for OpenEnv, and OpenEnv's own server with them; without anything of GEM."""

import random
import threading
import time
from contextlib import contextmanager
from typing import Literal

import uvicorn
from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class Hint(Observation):
    hint: str


class Position(Observation):
    row: int
    column: int


class Number(Action):
    number: int = Field(ge=1, le=20)


class Saying(Action):
    text: str


class Direction(Action):
    direction: Literal["north", "south", "east", "west"]


class Order(Action):
    item: str
    count: int = Field(ge=1)


class Seeded(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None, **options):
        self.rng, self.count, self.options = random.Random(seed), 0, options
        return self.begin()

    def step(self, action, timeout_s=None, **_):
        self.count += 1
        return self.answer(action)

    @property
    def state(self):
        return State(step_count=self.count)


class Guess(Seeded):
    def begin(self):
        self.secret = self.rng.randint(1, self.options.get("highest", 20))
        return Hint(hint="Guess a number from 1 to 20.", metadata={"at": self.count})

    def answer(self, action):
        if action.number == self.secret:
            return Hint(hint="Right.", reward=1.0, done=True)
        hint = "higher" if action.number < self.secret else "lower"
        return Hint(hint=f"It is {hint}.", reward=0.0, done=self.count >= 8)


class Parrot(Seeded):
    def begin(self):
        return Hint(hint=f"Say {self.rng.randint(0, 9)}.")

    def answer(self, action):
        if action.text == "fail":
            raise OSError("the env is broken")
        return Hint(hint=f"You said {action.text!r}; say {self.rng.randint(0, 9)}.", reward=0.1, done=self.count >= 3)


class Dice(Parrot):
    """Takes no notice of the seed."""

    def begin(self):
        self.rng = random.Random()
        return super().begin()


class Walk(Seeded):
    def begin(self):
        self.row, self.column = self.rng.randint(0, 4), self.rng.randint(0, 4)
        return Position(row=self.row, column=self.column)

    def answer(self, action):
        self.row += {"north": -1, "south": 1}.get(action.direction, 0)
        self.column += {"west": -1, "east": 1}.get(action.direction, 0)
        home = self.row == self.column == 0
        return Position(row=self.row, column=self.column, reward=int(home), done=home or self.count >= 12)


class Shop(Seeded):
    def begin(self):
        self.wanted = self.rng.choice(["apple", "pear"]), self.rng.randint(1, 3)
        return Hint(hint=f"Buy {self.wanted[1]} of {self.wanted[0]}.")

    def answer(self, action):
        right = (action.item, action.count) == self.wanted
        return Hint(hint="Thank you.", reward=right, done=True)


class Quiet(Guess):
    """A second game with numbers, whose lowest answer is a success."""

    def answer(self, action):
        return Hint(hint=f"{action.number}", reward=float(action.number < self.secret), done=True)


ENVS = {
    "guess": (Guess, Number, Hint),
    "parrot": (Parrot, Saying, Hint),
    "walk": (Walk, Direction, Position),
    "shop": (Shop, Order, Hint),
    "quiet": (Quiet, Number, Hint),
    "dice": (Dice, Saying, Hint),
}


@contextmanager
def served(name, sessions=16):
    """The address of OpenEnv's server with an environment."""
    app = create_fastapi_app(*ENVS[name], max_concurrent_envs=sessions)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
