"""`gemx view`: a page to look at recordings, evaluations, tournaments, training runs and cards of the audit."""

import contextlib
import http.server
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from gem.cli.output import echo
from gem.errors import ConfigError, GemError
from gem.files import replacing
from gem.http.pages import refusal_of_page
from gem_eval.view import page_of, run_of

MOST_EPISODES = 2000
"""The default of --episodes."""

LOCAL = "127.0.0.1"


class PageFile(click.Path):
    """The path of a page to write. Its name must end in .html, so that a page never replaces another file."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(str(super().convert(value, param, ctx)))
        if path.suffix.lower() not in (".html", ".htm"):
            self.fail(f"{str(path)!r} is a name for another file: a page is called NAME.html.", param, ctx)
        return path


@click.command()
@click.argument("runs", metavar="RUN…", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=PageFile(),
    default=Path("view.html"),
    show_default=True,
    metavar="FILE",
    help="Where to write the page.",
)
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=MOST_EPISODES,
    show_default=True,
    help="The most episodes of a run in the page; of more, some are shown, of the same items in every run.",
)
@click.option("--serve", is_flag=True, help="Serve the page on this machine instead, read again at every load.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8764, show_default=True, help="Of --serve; 0: any free one."
)
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
def view(*, runs: Sequence[Path], out: Path, episodes: int, serve: bool, port: int, open_it: bool) -> None:
    """Make one page of runs: episodes turn by turn, with their tokens, two runs side by side, ratings, and curves.

    RUN is a recording, the folder of an evaluation, a tournament or a training run, or a file NAME.json that `gemx
    audit --json` printed. The page is one file that needs no network.
    """
    page = _page(runs, episodes)
    if not serve:
        with replacing(out) as file:  # the folder may come from somebody else: no link is followed
            size = file.write(page.encode())
        echo(f"{out}: {size / 1e6:.1f} MB; open it in a browser")
        if open_it:
            webbrowser.open(out.resolve().as_uri())
        return
    with page_server(runs, episodes, port) as server:
        address = f"http://{LOCAL}:{server.server_address[1]}/"
        echo(f"{address} shows {', '.join(map(str, runs))}; Ctrl-C ends it")
        if open_it:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            echo("")


def _page(runs: Sequence[Path], episodes: int) -> str:
    return page_of([run_of(path, most=episodes) for path in runs])


def page_server(runs: Sequence[Path], episodes: int, port: int) -> http.server.ThreadingHTTPServer:
    """A server on this machine whose only page shows the runs as they are when it is loaded.

    Raises:
        ConfigError: the port is taken.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # A page of the web whose name leads to this machine must not read the runs.
            given = {name.lower(): value for name, value in self.headers.items()}
            if (refusal := refusal_of_page(given)) is not None:
                self._answer(403, "text/plain", refusal)
            elif self.path.partition("?")[0] != "/":
                self._answer(404, "text/plain", "there is only one page: /")
            else:
                try:
                    self._answer(200, "text/html", _page(runs, episodes))
                except (GemError, OSError) as error:  # such as a file that is being replaced
                    self._answer(500, "text/plain", f"{error}\n\nLoad the page again when that is solved.")

        def _answer(self, status: int, kind: str, text: str) -> None:
            body = text.encode("utf-8", "backslashreplace")
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the browser loads it again already
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """No line per request."""

    try:
        return http.server.ThreadingHTTPServer((LOCAL, port), Handler)
    except OSError as error:
        raise ConfigError(
            f"cannot serve on port {port}: {error.strerror}. Choose another --port, or 0 for any"
        ) from error
