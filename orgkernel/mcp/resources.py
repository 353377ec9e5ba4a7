"""Manifests of roles as resources: `orgkernel://ORG/roles/ROLE`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orgkernel.decisions.access.identity import identify
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.graph.questions import OrgView

TEMPLATE = "orgkernel://{org}/roles/{role}"
_URI = re.compile(r"orgkernel://([^/]+)/roles/([^/?#]+)")


def build_role_uri(org_id: str, role: str) -> str:
    """The URI of the manifest of a role."""
    return f"orgkernel://{org_id}/roles/{role}"


def build_role_uris(org_id: str, roles: Iterable[str]) -> tuple[str, ...]:
    """The URIs of the manifests of some roles."""
    return tuple(build_role_uri(org_id, role) for role in roles)


def list_roles(view: OrgView, subject: str) -> tuple[str, ...]:
    """The roles that a subject is, or fills."""
    known = identify(view, subject)
    return () if known is None or not known.is_crew else known.roles


def read_uri(uri: str, org_id: str) -> str:
    """The role that a URI names in an organization. Raises `UsageError`."""
    match = _URI.fullmatch(uri)
    if match is None or match[1] != org_id:
        raise UsageError(
            f"there is no resource {quote(uri)}", f"manifests are {quote(build_role_uri(org_id, 'ROLE'))}"
        )
    return match[2]
