"""Builds the roles and the organization of coding agents whose files each declare one agent and rules about its tools.

A format reads each file into an `AgentFile`. Its rules are kept as written, because they can name tools of other files.
`complete_agents` applies them in order: the last rule that matches a tool decides. A rule about part of a tool, such as
some commands, becomes a policy if it only takes something away. Access decisions cannot express other parts: part of a
denied tool that is allowed, or a denied part that is not some commands. Then the whole tool asks, because the host
neither denies nor allows all of it. If a part allows something within a tool that asks, it is ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec.structs import replace

from orgkernel.documents.records import (
    ChainOfCommand,
    HandoffRights,
    HierarchyEntry,
    Permissions,
    Requirements,
    RoleProfile,
    StandingOrder,
    Suppression,
)
from orgkernel.loading.documents import build_diagnostic
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import complete_with, read_as, replace_document
from orgkernel.loading.formats.equipment import is_plain, list_declared_tools
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, MCP, build_server_tool_id, convert_to_id
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.roles import UNDECLARED
from orgkernel.loading.formats.servers import (
    TARGETS,
    build_named_tools,
    build_own_servers,
    collect_tools,
    drop_declared_tools,
    drop_repeated_servers,
    filter_server_tools,
)
from orgkernel.loading.formats.suppressions import SUPPRESSIONS
from orgkernel.loading.formats.tool_policies import (
    ToolPolicy,
    build_access_policies,
    build_role_policy_id,
    place_policies,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import Completion, FileResult, LoadedFile, SourceDocument
from orgkernel.runtime.lazy_patterns import lazy_pattern

ToolEffect = Literal["allow", "ask", "deny"]
EFFECTS: tuple[ToolEffect, ...] = ("allow", "ask", "deny")
RULES, RULE_EFFECTS, PARTS = "rules", "effects", "parts"
SERVERS, INHERITS, STARTED, ONLY, PARTLY = "servers", "inherits", "started", "only", "partly"
LISTING = "listing"
"""Keys of the words that are kept next to a role or a catalog. `rules` (the tools), `effects` and `parts` are parallel
lists. `only` lists the built-in tools that a project leaves to its agents. `partly` has the positions of the rules about
parts of tools that access decisions cannot express. `listing` has the number of the first rules that give tools, if the
other rules give none."""
EVERY = "*"
KIND = "role_profile"
PROTECTING = "access_policies"
"""The kind of a configuration that cannot be read: it could contain rules, so the whole organization does not answer."""
_FIRST = pack_mark(1, 1)
# Words that a shell does not change. A star that follows a single word directly, as in `rm*`, also stands for other programs.
_WORD = r"[A-Za-z0-9_./:@%+,=~-]+"
_BEGINNING = lazy_pattern(rf"(?:({_WORD}(?: {_WORD})*)(?: \*)?|({_WORD}(?: {_WORD})+)\*)\Z")


class ToolRule(NamedTuple):
    """A rule about tools. The last rule that matches a tool decides."""

    effect: ToolEffect
    tool: str
    """A tool as the host names it, or a glob."""
    mark: int
    part: str = EVERY
    """A glob for a part of the tool, such as some commands or some agents."""


class AgentFile(NamedTuple):
    """What the file of one agent states."""

    name: str
    name_marks: tuple[int, Marks]
    description: str
    rules: Sequence[ToolRule]
    has_every_tool: bool
    """Whether it has every tool that no rule denies."""
    lists_tools: bool = False
    """Whether it has the tools that its field `tools` lists."""
    listing_rules: int | None = None
    """The number of the first rules that give it tools. The other rules only say how it may use the tools that it has. None if
    every rule gives tools."""
    is_started: bool = True
    """Whether other agents can start it."""
    model: str = ""
    model_mark: int = 0
    servers: Sequence[tuple[str, int]] = ()
    """Servers that it declares for itself."""
    targets: Sequence[str] = ()
    """What these servers start or call, as `list_targets` returns it."""
    body: str = ""
    body_mark: int = _FIRST
    suppressions: tuple[Suppression, ...] = ()


class ToolNames(NamedTuple):
    """How a host names tools."""

    server_prefix: str
    """The text before the server in the name of a server's tool."""
    groups: Mapping[str, Sequence[str]]
    """Tools that a name stands for, other than the tool of that name."""
    starter: str
    """The tool that starts other agents. Empty if agents cannot start others."""
    command_tool: str
    """The tool whose parts are commands."""
    is_project_final: bool = False
    """Whether the rules of the project win over those of an agent."""
    rule_names: Mapping[str, str] = {}
    """Tools that rules know under the name of another tool only."""
    separator: str = "_"
    """The text between the server and the tool in the name of a server's tool."""

    def list_patterns(self, word: str, servers: Iterable[str]) -> tuple[str, ...]:
        """Globs for the ids of the tools that a word stands for.

        >>> names = ToolNames("mcp_", {"edit": ("write", "patch")}, "task", "bash")
        >>> names.list_patterns("edit", ()), names.list_patterns("*", ()), names.list_patterns("mcp_*", ())
        (('write', 'patch'), ('*',), ('mcp__*',))
        >>> names.list_patterns("mcp_my-db_*", ["my-db"]), names.list_patterns("mcp_my-db_query", ["my-db"])
        (('mcp__my-db', 'mcp__my-db__*'), ('mcp__my-db__query',))
        >>> names = ToolNames("@", {}, "", "", separator="/")
        >>> names.list_patterns("@db", ["db"]), names.list_patterns("@db/query", ["db"])
        (('mcp__db', 'mcp__db__*'), ('mcp__db__query',))
        """
        if word in self.groups:
            return tuple(self.groups[word])
        if self.server_prefix and word == f"{self.server_prefix}*":
            return (f"{MCP}*",)
        for server in sorted(servers, key=len, reverse=True):
            written = f"{self.server_prefix}{server}"
            if word in (written, f"{written}*", f"{written}{self.separator}*"):
                return (f"{MCP}{server}", f"{MCP}{server}__*")
            if word.startswith(f"{written}{self.separator}"):
                return (f"{MCP}{server}__{word.removeprefix(f'{written}{self.separator}')}",)
        return (word,)

    def get_written_name(self, tool: str) -> str:
        """The name of a tool as a glob of the host sees it. A server as a whole has the beginning of its tools' names.

        >>> names = ToolNames("mcp_", {}, "", "")
        >>> [names.get_written_name(each) for each in ("read", "mcp__db__query", "mcp__db")]
        ['read', 'mcp_db_query', 'mcp_db_']
        """
        if not tool.startswith(MCP):
            return tool
        server, _, name = tool.removeprefix(MCP).partition("__")
        return f"{self.server_prefix}{server}{self.separator}{name}"


