"""The kernel: one registry that holds the last good version of every organization and answers from it."""

from __future__ import annotations

import copy
import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from orgkernel.errors import Refused, UnknownAgent, UnknownBill, UnknownRole
from orgkernel.kernel.answer_version import AnswerVersions
from orgkernel.kernel.manifest_cache import ManifestCache
from orgkernel.kernel.registry import Registry

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    # Modules that only some questions need are imported there, because a command asks only one question.
    from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow
    from orgkernel.decisions.access.envelope import AccessEnvelope
    from orgkernel.decisions.access.policy_effect import PolicyExplanation
    from orgkernel.decisions.access.request import AccessContext, AccessRequest
    from orgkernel.decisions.crew.promotion import PromotionDecision
    from orgkernel.decisions.crew.skill_profile import SkillProfile
    from orgkernel.decisions.crew.vacancies import VacancyAnswer
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision
    from orgkernel.decisions.dispatch.embedding import Embedder
    from orgkernel.decisions.dispatch.routing_report import RoutingReport
    from orgkernel.decisions.dispatch.task_state import PreviousTask
    from orgkernel.decisions.evidence.qualifications import QualificationRecord
    from orgkernel.decisions.evidence.service_record import PersonalityDrift
    from orgkernel.decisions.evidence.state_records import ToolUsage
    from orgkernel.decisions.handoff.briefs import HandoffBriefs
    from orgkernel.decisions.handoff.permission import (
        HandoffPermission,
        HandoffQuestion,
        HandoffVerdict,
    )
    from orgkernel.decisions.ownership.sacred import SacredFiles
    from orgkernel.decisions.reasons import Reason
    from orgkernel.decisions.status.pace import RolePace
    from orgkernel.decisions.work.batches.answer import PlannedText
    from orgkernel.decisions.work.bills.instance import BillAssignment, BillInstance, NextSteps
    from orgkernel.decisions.work.capability.handling import HandlingDecision, HandlingRequest
    from orgkernel.decisions.work.capability.orders import StandingOrders
    from orgkernel.decisions.work.capability.proposals import Proposals
    from orgkernel.decisions.work.capability.skills import SkillList
    from orgkernel.decisions.work.contracts.terms import ContractTerms
    from orgkernel.diagnostics import Diagnostic, Severity
    from orgkernel.documents.records import CommitRules
    from orgkernel.graph.questions import OrgView
    from orgkernel.kernel.access import OrganizationAccess
    from orgkernel.kernel.answer_version import AnswerVersion
    from orgkernel.kernel.capability import SkillDisclosed, SkillResource
    from orgkernel.kernel.clock import Clock, StateSource
    from orgkernel.loading.cache import Cache
    from orgkernel.loading.files import SourceText
    from orgkernel.loading.sources import SourceDocument
    from orgkernel.manifest.bills import BillList, BillPage
    from orgkernel.manifest.crew import AgentFilter, AgentList
    from orgkernel.manifest.filters import RoleFilter
    from orgkernel.manifest.v1 import AgentManifest, OrganizationManifest, RoleManifest
    from orgkernel.runtime.observation import Observation
    from orgkernel.runtime.salute import Situation
    from orgkernel.snapshots.roots import Request


