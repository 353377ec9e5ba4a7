"""The caller over MCP. Each way to connect (stdio, HTTP, the gateway) creates an `Asker`, and every tool acts
with its rights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context
from orgkernel.operations.decisions import Answered

T = TypeVar("T")


class Asker(ABC):
    """The subject that asks, its organization, and the scopes of its credential."""

    def __init__(
        self,
        org_id: str,
        subject: str,
        scopes: frozenset[KeyScope],
        base: AccessRequest | None = None,
    ) -> None:
        """`base` has the circumstances that are the same for every question, such as the delegation path."""
        self.org_id = org_id
        self.subject = subject
        self.scopes = scopes
        self.base = base or AccessRequest(subject, "", "")

    tool_prefix: str = ""
    """The beginning of the names of orgkernel's own tools in front of the host."""
    has_self_service: bool = True
    """Whether it has the tools of orgkernel itself."""

    def may(self, scope: KeyScope) -> bool:
        """Whether the credential has a scope."""
        return scope in self.scopes or "admin" in self.scopes

    @abstractmethod
    async def ask(self, question: Callable[[Kernel], T]) -> T:
        """Ask the kernel something, without keeping other messages waiting."""

    @abstractmethod
    async def decide(self, request: AccessRequest) -> Answered:
        """Decide, and wait for the audit row if there is a store. A question does not consume a use of a grant."""

    @abstractmethod
    async def operate(self, operation: Callable[[Context], T]) -> T:
        """Make a change in the name of the subject."""
