"""What the decision cases of an organization do not ask about: roles, tools, policies, and what denies.

A role or a tool is covered if a case names it, in a question or in an expected answer. A policy is covered if an answer that a
case expects rests on it. A denial is a line that denies for another reason than a policy, such as `restricted_to` of a tool; it
is covered if a case expects a denial for this reason. A list in a case is complete, so it also expects a denial for each
subject or tool that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import LEVEL
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Case, DecisionCases, Tool, WhatCanCase, WhoCanCase
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.sources import SourceDocument
from orgkernel.project.cases import build_context, build_request, open_access
from orgkernel.rules.hygiene.case_names import list_given_names, list_question_names

# A field of a tool that denies, and the reason code of the denial.
_DENYING_FIELDS: Final = {
    "restricted_to": "NOT_IN_RESTRICTED_TO",
    "departments": "NOT_VISIBLE",
    "qualifications": "QUALIFICATION_MISSING",
    "rank_matrix": "RANK_TOO_LOW",
    "enabled": "TOOL_DISABLED",
}
_WORKER: Final = ("WORKER_CANNOT_DISPATCH", "POSITION_CAP")


class CoverageItem(NamedTuple):
    """Something that cases can ask about, and where it is declared."""

    name: str
    """`role:ID`, `tool:ID` or `policy:ID`; for a denial, what denies."""
    text: str
    place: Place


class CoverageSection(NamedTuple):
    """The items of one kind that no case asks about."""

    total: int
    uncovered: tuple[CoverageItem, ...]


class CaseCoverage(NamedTuple):
    """What the cases of one organization do not ask about."""

    org_id: str
    roles: CoverageSection
    tools: CoverageSection
    policies: CoverageSection
    denials: CoverageSection


def compute_coverage(kernel: Kernel, documents: Iterable[SourceDocument]) -> list[CaseCoverage]:
    """For each organization that answers, including one without cases, the items that no case asks about."""
    cases_by_org: dict[str, list[Case]] = {org_id: [] for org_id in kernel.state.served}
    for document in documents:
        assert isinstance(document.record, DecisionCases)
        for case in document.record.cases:
            if case.org in cases_by_org:
                cases_by_org[case.org].append(case)
    return [_compute_organization(kernel, org_id, cases) for org_id, cases in cases_by_org.items()]


def render_coverage(coverage: Iterable[CaseCoverage]) -> Iterator[str]:
    """A line for each section, and a line for each item in it that no case asks about."""
    for each in coverage:
        for title in CaseCoverage._fields[1:]:
            section: CoverageSection = getattr(each, title)
            if not section.total:
                continue
            covered = section.total - len(section.uncovered)
            yield f"{each.org_id}: cases ask about {covered:,} of {section.total:,} {title}"
            yield from (f"  {item.place}: {item.text}" for item in section.uncovered)


def as_data(coverage: Iterable[CaseCoverage]) -> list[dict[str, Any]]:
    """The coverage as plain data, for JSON."""
    return [
        {
            "organization": each.org_id,
            **{title: _render_section_data(getattr(each, title)) for title in CaseCoverage._fields[1:]},
        }
        for each in coverage
    ]


def _render_section_data(section: CoverageSection) -> dict[str, Any]:
    return {
        "total": section.total,
        "uncovered": [
            {"name": item.name, "file": item.place.file, "line": item.place.line, "column": item.place.column}
            for item in section.uncovered
        ],
    }


def _compute_organization(kernel: Kernel, org_id: str, cases: Sequence[Case]) -> CaseCoverage:
    view: OrgView = kernel.organization(org_id).snapshot.index
    questions = _AskedNames(view)
    for case in cases:
        questions.add_names(case)
        # A date that does not exist is reported as a failure.
        with suppress(ValueError):
            questions.add_answers(case, open_access(kernel, case))
    records = view.records
    tools = [records.tools[tool_id] for tool_id in _list_tools(view)]
    roles = [
        CoverageItem(f"role:{role_id}", f"role {quote(role_id)}", post.place("role_id"))
        for role_id, post in records.posts.items()
    ]
    policies = [
        CoverageItem(f"policy:{policy.id}", f"policy {quote(policy.id)}", policy.place())
        for policy in records.policies.values()
        if policy.record.enabled
    ]
    return CaseCoverage(
        org_id,
        _build_section(roles, questions.names),
        _build_section(
            [CoverageItem(f"tool:{tool.id}", f"tool {quote(tool.id)}", tool.place()) for tool in tools],
            questions.names,
        ),
        _build_section(policies, questions.names),
        _build_section(_list_denials(view, tools), questions.names),
    )


def _build_section(items: Iterable[CoverageItem], covered: set[str]) -> CoverageSection:
    everything = tuple(items)
    return CoverageSection(len(everything), tuple(item for item in everything if item.name not in covered))


def _list_tools(view: OrgView) -> list[str]:
    """The tools that the organization declares itself or equips a role with; not all of a shared catalog."""
    equipped = {tool_id for role_id in view.roles for tool_id in view.get_tool_levels(role_id)}
    return [tool.id for tool in view.records.tools.values() if tool.own or tool.id in equipped]


def _list_denials(view: OrgView, tools: Iterable[Definition[Tool]]) -> Iterator[CoverageItem]:
    for tool in tools:
        for field, code in _DENYING_FIELDS.items():
            place = _find_denying_place(view, tool, field)
            if place is not None:
                yield CoverageItem(
                    f"tool:{tool.id} {code}", f"{quote(field)} of tool {quote(tool.id)}", place
                )
    for role_id, post in view.records.posts.items():
        if post.profile.position == "worker":
            text = f"{quote('position: worker')} of role {quote(role_id)}"
            yield CoverageItem(f"role:{role_id} {_WORKER[0]}", text, post.place("position"))


def _find_denying_place(view: OrgView, tool: Definition[Tool], field: str) -> Place | None:
    """Where a field of a tool denies anything; None if it does not."""
    if field == "rank_matrix":
        row = view.records.get_rank_row(tool.id)
        highest = max(LEVEL[level] for level in tool.record.required_levels.values())
        denies = row is not None and any(LEVEL[level] < highest for level in row.levels.values())
        return row.place if row is not None and denies else None
    if field == "enabled":
        return None if tool.record.enabled else tool.place(field)
    return tool.place(field) if getattr(tool.record, field) else None


class _AskedNames:
    """What cases ask about, collected case by case."""

    def __init__(self, view: OrgView) -> None:
        self._view = view
        self.names: set[str] = set()
        """`role:ID`, `tool:ID`, `policy:ID`, and the names of denials."""
        self._policies: dict[tuple[str, int], str] = {}
        for policy in view.records.policies.values():
            places = [edge.place for edge in view.list_tools_covered_by(policy.id)]
            for place in (policy.place(), *places):
                self._policies[place.file, place.line] = policy.id

    def add_names(self, case: Case) -> None:
        """Add the roles and tools that a case names; an agent stands for its roles."""
        for names in (list_given_names(case.given), *list_question_names(case)):
            for name in names:
                if name.kind in ("role", "tool"):
                    self.names.add(f"{name.kind}:{name.name}")
                elif name.kind == "agent":
                    self.names.update(
                        f"role:{edge.target}" for edge in self._view.list_roles_filled_by(name.name)
                    )

    def add_answers(self, case: Case, access: OrganizationAccess) -> None:
        """Add the policies and denials that the answers of a case rest on."""
        for expected in case.access:
            self._add_answer(access, build_request(expected.ask))
        for who in case.who_can:
            for request in self._list_subject_questions(who):
                self._add_answer(access, request)
        for what in case.what_can:
            for request in self._list_resource_questions(what):
                self._add_answer(access, request)

    def _add_answer(self, access: OrganizationAccess, request: AccessRequest) -> None:
        decision, reasons = access.decide_with_reasons(request)
        resource = request.resource
        if resource.startswith("tool:"):
            resource = ":".join(resource.split(":")[:2])
        for reason in reasons:
            for why in reason.why:
                policy_id = self._policies.get((why.file, why.line))
                if policy_id is not None:
                    self.names.add(f"policy:{policy_id}")
        if decision.outcome == "allow":
            return
        self.names.update(f"{resource} {code}" for code in decision.codes)
        if not set(_WORKER).isdisjoint(decision.codes):
            self.names.add(f"{request.subject} {_WORKER[0]}")

    def _list_subject_questions(self, who: WhoCanCase) -> Iterator[AccessRequest]:
        records = self._view.records
        subjects = [*who.are, *who.must_ask]
        if "role" in who.kinds:
            subjects += (f"role:{role_id}" for role_id in records.posts)
        if "agent" in who.kinds:
            subjects += (f"agent:{agent_id}" for agent_id in records.agents)
        context = build_context(who.context)
        for subject in dict.fromkeys(subjects):
            yield AccessRequest(subject, who.action, who.resource, context)

    def _list_resource_questions(self, what: WhatCanCase) -> Iterator[AccessRequest]:
        request = AccessRequest(what.subject, "", "", build_context(what.context), what.on_behalf_of)
        for permissions in (what.can, what.must_ask):
            for resource, actions in permissions.items():
                for action in actions:
                    yield replace(request, action=action, resource=resource)
        if "tool" in what.kinds:
            for tool_id in _list_tools(self._view):
                if f"tool:{tool_id}" not in what.can:
                    yield replace(request, action="use", resource=f"tool:{tool_id}")