class Kernel(Registry):
    """Answers for all organizations below some paths. Safe to use from several threads.

    >>> kernel = Kernel.open()
    >>> list(kernel.state.served)
    ['blank', 'household', 'omega', 'sigint_alpha', 'software_dev', 'starship']
    """

    def __init__(
        self,
        request: Request,
        *,
        active: str | None = None,
        severities: Mapping[str, Severity | None] | None = None,
        cache: Cache | None = None,
        store: StateSource | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(request, active, severities or {}, cache)
        self._store = store
        self._clock = clock
        self._kept = ManifestCache()
        self._answer_versions = AnswerVersions()

    @classmethod
    def open(
        cls, *paths: str | os.PathLike[str], active: str | None = None, store: StateSource | None = None
    ) -> Kernel:
        """Read and check everything at the paths; without a path, the organizations that come with the package.

        Errors in documents do not raise: ask `check`. Raises `NothingToRead` for a path that does not exist. Access
        is decided with the state of `store`; without one, as if nothing had been stored.

        >>> Kernel.open(active="software_dev").organization("active").snapshot.org_id
        'software_dev'
        """
        from orgkernel.snapshots.roots import build_shipped_request, resolve_paths

        named = [os.fspath(path) for path in paths]
        request = resolve_paths(named, os.getcwd()) if named else build_shipped_request()
        return cls(request, active=active, store=store)

    def with_store(self, store: StateSource | None, clock: Clock | None = None) -> Kernel:
        """The same documents, with decisions that use another state or another clock.

        >>> Kernel.open(active="blank").with_store(None).organization("active").snapshot.org_id
        'blank'
        """
        other = copy.copy(self)
        other._store = store
        other._clock = clock or self._clock
        other._kept = ManifestCache()
        other._answer_versions = AnswerVersions()
        return other

    def as_of(self, at: float) -> Kernel:
        """The same documents, with the state and the clock of another time, in seconds since 1970.

        orgkernel keeps no history of documents; the digest in an answer identifies them. Raises `Refused` for a source of
        state without a history. If the history of that time was dropped, the questions raise `Refused`.

        >>> Kernel.open().as_of(0.0).agents("household").agents[0].rank
        'commander'
        """
        from orgkernel.kernel.clock import PastState, StateHistory, read_clock

        offset = (self._clock or read_clock)()[1]
        source = self._store
        if source is not None and not isinstance(source, StateHistory):
            raise Refused("the source of the state has no history", "leave the time out")
        return self.with_store(None if source is None else PastState(source, at), lambda: (at, offset))

    @property
    def answer_version(self) -> AnswerVersion:
        """The version of current answers. It is the same object while no answer can change. Raises `StoreError`."""
        return self._answer_versions.current(self._state, self._store, self._clock)

    def drift(self) -> tuple[Diagnostic, ...]:
        """Differences between stored state and documents. Raises `StoreError`.

        >>> Kernel.open().drift()
        ()
        """
        if self._store is None:
            return ()
        from orgkernel.kernel.drift import find_drift

        return find_drift(self._state.latest, self._store.read_view, self._severities)

    def dispatch(
        self,
        org: str,
        domain: str | None = None,
        *,
        intent: str | None = None,
        text: str | None = None,
        needs: Sequence[str] = (),
        all_considered: bool = False,
        as_documents: bool = False,
        embedder: Embedder | None = None,
        previous: PreviousTask | None = None,
    ) -> DispatchDecision:
        """The role that takes a task, and why. The task is stated as exactly one of a domain, an intent, or plain text.

        With a store, the answer also has the agents who can take the task now, unless `as_documents` is set. An
        `embedder` compares meanings; without one, that of `orgkernel[meaning]` does if it is installed. With `previous`, a text
        that names no other work keeps the role of the task before it; `task` of the answer is the `previous` for the next text.
        Raises `UnknownOrganization` or `NotServed`, and `TypeError` unless exactly one of `domain`, `intent` and `text` is given,
        or if `previous` is given without `text`.

        >>> kernel = Kernel.open()
        >>> decision = kernel.dispatch("software_dev", "coding", needs=["text_editor"])
        >>> decision.role_id, [reason.code for reason in decision.reasons]
        ('codegen_specialist', ['ALIAS', 'HANDLES_DOMAIN', 'ONLY_CANDIDATE'])
        >>> kernel.dispatch("software_dev", text="The login page crashes since this morning").role_id
        'bugfix_specialist'
        """
        if sum(each is not None for each in (domain, intent, text)) != 1:
            raise TypeError("dispatch takes exactly one of `domain`, `intent` and `text`")
        if previous is not None and (text is None or embedder is not None):
            raise TypeError("dispatch takes `previous` only with `text`, and without an `embedder`")
        index = self.organization(org).snapshot.index
        if domain is not None:
            decision = _import_domain_dispatch()(index, domain, needs=needs, all_considered=all_considered)
        elif intent is not None:
            from orgkernel.decisions.dispatch.by_intent import decide_by_intent

            decision = decide_by_intent(index, intent, needs=needs, all_considered=all_considered)
        elif previous is not None and text is not None:
            decision = self._follow_up(org, text, previous, needs, all_considered)
        else:
            from orgkernel.decisions.dispatch.by_text import decide_by_text
            from orgkernel.kernel.word_vectors import find_word_vectors

            assert text is not None
            decision = decide_by_text(
                index,
                text,
                needs=needs,
                all_considered=all_considered,
                embedder=embedder or find_word_vectors(),
            )
        if self._store is None or as_documents:
            return decision
        from orgkernel.decisions.dispatch.by_agent import choose_agents

        org_access = self.access(org)
        context = org_access.build_current_context()
        return choose_agents(
            org_access.view, org_access.state, decision, needs, context, all_considered=all_considered
        )

    def _follow_up(
        self, org: str, text: str, previous: PreviousTask, needs: Sequence[str], all_considered: bool
    ) -> DispatchDecision:
        from orgkernel.decisions.access.request import AccessRequest
        from orgkernel.decisions.dispatch.follow_up import decide_follow_up

        org_access = self.access(org)

        def may_hand_off(sender: str, receiver: str) -> bool:
            return (
                org_access.decide(AccessRequest(f"role:{sender}", "handoff", f"role:{receiver}")).outcome
                == "allow"
            )

        return decide_follow_up(
            org_access.view,
            text,
            previous,
            org_access.clock()[0],
            may_hand_off,
            needs=needs,
            all_considered=all_considered,
        )

    def report_routing(self, org: str, *, embedder: Embedder | None = None) -> RoutingReport:
        """Where the organization's own examples and triggers lead, and which roles sentences confuse. Raises
        `UnknownOrganization` or `NotServed`.

        >>> report = Kernel.open().report_routing("household")
        >>> report.examples == report.examples_right
        True
        """
        from orgkernel.decisions.dispatch.routing_report import report_routing
        from orgkernel.kernel.word_vectors import find_word_vectors

        return report_routing(self.organization(org).snapshot.index, embedder or find_word_vectors())

    def graph(self, org: str) -> MultiDiGraph[str]:
        """The organization as a new networkx graph, which you can change. Its form is described on the page
        `docs/how-to/ask-the-graph.md`. Raises `UnknownOrganization` or `NotServed`.

        >>> graph = Kernel.open().graph("software_dev")
        >>> command = [(a, b) for a, b, kind in graph.edges(data="kind") if kind == "reports_to"]
        >>> import networkx
        >>> networkx.shortest_path(networkx.DiGraph(command), "role:bugfix_specialist", "role:user")
        ['role:bugfix_specialist', 'role:engineering_xo', 'role:co', 'role:user']
        """
        from orgkernel.graph.export import build_networkx

        snapshot = self.organization(org).snapshot
        return build_networkx(snapshot.records, snapshot.columns)

    def can(self, org: str, request: AccessRequest) -> AccessDecision:
        """Decide whether a request is allowed, with the deciding codes. Raises as `dispatch`.

        >>> from orgkernel import AccessRequest
        >>> request = AccessRequest("role:research_xo", "terminal", "tool:code_execution_tool")
        >>> decision = Kernel.open().can("software_dev", request)
        >>> decision.outcome, decision.codes
        ('deny', ('NOT_BOUND_TO_ROLE',))
        """
        return self.access(org).decide(request)

    def can_with_reasons(self, org: str, request: AccessRequest) -> tuple[AccessDecision, tuple[Reason, ...]]:
        """The decision, and a text for each of its codes with the supporting lines.

        >>> from orgkernel import AccessRequest
        >>> request = AccessRequest("role:co", "use", "tool:scheduler")
        >>> decision, reasons = Kernel.open().can_with_reasons("software_dev", request)
        >>> decision.outcome, reasons[0].why[0].file
        ('allow', 'templates/software_dev/roles/co.yaml')
        """
        return self.access(org).decide_with_reasons(request)

    def why(self, org: str, request: AccessRequest, *, counted: int = 0) -> AccessExplanation:
        """The decision with a line for each layer, its reasons, its remedies, and the subjects that already can.

        The first `counted` remedies also state what else they would allow.

        >>> from orgkernel import AccessRequest
        >>> request = AccessRequest("role:research_xo", "terminal", "tool:code_execution_tool")
        >>> explanation = Kernel.open().why("software_dev", request)
        >>> explanation.remedies[0].commands
        ('orgkernel grant issue role:research_xo tool:code_execution_tool --level full --org software_dev',)
        >>> explanation.who_can.subjects
        ('role:codegen_specialist', 'role:bugfix_specialist', 'role:devops_specialist', 'role:analysis_specialist', 'role:osint_specialist')
        """
        return self.access(org).explain(request, counted)

    def who_can(
        self,
        org: str,
        action: str,
        resource: str,
        *,
        context: AccessContext | None = None,
        kinds: Iterable[str] | None = None,
    ) -> tuple[AccessRow, ...]:
        """The subjects that may do this, must ask for it, or could in other circumstances.

        >>> rows = Kernel.open().who_can("software_dev", "use", "tool:scheduler")
        >>> [(row.subject, row.outcome) for row in rows]
        [('role:co', 'allow')]
        """
        return self.access(org).who_can(action, resource, context, kinds)

    def what_can(
        self,
        org: str,
        subject: str,
        *,
        request: AccessRequest | None = None,
        kinds: Iterable[str] = ("tool",),
    ) -> tuple[AccessRow, ...]:
        """The resources that a subject may use, must ask for, or could use in other circumstances. `request` states the
        circumstances.

        >>> rows = Kernel.open().what_can("software_dev", "role:research_xo", kinds=["role"])
        >>> [(row.resource, row.actions) for row in rows]
        [('role:co', ('escalate',)), ('role:analysis_specialist', ('handoff',)), ('role:osint_specialist', ('handoff',))]
        """
        return self.access(org).what_can(subject, request, kinds)

    def explain_policy(
        self, org: str, policy: str, context: AccessContext | None = None
    ) -> PolicyExplanation:
        """The subjects that a policy matches, and the answers that depend on it now. Raises `UsageError` for an unknown policy.

        >>> Kernel.open().explain_policy("household", "block-unknown").subjects
        ('person:unknown',)
        """
        return self.access(org).explain_policy(policy, context)

    def envelope(self, org: str, subject: str, context: AccessContext | None = None) -> AccessEnvelope:
        """Everything that a sender may use in some circumstances: session, tools, credentials, data, and the deciding
        policies.

        >>> Kernel.open().envelope("household", "person:owner").routing.session_key
        'main'
        """
        return self.access(org).envelope(subject, context)

    def standing_orders(self, org: str, role: str) -> StandingOrders:
        """The standing orders of a role, highest precedence first. Raises as `manifest`.

        >>> Kernel.open().standing_orders("software_dev", "co").sections
        ()
        """
        from orgkernel.kernel.capability import ask_orders

        self._get_snapshot_with(org, role)
        return ask_orders(self.access(org), role)

    def cognitive_skills(self, org: str, subject: str) -> SkillList:
        """The name and description of each skill that a subject sees, and the reasons why others are withheld. Raises
        as `dispatch`.

        >>> found = Kernel.open().cognitive_skills("software_dev", "role:undeclared")
        >>> found.skills, found.reasons[0].code
        ((), 'UNKNOWN_PRINCIPAL')
        """
        from orgkernel.kernel.capability import ask_skills

        return ask_skills(self.access(org), subject)

    def cognitive_skill(self, org: str, subject: str, name: str) -> SkillDisclosed:
        """The instructions of a skill, and the files next to it, if a subject may activate it. Raises as `dispatch`.

        >>> found = Kernel.open().cognitive_skill("software_dev", "role:co", "pricing")
        >>> found.activation.outcome, found.activation.reasons[0].code
        ('deny', 'SKILL_UNKNOWN')
        """
        from orgkernel.kernel.capability import ask_skill

        return ask_skill(self.access(org), subject, name)

    def skill_resource(self, org: str, subject: str, name: str, path: str) -> SkillResource:
        """One file next to a skill, if a subject may activate the skill. Raises as `dispatch`.

        >>> Kernel.open().skill_resource("software_dev", "role:co", "pricing", "references/prices.md").outcome
        'deny'
        """
        from orgkernel.kernel.capability import ask_resource

        return ask_resource(self.access(org), subject, name, path)

    def handle(self, org: str, request: HandlingRequest) -> HandlingDecision:
        """The means by which a subject handles an intent: a procedure, a skill, a tool, reasoning, or none.

        Raises `UsageError` for an invalid entry in `failed`, and the errors of `dispatch`.

        >>> from orgkernel.decisions.work.capability.handling import HandlingRequest
        >>> found = Kernel.open().handle("software_dev", HandlingRequest("role:co", "paint_a_picture"))
        >>> found.tier, found.reasons[0].code
        ('decline', 'INTENT_UNKNOWN')
        """
        from orgkernel.kernel.capability import ask_handling

        return ask_handling(self.access(org), request)

    def proposals(self, org: str) -> Proposals:
        """Skills that succeeded often enough to be replaced by a procedure. Procedures are never created automatically.

        >>> Kernel.open().proposals("software_dev").min_successes
        5
        """
        from orgkernel.kernel.capability import ask_proposals

        return ask_proposals(self.access(org))

    def access(self, org: str) -> OrganizationAccess:
        """The organization with its current state, for several questions at one moment. Raises as `decide`.

        >>> Kernel.open().access("blank").state.version
        0
        """
        return _import_desk_opener()(self.organization(org).snapshot.index, self._store, self._clock)

    def manifest(self, org: str, role: str) -> RoleManifest:
        """The complete profile of a role. Raises `UnknownRole`, and the errors of `dispatch`.

        >>> manifest = Kernel.open().manifest("sigint_alpha", "sigint_specialist")
        >>> manifest.domains[0].id, manifest.domains[0].why[0].file
        ('osint', 'templates/sigint_alpha/roles/sigint_specialist.yaml')
        """
        snapshot = self._get_snapshot_with(org, role)
        from orgkernel.manifest.role import build_role_manifest

        org_access = self.access(org)
        findings = snapshot.list_findings_about(f"role:{role}")
        return build_role_manifest(
            org_access.view,
            role,
            findings,
            org_access.state,
            org_access.build_current_context(),
            self._read_usage(org_access.view, (role,)),
        )

    def _read_usage(self, view: OrgView, roles: Iterable[str]) -> Mapping[str, list[ToolUsage]]:
        """The recorded calls of the agents who fill these roles, by agent. Empty if they are not known."""
        from orgkernel.kernel.clock import StateHistory

        agents = {edge.source for role_id in roles for edge in view.list_agents_in(role_id)}
        usage: dict[str, list[ToolUsage]] = {}
        if agents and isinstance(self._store, StateHistory):
            for each in self._store.list_tool_usage(agents) or ():
                usage.setdefault(each.agent_id, []).append(each)
        return usage

    def pace(
        self,
        org: str,
        role: str,
        observation: Observation,
        previous: str | Iterable[str] = "primary",
        *,
        new_task: bool = False,
    ) -> RolePace:
        """The PACE tier of a role, and its obligations. `previous` is the previous tier, or the previous value of
        `held`.

        Raises as `manifest`.

        >>> from orgkernel.runtime.observation import Observation
        >>> stuck = Observation(turns_without_progress=20, unrecoverable_error=False)
        >>> pace = Kernel.open().pace("software_dev", "codegen_specialist", stuck)
        >>> pace.tier, pace.reasons[0].text
        ('emergency', 'the emergency trigger is true: turns_without_progress 20 > max * 1.5 (18)')
        """
        from orgkernel.decisions.status.pace import decide_role_pace

        index = self._get_snapshot_with(org, role).index
        return decide_role_pace(index, role, observation, previous, new_task=new_task)

    def report(self, org: str, situation: Situation) -> dict[str, Any]:
        """The SALUTE report of a role in a situation, completed from the documents. Raises as `manifest`.

        >>> from orgkernel.runtime.salute import Situation
        >>> report = Kernel.open().report("software_dev", Situation(role_id="co", now=0, tier="alternate"))
        >>> report["status"]["health"], report["unit"]["role_name"], report["time"]["timestamp"]
        ('degraded', 'Commanding Officer', '1970-01-01T00:00:00.000000Z')
        """
        from orgkernel.decisions.status.salute import report_role

        return report_role(self._get_snapshot_with(org, situation.role_id).index, situation)

    def agent_manifest(self, org: str, agent: str) -> AgentManifest:
        """The complete profile of an agent: its roles, its status, and its permissions in all roles together.

        Raises `UnknownAgent`, and the errors of `dispatch`.

        >>> manifest = Kernel.open().agent_manifest("household", "clerk")
        >>> manifest.rank.id, [tool.id for tool in manifest.tools if tool.allowed_actions]
        ('lieutenant', ['read_file', 'response'])
        """
        from orgkernel.kernel.clock import StateHistory
        from orgkernel.manifest.agent import build_agent_manifest

        org_access = self._open_access_with_agent(org, agent)
        findings = self.organization(org).snapshot.list_findings_about(f"agent:{agent}")
        start = org_access.view.records.agents[agent].record.rank
        source = self._store if isinstance(self._store, StateHistory) else None
        promotions = () if source is None else source.list_rank_changes(org_access.view.org_id, agent, start)
        usage = None if source is None else source.list_tool_usage((agent,))
        return build_agent_manifest(
            org_access.view,
            agent,
            findings,
            org_access.state,
            org_access.build_current_context(),
            promotions,
            usage,
        )

    def skill_profile(self, org: str, agent: str) -> SkillProfile:
        """The skills of an agent at their current level, and the gaps for its roles and ranks.

        Raises as `agent_manifest`.

        >>> profile = Kernel.open().skill_profile("household", "clerk")
        >>> profile.depth, profile.gaps[0].text
        (0, 'it does not have `communication`, and level 1 is required')
        """
        from orgkernel.decisions.crew.skill_profile import build_skill_profile

        org_access = self._open_access_with_agent(org, agent)
        return build_skill_profile(
            org_access.view, org_access.state, agent, org_access.build_current_context().now
        )

    def promotion(self, org: str, agent: str) -> PromotionDecision:
        """The ranks that an agent could have, with each requirement. Changes nothing. Raises as `agent_manifest`.

        >>> decision = Kernel.open().promotion("household", "clerk")
        >>> decision.rank, [(path.kind, path.rank, path.outcome) for path in decision.paths]
        ('lieutenant', [('promote', 'commander', 'not_eligible'), ('demote', 'ensign', 'not_proposed')])
        """
        from orgkernel.decisions.crew.promotion import decide_promotion

        org_access = self._open_access_with_agent(org, agent)
        return decide_promotion(
            org_access.view, org_access.state, agent, org_access.build_current_context().now
        )

    def qualification_record(self, org: str, agent: str) -> QualificationRecord:
        """Every test that is declared or that the agent has taken: whether it is passed, its baseline, and its drift.

        Raises as `agent_manifest`.

        >>> Kernel.open().qualification_record("household", "clerk").qualifications
        ()
        """
        from orgkernel.decisions.evidence.qualifications import build_qualification_record

        org_access = self._open_access_with_agent(org, agent)
        return build_qualification_record(
            org_access.view, org_access.state, agent, org_access.build_current_context().now
        )

    def _open_access_with_agent(self, org: str, agent: str) -> OrganizationAccess:
        """The organization, whose roster must declare the agent. Raises `UnknownAgent`."""
        from orgkernel.snapshots.snapshot import require_declared_agent

        org_access = self.access(org)
        require_declared_agent(org_access.view.records, agent)
        return org_access

    def agents(
        self,
        org: str,
        wanted: AgentFilter | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> AgentList:
        """The matching agents that fill roles, by id, at most `limit` of them after the agent `after`.

        Raises `UnknownAgent` if `after` is not an agent of the organization, and the errors of `dispatch`.

        >>> from orgkernel import AgentFilter
        >>> page = Kernel.open().agents("starship", AgentFilter(rank="commander"), limit=2)
        >>> [agent.callsign for agent in page.agents], page.count, page.next
        (['Bastion', 'Solace'], 7, 'counselor')
        """
        from orgkernel.manifest.crew import AgentFilter, build_agent_list, select_agents

        org_access = self.access(org)
        chosen = select_agents(
            org_access.view, org_access.state, wanted or AgentFilter(), org_access.build_current_context().now
        )
        if after is not None and after not in org_access.view.records.agents:
            from orgkernel.diagnostics.wording import quote

            raise UnknownAgent(f"the cursor names no agent of organization {quote(org_access.view.org_id)}")
        start = 0 if after is None else bisect_right(chosen, after)
        from msgspec.structs import asdict

        from orgkernel.manifest.filter_words import find_unknown_words

        unknown_words = () if wanted is None else find_unknown_words(org_access.view, asdict(wanted))
        return build_agent_list(
            org_access.view, org_access.state, chosen, start=start, limit=limit, unknown_words=unknown_words
        )

    def bills(self, org: str) -> BillList:
        """The bills that an organization sees, by name. Raises as `dispatch`.

        >>> Kernel.open().bills("blank").bills
        ()
        """
        from orgkernel.manifest.bills import list_bills

        return list_bills(self.access(org).view)

    def bill(self, org: str, bill: str) -> BillPage:
        """A bill: its bill roles, its steps, and the roles that may start it.

        Raises `UnknownBill`, and the errors of `dispatch`.
        """
        from orgkernel.manifest.bills import show_bill

        org_access = self.access(org)
        return show_bill(
            org_access.view, _find_bill(org_access.view, bill), self.organization(org).snapshot.diagnostics
        )

    def fill_bill(self, org: str, bill: str, *, without: Iterable[str] = ()) -> BillAssignment:
        """The agents that could take the bill roles now, each at most one, and the vacant bill roles. Raises as `bill`.

        >>> try:
        ...     Kernel.open().fill_bill("blank", "fire_drill")
        ... except UnknownBill as error:
        ...     print(error.message)
        organization `blank` has no bill `fire_drill`
        """
        from orgkernel.decisions.work.bills.filling import fill_bill_roles

        org_access = self.access(org)
        document = _find_bill(org_access.view, bill)
        return fill_bill_roles(
            org_access.view,
            org_access.state,
            document,
            org_access.build_current_context(),
            frozenset(without),
        )

    def next_steps(
        self, org: str, instance: BillInstance, *, context: AccessContext | None = None
    ) -> NextSteps:
        """The steps of a running bill that may start now, with their obligations. Nothing is executed or stored.

        Raises as `bill`.
        """
        from orgkernel.decisions.access.request import AccessRequest
        from orgkernel.decisions.work.bills.next_steps import decide_next_steps

        org_access = self.access(org)
        document = _find_bill(org_access.view, instance.bill)
        current_context = (
            org_access.build_current_context()
            if context is None
            else org_access.add_current_state(AccessRequest("", "", "", context)).context
        )
        return decide_next_steps(org_access.view, org_access.state, document, instance, current_context)

    def handoff_permission(
        self, org: str, question: HandoffQuestion, briefs: HandoffBriefs | None = None
    ) -> HandoffPermission:
        """Whether a role or a layer may hand work to another, with every failing step. Raises as `dispatch`.

        >>> from orgkernel.decisions.handoff.permission import HandoffQuestion
        >>> answer = Kernel.open().handoff_permission("omega", HandoffQuestion(sender="L3", receiver="L5"))
        >>> answer.outcome, answer.code, answer.findings[0].remedies
        ('deny', 'DISPATCH_EDGE_FORBIDDEN', ('hand the work to role `planner`, which can pass it on',))
        """
        from orgkernel.decisions.handoff.briefs import NO_BRIEFS
        from orgkernel.decisions.handoff.decide import decide_handoff_permission

        org_access = self.access(org)
        current_question = _add_current_state(org_access, question)
        return decide_handoff_permission(
            org_access.view, current_question, org_access.state, briefs or NO_BRIEFS
        )

    def decide_handoff(
        self, org: str, question: HandoffQuestion, briefs: HandoffBriefs | None = None
    ) -> HandoffVerdict:
        """The codes of `handoff_permission`, for callers that ask often. Raises as `dispatch`.

        >>> from orgkernel.decisions.handoff.permission import HandoffQuestion
        >>> Kernel.open().decide_handoff("omega", HandoffQuestion(sender="L3", receiver="L5")).failures[0]
        ('edge', 'DISPATCH_EDGE_FORBIDDEN')
        """
        from orgkernel.decisions.handoff.briefs import NO_BRIEFS
        from orgkernel.decisions.handoff.decide import decide_handoff

        org_access = self.access(org)
        return decide_handoff(
            org_access.view, _add_current_state(org_access, question), org_access.state, briefs or NO_BRIEFS
        )

    def contract_terms(self, org: str) -> ContractTerms:
        """The requirements of an organization for contracts, in addition to the rules. Raises as `dispatch`.

        >>> Kernel.open().contract_terms("omega").batch_size
        4
        """
        from orgkernel.decisions.work.contracts.terms import get_contract_terms

        return get_contract_terms(self.organization(org).snapshot.index)

    def plan_batches(
        self, org: str, source: SourceText, done: Collection[str] = (), running: Collection[str] = ()
    ) -> PlannedText:
        """The batches of the subtask plan in a text, and who takes each subtask that may start. Raises as `dispatch`.

        With a store, a subtask that states its domain is given to an agent who can take it now, and waits without one.

        >>> from orgkernel.loading.files import decode
        >>> plan = "{_schema: 'orgkernel:subtask_plan', subtasks: [{id: fix, files: [a.py], domain: bugfix}]}"
        >>> answer = Kernel.open().plan_batches("software_dev", decode("plan", "plan", plan.encode()))
        >>> [(each.subtask, each.role_id, each.agent_id) for each in answer.assignments]
        [('fix', 'bugfix_specialist', None)]
        """
        from orgkernel.decisions.work.batches.answer import plan_text
        from orgkernel.decisions.work.batches.assignment import BatchAssigner

        org_access = self.access(org)
        state = None if self._store is None else org_access.state
        assigner = BatchAssigner(org_access.view, state, org_access.build_current_context())
        return plan_text(source, done, running, self.contract_terms(org).batch_size, assigner.plan)

    def sacred_documents(self, org: str) -> list[str]:
        """The paths of the documents that declare sacred files. Raises as `dispatch`."""
        records = self.organization(org).snapshot.index.records
        return [each.path for each in (records.document, records.governance) if each is not None]

    def sacred_files(self, org: str, folder: str | None = None, changed: Sequence[str] = ()) -> SacredFiles:
        """The sacred files of a project in a folder: those that are never changed, or only with a key. Raises as
        `dispatch`.

        `changed` are governance documents that have changed since the work began.

        >>> [touch.code for touch in Kernel.open().sacred_files("omega").find_never("secrets/key.txt")]
        ['SACRED_SCOPE']
        """
        from orgkernel.decisions.ownership.sacred import SacredFiles
        from orgkernel.graph.governance import read_governance

        records = self.organization(org).snapshot.index.records
        governance = read_governance(records.governance)
        roots = tuple(each for each in (records.organization.workspace_root, folder) if each)
        scopes = None if governance is None else governance.sacred_scopes
        return SacredFiles(scopes, roots, records.governance, changed)

    def commit_rules(self, org: str) -> CommitRules | None:
        """Whom the hooks of git hold to a brief; None if no governance document says it. Raises as `dispatch`."""
        from orgkernel.graph.governance import read_governance

        governance = read_governance(self.organization(org).snapshot.index.records.governance)
        return None if governance is None else governance.commits

    def vacancies(self, org: str) -> VacancyAnswer:
        """The roles without an agent at work, the superiors who cover them, and possible candidates. Raises as
        `dispatch`.

        >>> [each.role_id for each in Kernel.open().vacancies("household").vacancies]
        []
        """
        from orgkernel.decisions.crew.vacancies import decide_vacancies

        org_access = self.access(org)
        return decide_vacancies(org_access.view, org_access.state, org_access.clock()[0])

    def personality(self, org: str, agent: str) -> PersonalityDrift:
        """The distance of an agent's observed personality from the one in the roster. Raises as `agent_manifest`.

        >>> Kernel.open().personality("household", "clerk").limit
        0.3
        """
        from orgkernel.decisions.evidence.service_record import decide_drift

        org_access = self._open_access_with_agent(org, agent)
        return decide_drift(org_access.view, agent, org_access.state)

    def manifest_bytes(self, org: str, role: str) -> bytes:
        """The encoded manifest of a role, cached while nothing changes, for hosts that forward it. Raises as
        `manifest`.

        >>> Kernel.open().manifest_bytes("blank", "co")[:36]
        b'{"_schema":"orgkernel:crew_manifest"'
        """
        answer_version = self.answer_version
        kept = self._kept.find(answer_version, (org, role))
        if kept is not None:
            return kept
        from orgkernel.manifest.v1 import encode

        answer = encode(self.manifest(org, role))
        if self.answer_version is answer_version:
            self._kept.put(answer_version, (org, role), answer)
        return answer

    def crew(
        self,
        org: str,
        wanted: RoleFilter | None = None,
        *,
        agents: AgentFilter | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> OrganizationManifest:
        """An organization and its matching roles, at most `limit` of them after the role `after`.

        With `agents`, a role matches only if one agent fills it who meets all conditions in this assignment.

        Raises `UnknownRole` if `after` is not a role of the organization, and the errors of `dispatch`.

        >>> from orgkernel import RoleFilter
        >>> page = Kernel.open().crew("software_dev", RoleFilter(role_type="specialist"), limit=2)
        >>> [role.role_id for role in page.roles], page.count, page.next
        (['codegen_specialist', 'bugfix_specialist'], 5, 'bugfix_specialist')
        """
        snapshot = self.organization(org).snapshot
        import dataclasses

        from orgkernel.manifest.filter_words import find_unknown_words
        from orgkernel.manifest.filters import RoleFilter, select_roles
        from orgkernel.manifest.organization import build_organization_manifest

        org_access = self.access(org)
        fitting = select_roles(snapshot.index, wanted or RoleFilter())
        words = [] if wanted is None else [dataclasses.asdict(wanted)]
        if agents is not None and not agents.is_empty:
            from msgspec.structs import asdict

            from orgkernel.manifest.crew import select_filled_roles

            filled = select_filled_roles(
                org_access.view, org_access.state, agents, org_access.build_current_context().now
            )
            fitting = tuple(role_id for role_id in fitting if role_id in filled)
            words.append(asdict(agents))
        start = 0
        if after is not None:
            order = snapshot.index.order
            if after not in order:
                from orgkernel.diagnostics.wording import quote

                raise UnknownRole(f"the cursor names no role of organization {quote(snapshot.org_id)}")
            start = sum(order[role_id] <= order[after] for role_id in fitting)
        end = len(fitting) if limit is None else start + limit
        page = fitting[start:end]
        return build_organization_manifest(
            snapshot.index, page, snapshot.diagnostics, org_access.state, org_access.build_current_context(), count=len(fitting), cursor=page[-1] if page and end < len(fitting) else None,
            unknown_words=find_unknown_words(snapshot.index, *words), usage=self._read_usage(org_access.view, page),
        )  # fmt: skip


def _add_current_state(org_access: OrganizationAccess, question: HandoffQuestion) -> HandoffQuestion:
    """A question about a hand-off with the current time and the recorded alert and watch."""
    from msgspec.structs import replace

    from orgkernel.decisions.access.request import AccessRequest

    now = org_access.add_current_state(AccessRequest("", "", "", question.context)).context
    return replace(question, context=now)


def _find_bill(view: OrgView, bill: str) -> SourceDocument:
    bills = view.records.bills
    if bill not in bills:
        from orgkernel.diagnostics.wording import did_you_mean, listing, quote

        help = did_you_mean(bill, bills) or (f"bills are {listing(bills)}" if bills else "")
        raise UnknownBill(f"organization {quote(view.org_id)} has no bill {quote(bill)}", help)
    return bills[bill]


@cache
def _import_domain_dispatch() -> Callable[..., DispatchDecision]:
    """What decides by domain, imported once."""
    from orgkernel.decisions.dispatch.by_domain import decide_dispatch

    return decide_dispatch


@cache
def _import_desk_opener() -> Callable[[OrgView, StateSource | None, Clock | None], OrganizationAccess]:
    """The function that opens access to an organization. It is imported on first use, so other commands start faster."""
    from orgkernel.kernel.access import open_desk

    return open_desk
