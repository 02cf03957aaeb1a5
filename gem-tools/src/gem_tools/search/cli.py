"""`gemx search-server`."""

import click

from gem.cli.options import as_json
from gem.cli.output import echo, print_json
from gem.errors import ConfigError
from gem.http.listening import address, listen
from gem_tools.search.bm25 import BM25
from gem_tools.search.corpus import Corpus
from gem_tools.search.dense import Dense
from gem_tools.search.protocol import MOST_HITS, PATH
from gem_tools.search.retriever import Retriever
from gem_tools.search.web import SerpApi


@click.command()
@click.option(
    "--corpus", metavar="FILE", help="A JSONL file, also package:file.jsonl; by default the corpus that ships."
)
@click.option(
    "--retriever",
    type=click.Choice(["bm25", "dense", "serpapi"]),
    default="bm25",
    show_default=True,
    help="BM25 or vectors over the corpus, or a web search engine, whose key is read from the environment.",
)
@click.option("--model", metavar="NAME", help="A model of sentence-transformers, for --retriever dense.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8000, show_default=True, help="Where to listen; 0 for one that is free.")
@click.option(
    "--topk",
    type=click.IntRange(1, MOST_HITS),
    default=3,
    show_default=True,
    help="Hits for a client that does not say how many.",
)
@as_json
def search_server(
    corpus: str | None,
    retriever: str,
    model: str | None,
    host: str,
    port: int,
    topk: int,
    as_json: bool,
) -> None:
    """Serve a search index over HTTP, for the tool `search`, and for clients of gem-llm and of Search-R1.

    It prints its address once it accepts queries, and runs until Ctrl-C.

    \b
    gemx search-server
    gemx search-server --corpus wiki.jsonl --port 9000
    gemx search-server --retriever dense --model intfloat/e5-small-v2
    """
    from gem_tools.search.server import serve

    chosen, about = _build(retriever, corpus, model)
    with listen(host, port) as listening:
        url = address(listening, PATH)
        if as_json:
            print_json({"url": url, "serves": about})
        else:
            echo(f"serving {about} at {url}")
        serve(chosen, listening, topk=topk)


def _build(name: str, file: str | None, model: str | None) -> tuple[Retriever, str]:
    """The retriever, and a description of what it searches."""
    if (name == "dense") != (model is not None):
        raise ConfigError("--model and --retriever dense need each other")
    if name == "serpapi":
        if file is not None:
            raise ConfigError("--retriever serpapi searches the web, not a corpus")
        return SerpApi(), "the web by SerpAPI"
    corpus = Corpus.shipped() if file is None else Corpus.from_jsonl(file)
    index = BM25(corpus) if model is None else Dense.from_model(corpus, model)
    return index, f"{len(corpus)} documents"
