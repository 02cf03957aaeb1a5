"""Requests that a page in a browser may have made: any page can reach a server on the user's machine."""

import ipaddress
import socket
from collections.abc import Mapping


def refusal_of_page(headers: Mapping[str, str]) -> str | None:
    """A reason to refuse a request that a page may have sent; None for any other.

    A page of another origin says so in `Origin`. One whose name leads to this machine does not, and is known by the
    `Host`: programs name a server by an address, a name without a dot, or the name of the machine.

    Args:
        headers: names in lower case, or of a mapping that ignores case.
    """
    if "origin" in headers:
        return "pages in a browser may not use this server"
    host = headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if "." not in name or name.lower() in (socket.gethostname().lower(), "localhost."):
        return None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return f"this server is not known as {name}: use its IP address, so that no page in a browser can pose as it"
    return None
