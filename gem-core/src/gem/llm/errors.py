"""Errors between a client and a chat API."""

from gem.errors import Fault, GemError


class ServerFault(Fault):
    """The server failed, or did not answer in time, until the retries were used up; it fails one episode."""


class RequestRefused(Fault):
    """The server refuses this request (status 400, 413 or 422), such as for its content; it fails one episode."""


class ContextExceeded(Fault):
    """The conversation is longer than the model's context."""


class AccessRefused(GemError, PermissionError):
    """The server refuses every request: a wrong key, model or address, or a field that it does not take."""


class ToolsRefused(AccessRefused):
    """The server or its model does not take tools; `said` is what it says."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class UnusableAnswer(Fault):
    """A model's answers do not fit the schema that was asked for, however often; it fails one episode."""
