"""Requests to a search server, and clear faults."""

from collections.abc import Mapping

from gem.http.answers import NoAnswer, Unusable
from gem.http.client import HttpClient

_AT_ONCE = 64
"""Requests at once; further threads wait."""
_NOT_FOUND = 404


class SearchHttpClient:
    """Requests to one address. Searching changes nothing, so every request may be repeated.

    Args:
        name: what messages call it.
        url: the server's address.
        timeout: seconds to wait for a whole answer.
        retries: further attempts if there is no answer or a transient error.
        hint: added to the message of status 404.
        content_type: of what is posted.
    """

    def __init__(
        self, name: str, url: str, *, timeout: float, retries: int, hint: str = "", content_type: str = ""
    ) -> None:
        headers = {"Content-Type": content_type} if content_type else {}
        self._http = HttpClient(url, timeout=timeout, retries=retries, at_once=_AT_ONCE, headers=headers)
        self._name, self._hint = f"{name} at {url}", hint

    def ask(self, *, query: Mapping[str, str] | None = None, body: bytes | None = None) -> bytes:
        """The body of the answer to a GET with `query`, or to a POST of `body`.

        Raises:
            NoAnswer: there is no answer, or its status is not 200. The message leaves out `query`, which may hold a
                key.
        """
        try:
            answer = self._http.call("GET" if body is None else "POST", "", body, query=query)
        except NoAnswer as error:
            raise type(error)(f"{self._name} does not answer: {error}") from None
        if answer.status != 200:
            raise Unusable(f"{self._name} answers {answer}{self._hint if answer.status == _NOT_FOUND else ''}")
        return answer.body

    def wrong(self, why: Exception | str) -> Unusable:
        """The fault to raise for an answer that does not follow the protocol."""
        return Unusable(f"{self._name} answers with something else than results: {why}")
