"""One connection to an upstream server. It has its own task, because the SDK must open and close a client in the same task."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final

from httpx2 import AsyncClient
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CreateMessageRequestParams,
    ElicitRequestParams,
    Implementation,
    PromptListChangedNotification,
    RequestParams,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from orgkernel.engines import is_on
from orgkernel.toolbox.adapters.access_tokens import AccessTokens
from orgkernel.toolbox.adapters.adapter import build_headers, reply_missing
from orgkernel.toolbox.adapters.contained_http import Breakage, ContainedTransport
from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.adapters.limited_stdio import open_limited_stdio
from orgkernel.toolbox.adapters.server_guard import ServerGuard
from orgkernel.toolbox.adapters.server_logs import ServerLogs
from orgkernel.toolbox.adapters.server_requests import ServerRequests
from orgkernel.toolbox.adapters.sse_http import open_sse
from orgkernel.toolbox.adapters.tls import build_tls_context
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstream_lists import ListKind
from orgkernel.toolbox.adapters.watched_streams import watch_transport
from orgkernel.toolbox.engine.connection_pool import BrokenOff, NotReached
from orgkernel.toolbox.engine.http_client import HttpToolClient, Redirected
from orgkernel.toolbox.failures import describe_failure
from orgkernel.toolbox.providers import McpServer
from orgkernel.version import __version__

_KINDS: Final[tuple[tuple[type, tuple[ListKind, ...]], ...]] = (
    (ToolListChangedNotification, ("tools",)),
    (PromptListChangedNotification, ("prompts",)),
    (ResourceListChangedNotification, ("resources", "resource_templates")),
)
_GUARD: Final = ServerGuard()
"""Ends the processes of all servers if this process is killed."""


class UpstreamConnection:
    """A connection that is starting, running or closed."""

    def __init__(
        self,
        provider: McpServer,
        limits: UpstreamLimits,
        credentials: Mapping[str, str],
        starts: asyncio.Semaphore,
        on_change: Callable[[ListKind], None],
        on_end: Callable[[UpstreamConnection], None],
        tokens: AccessTokens | None = None,
    ) -> None:
        self.requests = ServerRequests()
        """Requests of the server that callers answer."""
        self.logs = ServerLogs()
        self.calls = 0
        """Number of calls that use it now."""
        self.announces_changes = False
        """Whether the server announces changes of its lists on this connection."""
        self.ending = Ending(lambda: on_end(self))
        self.breakage = Breakage()
        self.has_started = False
        self._tool_client: HttpToolClient | None = None
        """Sends calls of tools that need no session. If None, the client of the SDK sends them as well."""
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        self.ready: asyncio.Future[None] = loop.create_future()
        """Done when the start has succeeded or failed. After a failure, the ending has the reason."""
        self._is_retired = False
        self._provider = provider
        self._limits = limits
        self._credentials = credentials
        self._starts = starts
        self._tokens = tokens
        self._on_change = on_change
        self._client: Client | None = None
        self._http: ContainedTransport | None = None
        self._task = loop.create_task(self._run())

    @property
    def client(self) -> Client:
        """The client of the SDK, while the connection is running."""
        assert self._client is not None
        return self._client

    @property
    def is_modern(self) -> bool:
        """Whether it uses a version of the protocol without a handshake."""
        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def call_plain(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a call that needs no session. None if the call has to go through the SDK: the server has not begun it, so it can
        be sent again.

        Raises `MCPError`, and `ValidationError` for a result of an unexpected form.
        """
        client = self._tool_client
        if client is None or not client.takes(name):
            return None
        try:
            return await client.call(name, arguments)
        except Redirected:
            self._tool_client = None
            return None
        except NotReached as error:
            text, kind = f"it cannot be reached: {error}", self.breakage.data("unreachable")
        except BrokenOff as error:
            text, kind = f"its connection broke: {error}", self.breakage.data("broken")
        raise MCPError(INTERNAL_ERROR, text, kind)

    def allow_answer_time(self, seconds: float) -> None:
        """Accept answers that take up to this many seconds."""
        if self._http is not None:
            self._http.longest_answer = max(self._http.longest_answer, seconds)

    def retire(self, reason: str) -> None:
        """Accept no more calls, and end after the last one."""
        self._is_retired = True
        self.ending.reason = self.ending.reason or reason
        self.end_if_unused()

    def end_if_unused(self) -> None:
        """End it if it is retired and no call uses it."""
        if self._is_retired and not self.calls:
            self.ending.end("it was closed")

    def add_end_callback(self, call: Callable[[UpstreamConnection], object]) -> None:
        """Call a function after the connection, including the process of its server, has ended."""
        self._task.add_done_callback(lambda _: call(self))

    async def aclose(self) -> None:
        """End it now."""
        self.ending.end("it was closed")
        if not self.ready.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with (
                    _hold_slot(self._starts, self._limits.slot_seconds),
                    asyncio.timeout(self._limits.start_seconds),
                ):
                    transport = await self._open_transport(stack)
                    client = Client(
                        watch_transport(transport, self._limits, self.ending, self.logs.has_receivers),
                        cache=None,
                        message_handler=self._receive,
                        logging_callback=self.logs.receive,
                        client_info=Implementation(name="orgkernel", version=__version__),
                        **self._build_callbacks(),
                    )
                    self._client = await stack.enter_async_context(client)
                    self._tool_client = self._open_tool_client(stack)
                self.has_started = True
                self.ready.set_result(None)
                async with asyncio.TaskGroup() as tasks:
                    follower = tasks.create_task(self._follow(client))
                    await self.ending.wait()
                    follower.cancel()
        except TimeoutError:
            self.ending.end(f"it did not start within {self._limits.start_seconds:g} seconds")
        except asyncio.CancelledError:
            self.ending.end("it was closed")
        except BaseException as error:
            self.ending.end(self._describe(error))
            if not isinstance(error, Exception):
                raise
        finally:
            self.ending.end("its connection ended")
            if not self.ready.done():
                self.ready.set_result(None)

    def _build_callbacks(self) -> dict[str, Any]:
        """The functions that answer requests of the server. The SDK tells the server that it may send those that are there."""
        may_ask, answer = self._provider.may_ask, self.requests.answer

        async def elicit(_: Any, params: ElicitRequestParams) -> Any:
            return await answer("elicitation/create", _dump(params))

        async def sample(_: Any, params: CreateMessageRequestParams) -> Any:
            return await answer("sampling/createMessage", _dump(params))

        async def list_roots(_: Any) -> Any:
            return await answer("roots/list", {})

        callbacks = {
            "elicitation": ("elicitation_callback", elicit),
            "sampling": ("sampling_callback", sample),
            "roots": ("list_roots_callback", list_roots),
        }
        return dict(callbacks[each] for each in may_ask)

    def _open_tool_client(self, stack: AsyncExitStack) -> HttpToolClient | None:
        """The client for calls without a session, if the server and its headers allow one. The stack closes it."""
        provider, limits = self._provider, self._limits
        if not (is_on("http_client") and self.is_modern and isinstance(provider.server, str)):
            return None
        # Its headers are fixed, so it can neither send a token that changes nor a second one if the first is refused.
        if provider.transport == "sse" or provider.may_ask or self._tokens is not None:
            return None
        headers, _ = build_headers(provider, self._credentials)
        try:
            client = HttpToolClient(
                provider.server, headers, build_tls_context(),
                max_bytes=limits.max_bytes, connect_seconds=limits.start_seconds,
            )  # fmt: skip
        except ValueError:
            return None  # the SDK sends the calls, or reports the header that is not valid
        stack.push_async_callback(client.aclose)
        return client

    def _describe(self, error: BaseException) -> str:
        error = find_first_cause(error)
        if isinstance(error, _IncompleteSettings):
            return str(error)
        if self.breakage.classify(error) is not None:
            return str(error)
        description = error.message if isinstance(error, MCPError) else describe_failure(error)
        return description if self.has_started else f"it could not be started: {description}"

    async def _open_transport(self, stack: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        provider = self._provider
        limit = self._limits.max_bytes
        if isinstance(provider.server, str):
            headers, lacks = build_headers(provider, self._credentials)
            if lacks:
                raise _IncompleteSettings(lacks)
            if provider.transport == "sse":
                return open_sse(provider.server, headers, self._limits, self.ending)
            transport = ContainedTransport(self._limits, self.breakage, self._tokens)
            self._http = transport
            http = await stack.enter_async_context(AsyncClient(headers=headers, transport=transport))
            return streamable_http_client(provider.server, http_client=http, max_sse_event_size=limit)
        environment = dict(provider.environment)
        for variable, credential in provider.credential_environment.items():
            if credential not in self._credentials:
                raise _IncompleteSettings(reply_missing(credential))
            environment[variable] = self._credentials[credential]
        return open_limited_stdio(provider.server, environment, limit, self.ending, _GUARD)

    async def _receive(self, message: IncomingMessage) -> None:
        for notification, kinds in _KINDS:
            if isinstance(message, notification):
                for kind in kinds:
                    self._on_change(kind)

    async def _follow(self, client: Client) -> None:
        """Follow changes of the lists: a server announces them by itself after a handshake, otherwise through a subscription."""
        has = client.server_capabilities
        tools, prompts, resources = (
            bool(each is not None and each.list_changed) for each in (has.tools, has.prompts, has.resources)
        )
        if not (tools or prompts or resources):
            return
        if not self.is_modern:
            self.announces_changes = True
            return
        try:
            async with client.listen(
                tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
            ) as subscription:
                self.announces_changes = True
                async for _ in subscription:
                    pass  # each event is also a notification
        except Exception:
            pass  # then the lists that are kept are read again when they expire
        finally:
            self.announces_changes = False


def _dump(params: RequestParams) -> dict[str, Any]:
    return params.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})


@asynccontextmanager
async def _hold_slot(slots: asyncio.Semaphore, seconds: float) -> AsyncIterator[None]:
    """Hold a slot for starting a server for at most this many seconds, so that one slow server does not keep the others waiting."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(slots)
        held = stack.pop_all()
        release = asyncio.get_running_loop().create_task(_close_later(held, seconds))
        try:
            yield
        finally:
            release.cancel()
            await held.aclose()


async def _close_later(stack: AsyncExitStack, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await stack.aclose()


class _IncompleteSettings(Exception):
    """The settings of a provider do not allow a connection, for example because a credential is missing."""


def find_first_cause(error: BaseException) -> BaseException:
    """The first error of a group, because the SDK bundles errors in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
