"""A server on this machine that answers as MediaWiki's API and as kiwix-serve do, for the tests of live wikis."""

import json
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

PAGES = {
    "Physics": ("Physics is the science of matter.", ["Energy", "Matter", "Mercury", "AC/DC"]),
    "Energy": ("Energy is the capacity to do work.", ["Physics", "Heat"]),
    "Matter": ("Matter has mass.", ["Physics", "Energy", "Ångström"]),
    "Mercury (planet)": ("Mercury is the planet nearest to the Sun.", ["Physics"]),
    "AC/DC": ("AC/DC are a rock band.", ["Physics", "Ångström"]),
    "Ångström": ("The ångström is a unit of length.", ["Matter", "End"]),
    "Heat": ("Heat is energy in transfer.", ["Energy", "End"]),
    "End": ("Nothing links on from here.", []),
}
REDIRECTS = {"Warmth": "Heat", "Å": "Ångström"}
MEANINGS = {"Mercury": ["Mercury (lost film)", "Mercury (planet)"]}
RED = ["Mercury (lost film)"]
"""Titles that are linked to and do not have a page."""


class Server(ThreadingHTTPServer):
    """Serves both APIs; `troubles` are (status, headers) to answer with first, `slow` the seconds an answer takes."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.troubles, self.gone, self.slow, self.requests = deque(), set(), 0.0, []
        self.body = None
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers["User-Agent"]))
        time.sleep(server.slow)
        if server.troubles:
            status, headers = server.troubles.popleft()
            return self.answer(status, b"trouble", headers)
        if server.body is not None:
            return self.answer(200, server.body)
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/w/api.php":
            return self.answer(200, json.dumps(self.api(query)).encode())
        return self.kiwix(url.path, query)

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return  # who asked has lost patience

    def there(self, title):
        return (title in PAGES or title in MEANINGS) and title not in self.server.gone

    def api(self, query):
        """MediaWiki's action API, formatversion 2, as far as it is asked for."""
        assert (query["format"], query["formatversion"]) == ("json", "2")
        if query.get("list") == "random":
            return {"batchcomplete": True, "query": {"random": [{"id": 1, "ns": 0, "title": "Physics"}]}}
        if query["action"] == "parse":
            title = query["page"]
            if not self.there(title):
                return {"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}}
            links = MEANINGS.get(title) or [*PAGES[title][1], title]
            found = [{"ns": 0, "title": link, "exists": link not in RED} for link in links]
            return {"parse": {"title": title, "links": [*found, {"ns": 1, "title": "Talk:Physics", "exists": True}]}}
        title = REDIRECTS.get(query["titles"], query["titles"])
        if not self.there(title):
            return {"query": {"pages": [{"ns": 0, "title": title, "missing": True}]}}
        page = {"pageid": 1, "ns": 0, "title": title, "extract": PAGES.get(title, ("",))[0]}
        if title in MEANINGS:
            page["pageprops"] = {"disambiguation": ""}
        return {"query": {"pages": [page]}}

    def kiwix(self, path, query):
        """kiwix-serve with a file named `wiki`."""
        if path == "/random":
            if query["content"] != "wiki":
                return self.answer(404, b"")
            return self.answer(302, b"", {"Location": "/content/wiki/Physics"})
        _, _, name = unquote(path).partition("/wiki/")
        title = name.removeprefix("content/").replace("_", " ")
        if title == "Warmth":
            html = '<html><head><meta http-equiv="refresh" content="0;URL=./Heat"></head><body></body></html>'
            return self.answer(200, html.encode())
        if title == "Å":
            return self.answer(302, b"", {"Location": quote("/raw/wiki/content/Ångström")})
        if not self.there(title):
            return self.answer(404, b"not found")
        return self.answer(200, article(title).encode())


def article(title):
    up = "../" * title.count("/") or "./"
    links = "".join(
        f'<a href="{up}{quote(link.replace(" ", "_"))}#top" title="x">{link}</a> '
        for link in MEANINGS.get(title) or PAGES[title][1]
    )
    text = f"{title} may refer to:" if title in MEANINGS else PAGES[title][0]
    first, rest = text.split(" ", 1)
    return (
        f"<html><head><title>{title}</title><style>p {{}}</style></head><body>"
        f'<h1 id="firstHeading">{title.replace("/", "<i>/</i>")}</h1><div class="mw-parser-output">'
        f"<table><tr><td><p>box</p></td></tr></table><p><b>{first}</b> {rest}<sup>[1]</sup></p>{links}"
        f'<a href="#cite">1</a><a href="geo:1,2">x</a><a href="https://example.org/wiki/Elsewhere">x</a>'
        f'<a href="{up}_assets_/picture.png">x</a><a href="{up}{quote(title.replace(" ", "_"))}">self</a><a>x</a>'
        "<h1>Another heading</h1></div></body></html>"
    )
