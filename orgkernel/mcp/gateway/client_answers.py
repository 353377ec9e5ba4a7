"""Pass requests of servers on to the client of a call, in both eras of the protocol.

With a handshake, the client is asked on its connection. Without one, the call is answered with the request, and goes on
when the client sends the call again with its answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.mcp.gateway.server_requests import ClientAsker
from orgkernel.toolbox.upstream_tools import RequestDenied

if TYPE_CHECKING:
    from mcp import types

_STATE_PREFIX: Final = "call-"
_MAX_PAUSED: Final = 256
"""Calls of a gateway that wait for the answers of their clients."""
_KEY: Final = "request"


class PausedCall(NamedTuple):
    """The request of a server that the client has to answer before its call goes on."""

    method: str
    params: dict[str, Any]
    state: str


class _Call:
    """A call that can wait for answers of its client."""

    def __init__(self, owner: str, state: str) -> None:
        self.owner = owner
        self.state = state
        self.task: asyncio.Task[dict[str, Any]] | None = None
        self.requests: asyncio.Queue[PausedCall] = asyncio.Queue()
        self.answer: asyncio.Future[dict[str, Any]] | None = None
        self._turn = asyncio.Lock()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Wait until the client has sent the call again with its answer."""
        async with self._turn:
            self.answer = asyncio.get_running_loop().create_future()
            self.requests.put_nowait(PausedCall(method, params, self.state))
            return await self.answer


class PausedCalls:
    """The calls that wait for their clients. Used from one event loop."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    async def run(
        self,
        owner: str,
        state: str | None,
        responses: Mapping[str, Any] | None,
        start: Callable[[ClientAsker], Coroutine[Any, Any, dict[str, Any]]],
    ) -> dict[str, Any] | PausedCall:
        """The result of a call, or the next request to its client.

        A `state` of an earlier answer continues that call of the same `owner`. Raises what the call raises, and
        `RequestDenied` for a state of no call that waits: the call is not begun again, because it might have had an effect.
        """
        call = self._calls.get(state or "")
        if call is not None and call.owner == owner and call.answer is not None:
            del self._calls[call.state]
            if not call.answer.done():
                call.answer.set_result(dict((responses or {}).get(_KEY) or {}))
        elif state is not None and state.startswith(_STATE_PREFIX):
            raise RequestDenied("the call does not wait for this answer any more")
        else:
            call = _Call(owner, _STATE_PREFIX + secrets.token_urlsafe(24))
            call.task = asyncio.create_task(start(call.ask))
        assert call.task is not None
        request = asyncio.create_task(call.requests.get())
        try:
            await asyncio.wait({call.task, request}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            call.task.cancel()
            raise
        finally:
            request.cancel()
        if call.task.done():
            return call.task.result()
        if len(self._calls) >= _MAX_PAUSED:
            call.task.cancel()
            raise RequestDenied("too many calls wait for their clients")
        self._calls[call.state] = call
        call.task.add_done_callback(lambda task: self._forget(call.state, task))
        return request.result()

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
            "inputRequests": {_KEY: {"method": paused.method, "params": paused.params}},
            "requestState": paused.state,
        },
        by_name=False,
    )


def has_capability(session: Any, method: str) -> bool:
    """Whether a client answers a method."""
    from mcp import types

    capabilities = {
        "elicitation/create": types.ClientCapabilities(elicitation=types.ElicitationCapability()),
        "sampling/createMessage": types.ClientCapabilities(sampling=types.SamplingCapability()),
        "roots/list": types.ClientCapabilities(roots=types.RootsCapability()),
    }
    return method in capabilities and bool(session.check_client_capability(capabilities[method]))


def build_connected_asker(ctx: Any) -> ClientAsker:
    """Ask the client on its connection."""
    from mcp import types
    from mcp.shared.exceptions import MCPError, NoBackChannelError
    from mcp.shared.message import ServerMessageMetadata

    requests: dict[str, tuple[Any, Any]] = {
        "elicitation/create": (types.ElicitRequest, types.ElicitResult),
        "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
        "roots/list": (types.ListRootsRequest, types.ListRootsResult),
    }

    async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        require_capability(ctx.session, method)
        request_type, result_type = requests[method]
        message = {"method": method} | ({"params": params} if params else {})
        try:
            result = await ctx.session.send_request(
                request_type.model_validate(message, by_name=False),
                result_type,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except NoBackChannelError:
            raise RequestDenied("the connection of the client cannot carry a request to it") from None
        except MCPError as error:
            raise RequestDenied(f"the client refused it: {error.message}") from None
        answer: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return answer

    return ask


def require_capability(session: Any, method: str) -> None:
    """Raise `RequestDenied` if the client does not answer a method."""
    if not has_capability(session, method):
        raise RequestDenied(f"the client does not answer {quote(method)}")
