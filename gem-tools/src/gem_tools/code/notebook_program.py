"""The program that runs a notebook inside the sandbox: the earlier cells without output, then the new one.

Sent to the sandbox as text. It reads `cells.json`, a list of cells, the new one last.
"""

import ast
import contextlib
import io
import json
import linecache
import random
import sys
import traceback


def run_cell(number: int, source: str, names: dict[str, object]) -> None:
    """Run one cell as a notebook does: if its last line is an expression, show its value."""
    name = f"<cell {number}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), name, "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)
        if value is not None:
            print(repr(value))


def format_error(error: BaseException) -> str:
    """The traceback, from the first frame that is a cell's."""
    summary = traceback.TracebackException.from_exception(error)
    frames = list(summary.stack)
    start = next((index for index, frame in enumerate(frames) if frame.filename.startswith("<cell ")), len(frames))
    summary.stack[:] = frames[start:]
    return "".join(summary.format())


def main() -> None:
    """Run the notebook."""
    with open("cells.json", encoding="utf-8") as file:
        *earlier, new = json.load(file)
    # The same numbers each time the cells are run.
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    names: dict[str, object] = {"__name__": "__main__"}
    for number, source in enumerate(earlier, 1):
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), contextlib.suppress(BaseException):
            run_cell(number, source, names)
    try:
        run_cell(len(earlier) + 1, new, names)
    except BaseException as error:  # a cell may call sys.exit(), which does not end the notebook
        sys.stdout.flush()
        sys.stderr.write(format_error(error))
        sys.exit(1)


main()