def build_role(source: SourceText, root: Root, agent: AgentFile, marks: tuple[int, dict[str, tuple[int, Marks]]],
               problems: Sequence[DocumentProblem]) -> FileResult:  # fmt: skip
    """The documents of a file with one agent: its role, and its text as standing orders."""
    start, below = marks
    record = RoleProfile(
        role_id=convert_to_id(agent.name)[:MAX_NAME_LENGTH],
        role_name=agent.name,
        description=agent.description,
        chain_of_command=ChainOfCommand(reports_to="user"),
        requirements=Requirements(preferred_model=agent.model or None),
        suppressions=agent.suppressions,
    )
    if SUPPRESSIONS in below:
        below = {**below, "suppressions": below[SUPPRESSIONS]}
    below = {**below, "role_id": agent.name_marks, "role_name": agent.name_marks}
    if agent.model:
        at = agent.model_mark
        below["requirements"] = (at, (at, {"preferred_model": (at, at)}))
    raw, below = keep_rules(agent.rules, start, below)
    if not agent.lists_tools:
        below.pop("tools", None)  # no tool can be added to a list there
    raw |= {INHERITS: ["true"]} if agent.has_every_tool else {}
    raw |= {STARTED: ["true"]} if agent.is_started else {}
    raw |= {} if agent.listing_rules is None else {LISTING: [str(agent.listing_rules)]}
    if agent.servers:
        raw[SERVERS] = [name for name, _ in agent.servers]
        below[SERVERS] = (agent.servers[0][1], agent.servers[0][1])
    if agent.targets:
        raw[TARGETS] = list(agent.targets)
    documents = [read_as(source, root, KIND, record, (start, below), raw)]
    if agent.body.strip():
        order = StandingOrder(audience="role", target=record.role_id, body=agent.body)
        order_marks = (start, {"body": (agent.body_mark, agent.body_mark)})
        documents.append(read_as(source, root, "standing_order", order, order_marks))
    return FileResult(tuple(documents), (), tuple(build_diagnostic(source, each) for each in problems))


