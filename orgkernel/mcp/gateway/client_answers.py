"""Pass requests of servers on to the client of a call, in versions of MCP with and without sessions.

In a session (begun with a handshake), the gateway sends the request to the client on its connection. Without a session, it
answers the call with the request, and continues when the client sends the call again with its answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.toolbox.upstream_tools import AnswerRequests, RequestDenied, ServerRequest

if TYPE_CHECKING:
    from mcp import types

_STATE_PREFIX: Final = "call-"
_MAX_PAUSED: Final = 256
"""Calls of a gateway that wait for the answers of their clients."""


class PausedCall(NamedTuple):
    """The requests of a server that the client has to answer before its call continues."""

    requests: Mapping[str, ServerRequest]
    state: str


class _Call:
    """A call that can wait for answers of its client."""

    def __init__(self, owner: str, given: dict[str, Any]) -> None:
        """`given` are answers that the client has sent before it was asked."""
        self.owner = owner
        self._given = given
        self.task: asyncio.Task[dict[str, Any]] | None = None
        self.pauses: asyncio.Queue[PausedCall] = asyncio.Queue()
        self.answers: asyncio.Future[dict[str, Any]] | None = None
        self._turn = asyncio.Lock()

    async def ask(self, requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
        """Wait until the client has sent the call again with its answers."""
        async with self._turn:
            if requests.keys() <= self._given.keys():
                given, self._given = self._given, {}
                return given
            self.answers = asyncio.get_running_loop().create_future()
            self.pauses.put_nowait(PausedCall(requests, _STATE_PREFIX + secrets.token_urlsafe(24)))
            return await self.answers


class PausedCalls:
    """The calls that wait for their clients. Used from one event loop."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    async def run(
        self,
        owner: str,
        state: str | None,
        responses: Mapping[str, Any] | None,
        start: Callable[[AnswerRequests], Coroutine[Any, Any, dict[str, Any]]],
    ) -> dict[str, Any] | PausedCall:
        """The result of a call, or the next requests to its client.

        A `state` of an earlier answer continues that call of the same `owner`. Raises what the call raises, and
        `RequestDenied` if no call waits for this state: the call is not begun again, because it might have had an effect.
        """
        call = self._calls.get(state or "")
        if call is not None and call.owner == owner and call.answers is not None:
            self._calls.pop(state or "")
            if not call.answers.done():
                call.answers.set_result(dict(responses or {}))
        elif state is not None and state.startswith(_STATE_PREFIX):
            raise RequestDenied("the call no longer waits for this answer")
        else:
            call = _Call(owner, dict(responses or {}))
            call.task = asyncio.create_task(start(call.ask))
        assert call.task is not None
        pausing = asyncio.create_task(call.pauses.get())
        try:
            await asyncio.wait({call.task, pausing}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.task.cancel()
            raise
        finally:
            pausing.cancel()
        if call.task.done():
            return call.task.result()
        paused = pausing.result()
        if len(self._calls) >= _MAX_PAUSED:
            call.task.cancel()
            raise RequestDenied("too many calls wait for their clients")
        self._calls[paused.state] = call
        call.task.add_done_callback(lambda task: self._forget(paused.state, task))
        return paused

    def _forget(self, state: str, task: asyncio.Task[dict[str, Any]]) -> None:
        """A call has ended, for example because its client did not answer in time."""
        self._calls.pop(state, None)
        if not task.cancelled():
            task.exception()


def build_input_required(paused: PausedCall) -> types.InputRequiredResult:
    """The answer to a call that waits for its client."""
    from mcp import types

    return types.InputRequiredResult.model_validate(
        {
            "resultType": "input_required",
            "inputRequests": {key: _build_message(each) for key, each in paused.requests.items()},
            "requestState": paused.state,
        },
        by_name=False,
    )


def _build_message(request: ServerRequest) -> dict[str, Any]:
    return {"method": request.method} | ({"params": request.params} if request.params else {})


def has_capability(session: Any, method: str) -> bool:
    """Whether a client answers a method."""
    from mcp import types

    capabilities = {
        "elicitation/create": types.ClientCapabilities(elicitation=types.ElicitationCapability()),
        "sampling/createMessage": types.ClientCapabilities(sampling=types.SamplingCapability()),
        "roots/list": types.ClientCapabilities(roots=types.RootsCapability()),
    }
    return method in capabilities and bool(session.check_client_capability(capabilities[method]))


def build_connected_asker(ctx: Any) -> AnswerRequests:
    """Ask the client on its connection."""
    from mcp import types
    from mcp.shared.exceptions import MCPError, NoBackChannelError
    from mcp.shared.message import ServerMessageMetadata

    requests: dict[str, tuple[Any, Any]] = {
        "elicitation/create": (types.ElicitRequest, types.ElicitResult),
        "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
        "roots/list": (types.ListRootsRequest, types.ListRootsResult),
    }

    async def ask(request: ServerRequest) -> dict[str, Any]:
        request_type, result_type = requests[request.method]
        try:
            result = await ctx.session.send_request(
                request_type.model_validate(_build_message(request), by_name=False),
                result_type,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except NoBackChannelError:
            raise RequestDenied("the connection of the client cannot carry a request to it") from None
        except MCPError as error:
            raise RequestDenied(f"the client refused it: {error.message}") from None
        answer: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return answer

    async def ask_each(server_requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
        require_capabilities(ctx.session, server_requests)
        return {key: await ask(each) for key, each in server_requests.items()}

    return ask_each


def require_capabilities(session: Any, requests: Mapping[str, ServerRequest]) -> None:
    """Raise `RequestDenied` if the client does not answer one of some requests."""
    for each in requests.values():
        if not has_capability(session, each.method):
            raise RequestDenied(f"the client does not answer {quote(each.method)}")
