"""The caller over `/mcp`: the agent or the person that the key belongs to, in the organization that declares it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool

from manifest_api import problems
from manifest_api.auditing import Auditor
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.guards.organizations import require_organization
from manifest_api.metrics import count_decision
from manifest_api.problems import RequestRefused
from manifest_api.store_log import log_store_failure
from manifest_api.store_requests import operate
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Refused, StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.asker import Asker
from orgkernel.operations.context import Context
from orgkernel.operations.decisions import Answered

logger = logging.getLogger("orgkernel.server")

T = TypeVar("T")
_CREATE = "`orgkernel key create NAME --agent ID --scope read` creates one"


class HttpAsker(Asker):
    """A subject that asks with a key."""

    def __init__(
        self, request: Request, caller: Caller, org_id: str, subject: str, base: AccessRequest | None = None
    ) -> None:
        super().__init__(org_id, subject, caller.scopes, base)
        self._request = request
        self.caller = caller
        self._kernel: Kernel = request.app.state.answers.kernel

    async def ask(self, question: Callable[[Kernel], T]) -> T:
        """Ask in a thread, so that no request waits for it."""
        try:
            return await run_in_threadpool(question, self._kernel)
        except StoreError as error:
            raise without_path(error) from None

    async def decide(self, request: AccessRequest) -> Answered:
        """Decide and audit as an evaluation. The scope `report` is left out, so asking does not use up a grant."""
        auditor: Auditor = self._request.app.state.auditor
        asking = replace(self.caller, scopes=frozenset({"read"}))
        try:
            answered = await auditor.finish(await auditor.begin(self.org_id, request, asking))
        except StoreError as error:
            raise without_path(error) from None
        except RequestRefused as error:
            raise Refused(error.detail, error.help, error.kind.code) from None
        count_decision(self._request, answered[0].outcome, "mcp")
        return answered

    async def operate(self, operation: Callable[[Context], T]) -> T:
        """Make a change as the routes do."""
        try:
            done = await operate(self._request, self.caller, operation)
        except StoreError as error:
            raise without_path(error) from None
        except RequestRefused as error:
            raise Refused(error.detail, error.help, error.kind.code) from None
        self._request.app.state.feed.wake()
        return done


def without_path(error: StoreError) -> Refused:
    """The error without the path of the store, which is for the log only."""
    log_store_failure(f"the store failed: {error.message}")
    kind = problems.KINDS.get(error.code, problems.STORE_FAILED)
    return Refused(kind.title.lower(), problems.find_store_help(error), kind.code)


def find_asker(request: Request, org: str | None) -> HttpAsker:
    """The asker of a request. Raises the errors of `find_member`."""
    return HttpAsker(request, *find_member(request, org))


def find_member(request: Request, org: str | None) -> tuple[Caller, str, str]:
    """The caller, the organization, and its member that the key belongs to.

    Raises `RequestRefused`, and `UnknownOrganization` and `NotServed` for a named organization.
    """
    caller = require_scope(request, "read")
    if not caller.is_known:
        raise RequestRefused(
            problems.KEY_REQUIRED,
            "MCP answers questions about the caller, so it needs the key of an agent or of a person",
            f"send `Authorization: Bearer KEY`; {_CREATE}",
        )
    subject = caller.actor.member
    if not subject:
        raise RequestRefused(
            problems.NO_SUBJECT,
            "the key does not belong to an agent or a person",
            f"use the key of an agent or a person; {_CREATE}",
        )
    kernel: Kernel = request.app.state.answers.kernel
    return caller, _find_organization(kernel, caller, subject, org), subject


def _find_organization(kernel: Kernel, caller: Caller, subject: str, org: str | None) -> str:
    """The organization for a subject: the one in the URL, or the only or active one that declares it and that its
    credential is valid in.
    """
    if org is not None:
        require_organization(caller, kernel, org)
        named = kernel.organization(org).snapshot
        if not _is_declared(kernel, named.org_id, subject):
            raise RequestRefused(
                problems.NO_SUBJECT,
                f"organization {quote(named.org_id)} does not declare {quote(subject)}",
                "name another organization, or use another key",
            )
        return named.org_id
    org_ids = [
        each
        for each in kernel.state.served
        if (caller.orgs is None or each in caller.orgs) and _is_declared(kernel, each, subject)
    ]
    if len(org_ids) == 1:
        return org_ids[0]
    if not org_ids:
        raise RequestRefused(
            problems.NO_SUBJECT,
            f"no organization that is served and that the credential is good for declares {quote(subject)}",
            "declare it, or use another key",
        )
    active = kernel.active
    if active in org_ids:
        return active
    raise RequestRefused(
        problems.AMBIGUOUS_ACTIVE,
        f"{quote(subject)} belongs to {listing(org_ids)}",
        f"name one in the URL, such as {quote(f'/mcp?org={org_ids[0]}')}",
    )


def _is_declared(kernel: Kernel, org_id: str, subject: str) -> bool:
    declared_subject = get_access_tables(kernel.organization(org_id).snapshot.index).find_subject(subject)
    return declared_subject is not None and declared_subject.identity.kind != "unknown"