def keep_rules(
    rules: Sequence[ToolRule], start: int, below: dict[str, tuple[int, Marks]]
) -> tuple[dict[str, list[str]], dict[str, tuple[int, Marks]]]:
    """The words and marks with which rules are kept next to a record."""
    if not rules:
        return {}, below
    at = rules[0].mark or start
    return (
        {
            RULES: [each.tool for each in rules],
            RULE_EFFECTS: [each.effect for each in rules],
            PARTS: [each.part for each in rules],
        },
        {**below, RULES: (at, (at, [each.mark for each in rules]))},
    )


def get_rules(document: SourceDocument) -> list[ToolRule]:
    """The rules that are kept next to a record."""
    words = get_list_words(document)
    if RULES not in words:
        return []
    marks = document.marks[1][RULES][1][1]
    written = zip(words[RULE_EFFECTS], words[RULES], marks, words[PARTS], strict=True)
    return [ToolRule(effect, tool, mark, part) for effect, tool, mark, part in written]  # type: ignore[arg-type]


def find_command(rule: ToolRule, tool: str, names: ToolNames) -> str:
    """The beginning of the commands that a rule is about. Empty if it is about another part."""
    beginning = _BEGINNING.match(rule.part) if tool == names.command_tool else None
    return beginning[1] or beginning[2] if beginning else ""


def _matches(name: str, glob: str) -> bool:
    """Whether a glob of `*` and `?` matches. Brackets are brackets to the hosts.

    >>> _matches("edit", "e?i*"), _matches("edit", "[e]dit"), _matches("[e]dit", "[e]*")
    (True, False, True)
    """
    return fnmatchcase(name, glob.replace("[", "[[]"))


# -- whole projects ----------------------------------------------------------------------------------------------------


class _Equipment:
    """The tools of one agent, as far as rules have decided."""

    def __init__(self, tools: Sequence[str], mark: int, *, has_every_tool: bool) -> None:
        self.tools = tools
        self.effects: dict[str, tuple[ToolEffect, int]] = {}
        if has_every_tool:
            self.effects = dict.fromkeys(tools, ("allow", mark))
        self.parts: dict[str, list[ToolRule]] = {}
        self.inexpressible: list[ToolRule] = []
        """The rules about parts because of which a tool asks."""
        self.starting: list[ToolRule] = []
        """The rules about the tool that starts other agents. Their parts are agents."""

    def apply(
        self, rule: ToolRule, names: ToolNames, servers: Sequence[str], *, gives_tools: bool = True
    ) -> bool:
        """Apply a rule to the tools that match. False if none does. Unless it `gives_tools`, it changes only those that the
        agent has.
        """
        patterns = names.list_patterns(rule.tool, servers)
        if (gives_tools or names.starter in self.effects) and any(
            _matches(names.starter, glob) for glob in patterns
        ):
            self.starting.append(rule)
        matching = [
            each
            for each in self.tools
            if (
                _matches(names.rule_names[each], rule.tool)
                if each in names.rule_names
                else any(_matches(each, glob) for glob in patterns)
                or (EVERY in rule.tool and _matches(names.get_written_name(each), rule.tool))
            )
        ]
        for tool in matching:
            if not gives_tools and tool not in self.effects:
                continue
            if rule.part == EVERY:
                self.effects[tool] = (rule.effect, rule.mark)
                self.parts.pop(tool, None)
            else:
                self.parts.setdefault(tool, []).append(rule)
        return bool(matching)

    def open_parts(self, names: ToolNames) -> None:
        """Let a denied tool ask if part of it is not denied, and a tool of which a part is denied that is not commands."""
        for tool, rules in self.parts.items():
            effect, mark = self.effects.get(tool, ("deny", 0))
            if tool not in self.effects or tool == names.starter:
                continue
            for rule in rules:
                if (effect == "deny" and rule.effect != "deny") or (
                    effect == "allow" and rule.effect == "deny" and not find_command(rule, tool, names)
                ):
                    effect, mark = "ask", rule.mark
                    self.inexpressible.append(rule)
            self.effects[tool] = (effect, mark)

    def list_tools(self) -> dict[str, int]:
        """The tools that it has, each with the mark of the rule that gives it."""
        return {tool: mark for tool, (effect, mark) in self.effects.items() if effect != "deny"}


