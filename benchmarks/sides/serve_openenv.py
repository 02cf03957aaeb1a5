"""OpenEnv's own server with an env that waits, for `serve.py`: `python serve_openenv.py SESSIONS` prints its port."""

import json
import socket
import sys
import time

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Say(Action):
    message: str


class Heard(Observation):
    message: str


class Waits(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None):
        return Heard(message="go")

    def step(self, action):
        time.sleep(0.05)
        return Heard(message="go", reward=0.0)

    @property
    def state(self):
        return State()


app = create_app(Waits, Say, Heard, max_concurrent_envs=int(sys.argv[1]))
listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
