"""Access to a server: for whoever knows its token; without one for whoever can connect, except pages in a browser."""

import base64
import hmac
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from gem.errors import ConfigError
from gem.http.pages import refusal_of_page

VARIABLE = "GEM_SERVE_TOKEN"
"""The environment variable with the token."""
_SHORTEST = 16


class Access:
    """The rule for a request, by its headers.

    Args:
        token: what a client has to know; None lets everyone in who can connect.

    Raises:
        ConfigError: the token is short enough to be guessed.
    """

    def __init__(self, token: str | None) -> None:
        if token is not None and (len(token) < _SHORTEST or not token.isascii() or not token.isprintable()):
            raise ConfigError(
                f"a token has at least {_SHORTEST} printable ASCII characters; "
                "python -c 'import secrets; print(secrets.token_urlsafe())' makes one"
            )
        self._token = None if token is None else token.encode()

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """The status and the text for a request that is refused; None for one that is not.

        Without a token, a browser is refused: any page in it could reach a server on this machine.
        """
        if self._token is None:
            refusal = refusal_of_page(headers)
            return None if refusal is None else (403, f"{refusal}, unless it has a token")
        if self._knows(headers.get("authorization", "")):
            return None
        return 401, "this server wants its token: Authorization: Bearer TOKEN, or http://gem:TOKEN@HOST"

    def _knows(self, authorization: str) -> bool:
        assert self._token is not None
        scheme, _, given = authorization.partition(" ")
        said = given.strip().encode("utf-8", "surrogateescape")
        if scheme.lower() == "basic":  # what clients make of http://gem:TOKEN@HOST
            try:
                said = base64.b64decode(said, validate=True).partition(b":")[2]
            except ValueError:
                return False
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(said, self._token)  # takes as long for a wrong token as for the right one


def token_from(file: Path | None, environ: MutableMapping[str, str] = os.environ) -> str | None:
    """The token in a file, or else in the environment; never on a command line, which other users can read.

    It is taken out of the environment, which programs that envs start would inherit.

    Raises:
        ConfigError: the file cannot be read.
    """
    given = environ.pop(VARIABLE, None)
    if file is None:
        return given or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--token-file {file}: {getattr(error, 'strerror', None) or error}") from error