def complete_agents(
    root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile], names: ToolNames
) -> Completion:
    """Combine the files of one root: the organization, and each role with its tools, policies and agents to start."""
    documents = [document for file in files for document in file.read.documents]
    roles = [each for each in documents if isinstance(each.record, RoleProfile)]
    if not roles:
        return Completion({}, ())
    catalogs = [each for each in documents if each.kind == "tool_catalog"]
    built_in = [document for file in own for document in file.read.documents]
    project_rules = [rule for each in catalogs for rule in get_rules(each)]
    removed = _list_removed(catalogs, built_in, names)
    made: list[SourceDocument] = []
    # The tools that any agent could have. Servers list no tools, so those that rules name are taken as declared.
    known = dict.fromkeys(tool for each in (*built_in, *catalogs) for tool in list_declared_tools(each))
    servers = _list_servers(known)
    for catalog in catalogs:
        declared = set(list_declared_tools(catalog))
        if words := sorted(
            set(filter_server_tools(_list_named_tools(documents, names, servers), declared)) - known.keys()
        ):
            made.append(build_named_tools(catalog, words))
            known |= dict.fromkeys(words)
    instead = drop_repeated_servers(catalogs)
    started = {
        each.record.role_name: each.record.role_id  # type: ignore[attr-defined]
        for each in roles
        if STARTED in get_list_words(each)
    }
    declared_servers = collect_tools((*catalogs, *made))
    for role in roles:
        kept = get_list_words(role)
        tools = dict(known)
        own_servers = kept.get(SERVERS, ())
        own_names = [*servers, *(build_server_tool_id(each).removeprefix(MCP) for each in own_servers)]
        if own_servers:
            catalog = build_own_servers(
                role, SERVERS, own_servers, _list_named_tools([role], names, own_names)
            )
            tools |= dict.fromkeys(list_declared_tools(catalog))
            made.append(drop_declared_tools(catalog, declared_servers))
        equipment = _Equipment(list(tools), role.marks[0], has_every_tool=INHERITS in kept)
        undeclared = _apply_rules(equipment, role, project_rules, names, own_names)
        for tool in removed:
            equipment.effects.pop(tool, None)
        equipment.open_parts(names)
        instead[id(role)] = _complete_role(role, equipment, undeclared, names, started)
        policies = _build_policies(role, equipment, names)
        if policies is not None:
            made.append(policies)
    hierarchy = {each.record.role_id: HierarchyEntry() for each in roles}  # type: ignore[attr-defined]
    shown = os.path.dirname(roles[0].name) or os.curdir
    made.append(build_organization(roles[0], root.path, get_organization_name(root), hierarchy, name=shown))
    return Completion(instead, tuple(made))


def _apply_rules(
    equipment: _Equipment,
    role: SourceDocument,
    project_rules: Iterable[ToolRule],
    names: ToolNames,
    servers: Sequence[str],
) -> list[str]:
    """Apply the rules of a project and of an agent. Returns the agent's rules that name no declared tool."""
    # A project's rule is in another file than the role, so the role itself is its place.
    shared_rules = [rule._replace(mark=role.marks[0]) for rule in project_rules]
    if not names.is_project_final:
        for rule in shared_rules:
            equipment.apply(rule, names, servers)
    rules = get_rules(role)
    listed = get_list_words(role).get(LISTING)
    listing = len(rules) if listed is None else int(listed[0])
    undeclared = [
        f"{RULES} {number}"
        for number, rule in enumerate(rules)
        if not equipment.apply(rule, names, servers, gives_tools=number < listing) and EVERY not in rule.tool
    ]
    # The last matching rule decides, so the rules that win are applied last.
    if names.is_project_final:
        for rule in shared_rules:
            equipment.apply(rule, names, servers)
    return undeclared


def _list_removed(
    catalogs: Iterable[SourceDocument], built_in: Iterable[SourceDocument], names: ToolNames
) -> set[str]:
    """The built-in tools that a project takes from all agents, because it lists others."""
    only = [words[ONLY] for each in catalogs if ONLY in (words := get_list_words(each))]
    if not only:
        return set()
    patterns = [pattern for word in only[-1] for pattern in names.list_patterns(word, ())]
    tools = {tool for each in built_in for tool in list_declared_tools(each)}
    return {tool for tool in tools if not any(fnmatchcase(tool, glob) for glob in patterns)}


