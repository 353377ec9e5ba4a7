"""The organizations that a credential is valid in (docs/authentication.md).

An agent or a person is a different one in each organization, so the key of a worker in one must not become the key of a chief in
another that declares the same name.
"""

from __future__ import annotations

from manifest_api.guards.caller import Caller
from manifest_api.problems import UNBOUND_CREDENTIAL, WRONG_ORGANIZATION, RequestRefused
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE

_ORGS = "/v1/orgs/"
_CREW_MANIFEST = "/api/ontology/crew-manifest"
_OF_ALL = ("/v1/audit", "/v1/diagnostics")
"""Paths whose answers contain rows or findings of every organization."""


def require_organization(caller: Caller, kernel: Kernel, org: str) -> None:
    """Raise `RequestRefused` if a credential is not valid in an organization, which can be `active`, or `*` for
    all of them.
    """
    if caller.orgs is None:
        return
    if not caller.orgs:
        raise _build_unbound_refusal(caller)
    if org == ALL_ORGANIZATIONS:
        others = sorted({*kernel.state.served, *kernel.state.refused} - caller.orgs)
    else:
        org_id = _find_active(kernel) if org == ACTIVE else org
        # The route reports an organization that does not exist.
        is_known = org_id in kernel.state.served or org_id in kernel.state.refused
        others = [org_id] if org_id is not None and is_known and org_id not in caller.orgs else []
    if others:
        raise RequestRefused(
            WRONG_ORGANIZATION,
            f"the credential is good for {listing(sorted(caller.orgs))}, not for {listing(others)}",
            "use a credential of that organization; `orgkernel key create --org ORG` creates one",
        )


def require_organization_of_path(caller: Caller, kernel: Kernel, path: str) -> None:
    """Raise `RequestRefused` if a credential is not valid in the organization of a path, or in all of them where
    the answer
    contains something of each.
    """
    if caller.orgs is None:
        return
    if path.startswith(_ORGS):
        require_organization(caller, kernel, path[len(_ORGS) :].split("/", 1)[0])
    elif path == _CREW_MANIFEST:
        require_organization(caller, kernel, ACTIVE)
    elif path.startswith(_OF_ALL):
        require_organization(caller, kernel, ALL_ORGANIZATIONS)
    elif not caller.orgs:
        raise _build_unbound_refusal(caller)


def _build_unbound_refusal(caller: Caller) -> RequestRefused:
    key = caller.credential.removeprefix("caller:")
    return RequestRefused(
        UNBOUND_CREDENTIAL,
        f"the credential of {quote(caller.actor.member)} does not name its organization",
        f"an operator states it with `orgkernel key bind {key} --org ORG`"
        if key != caller.credential
        else "the identity provider has to name it in the claim `org_claim` of `[oidc]`",
    )


def _find_active(kernel: Kernel) -> str | None:
    """The active organization. None if there is none, which the route reports."""
    try:
        return kernel.organization(ACTIVE).snapshot.org_id
    except OrgkernelError:
        return None
