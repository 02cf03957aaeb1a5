"""Requests that a page in a browser may have made."""

import socket

import pytest

from gem.http.pages import refusal_of_page


@pytest.mark.parametrize(
    "host", ["127.0.0.1:80", "[::1]:80", "localhost", "node-3:8000", "10.0.0.7", "", socket.gethostname()]
)
def test_a_program_that_names_the_server_by_its_address_is_answered(host: str) -> None:
    assert refusal_of_page({"host": host}) is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "1.2.3"])
def test_a_name_that_may_lead_here_from_anywhere_is_refused(host: str) -> None:
    assert "is not known as" in str(refusal_of_page({"host": host}))


def test_a_page_of_any_origin_is_refused() -> None:
    assert refusal_of_page({"origin": "null", "host": "127.0.0.1"}) is not None
