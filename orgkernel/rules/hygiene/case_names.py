"""The names in a decision case, and which of them the organization does not declare (ORG708, `orgkernel test`).

A case that expects a refusal passes for a misspelled name too, because access fails closed. So each name in a case must be
declared, unless the case says `undeclared: true`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from orgkernel.decisions.access.identity import UNKNOWN_SENDER, find_person_of_sender
from orgkernel.decisions.access.resource import ESCALATE, HANDOFF, LOCK, WHOLE, find_named_credentials
from orgkernel.decisions.dispatch.reason_codes import DISPATCH_CODES
from orgkernel.diagnostics.wording import did_you_mean, did_you_mean_tool, listing, quote
from orgkernel.documents.records import BUILT_IN_ORIGINS, DATA_TIERS, STAR, USER, Case, Circumstances, Given
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding

SUBJECTS: Final = ("role", "agent", "person", "system", "webhook", "sender")
# Grants and restrictions can also mean all people with a relationship or a tag.
_STORED_SUBJECTS: Final = (*SUBJECTS, "relationship", "tag")
_RESOURCES: Final = ("tool", "credential", "data", "role")
# A kind of name, and the kind of catalog that declares it. If such a catalog cannot be read, any name could be in it.
_CATALOGS: Final = {
    "agent": "crew_roster", "person": "directory", "system": "directory", "webhook": "directory", "sender": "directory",
    "relationship": "directory", "tag": "directory", "tool": "tool_catalog", "domain": "domain_catalog", "plan": "plan_catalog",
    "rank": "rank_ladder", "qualification": "qualification_catalog", "intent": "procedure_catalog",
}  # fmt: skip
_WORDS: Final = {"system": "system origin", "data": "data tier"}
UNDECLARED_HELP: Final = (
    "declare it, or write `undeclared: true` in the case if the name is meant to be undeclared"
)


class CaseName(NamedTuple):
    """A name in a case, with its place there."""

    route: tuple[RouteStep, ...]
    """From the case to the value, or to the key that is the name."""
    kind: str
    """`role`, `agent`, `tool`, `action`, …"""
    name: str
    resource: str = ""
    """The resource that an action belongs to."""
    is_key: bool = False
    is_pattern: bool = False
    """Whether a star at its end stands for any ending."""

    def describe(self) -> str:
        """Say that the name is not declared, as the predicate of a sentence about the case."""
        name = quote(self.name)
        if self.kind in ("subject", "resource"):
            return f"uses {self.kind} kind {name}, which does not exist"
        if self.kind in ("code", "dispatch code"):
            return f"expects reason code {name}, which does not exist"
        if self.kind == "sender":
            return f"names sender {name}, which the directory does not list"
        owner = f" of {quote(self.resource)}" if self.resource else ""
        return f"names {_WORDS.get(self.kind, self.kind)} {name}{owner}, which is not declared"


def find_undeclared_names(
    document: SourceDocument, number: int, case: Case, names: Iterable[CaseName], declared: DeclaredNames
) -> Iterator[Finding]:
    """Report each name in a case that an organization does not declare, with the most similar name that it does declare."""
    for name in names:
        if not declared.has(name):
            yield Finding(
                document.place("cases", number, *name.route, key=name.is_key),
                f"case {quote(case.name)} {name.describe()}",
                declared.suggest(name),
                f"case:{case.name}",
            )


def build_unknown_organization(
    document: SourceDocument, number: int, case: Case, known: Collection[str]
) -> Finding:
    """Report that no organization has the id that a case names. `known` are the ids of those that were read."""
    help = f"use one of {listing(known)}" if known else "name the folder of the organization with `--path`"
    return Finding(
        document.place("cases", number, "org"),
        f"case {quote(case.name)} names organization {quote(case.org)}, which is not declared",
        did_you_mean(case.org, known) or help,
        f"case:{case.name}",
    )


# -- the names in a case -----------------------------------------------------------------------------------------------


def list_given_names(given: Given) -> Iterator[CaseName]:
    """List the names in the stored state that a case assumes."""
    for agent_id, agent in given.agents.items():
        route = ("given", "agents", agent_id)
        yield CaseName(route, "agent", agent_id, is_key=True)
        if agent.rank is not None:
            yield CaseName((*route, "rank"), "rank", agent.rank)
        for number, each in enumerate(agent.passed):
            yield CaseName((*route, "passed", number), "qualification", each)
    for section in ("grants", "restrictions"):
        for stored_id, stored in getattr(given, section).items():
            route = ("given", section, stored_id)
            yield from _split_subject((*route, "subject"), stored.subject, _STORED_SUBJECTS)
            for number, each in enumerate(stored.resources):
                yield from _split_resource((*route, "resources", number), each, is_pattern=True)
    for tool_id, holder in given.locks.items():
        yield CaseName(("given", "locks", tool_id), "tool", tool_id, is_key=True)
        yield from _split_subject(("given", "locks", tool_id), holder)
    yield from _list_status(("given",), given)


def list_question_names(case: Case) -> Iterator[list[CaseName]]:
    """List the names in each question of a case and in its expected answer, in the order of the questions."""
    for number, _ in enumerate(case.dispatch):
        yield list(_list_dispatch_names(case, number))
    for number, _ in enumerate(case.access):
        yield list(_list_access_names(case, number))
    for number, who in enumerate(case.who_can):
        route: tuple[RouteStep, ...] = ("who_can", number)
        names = [*_split_resource((*route, "resource"), who.resource)]
        names.append(CaseName((*route, "action"), "action", who.action, who.resource))
        names += _list_status((*route, "context"), who.context)
        for field in ("are", "must_ask"):
            for position, each in enumerate(getattr(who, field)):
                names += _split_subject((*route, field, position), each)
        yield names
    for number, what in enumerate(case.what_can):
        route = ("what_can", number)
        names = [*_split_subject((*route, "subject"), what.subject)]
        names += _list_status((*route, "context"), what.context)
        if what.on_behalf_of is not None:
            names += _split_subject((*route, "on_behalf_of"), what.on_behalf_of)
        for field in ("can", "must_ask"):
            for resource, actions in getattr(what, field).items():
                names += _split_resource((*route, field, resource), resource, is_key=True)
                for position, action in enumerate(actions):
                    names.append(CaseName((*route, field, resource, position), "action", action, resource))
        yield names


def _list_dispatch_names(case: Case, number: int) -> Iterator[CaseName]:
    expected, route = case.dispatch[number], ("dispatch", number)
    ask = expected.ask
    if ask.domain is not None:
        yield CaseName((*route, "ask", "domain"), "domain", ask.domain)
    if ask.intent is not None:
        yield CaseName((*route, "ask", "intent"), "intent", ask.intent)
    for position, tool_id in enumerate(ask.needs):
        yield CaseName((*route, "ask", "needs", position), "tool", tool_id)
    if expected.role_id is not None:
        yield CaseName((*route, "role_id"), "role", expected.role_id)
    if expected.acting_role is not None:
        yield CaseName((*route, "acting_role"), "role", expected.acting_role)
    for position, agent in enumerate(expected.agents or ()):
        yield CaseName((*route, "agents", position), "agent", agent)
    for field, kind in (("plans", "plan"), ("tools", "tool")):
        for position, each in enumerate(getattr(expected, field) or ()):
            yield CaseName((*route, field, position), kind, each)
    for position, code in enumerate(expected.because or ()):
        yield CaseName((*route, "because", position), "dispatch code", code)


def _list_access_names(case: Case, number: int) -> Iterator[CaseName]:
    expected, route = case.access[number], ("access", number)
    ask = expected.ask
    yield from _split_subject((*route, "ask", "subject"), ask.subject)
    yield from _split_resource((*route, "ask", "resource"), ask.resource)
    yield CaseName((*route, "ask", "action"), "action", ask.action, ask.resource)
    yield from _list_status((*route, "ask", "context"), ask.context)
    if ask.on_behalf_of is not None:
        yield from _split_subject((*route, "ask", "on_behalf_of"), ask.on_behalf_of)
    for position, each in enumerate(ask.via):
        yield from _split_subject((*route, "ask", "via", position), each)
    for resource in ask.envelope or ():
        yield from _split_resource(
            (*route, "ask", "envelope", resource), resource, is_key=True, is_pattern=True
        )
    for position, code in enumerate(expected.because or ()):
        yield CaseName((*route, "because", position), "code", code)


def _list_status(route: tuple[RouteStep, ...], status: Circumstances | Given) -> Iterator[CaseName]:
    """List the alert and the watch; an empty string means that there is none."""
    for kind in ("alert", "watch"):
        word = getattr(status, kind)
        if word:
            yield CaseName((*route, kind), kind, word)


def _split_subject(
    route: tuple[RouteStep, ...], written: str, kinds: Collection[str] = SUBJECTS
) -> Iterator[CaseName]:
    kind, _, name = written.partition(":")
    yield CaseName(route, kind, name) if kind in kinds else CaseName(route, "subject", kind)


def _split_resource(
    route: tuple[RouteStep, ...], written: str, *, is_key: bool = False, is_pattern: bool = False
) -> Iterator[CaseName]:
    kind, _, name = written.partition(":")
    if kind not in _RESOURCES:
        yield CaseName(route, "resource", kind, is_key=is_key)
    else:
        name = name.partition(":")[0] if kind == "tool" else name
        yield CaseName(route, kind, name, is_key=is_key, is_pattern=is_pattern)


# -- the names that an organization declares ---------------------------------------------------------------------------


class DeclaredNames:
    """The names that one organization declares, by kind, each list built when it is first needed."""

    def __init__(self, records: OrgRecords) -> None:
        self._records = records
        self._names: dict[str, Collection[str]] = {}

    def has(self, name: CaseName) -> bool:
        """Whether a name is declared, or could be declared in a file that cannot be read."""
        records = self._records
        if _CATALOGS.get(name.kind) in records.incomplete:
            return True
        if name.kind == "role" and (name.name in records.without_profile or name.name in records.excused):
            return True
        if name.kind == "sender":
            return find_person_of_sender(records, name.name) is not None
        known = self._list(name)
        if known is None or name.name in known:
            return True
        if not (name.is_pattern and name.name.endswith(STAR)):
            return False
        return any(each.startswith(name.name[:-1]) for each in known)

    def suggest(self, name: CaseName) -> str:
        """The nearest declared name as a question, or another remedy."""
        known = self._list(name) or ()
        if name.kind == "tool":
            tools = {
                tool_id: tuple(tool.record.names.values()) for tool_id, tool in self._records.tools.items()
            }
            meant = did_you_mean_tool(name.name, tools)
        else:
            meant = did_you_mean(name.name, known)
        if meant:
            return meant
        if name.kind in ("action", "subject", "resource", "alert", "watch"):
            return f"use one of {listing(known)}" if known else UNDECLARED_HELP
        return UNDECLARED_HELP

    def _list(self, name: CaseName) -> Collection[str] | None:
        """The declared names of a kind; None for an action of a resource that is not declared itself."""
        if name.kind == "action":
            return self._list_actions(name.resource)
        if name.kind not in self._names:
            self._names[name.kind] = self._build(name.kind)
        return self._names[name.kind]

    def _list_actions(self, resource: str) -> Collection[str] | None:
        kind, _, rest = resource.partition(":")
        if kind == "tool":
            tool = self._records.tools.get(rest.partition(":")[0])
            if tool is None:
                return None
            lock = (LOCK,) if tool.record.concurrency == "exclusive" else ()
            return dict.fromkeys((*tool.record.required_levels, *WHOLE, *lock))
        actions = {"credential": ("use",), "data": ("read",), "role": (HANDOFF, ESCALATE)}
        return actions.get(kind)

    def _build(self, kind: str) -> Collection[str]:
        records = self._records
        declared: Mapping[str, Collection[str]] = {
            "role": records.posts, "agent": records.agents, "webhook": records.webhooks, "tool": records.tools,
            "plan": records.plans, "qualification": records.qualifications, "alert": records.organization.alerts,
            "watch": records.organization.watches, "subject": SUBJECTS, "resource": _RESOURCES,
        }  # fmt: skip
        if kind in declared:
            return declared[kind]
        people = [each.record for each in records.people.values()]
        posts = [post.profile for post in records.posts.values()]
        match kind:
            case "person":
                return (*records.people, USER, UNKNOWN_SENDER)
            case "sender":
                return [
                    f"{each.platform}/{each.space or ''}/{each.id}"
                    for person in people
                    for each in person.identities
                ]
            case "relationship":
                return {"owner", *(each.relationship for each in people if each.relationship is not None)}
            case "tag":
                return {tag for each in people for tag in each.tags}
            case "system":
                return (*records.system_origins, *BUILT_IN_ORIGINS)
            case "credential":
                return find_named_credentials(records)
            case "data":
                return {*DATA_TIERS, *(each for profile in posts for each in profile.data)}
            case "domain":
                return {*records.domains, *records.aliases}
            case "rank":
                return [rank.id for rank in records.ranks]
            case "intent":
                named = {each for profile in posts for each in profile.capabilities.intents}
                named.update(each for tool in records.tools.values() for each in tool.record.intents)
                named.update(each for one in records.procedures.values() for each in one.record.intents)
                return named
            case "code":
                # Slow to import, and only a case with `because` needs it.
                from orgkernel.decisions.access.decide import EVALUATION_ERROR
                from orgkernel.decisions.access.layers import ORDER

                return {*ORDER.codes, *ORDER.additional_reasons, EVALUATION_ERROR}
            case "dispatch code":
                return DISPATCH_CODES
        raise AssertionError(kind)
