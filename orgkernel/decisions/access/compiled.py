"""The tables that access decisions about one organization read: subjects and resources, compiled on first use."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec.structs import replace

from orgkernel.decisions.access.circumstances import with_status
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.identity import UNKNOWN_SENDER, add_role, identify
from orgkernel.decisions.access.layer import LayerOrder
from orgkernel.decisions.access.limits import find_limits_of
from orgkernel.decisions.access.policies import PolicyTable
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import (
    Resource,
    build_resource,
    find_named_credentials,
)
from orgkernel.decisions.access.stated import StatedPaths, read_stated_paths
from orgkernel.decisions.access.subject import Subject, build_undeclared_subject
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.documents.records import BUILT_IN_ORIGINS, USER
from orgkernel.graph.questions import OrgView

if TYPE_CHECKING:
    from orgkernel.shell.catalog import CommandPrograms


class AccessTables:
    """The subjects and resources of one organization, compiled on first use, with the values cached for them."""

    def __init__(self, view: OrgView, policies: PolicyTable, order: LayerOrder) -> None:
        # INVARIANT: these tables do not keep the view alive. The view owns them, so a replaced version is freed at once.
        self._view = ref(view)
        self.org_id = view.org_id
        self.snapshot = view.digest
        self.root = view.records.organization.workspace_root
        self.policies = policies
        self.order = order
        self.subjects: dict[str, Subject] = {}
        """Declared subjects that were used so far, by name."""
        self.resources: MutableMapping[str, Resource] = {}
        """Declared resources that were used so far, by name."""
        self.undeclared = build_undeclared_subject(view)
        self.reasons: dict[tuple[str, ...], tuple[Reason, ...]] = {}
        """Reasons that depend only on documents, by action, subject, resource and codes."""
        self.holding: dict[str, tuple[str, ...]] = {}
        """The roles that have a resource through their own profile, by resource."""
        self.helpful: dict[str, tuple[str, ...]] = {}
        """The roles that could give access to a resource, by resource."""
        self.rows: dict[tuple[str, str], tuple[AccessRow, ...]] = {}
        """The rows of roles that can perform an action on a resource, where only documents decide."""
        self._stored_roles: tuple[StateView, frozenset[str]] | None = None

    @property
    def view(self) -> OrgView:
        """The organization. The caller must keep it alive, because these tables refer to it weakly."""
        view = self._view()
        assert view is not None
        return view

    @cached_property
    def tool_resources(self) -> dict[str, str]:
        """Every declared tool as a resource name, each one shared string. Thousands of roles refer to them."""
        return {tool: f"tool:{tool}" for tool in self.view.records.tools}

    @cached_property
    def command_programs(self) -> CommandPrograms | None:
        """The command catalog of the organization; None if it adds nothing to the shipped one."""
        # Imported here, because most organizations add nothing to the command catalog.
        from orgkernel.decisions.command_programs import build_programs

        return build_programs(self.view.records) if self.view.records.programs else None

    @cached_property
    def has_file_scopes(self) -> bool:
        """Whether any role has a `file_scope`."""
        return any(post.profile.file_scope for post in self.view.records.posts.values())

    def read_paths(
        self, resource: Resource, named_path: str | None, tool_input: Mapping[str, Any] | None
    ) -> StatedPaths | None:
        """The paths that a request states; None if it states none."""
        if named_path is None and (tool_input is None or not resource.path_arguments):
            return None
        return read_stated_paths(named_path, resource.path_arguments, tool_input, self.root)

    def with_status(self, request: AccessRequest, state: StateView) -> AccessRequest:
        """A request with the recorded alert and watch, if a policy depends on them, so a caller cannot choose them.

        A recorded value that is no longer declared is ignored.
        """
        if not state.status or not self.policies.match_status:
            return request
        return replace(request, context=with_status(request.context, state, self.declared_status))

    @cached_property
    def declared_status(self) -> Mapping[str, tuple[str, ...]]:
        """The declared alerts and watches of the organization."""
        organization = self.view.records.organization
        return {"alert": organization.alerts, "watch": organization.watches}

    @cached_property
    def credentials(self) -> dict[str, None]:
        """The declared credentials."""
        return find_named_credentials(self.view.records)

    @cached_property
    def outside(self) -> dict[str, tuple[str, ...]]:
        """All declared subjects outside the crew, by kind, in the order of declaration."""
        records = self.view.records
        names = {
            "person": (*records.people, USER, UNKNOWN_SENDER),
            "system": (*BUILT_IN_ORIGINS, *records.system_origins),
            "webhook": tuple(records.webhooks),
        }
        return {kind: tuple(f"{kind}:{name}" for name in dict.fromkeys(names[kind])) for kind in names}

    def find_subject(self, subject_name: str) -> Subject | None:
        """The subject with this name; None if no document declares it."""
        subject = self.subjects.get(subject_name)
        if subject is None:
            identity = identify(self.view, subject_name)
            if identity is None:
                return None
            subject = Subject(self.view, self.policies, identity, self.tool_resources)
            # A subject can be written in several ways. Only its own name is a key, so names of callers cannot fill the
            # table.
            if subject_name == subject.subject:
                self.subjects[subject_name] = subject
        return subject

    def add_role_to_subject(self, subject: Subject, role: str, resource: Resource) -> Subject:
        """A subject that also fills another role, for one resource. Remedies assume this."""
        other = self.find_subject(f"role:{role}")
        assert other is not None
        wider = add_role(self.view, subject.identity, role)
        return subject.add_roles(self.view, self.policies, wider, other, resource.resource)

    def find(self, resource_name: str) -> tuple[Resource, str | None]:
        """The resource with this name, and the requested path within it, if any."""
        cached_resource = self.resources.get(resource_name)
        if cached_resource is not None:
            return cached_resource, None
        resource, path = build_resource(self.view, resource_name, lambda: self.credentials)
        if resource.unknown:
            return resource, path
        if resource.kind == "tool":
            resource.resource = self.tool_resources[resource.id]
            resource.has_file_scope = resource.opens_files and self.has_file_scopes
            resource.is_divided = self.policies.has_policies_about_parts(resource.kind, resource.id)
            resource.limits = find_limits_of(self.view.records.limits, resource.id)
        resource.depends_on_circumstances = (
            self.policies.depends_on_circumstances or bool(resource.limits) or bool(resource.input_limits)
        )
        return self.resources.setdefault(resource.resource, resource), path

    def find_roles_with_stored_rows(self, state: StateView) -> frozenset[str]:
        """The roles that have stored grants, restrictions or a raised tier in this state. Cached for one state."""
        known = self._stored_roles
        if known is None or known[0] is not state:
            keys = (*state.grants, *state.restrictions, *state.raised)
            known = self._stored_roles = state, frozenset(key for key in keys if key.startswith("role:"))
        return known[1]

    def copy_without_policies(self, policies: frozenset[str]) -> AccessTables:
        """The same tables without some policies. Remedies assume this."""
        tables = AccessTables(self.view, self.policies.copy_without(policies), self.order)
        # INVARIANT: a resource that is first used with fewer policies is kept apart. Whether a policy is about a part of
        # it depends on the policies, and a decision with all of them must not find the smaller answer.
        tables.resources = ChainMap({}, self.resources)
        return tables
