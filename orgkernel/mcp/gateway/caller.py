"""The caller through the gateway: an asker whose calls are decided, recorded and made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from orgkernel.mcp.asker import Asker
from orgkernel.mcp.gateway.names import OWN_PREFIX
from orgkernel.mcp.local import LocalAsker
from orgkernel.operations import permissions
from orgkernel.operations.approvals import describe_missing, find_needs
from orgkernel.operations.context import Context, build_actor
from orgkernel.operations.permits import Permits
from orgkernel.toolbox.upstream_tools import UpstreamTools

if TYPE_CHECKING:
    from orgkernel.decisions.access.request import AccessRequest
    from orgkernel.graph.questions import OrgView
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import StoreLocation


_BY_FORM = "answered in a form of the host"


class GatewayCaller(Asker):
    """The subject of a connection or of a key. No argument of a call can name another one."""

    actor_name: str = ""
    """The credential in the audit. Empty for a process that was started for one subject."""
    approver: str = ""
    """The person who answers forms for this caller. Empty if unknown."""
    subject_token: str = ""
    """The token of the identity provider with which it calls. Empty for a caller with an API key, or of this process. It is
    exchanged for tokens of servers, and no server ever gets it.
    """
    tool_prefix: str = OWN_PREFIX

    @property
    def id(self) -> str:
        """Equal for connections of the same caller with the same credential."""
        return f"{self.org_id}/{self.subject}/{self.actor_name}"

    @abstractmethod
    async def tools(self) -> UpstreamTools:
        """The object that decides about calls and makes them. Raises `StoreError`."""

    async def approve(self, request_id: str) -> str:
        """Approve a request in the name of the approver, with its rights. Raises `OrgkernelError`.

        Returns the approvals that are still needed, in words; empty if there is a grant now.
        """
        raise NotImplementedError  # only a process that names an approver gets here

    async def deny(self, request_id: str) -> None:
        """Deny a request in the name of the approver, with its rights. Raises `OrgkernelError`."""
        raise NotImplementedError

    async def view(self) -> OrgView:
        """The current version of the organization."""
        return await self.ask(lambda kernel: kernel.organization(self.org_id).snapshot.index)


class LocalCaller(LocalAsker, GatewayCaller):
    """The role or agent that a process was started for. There has to be a store, because every call is written down."""

    def __init__(
        self,
        kernel: Kernel,
        org_id: str,
        subject: str,
        location: StoreLocation,
        base: AccessRequest,
        approver: str = "",
        unrecorded: Callable[[str], None] | None = None,
    ) -> None:
        """`unrecorded` is called for a call whose outcome could not be recorded."""
        super().__init__(kernel, org_id, subject, location, base)
        self.approver = approver
        opened = self.open_store()
        self._tools = UpstreamTools(Permits(kernel, opened), opened, unrecorded=unrecorded)

    async def approve(self, request_id: str) -> str:
        """Approve it once."""

        def approve_it(context: Context) -> str:
            context = self._answer_forms(context)
            approved, grant = permissions.approve(context, request_id, "once", _BY_FORM)
            return "" if grant else describe_missing(find_needs(context, approved))

        return await self.operate(approve_it)

    async def deny(self, request_id: str) -> None:
        """Deny it."""
        await self.operate(
            lambda context: permissions.deny(self._answer_forms(context), request_id, _BY_FORM)
        )

    def _answer_forms(self, context: Context) -> Context:
        return msgspec.structs.replace(context, actor=build_actor(self.approver))

    async def tools(self) -> UpstreamTools:
        """The object that decides about calls and makes them."""
        return self._tools
