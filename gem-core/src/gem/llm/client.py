"""A lean asynchronous client for `/chat/completions`, with limits, timeouts and retries."""

from collections.abc import Mapping
from typing import Any

from gem.http.answers import NoAnswer
from gem.http.client import HttpClient, encoded
from gem.llm.answers import ChatReply, read_reply
from gem.llm.errors import AccessRefused, ServerFault

OPENAI = "https://api.openai.com/v1"
CONCURRENCY = 64
"""The default of most requests at once."""
_PATH = "/chat/completions"


class ChatClient:
    """Asks a chat API with OpenAI's protocol. All calls belong to one event loop.

    A server that fails, limits the rate, stalls or sends half an answer is asked again; see `gem.http.client`.

    `api_key` is that of the account; for the other arguments and errors see `ChatPolicy`.
    """

    def __init__(
        self,
        base_url: str = OPENAI,
        *,
        api_key: str | None = None,
        concurrency: int = CONCURRENCY,
        timeout: float = 600.0,
        retries: int = 8,
    ) -> None:
        self.http = HttpClient(
            base_url,
            timeout=timeout,
            retries=retries,
            at_once=concurrency,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )
        """Makes the requests, and counts them."""

    async def chat(self, body: Mapping[str, Any]) -> ChatReply:
        """Ask for one reply; `body` is the JSON of the request: `model`, `messages` and what else the API takes.

        Raises:
            ServerFault: the server did not answer, retries included.
            RequestRefused: it refuses this request.
            ContextExceeded: the conversation is longer than the model's context.
            AccessRefused: it refuses every request, or there is no server.
        """
        url = self.http.url + _PATH
        try:
            return await self.http.ask("POST", _PATH, encoded(body), read=lambda answer: read_reply(answer, list(body)))
        except NoAnswer as error:
            if not self.http.reached:
                what = "is there a network? Else" if self.http.url == OPENAI else "start it, or"
                raise AccessRefused(f"there is no server at {url}: {what} set base_url ({error})") from None
            times = "once" if error.requests == 1 else f"{error.requests} times"
            raise ServerFault(f"{url} was asked {times} without an answer: {error}") from None

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()
