"""Choose the organization of a write. A stored row belongs to one organization, unless it is explicitly for all of
them.
"""

from __future__ import annotations

from orgkernel.decisions.evidence.state_records import PermissionRequest
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction
from orgkernel.diagnostics.wording import listing
from orgkernel.errors import AmbiguousActive, Refused, UnknownRecord
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.context import Context

NO_ORGANIZATION = "NO_ORGANIZATION"


def choose_organization(context: Context, org_name: str | None) -> str:
    """The named organization, or `*`; without a name, the served or active one.

    The operation checks whether a named one exists. Raises `Refused` and `AmbiguousActive`.
    """
    if org_name not in (None, ACTIVE):
        return org_name
    if context.kernel is None:
        raise Refused(
            "no organization is named, and there are no documents that declare one",
            f"name one, or all of them: `--all-orgs` on the command line, `{ALL_ORGANIZATIONS}` over HTTP",
            NO_ORGANIZATION,
        )
    try:
        return context.kernel.organization(ACTIVE).snapshot.org_id
    except AmbiguousActive as error:
        state = context.kernel.state
        known = listing(state.served or state.refused)
        help = f"name one of {known}, or all of them: `--all-orgs` on the command line, `{ALL_ORGANIZATIONS}` over HTTP"
        raise AmbiguousActive(error.message, help) from None


def is_valid_in(record: Grant | Restriction | PermissionRequest, org_id: str | None) -> bool:
    """Whether a record applies in an organization: it was made for that one, or for all of them.

    None and `*` stand for any organization.

    >>> [is_valid_in(Grant("g1", "agent:ann", ("tool:radio",), org_id=each), "shop") for each in ("shop", "yard", "*")]
    [True, False, True]
    """
    if org_id in (None, ALL_ORGANIZATIONS):
        return True
    # A request from a version without organizations in requests has none.
    return record.org_id in (org_id, ALL_ORGANIZATIONS, None)


def require_in(
    context: Context, org: str | None, record: Grant | Restriction | PermissionRequest | None, name: str
) -> None:
    """Raise `UnknownRecord` if the record belongs to another organization than the named one. Without a name, any is
    accepted.

    The answer is the same for a record of another organization, so it does not reveal that such a record exists.
    """
    if org is None:
        return
    if record is None or not is_valid_in(record, choose_organization(context, org)):
        raise UnknownRecord(f"there is no {name}", "it may belong to another organization")


def require_one(org_id: str, what: str) -> None:
    """Raise `Refused` if a row that differs between organizations would be stored for all of them."""
    if org_id == ALL_ORGANIZATIONS:
        raise Refused(f"{what} belongs to one organization", "name the organization", NO_ORGANIZATION)
