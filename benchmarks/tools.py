"""Cost of searching: in this process, over HTTP with 64 clients, and by gem-llm's client on the same server.

    python benchmarks/tools.py [--repeats 3] [--queries 2000] [--json FILE]

The corpus is the one that ships with gem-tools; the queries are titles and sentences of it, three hits each. The server
is `gemx search-server` in a process of its own; each case runs its clients, which are threads, in another. A client
sends its next query when it has the answer to the last. All cases get the same text for the same query, which is
checked, but for gem-llm's quotation marks around titles and its tags around the whole. Numbers are medians of the
repeats, in which the cases take turns.
"""

import hashlib
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from peers import PEERS, ask, options, python_of, show

CLIENTS = 64
TOPK = 3
CASES = {
    "in process": {"clients": 1},
    "in process, 64 queries per call": {"clients": 1, "together": 64},
    "in process, 64 threads": {"clients": CLIENTS},
    "over HTTP, one client": {"clients": 1, "served": True},
    "over HTTP, 64 clients": {"clients": CLIENTS, "served": True},
    "over HTTP, 64 clients, gem-llm's protocol": {"clients": CLIENTS, "served": True, "protocol": "gem-llm"},
    "over HTTP, one client of gem-llm": {"clients": 1, "served": True, "peer": True},
    "over HTTP, 64 clients of gem-llm": {"clients": CLIENTS, "served": True, "peer": True},
}


def our_search(url, protocol="search-r1"):
    from gem_tools.search.tool import search_tool

    return search_tool(url, topk=TOPK, protocol=protocol).function


def their_search(url):
    from gem.tools.search_tool import SearchTool

    tool = SearchTool(search_url=url, topk=TOPK, timeout=60)

    def search(query):
        valid, failed, text, _ = tool.execute_action(f"<search>{query}</search>")
        assert valid, text
        assert not failed, text
        return text.strip().removeprefix("<information>").removesuffix("</information>")

    return search


def in_batches(queries, size):
    """Seconds of each call with so many queries, and the texts."""
    from gem_tools.search.shared import shared_index
    from gem_tools.search.tool import _shown

    index = shared_index()
    seconds, texts = [], []
    for start in range(0, len(queries), size):
        began = time.perf_counter()
        found = index.search(queries[start : start + size], TOPK)
        seconds.append(time.perf_counter() - began)
        texts += ["\n".join(_shown(number, hit) for number, hit in enumerate(hits, 1)) for hits in found]
    return seconds, texts


def measure(case, url, queries):
    """Queries per second, the latency of a call, and a digest of all texts."""
    settings = CASES[case]
    protocol = settings.get("protocol", "search-r1")
    search = their_search(url) if settings.get("peer") else our_search(url, protocol)

    def timed(query):
        began = time.perf_counter()
        text = search(query)
        return time.perf_counter() - began, text

    with ThreadPoolExecutor(settings["clients"]) as pool:
        # One client needs no thread, and would share the interpreter with it.
        each = map if settings["clients"] == 1 else pool.map
        list(each(timed, queries[: 4 * settings["clients"]]))  # opens connections, and the index
        began = time.perf_counter()
        if "together" in settings:
            seconds, texts = in_batches(queries, settings["together"])
        else:
            seconds, texts = zip(*each(timed, queries), strict=True)
        took = time.perf_counter() - began
    printed = "\n".join(text.replace('"', "").strip() for text in texts)
    percentiles = statistics.quantiles(seconds, n=100)
    return {
        "queries_per_second": len(queries) / took,
        "p50": percentiles[49],
        "p99": percentiles[98],
        "digest": hashlib.sha256(printed.encode()).hexdigest(),
    }


@contextmanager
def server():
    """A server in a process of its own; yields its address."""
    command = [sys.executable, "-m", "gem", "search-server", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def some_queries(count):
    """Titles, and first sentences, in turn."""
    from gem_tools.search.corpus import Corpus

    texts = [text for one in Corpus.shipped() for text in (one.title, one.text.partition(". ")[0])]
    return (texts * (count // len(texts) + 1))[:count]


def run(repeats, count, venv_dir):
    pythons = {False: sys.executable, True: python_of("gem-llm", venv_dir)}
    rounds = {case: [] for case in CASES}
    with tempfile.TemporaryDirectory() as folder, server() as url:
        file = Path(folder) / "queries.json"
        file.write_text(json.dumps(some_queries(count)), encoding="utf-8")
        for _ in range(repeats):
            for case, settings in CASES.items():
                arguments = ["--case", case, "--file", str(file)]
                arguments += ["--url", url] if settings.get("served") else []
                rounds[case].append(json.loads(ask(pythons[settings.get("peer", False)], __file__, *arguments)))
    results = {
        case: {
            key: statistics.median(each[key] for each in rounds[case]) for key in ("queries_per_second", "p50", "p99")
        }
        for case in CASES
    }
    return {
        "queries": count,
        "repeats": repeats,
        "same_text": len({each["digest"] for case in CASES for each in rounds[case]}) == 1,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "peer": PEERS["gem-llm"],
        "cases": results,
    }


def table(report):
    """The report as Markdown."""
    lines = ["| search | queries per second | p50, ms | p99, ms |", "|---|--:|--:|--:|"]
    for case, result in report["cases"].items():
        rate, p50, p99 = result["queries_per_second"], 1000 * result["p50"], 1000 * result["p99"]
        lines.append(f"| {case} | {rate:,.0f} | {p50:.2f} | {p99:.2f} |")
    return "\n".join([*lines, "", f"Same text everywhere: {'yes' if report['same_text'] else 'NO'}"])


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--queries", type=int, default=2000, help="of each case in each repeat")
    for hidden in ("--case", "--file", "--url"):
        parser.add_argument(hidden, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        queries = json.loads(Path(arguments.file).read_text("utf-8"))
        print(json.dumps(measure(arguments.case, arguments.url, queries)))
        return
    report = run(arguments.repeats, arguments.queries, arguments.venv_dir)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
