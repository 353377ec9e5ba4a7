"""Upstream servers of the gateway: each has one connection that all callers share.

A connection is made when it is first needed, and again when it is needed after it ended. If it ends quickly again and
again, callers are refused for a while, and told how long. Nothing that a server says or does raises anything but
`UpstreamError`, and no call is repeated that the server may have received.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    GetPromptRequest,
    GetPromptRequestParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequest,
    ReadResourceRequestParams,
    Request,
)
from pydantic_core import ValidationError, to_json

from orgkernel.toolbox.adapters.progress import OnProgress, ProgressQueue
from orgkernel.toolbox.adapters.upstream_connection import UpstreamConnection, clean, first_cause
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.masking import TooDeep, mask_values
from orgkernel.toolbox.providers import McpServer

Kind = Literal["done", "failed", "unavailable", "timeout", "protocol"]
"""`failed`: the server answered with an error. `unavailable`: it cannot be reached, or its connection ended.
`protocol`: its answer is not one that it may give.
"""
State = Literal["not_started", "starting", "running", "waiting", "closed"]
ListKind = Literal["tools", "prompts", "resources", "resource_templates"]
_NOT_RUN: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS, HEADER_MISMATCH})
"""Codes with which a server says that it did not begin. `INVALID_REQUEST` is also what a refused question becomes."""


class UpstreamReply(msgspec.Struct, frozen=True):
    """How a call ended."""

    result: dict[str, Any] | None
    """The result of the tool as the server sent it, with the names of the protocol: `content`, `isError` and so on."""
    error: str = ""
    """Why there is no result, as a part of a sentence. What the server says in it is cleaned and cut."""
    kind: Kind = "done"
    is_uncertain: bool = False
    """Whether the call may have had an effect although it has no result."""


class UpstreamStatus(msgspec.Struct, frozen=True):
    """What an upstream is doing."""

    state: State
    reason: str = ""
    """Why its last connection ended."""
    retry_in: float = 0.0
    """In how many seconds it may be started again."""


class UpstreamError(Exception):
    """An upstream has no answer. The text is a part of a sentence."""

    def __init__(self, error: str, kind: Kind = "unavailable", *, is_uncertain: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.kind: Kind = kind
        self.is_uncertain = is_uncertain


class _Raw:
    """Stands for the type of a result of which nothing is renamed or left out. The SDK has checked its shape before."""

    @classmethod
    def model_validate(cls, raw: dict[str, Any], *, by_name: bool) -> dict[str, Any]:
        """What the server sent."""
        assert not by_name
        return raw


_RAW: Final[Any] = _Raw


class _List(msgspec.Struct):
    items: tuple[dict[str, Any], ...]
    until: float
    depends_on_news: bool
    """Whether it holds only as long as the server tells of changes."""


class Upstream:
    """One server."""

    def __init__(
        self,
        name: str,
        provider: McpServer,
        limits: UpstreamLimits | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        on_change: Callable[[str], None] | None = None,
    ) -> None:
        """`secrets` are masked in all answers. `on_change` is called with the name when lists are no longer right."""
        self.name = name
        self._provider = provider
        self._limits = limits or UpstreamLimits()
        self._secrets = dict(secrets or {})
        self._on_change = on_change
        self._connection: UpstreamConnection | None = None
        self._open: set[UpstreamConnection] = set()
        self._free = asyncio.Semaphore(self._limits.most_calls_at_once)
        self._lists: dict[str, _List] = {}
        self._changes = 0
        self._locks: dict[str, asyncio.Lock] = {}
        self._quick_ends = 0
        self._retry_at = 0.0
        self._reason = ""
        self._is_closed = False

    @property
    def status(self) -> UpstreamStatus:
        """What it is doing now."""
        if self._is_closed:
            return UpstreamStatus("closed", self._reason)
        if self._connection is not None:
            return UpstreamStatus("running" if self._connection.has_started else "starting", self._reason)
        if not self._reason:
            return UpstreamStatus("not_started")
        return UpstreamStatus("waiting", self._reason, self._seconds_to_wait())

    @property
    def era(self) -> str:
        """The version of the protocol that it speaks, or nothing while it does not run."""
        connection = self._connection
        return connection.client.protocol_version if connection and connection.has_started else ""

    async def tools(self) -> tuple[dict[str, Any], ...]:
        """The definitions of its tools. Raises `UpstreamError`."""
        return await self._list("tools")

    async def prompts(self) -> tuple[dict[str, Any], ...]:
        """Its prompts. Raises `UpstreamError`."""
        return await self._list("prompts")

    async def resources(self) -> tuple[dict[str, Any], ...]:
        """Its resources. Raises `UpstreamError`."""
        return await self._list("resources")

    async def resource_templates(self) -> tuple[dict[str, Any], ...]:
        """Its templates of resources. Raises `UpstreamError`."""
        return await self._list("resource_templates")

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A prompt. Raises `UpstreamError`."""
        params = GetPromptRequestParams(name=name, arguments=dict(arguments) if arguments else None)
        return await self._get(GetPromptRequest(params=params))

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """What a resource holds. Raises `UpstreamError`."""
        return await self._get(ReadResourceRequest(params=ReadResourceRequestParams(uri=uri)))

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> UpstreamReply:
        """Call a tool. Cancelling this cancels the call at the server, and no other one."""
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        seconds = self._limits.call_seconds if seconds is None else seconds
        progress = None if on_progress is None else ProgressQueue(self._masked_progress(on_progress))
        try:
            return UpstreamReply(await self._ask(request, seconds, progress))
        except UpstreamError as error:
            return UpstreamReply(None, error.error, error.kind, error.is_uncertain)
        finally:
            if progress is not None:
                await progress.aclose()

    async def aclose(self) -> None:
        """End its connection. Nothing can be called any more."""
        self._is_closed = True
        await asyncio.gather(*(each.aclose() for each in tuple(self._open)))

    async def _connected(self) -> UpstreamConnection:
        """The connection, started if there is none. Raises `UpstreamError`."""
        if self._is_closed:
            raise UpstreamError("it was closed")
        connection = self._connection
        if connection is None:
            wait = self._seconds_to_wait()
            if wait > 0:
                raise UpstreamError(f"{self._reason}; it can be tried again in {wait:.1f} seconds")
            connection = self._start()
        if not connection.ready.done():
            await asyncio.shield(connection.ready)
        if connection.ending.has_come:
            raise UpstreamError(connection.ending.reason)
        return connection

    def _start(self) -> UpstreamConnection:
        connection = UpstreamConnection(
            self._provider, self._limits, self._secrets, self._note_change, self._note_end
        )
        self._connection = connection
        self._open.add(connection)
        connection.on_gone(self._open.discard)
        for kind in tuple(self._lists):
            self._note_change(kind)
        return connection

    def _seconds_to_wait(self) -> float:
        return max(0.0, self._retry_at - asyncio.get_running_loop().time())

    def _note_end(self, connection: UpstreamConnection) -> None:
        """Decide when it may be started again."""
        if self._connection is not connection:
            return
        self._connection = None
        self._reason = self._mask(connection.ending.reason)
        now = asyncio.get_running_loop().time()
        lasted = now - connection.started_at
        is_quick = not connection.has_started or lasted < self._limits.quick_seconds
        self._quick_ends = self._quick_ends + 1 if is_quick else 0
        wait = 0.0
        if self._quick_ends > 1:
            doublings = min(self._quick_ends - 2, 32)
            wait = min(self._limits.first_wait * 2**doublings, self._limits.longest_wait)
        self._retry_at = now + wait

    def _note_change(self, kind: str) -> None:
        self._changes += 1
        if self._lists.pop(kind, None) is not None and self._on_change is not None:
            self._on_change(self.name)

    async def _ask(
        self, request: Request[Any, Any], seconds: float, progress: ProgressQueue | None = None
    ) -> dict[str, Any]:
        """The result of a request. Raises `UpstreamError`."""
        for is_last in (False, True):
            connection = await self._connected()
            try:
                return await self._send(connection, request, seconds, progress)
            except _NotReceived as error:
                connection.retire(error.error)
                self._note_end(connection)
                if is_last or not error.may_help:
                    raise UpstreamError(error.error) from None
        raise AssertionError

    async def _send(
        self,
        connection: UpstreamConnection,
        request: Request[Any, Any],
        seconds: float,
        progress: ProgressQueue | None,
    ) -> dict[str, Any]:
        was_sent = False
        connection.calls += 1
        try:
            async with asyncio.timeout(seconds), self._free:
                was_sent = True
                put = None if progress is None else progress.put
                session = connection.client.session
                try:
                    found = await session.send_request(request, _RAW, progress_callback=put)
                except MCPError as error:
                    if error.code != HEADER_MISMATCH or not connection.is_modern:
                        raise
                    # The server wants arguments in headers; the SDK knows which ones once it has the list.
                    await self._fetch(connection, "tools")
                    found = await session.send_request(request, _RAW, progress_callback=put)
            return self._checked(found)
        except TimeoutError:
            raise UpstreamError(
                f"it did not answer within {seconds:g} seconds", "timeout", is_uncertain=was_sent
            ) from None
        except UpstreamError:
            raise
        except Exception as error:
            raise self._explained(connection, first_cause(error), was_sent) from None
        finally:
            connection.calls -= 1
            connection.let_go()

    def _checked(self, result: dict[str, Any]) -> dict[str, Any]:
        kind = result.pop("resultType", "complete")
        if kind == "input_required":
            raise UpstreamError("it asks for input, which is not given", "protocol", is_uncertain=True)
        if kind != "complete":
            raise UpstreamError("it gave a result of an unknown type", "protocol", is_uncertain=True)
        try:
            masked: dict[str, Any] = mask_values(result, self._secrets)
        except TooDeep:
            raise UpstreamError(
                "its answer is nested too deeply to be searched for secrets", "protocol", is_uncertain=True
            ) from None
        return masked

    def _explained(
        self, connection: UpstreamConnection, error: BaseException, was_sent: bool
    ) -> UpstreamError:
        """Why a request failed, and whether it may have had an effect."""
        if isinstance(error, MCPError):
            arrived = connection.breakage.was_sent(error.error.data)
            said = self._mask(clean(error.message))
            if arrived is False:
                return _NotReceived(said, may_help=connection.ending.reason == "" and "session" in said)
            if arrived:
                connection.retire(said)
                self._note_end(connection)
                return UpstreamError(said, is_uncertain=True)
            if connection.ending.has_come and error.code == CONNECTION_CLOSED:
                return UpstreamError(self._mask(connection.ending.reason), is_uncertain=was_sent)
            return UpstreamError(f"{said} ({error.code})", "failed", is_uncertain=error.code not in _NOT_RUN)
        if isinstance(error, ValidationError):
            return UpstreamError("its answer has a wrong form", "protocol", is_uncertain=True)
        return UpstreamError(self._mask(clean(f"{type(error).__name__}: {error}")), is_uncertain=was_sent)

    async def _get(self, request: Request[Any, Any]) -> dict[str, Any]:
        return await self._ask(request, self._limits.call_seconds)

    async def _list(self, kind: ListKind) -> tuple[dict[str, Any], ...]:
        lock = self._locks.setdefault(kind, asyncio.Lock())
        async with lock:
            connection = await self._connected()
            kept = self._lists.get(kind)
            now = asyncio.get_running_loop().time()
            has_news = connection.tells_of_changes
            if kept is not None and now < kept.until and (has_news or not kept.depends_on_news):
                return kept.items
            return await self._fetch(connection, kind)

    async def _fetch(self, connection: UpstreamConnection, kind: ListKind) -> tuple[dict[str, Any], ...]:
        connection.calls += 1
        try:
            async with asyncio.timeout(self._limits.list_seconds):
                return await self._pages(connection, kind)
        except TimeoutError:
            seconds = self._limits.list_seconds
            raise UpstreamError(f"its list took more than {seconds:g} seconds", "timeout") from None
        except UpstreamError:
            raise
        except Exception as error:
            explained = self._explained(connection, first_cause(error), False)
            if isinstance(explained, _NotReceived):
                connection.retire(explained.error)
                self._note_end(connection)
            explained.is_uncertain = False
            raise explained from None
        finally:
            connection.calls -= 1
            connection.let_go()

    async def _pages(self, connection: UpstreamConnection, kind: ListKind) -> tuple[dict[str, Any], ...]:
        has = connection.client.server_capabilities
        if getattr(has, "resources" if kind == "resource_templates" else kind) is None:
            return ()
        changes = self._changes
        limit = min(self._provider.max_bytes, self._limits.max_bytes)
        session = connection.client.session
        ask: Callable[..., Awaitable[_Page]] = getattr(session, f"list_{kind}")
        items: list[dict[str, Any]] = []
        size, cursor, ttl = 0, None, 0.0
        for _ in range(self._limits.most_pages):
            page = await ask(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            found = page.model_dump(mode="json", by_alias=True, exclude_unset=True)
            new = found["resourceTemplates" if kind == "resource_templates" else kind]
            size += len(to_json(new))
            if size > limit:
                raise UpstreamError(f"its list has more than {limit} bytes", "protocol")
            items += new
            ttl = page.ttl_ms / 1000
            cursor = page.next_cursor
            if not cursor:
                break
        else:
            raise UpstreamError(f"its list has more than {self._limits.most_pages} pages", "protocol")
        masked = tuple(self._mask(items))
        if changes == self._changes:  # otherwise, it may have changed between two pages
            self._keep(connection, kind, masked, ttl)
        return masked

    def _keep(
        self, connection: UpstreamConnection, kind: ListKind, items: tuple[dict[str, Any], ...], ttl: float
    ) -> None:
        depends_on_news = not ttl and connection.tells_of_changes
        longest = self._limits.longest_ttl
        seconds = min(ttl, longest) if ttl else longest if depends_on_news else self._limits.list_ttl
        now = asyncio.get_running_loop().time()
        self._lists[kind] = _List(items, now + seconds, depends_on_news)

    def _mask(self, value: Any) -> Any:
        try:
            return mask_values(value, self._secrets)
        except TooDeep:
            raise UpstreamError(
                "its answer is nested too deeply to be searched for secrets", "protocol"
            ) from None

    def _masked_progress(self, receiver: OnProgress) -> OnProgress:
        async def receive(progress: float, total: float | None, message: str | None) -> None:
            await receiver(progress, total, None if message is None else self._mask(message))

        return receive if self._secrets else receiver


_Page = ListToolsResult | ListPromptsResult | ListResourcesResult | ListResourceTemplatesResult


class _NotReceived(UpstreamError):
    """A request did not reach the server, or the server did not begin with it because it forgot the session."""

    def __init__(self, error: str, *, may_help: bool) -> None:
        super().__init__(error)
        self.may_help = may_help
        """Whether a new connection may help at once."""


class Upstreams(Mapping[str, Upstream]):
    """All servers by name. None is started before it is needed."""

    def __init__(self, upstreams: Mapping[str, Upstream]) -> None:
        self._upstreams = dict(upstreams)

    def __getitem__(self, name: str) -> Upstream:
        return self._upstreams[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._upstreams)

    def __len__(self) -> int:
        return len(self._upstreams)

    async def aclose(self) -> None:
        """End all connections."""
        await asyncio.gather(*(each.aclose() for each in self._upstreams.values()))
