"""A program for `ForkPool`, whose tasks misbehave."""

import os
import resource
import time

ready = []


def warm_up():
    ready.append(os.getpid())
    if os.environ.get("PLANTED") == "broken":
        raise LookupError("not here")


def begin():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def answer(task, tell):
    tell("begun")
    match task:
        case "loop":
            while True:
                pass
        case "two parts":
            burn(0.3)
            tell("half")
            burn(0.3)
        case "sleep":
            time.sleep(3600)
        case "memory":
            return len(bytearray(1 << 31))
        case "die":
            os._exit(3)
        case "where":
            return [os.getpid(), ready[0], os.environ.get("PLANTED")]
    return task
