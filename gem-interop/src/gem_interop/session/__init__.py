"""Playing environments from another trainer: it generates, and a session is everything else.

`Session` gives ids to read and takes the ids that were sampled; `MessageSession` does the same with chat messages.
`Sessions` opens many of either in an event loop, with the envs in threads. See docs/sessions.md.
"""

from gem_interop.session.asynchronous import AsyncMessageSession, AsyncSession, Sessions
from gem_interop.session.result import Result
from gem_interop.session.session import MessageSession, Session

__all__ = ["AsyncMessageSession", "AsyncSession", "MessageSession", "Result", "Session", "Sessions"]