def _list_servers(tools: Iterable[str]) -> list[str]:
    """The servers that are declared, by the names in the ids of their tools."""
    servers = (each.removeprefix(MCP) for each in tools if each.startswith(MCP))
    return [each for each in servers if "__" not in each]


def _list_named_tools(
    documents: Iterable[SourceDocument], names: ToolNames, servers: Iterable[str]
) -> list[str]:
    """The single tools of servers that rules name."""
    patterns = (
        pattern
        for each in documents
        for word in get_list_words(each).get(RULES, ())
        if isinstance(word, str)
        for pattern in names.list_patterns(word, servers)
    )
    return [each for each in patterns if is_plain(each) and each.startswith(MCP)]


def _complete_role(
    role: SourceDocument, equipment: _Equipment, undeclared: Sequence[str], names: ToolNames, started: Mapping[str, str]
) -> SourceDocument:  # fmt: skip
    """The role with its tools, and the agents that it may start."""
    record = role.record
    assert isinstance(record, RoleProfile)
    tools = equipment.list_tools()
    starts = _list_started(role, equipment, names, started)
    if starts:
        tools.setdefault(names.starter, next(iter(starts.values())))
    start, below = role.marks
    # The place of a tool that it does not have is the first rule.
    key = below[RULES][0] if RULES in below else start
    marks = (
        start,
        {**below, "capabilities": (key, (key, {"tools_primary": (key, (key, list(tools.values())))}))},
    )
    if starts:
        key = tools[names.starter]
        listed = (key, (key, list(starts.values())))
        marks = (marks[0], {**marks[1], "handoff": (key, (key, {"may_to": listed}))})
    changed = replace(
        record,
        capabilities=replace(record.capabilities, tools_primary=tuple(tools)),
        role_type="executive" if starts else record.role_type,
        handoff=HandoffRights(may_to=tuple(starts)),
    )
    rules = get_rules(role)
    partly = [str(number) for number, rule in enumerate(rules) if rule in equipment.inexpressible]
    more = {key: words for key, words in ((UNDECLARED, list(undeclared)), (PARTLY, partly)) if words}
    raw = {**get_list_words(role), **more} if more else None
    return replace_document(role, changed, marks, raw)


def _list_started(
    role: SourceDocument, equipment: _Equipment, names: ToolNames, started: Mapping[str, str]
) -> dict[str, int]:
    """The agents that an agent may start without being asked, each with the mark of the rule that decides."""
    starts: dict[str, int] = {}
    if names.starter not in equipment.tools:
        return starts
    for name, role_id in started.items():
        effect: ToolEffect = "allow" if INHERITS in get_list_words(role) else "deny"
        mark = role.marks[0]
        for rule in equipment.starting:
            if fnmatchcase(name, rule.part):
                effect, mark = rule.effect, rule.mark
        if effect == "allow" and role_id != role.record.role_id:  # type: ignore[attr-defined]
            starts[role_id] = mark
    return starts


def _build_policies(role: SourceDocument, equipment: _Equipment, names: ToolNames) -> SourceDocument | None:
    """The policies of an agent: tools that ask, denied tools of servers that it has, and denied or asking parts."""
    record = role.record
    assert isinstance(record, RoleProfile)
    tools = equipment.list_tools()
    statements: list[tuple[ToolEffect, str, str, int]] = []
    for tool, (effect, mark) in equipment.effects.items():
        if effect == "ask" or (effect == "deny" and tool.rpartition("__")[0] in tools):
            statements.append((effect, tool, "", mark))
    for tool, rules in equipment.parts.items():
        if tool not in tools or tool == names.starter:
            continue
        general = EFFECTS.index(equipment.effects[tool][0])
        for rule in rules:
            command = find_command(rule, tool, names)
            # A part that cannot be expressed makes the whole tool ask.
            if EFFECTS.index(rule.effect) > general and (command or rule.effect == "ask"):
                statements.append((rule.effect, tool, command, rule.mark))
    if not statements:
        return None
    policies, marks = build_access_policies(
        ToolPolicy(
            build_role_policy_id(record.role_id, effect, number),
            effect,
            f"{effect} {tool}{f' ({command})' if command else ''}",
            Permissions(tools=(tool,), commands=(command,) if command else ()),
            mark,
            record.role_id,
        )
        for number, (effect, tool, command, mark) in enumerate(dict.fromkeys(statements), 1)
    )
    return complete_with(role, PROTECTING, policies, place_policies(_FIRST, marks))
