"""The registry: the last good version of every organization below some paths, read again when its files change."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orgkernel.errors import AmbiguousActive, NotServed, UnknownOrganization
from orgkernel.kernel.names import ACTIVE

if TYPE_CHECKING:
    # The loader is imported when a kernel is opened, because programs import `Kernel` that open none.
    from orgkernel.diagnostics import Diagnostic, Severity
    from orgkernel.kernel.registry_state import RegistryState, Reload, ServedOrganization
    from orgkernel.loading.cache import Cache
    from orgkernel.loading.files import Root
    from orgkernel.snapshots.roots import Request
    from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot

_SAVE_WAIT = 1.0
MAX_COMPARED_ROLES = 5_000
"""The roles of all earlier versions of an organization that are kept together, to compare them with others."""
MAX_EARLIER_VERSIONS = 10
"""The earlier versions of an organization that are kept, if they are small enough."""


class EarlierVersion(NamedTuple):
    """A version of an organization that answered before."""

    snapshot: OrgSnapshot
    until: float
    """When a later version replaced it, in seconds since 1970."""


class Registry:
    """The loaded documents, and the version of each organization that answers. Thread-safe."""

    def __init__(
        self,
        request: Request,
        active: str | None,
        severities: Mapping[str, Severity | None],
        cache: Cache | None,
    ) -> None:
        from orgkernel.kernel.registry_state import compute_next_state
        from orgkernel.snapshots.loader import Loader

        self._request = request
        self._active = active
        self._severities = dict(severities)
        self._loader = Loader(request, severities, cache)
        self._reloading = threading.Lock()
        self._earlier: dict[str, tuple[EarlierVersion, ...]] = {}
        self._state = compute_next_state(self._loader.load(), {})[0]

    @property
    def state(self) -> RegistryState:
        """The current state. Keep it to answer several questions from one version."""
        return self._state

    @property
    def watched(self) -> tuple[str, ...]:
        """Files and folders whose change can change an answer, including missing files in other formats."""
        from orgkernel.loading.files import list_documents_in

        paths: list[str] = []
        sources = self._loader.sources
        for root in (*self._request.roots, *sources.roots):
            if root.areas:
                paths += _list_watched(root)
            elif root.only:  # a folder above, of which only some files are read
                paths += [
                    path for path in (*root.only, *list_documents_in(root.path)) if os.path.exists(path)
                ]
            else:
                paths.append(root.path)
        return tuple(dict.fromkeys((*paths, *sources.awaited)))

    @property
    def foreign_folders(self) -> tuple[str, ...]:
        """The folders among them that contain documents in another format."""
        roots = (*self._request.roots, *self._loader.sources.roots)
        return tuple(path for root in roots for path in _list_watched(root) if os.path.isdir(path))

    @property
    def active(self) -> str | None:
        """The organization that was opened as active."""
        return self._active

    def prefer(self, org_id: str | None) -> None:
        """Make an organization the active one, if there is none yet."""
        self._active = self._active or org_id

    def check(self) -> tuple[Diagnostic, ...]:
        """All findings in the documents, in the order of files.

        >>> from orgkernel import Kernel
        >>> Kernel.open().check()
        ()
        """
        return self._state.latest.diagnostics

    def organization(self, org: str) -> ServedOrganization:
        """The answering version of an organization. `active` is the only served organization, or the one opened as active."""
        state = self._state
        org_id = self._resolve(org, state)
        if org_id in state.served:
            return state.served[org_id]
        from orgkernel.diagnostics import Severity
        from orgkernel.diagnostics.wording import did_you_mean, listing, quote

        if org_id in state.refused:
            errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in state.refused[org_id])
            raise NotServed(
                f"organization {quote(org_id)} has {errors} error{'s' * (errors != 1)}",
                "run `orgkernel check` to see them",
            )
        known = {**state.served, **state.refused}
        help = did_you_mean(org_id, known) or (f"organizations are {listing(known)}" if known else "")
        raise UnknownOrganization(f"there is no organization {quote(org_id)}", help)

    def latest(self, org: str) -> OrgSnapshot:
        """The latest loaded version of an organization, with or without errors, for its author.

        >>> from orgkernel import Kernel
        >>> Kernel.open().latest("blank").has_errors
        False
        """
        state = self._state
        org_id = self._resolve(org, state)
        snapshot = state.latest.organizations.get(org_id)
        return snapshot or self.organization(org).snapshot

    def refusal(self, org: str) -> tuple[Diagnostic, ...]:
        """The findings that keep the latest version of an organization from answering; empty if it answers."""
        state = self._state
        return state.refused.get(self._resolve(org, state), ())

    def reload(self) -> Reload:
        """Load changed files again. An organization that now has errors keeps its last good version.

        The old version keeps answering until the new one is complete.

        >>> from orgkernel import Kernel
        >>> Kernel.open().reload().changed
        False
        """
        from orgkernel.kernel.clock import read_clock
        from orgkernel.kernel.registry_state import compute_next_state

        with self._reloading:
            latest = self._loader.load()
            before = self._state.served
            # One assignment swaps the version. A request that runs keeps the state it began with, and no lock is needed
            # to read.
            self._state, report = compute_next_state(latest, before, self._state.latest)
            self._remember(before, report, read_clock()[0])
            return report

    def _remember(self, before: Mapping[str, ServedOrganization], report: Reload, now: float) -> None:
        for org_id in report.removed:
            self._earlier.pop(org_id, None)
        for org_id in report.updated:
            if org_id in before:
                replaced = EarlierVersion(before[org_id].snapshot, now)
                self._earlier[org_id] = _limit_versions((replaced, *self._earlier.get(org_id, ())))

    def list_earlier(self, org: str) -> tuple[EarlierVersion, ...]:
        """The versions of an organization that answered before, newest first. It is empty if the organization has not
        changed since the start. At most `MAX_EARLIER_VERSIONS` are kept, with `MAX_COMPARED_ROLES` roles together.

        >>> from orgkernel import Kernel
        >>> Kernel.open().list_earlier("blank")
        ()
        """
        return self._earlier.get(self._resolve(org, self._state), ())

    def draft(self, texts: Mapping[str, str]) -> Snapshot:
        """The snapshot with other texts at some paths. Current answers do not change.

        >>> from orgkernel import Kernel
        >>> kernel = Kernel.open()
        >>> kernel.draft({}).digest == kernel.state.latest.digest
        True
        """
        from orgkernel.snapshots.drafts import build_draft

        sources = self._loader.sources
        with self._reloading:
            return build_draft(
                self._state.latest,
                texts,
                (*self._request.roots, *sources.roots),
                self._severities,
                self._request.asked,
                sources.refused,
            )

    def save(self) -> None:
        """Write the latest snapshot to the cache, if there is one. A failure is stored in `problem` of the cache."""
        if not self._reloading.acquire(timeout=_SAVE_WAIT):
            return  # a reload is still running: skip the cache, because a missing entry only costs time
        try:
            self._loader.save()
        finally:
            self._reloading.release()

    def find_department(self, name: str) -> str | None:
        """The id of a department of an organization in another format, by its id or name. Such a department is a source
        that can be read alone. None if there is none.
        """
        for each in self._state.latest.organizations.values():
            if each.records.document.format:
                for department_id, department in each.records.organization.departments.items():
                    if name in (department_id, department.name):
                        return department_id
        return None

    def _get_snapshot_with(self, org: str, role: str) -> OrgSnapshot:
        """The answering version of an organization, which must have this role."""
        snapshot = self.organization(org).snapshot
        snapshot.require_role(role)
        return snapshot

    def _resolve(self, org: str, state: RegistryState) -> str:
        if org != ACTIVE or ACTIVE in state.served:
            return org
        if self._active is not None:
            return self._active
        # An organization with errors is named only if none answers, so that its errors are what the caller reads.
        known = list(state.served or state.refused)
        if len(known) == 1:
            return known[0]
        if main := _find_main_organization(state):
            return main
        if not known:
            raise UnknownOrganization("there is no organization", "start one with `orgkernel new DIR`")
        from orgkernel.diagnostics.wording import listing

        raise AmbiguousActive(
            f"there are {len(known)} organizations and none of them is the active one",
            f"name one of {listing(known)}, or set `active` in orgkernel.toml",
        )


def _limit_versions(versions: Sequence[EarlierVersion]) -> tuple[EarlierVersion, ...]:
    """The newest versions within the limits. A large version would be held in memory for a question that is seldom asked."""
    kept: list[EarlierVersion] = []
    roles = 0
    for version in versions[:MAX_EARLIER_VERSIONS]:
        roles += len(version.snapshot.records.posts)
        if roles > MAX_COMPARED_ROLES:
            break
        kept.append(version)
    return tuple(kept)


def _find_main_organization(state: RegistryState) -> str | None:
    """The organization with the most roles, if all are in other formats: a folder can have agents for several hosts.
    Unlike orgkernel organizations, these are about the same work.
    """
    organizations = [each for each in state.latest.organizations.values() if each.org_id in state.served]
    if not organizations or any(not each.records.document.format for each in organizations):
        return None
    # The host with the most agents is most likely the one that is meant. It must not depend on the order of folders.
    return max(organizations, key=lambda each: len(each.records.posts)).org_id


def _list_watched(root: Root) -> list[str]:
    """The files and folders of a root in another format."""
    return [os.path.normpath(os.path.join(root.path, each.path)) for each in root.areas]
