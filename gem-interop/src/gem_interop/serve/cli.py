"""`gemx serve`."""

from pathlib import Path

import click

from gem.cli.options import arguments, as_json, parse_arguments, parse_wrappers, tool_arguments, tools, wrappers
from gem.cli.output import echo, print_json, stray_prints_to_stderr
from gem.errors import ConfigError


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; elsewhere needs a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What clients have to know is in this file; by default it is in GEM_SERVE_TOKEN, if that is set.",
)
@click.option("--no-token", is_flag=True, help="Let in whoever can connect, from other machines too.")
@click.option("--sessions", default=256, show_default=True, help="Most sessions at once.")
@click.option("--idle", default=600.0, show_default=True, help="Seconds without a message after which a session ends.")
@click.option("--step-timeout", default=120.0, show_default=True, help="Seconds of a call, then its episode fails.")
@click.option("--message-bytes", default=1 << 20, show_default=True, help="The longest message of a client.")
@wrappers
@tools
@tool_arguments
@arguments
@as_json
def serve(
    ids: tuple[str, ...],
    host: str,
    port: int,
    token_file: Path | None,
    no_token: bool,
    sessions: int,
    idle: float,
    step_timeout: float,
    message_bytes: int,
    wrappers: str,
    tools: str,
    tool_arguments: tuple[str, ...],
    arguments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Serve environments by the protocol of OpenEnv, to many clients at once. Without an ID, every installed one.

    A client says which id to play in its reset, and may leave it out if there is only one. Any client of OpenEnv will
    do. The server prints its address once clients can connect, logs to standard error, and runs until Ctrl-C.

    \b
    gemx serve game:Wordle-v0
    gemx serve --port 9000
    GEM_SERVE_TOKEN=… gemx serve --host 0.0.0.0
    """
    # Imported here: --help should not wait for them.
    from gem.http.listening import address, listen
    from gem_interop.serve.access import token_from
    from gem_interop.serve.app import EnvServer
    from gem_interop.serve.envs import ServedEnvs
    from gem_interop.serve.server import check_exposure, log_to_stderr, run
    from gem_interop.serve.sessions import Limits

    if no_token and token_file is not None:
        raise ConfigError("give either --token-file or --no-token")
    token = None if no_token else token_from(token_file)
    check_exposure(host, token, open_to_all=no_token)
    limits = Limits(sessions, message_bytes, idle, step_timeout)
    layers = parse_wrappers(wrappers, tools, tool_arguments)
    with stray_prints_to_stderr():
        envs = ServedEnvs(ids, layers, parse_arguments(arguments))
    server = EnvServer(envs, limits, token)
    log_to_stderr()
    with listen(host, port) as listening:
        url = address(listening, "")
        if as_json:
            print_json({"url": url, "ids": envs.ids, "token": token is not None})
        else:
            what = ", ".join(envs.ids) if len(envs.ids) <= 5 else f"{len(envs.ids)} ids"
            echo(f"serving {what} at {url}{'' if token else ', without a token'}; Ctrl-C ends it")
        with stray_prints_to_stderr():
            run(server, listening)
