"""Lists of an upstream server: read completely within limits, and cached while they are valid."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import msgspec
from mcp import Client
from mcp_types import (
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic_core import to_json

from orgkernel.toolbox.adapters.upstream_answers import UpstreamError
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits

ListKind = Literal["tools", "prompts", "resources", "resource_templates"]
Definitions = tuple[dict[str, Any], ...]
LIST_KINDS: Final[tuple[ListKind, ...]] = ("tools", "prompts", "resources", "resource_templates")
_Page = ListToolsResult | ListPromptsResult | ListResourcesResult | ListResourceTemplatesResult


class ReadList(msgspec.Struct, frozen=True):
    """A complete list from the server, and its lifetime."""

    items: Definitions
    ttl_seconds: float | None
    """The lifetime in seconds that the server states. None if it states none."""


async def read_list(client: Client, kind: ListKind, limits: UpstreamLimits) -> ReadList:
    """Read all pages of a list; empty if the server has no such list.

    Raises `UpstreamError`, and the errors of the SDK.
    """
    has = client.server_capabilities
    if getattr(has, "resources" if kind == "resource_templates" else kind) is None:
        return ReadList((), None)
    ask: Callable[..., Awaitable[_Page]] = getattr(client.session, f"list_{kind}")
    items: list[dict[str, Any]] = []
    size, cursor = 0, None
    for _ in range(limits.most_pages):
        page = await ask(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        page_fields = page.model_dump(mode="json", by_alias=True, exclude_unset=True)
        new = page_fields["resourceTemplates" if kind == "resource_templates" else kind]
        # Measured over all pages: each page could be small in an endless list.
        size += len(to_json(new))
        if size > limits.max_bytes:
            raise UpstreamError(f"its list has more than {limits.max_bytes} bytes", "protocol")
        items += new
        cursor = page.next_cursor
        if not cursor:
            return ReadList(tuple(items), page.ttl_ms / 1000 or None)
    raise UpstreamError(f"its list has more than {limits.most_pages} pages", "protocol")


class _Kept(msgspec.Struct, frozen=True):
    items: Definitions
    until: float
    needs_announcements: bool
    """Whether it is valid only while the server announces changes."""


class KeptLists:
    """The last lists of a server."""

    def __init__(self, limits: UpstreamLimits) -> None:
        self.changes = 0
        """Number of changes of a list. A list that was read during a change can mix old and new pages."""
        self._limits = limits
        self._kept: dict[ListKind, _Kept] = {}

    def find(self, kind: ListKind, now: float, has_announcements: bool) -> Definitions | None:
        """The cached list, if it is still valid at `now` (seconds of the event loop). `has_announcements`: whether the server announces
        changes now.
        """
        kept = self._kept.get(kind)
        if kept is None or now >= kept.until or (kept.needs_announcements and not has_announcements):
            return None
        return kept.items

    def get_last(self, kind: ListKind) -> Definitions | None:
        """The last list, even if its lifetime is over. None if the server has announced a change or was started again."""
        kept = self._kept.get(kind)
        return None if kept is None else kept.items

    def keep(self, kind: ListKind, read: ReadList, now: float, has_announcements: bool) -> None:
        """Cache a list: for its lifetime, until the server announces a change, or for the default lifetime."""
        if read.ttl_seconds is not None:
            seconds = min(read.ttl_seconds, self._limits.longest_ttl)
        else:
            seconds = self._limits.longest_ttl if has_announcements else self._limits.list_ttl
        self._kept[kind] = _Kept(read.items, now + seconds, has_announcements and read.ttl_seconds is None)

    def drop(self, kind: ListKind) -> bool:
        """Drop a changed list. Returns whether it was cached, because a caller could then have seen it."""
        self.changes += 1
        return self._kept.pop(kind, None) is not None
