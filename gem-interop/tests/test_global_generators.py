"""Envs of libraries that draw from the global generators."""

import drawing_envs

import gem
from gem.vector.messages import Reset
from gem_interop.envs import base

HANG_LIMIT = 30


def test_an_env_that_hangs_with_the_global_generators_fails_the_others_instead_of_stopping_them(monkeypatch):
    monkeypatch.setattr(base, "LONGEST", 0.3)
    try:
        with gem.make_vec("drawing_envs:Draws", 2, backend="thread", autoreset="off", step_timeout=0.1) as envs:
            envs.reset(seed=1)
            envs.send({0: "hang"})
            (timed_out,) = envs.recv(timeout=HANG_LIMIT)
            envs.send({0: Reset(1), 1: Reset(2)})
            errors = [str(timed_out.failure), *(str(each.failure) for each in envs.recv(2, timeout=HANG_LIMIT))]
    finally:
        drawing_envs.LET_GO.set()
    assert len(errors) == 3
    assert "timed out" in errors[0]
    assert any("processes of their own" in error for error in errors[1:])
