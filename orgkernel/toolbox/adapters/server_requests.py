"""Requests of a server during a call: to elicit an input from the user, to sample the client's model, to list its folders.

In the era with a handshake, a server sends them on its connection, which all callers share. Without one, they are in the
result of the call, which is then sent again with the answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from mcp_types import CreateMessageResult, ElicitResult, ErrorData, ListRootsResult
from pydantic_core import ValidationError

ServerRequestKind = Literal["elicitation", "sampling", "roots"]
METHODS: Final[dict[str, ServerRequestKind]] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""The kind of each request, by its method."""
ANSWER_SECONDS: Final = 600.0
"""How long a caller has to answer. This time is not part of the time limit of the call."""
MAX_ROUNDS: Final = 10
"""How often a server can ask during one call."""
_DENIED: Final = -32000
RESULTS: Final[dict[str, Any]] = {
    "elicitation/create": ElicitResult,
    "sampling/createMessage": CreateMessageResult,
    "roots/list": ListRootsResult,
}


class RequestDenied(Exception):
    """A request of a server that is not passed on. The message is a part of a sentence."""


class ServerRequest(NamedTuple):
    """A request of a server, in MCP's form."""

    method: str
    params: dict[str, Any]


AnswerRequests = Callable[[Mapping[str, ServerRequest]], Awaitable[dict[str, dict[str, Any]]]]
"""Answers requests by the keys that the server gave them. Raises `RequestDenied`."""


class AnsweringCaller(NamedTuple):
    """The caller of a call, who can answer requests of the server."""

    id: str
    """Equal for calls of the same caller."""
    answer: AnswerRequests
    """Answers all requests that the server sent at once. Raises `RequestDenied`."""


class ServerRequests:
    """The callers that use one connection now."""

    def __init__(self) -> None:
        self._callers: list[AnsweringCaller] = []

    def enter(self, caller: AnsweringCaller | None) -> None:
        """A call begins."""
        if caller is not None:
            self._callers.append(caller)

    def leave(self, caller: AnsweringCaller | None) -> None:
        """A call has ended."""
        if caller is not None:
            self._callers.remove(caller)

    async def answer(self, method: str, params: dict[str, Any]) -> Any:
        """The result of the caller in the type of the SDK, or an error."""
        if not self._callers:
            return ErrorData(code=_DENIED, message="no caller that could answer is known")
        if len({each.id for each in self._callers}) > 1:
            return ErrorData(
                code=_DENIED, message="several callers use the server, and the request names none"
            )
        try:
            answers = await self._callers[-1].answer({method: ServerRequest(method, params)})
            return RESULTS[method].model_validate(answers[method], by_name=False)
        except RequestDenied as error:
            return ErrorData(code=_DENIED, message=str(error))
        except ValidationError:
            return ErrorData(code=_DENIED, message="the answer has an unexpected form")
