"""Which organization a write is for: what is stored belongs to one, unless it is given for all of them by name."""

from __future__ import annotations

from orgkernel.decisions.evidence.state_records import PermissionRequest
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction
from orgkernel.diagnostics.wording import listing
from orgkernel.errors import AmbiguousActive, Refused, UnknownRecord
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.context import Context

NO_ORGANIZATION = "NO_ORGANIZATION"


def choose_organization(context: Context, named: str | None) -> str:
    """The organization that is named, or `*`; without a name, the one that is served or active.

    Whether a named one exists is for the operation to say. Raises `Refused` and `AmbiguousActive`.
    """
    if named not in (None, ACTIVE):
        return named
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
    """Whether a record counts in an organization: it was made for that one, or for all of them.

    None and `*` stand for any organization.

    >>> [is_valid_in(Grant("g1", "agent:ann", ("tool:radio",), org_id=each), "shop") for each in ("shop", "yard", "*")]
    [True, False, True]
    """
    if org_id in (None, ALL_ORGANIZATIONS):
        return True
    # A request from before requests belonged to organizations has none.
    return record.org_id in (org_id, ALL_ORGANIZATIONS, None)


def require_in(
    context: Context, org: str | None, record: Grant | Restriction | PermissionRequest | None, name: str
) -> None:
    """Raise `UnknownRecord` if the named organization has no such record. No name stands for any of them.

    The answer is the same for a record that exists elsewhere, so that it does not tell what other organizations have.
    """
    if org is None:
        return
    if record is None or not is_valid_in(record, choose_organization(context, org)):
        raise UnknownRecord(f"there is no {name}", "it may belong to another organization")


def require_one(org_id: str, what: str) -> None:
    """Raise `Refused` if something that differs between organizations would be stored for all of them."""
    if org_id == ALL_ORGANIZATIONS:
        raise Refused(f"{what} belongs to one organization", "name the organization", NO_ORGANIZATION)
