"""Which organization a write is for: what is stored belongs to one, unless it is given for all of them by name."""

from __future__ import annotations

from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import listing
from orgkernel.errors import AmbiguousActive, Refused
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


def require_one(org_id: str, what: str) -> None:
    """Raise `Refused` if something that differs between organizations would be stored for all of them."""
    if org_id == ALL_ORGANIZATIONS:
        raise Refused(f"{what} belongs to one organization", "name the organization", NO_ORGANIZATION)
