"""SkyRL 0.3.0's server, on JAX, for clients of tinker 0.38.0: python tinker_skyrl_server.py --base-model FOLDER

SkyRL's own command needs uv and a checkout of SkyRL; this needs its package, and Python 3.11 is enough. It has all
options of that command, and --port. The routes that tinker needs besides are in gem_interop.tinker_routes.
"""

import argparse
import runpy
import sys
import typing

import typing_extensions

from gem_interop.launching import named_if_missing

typing.TypedDict = typing_extensions.TypedDict  # pydantic demands it before Python 3.12

if sys.argv[1:2] == ["engine"]:
    del sys.argv[1]
    runpy.run_module("skyrl.tinker.engine", run_name="__main__", alter_sys=True)
else:
    with named_if_missing():
        from gem_interop.tinker_routes import add_routes
    import uvicorn
    from skyrl.tinker import api
    from skyrl.tinker.config import EngineConfig, add_model, config_to_argv

    parser = argparse.ArgumentParser()
    add_model(parser, EngineConfig)
    parser.add_argument("--port", type=int, default=8000)
    given = vars(parser.parse_args())
    port = given.pop("port")
    api.app.state.engine_config = EngineConfig.model_validate(given)
    # In place of `uv run`.
    api._build_uv_run_cmd_engine = lambda _, config: [sys.executable, __file__, "engine", *config_to_argv(config)]
    add_routes()
    uvicorn.run(api.app, host="127.0.0.1", port=port, log_level="warning")
