"""What a toolbox is put together from, as its functions pass it on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.permits import Permits
from orgkernel.records.tool_catalog import Tool
from orgkernel.toolbox.adapters.adapter import Adapter
from orgkernel.toolbox.exclusive import Exclusive
from orgkernel.toolbox.providers import Provider

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

Credentials = Callable[[str], str | None]
"""From the name of a credential to its value; None where there is none."""


@dataclass(frozen=True, slots=True)
class Handover:
    """Whom to turn to when no tool can, as the host reaches them. Each is called with a `Gap`, sync or async.

    None as an answer means: I cannot either.
    """

    reason: Callable[..., Any] | None = None
    """`reason(gap)`: the caller's own reasoning. Without it the result is handed back to the caller."""
    ask: Callable[..., Any] | None = None
    """`ask(superior, gap)`: a superior, as `role:ID`, nearest first."""
    report: Callable[..., Any] | None = None
    """`report(top, gap)`: whoever is at the top is told; the answer does not matter."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one toolbox."""

    store: Store | None
    permits: Permits
    providers: Mapping[str, Provider]
    adapters: Mapping[str, Adapter]
    exclusive: Exclusive | None
    credentials: Credentials | None
    handover: Handover

    @property
    def kernel(self) -> Kernel:
        """The kernel, as it is now."""
        return self.permits.kernel

    def view(self, org: str) -> OrgView:
        """The organization as it is served now."""
        return self.kernel.organization(org).snapshot.index

    def tool(self, org: str, tool_id: str) -> Tool | None:
        """The declaration of a tool; None where nothing declares it."""
        found = self.view(org).records.tools.get(tool_id)
        return None if found is None else found.record

    def path_in(self, tool_id: str, tool_input: Mapping[str, Any]) -> str | None:
        """The path an input names: never one the caller states beside it, because the tool does not read that."""
        provider = self.providers.get(tool_id)
        if provider is None or provider.path_from is None:
            return None
        path = tool_input.get(provider.path_from)
        return path if isinstance(path, str) else None
