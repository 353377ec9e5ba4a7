"""Reads the components of one file: agents become roles, tools a catalog. Relations between agents are kept next to
the catalog.

A component is written where it is used, or under `$referenced_components` of an enclosing component, and is
referenced by `{$component_ref: ID}`. `whole` resolves components in other files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import (
    ChainOfCommand,
    Permissions,
    Requirements,
    RoleProfile,
    StandingOrder,
    Tool,
    ToolCatalog,
    ToolType,
)
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.roles import build_tool_id_from_name
from orgkernel.loading.formats.tool_policies import KIND as POLICIES
from orgkernel.loading.formats.tool_policies import ToolPolicy, build_access_policies, place_policies
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe
from orgkernel.loading.sources import BrokenDocument, FileResult, SourceDocument
from orgkernel.loading.yaml_reader import parse_foreign_yaml

ROLE, CATALOG = "role_profile", "tool_catalog"
TYPE, REF, REFERENCED = "component_type", "$component_ref", "$referenced_components"
MANAGER, SWARM, SPECIALIZED = "ManagerWorkers", "Swarm", "SpecializedAgent"
_AGENTS = ("Agent", "A2AAgent", "OciAgent", "OpenAiAgent", "RemoteAgent")
_TEAMS = (MANAGER, SWARM)
_LISTS = ("tools", "toolboxes")


class _Found(NamedTuple):
    """A component, and its position."""

    value: dict[str, Any]
    marks: Marks


def read_components(source: SourceText, root: Root) -> FileResult:
    """The roles, the tools and the teams of a file. Empty for a file that is not a specification."""
    parse = parse_json if source.path.endswith(".json") else parse_foreign_yaml
    value, marks, start, refused = read_mapping(source, parse)
    if refused:
        # A file that mentions no component belongs to another program, so its syntax errors are not reported.
        is_ours_to_say = source.problem is not None or TYPE in source.text
        return read_broken(source, ROLE, list(refused)) if is_ours_to_say else FileResult(skipped=True)
    if TYPE not in value and REFERENCED not in value:
        return FileResult(skipped=True)
    reader = _Reader(source, root)
    reader.collect(_Found(value, (start, marks)))
    return reader.read(_Found(value, (start, marks)))


class _Reader:
    """Collects the components of a file, keyed by id."""

    def __init__(self, source: SourceText, root: Root) -> None:
        self._source, self._root = source, root
        self._found: list[_Found] = []
        self._problems: list[DocumentProblem] = []
        self._broken: list[BrokenDocument] = []
        self.names: dict[str, str] = {}
        """Role of each agent or team, keyed by its id. The role of a team is its leader."""
        self._by_id: dict[str, _Found] = {}

    def collect(self, top: _Found) -> None:
        """Collect all components, outer ones first."""
        pending: list[tuple[Any, Marks]] = [top]
        while pending:
            value, marks = pending.pop()
            if isinstance(value, dict):
                if isinstance(value.get(TYPE), str):
                    self._found.append(_Found(value, marks))
                    if isinstance(value.get("id"), str):
                        self._by_id.setdefault(value["id"], _Found(value, marks))
                below = [(each, marks[1][key][1]) for key, each in value.items()]
            elif isinstance(value, tuple):
                below = list(zip(value, marks[1], strict=True))
            else:
                continue
            # Reversed, because the last one is taken next: components stay in the order of the file, and outer ones
            # come first.
            pending += reversed(below)

    def read(self, top: _Found) -> FileResult:
        """Build the documents of the file."""
        documents: list[SourceDocument] = []
        tools: dict[str, Tool] = {}
        tool_marks: dict[str, tuple[int, Marks]] = {}
        confirmations: dict[str, int] = {}
        ids: dict[str, str] = {}
        edges: list[Any] = []
        edge_marks: list[Marks] = []
        inside: list[str] = []
        for each in self._found:
            kind = each.value[TYPE]
            name = each.value.get("name")
            if kind in _AGENTS:
                documents += self._read_agent(each)
                if isinstance(name, str) and name.strip():
                    inside.append(convert_to_id(name.strip()))
            elif kind in _TEAMS:
                for edge, mark in self._list_edges(each):
                    edges.append(edge)
                    edge_marks.append(mark)
            elif (kind.endswith("Tool") or kind.endswith("ToolBox")) and isinstance(name, str):
                tool = build_tool_id_from_name(name.strip())
                if tool is None:
                    self._refuse(each, "name", row.MALFORMED_ID, "the name of a tool is empty or too long")
                    continue
                tools.setdefault(tool, _build_tool(each.value, name.strip()))
                tool_marks.setdefault(tool, (each.marks[1]["name"][1], each.marks))
                if isinstance(each.value.get("id"), str):
                    ids[each.value["id"]] = tool
                if each.value.get("requires_confirmation") is True:
                    confirmations.setdefault(tool, start_of(each.marks[1]["requires_confirmation"][1]))
        raw: dict[str, Any] = {
            "ids": ids,
            "edges": edges,
            "agents": self._map_agents_to_roles(),
            "inside": inside,
        }
        if top.value.get(TYPE) in _TEAMS or (top.value.get(TYPE) not in (None, *_AGENTS) and inside):
            raw["team"] = [str(top.value.get("name") or "")]
        start = top.marks[0]
        full = {**top.marks[1], "tools": (start, (start, tool_marks)), "edges": (start, (start, edge_marks))}
        documents.append(
            read_as(self._source, self._root, CATALOG, ToolCatalog(tools=tools), (start, full), raw)
        )
        if confirmations:
            # A confirmation belongs to the tool, not to an agent, so the policy applies to every agent.
            documents.append(self._ask(start, confirmations))
        findings = tuple(build_diagnostic(self._source, each) for each in self._problems[:MAX_PROBLEMS])
        return FileResult(tuple(documents), tuple(self._broken), findings)

    def _read_agent(self, component: _Found) -> Iterator[SourceDocument]:
        value = component.value
        fields = FieldReader(value, component.marks, "the agent")
        name = fields.get_text("name", needed=True)
        if name:
            fields.subject = f"agent {quote(name)}"
        is_local = value[TYPE] == "Agent"
        prompt = fields.get_text("system_prompt", needed=is_local)
        # A remote agent has its model elsewhere, so only a local one must name it.
        if is_local and not isinstance(value.get("llm_config"), dict):
            text = f"{fields.subject} has no `llm_config`"
            fields.problems.append(
                DocumentProblem(row.MISSING_FIELD, fields.start("llm_config"), text, "name its model")
            )
        if not isinstance(value.get("id", ""), str):
            text = f"`id` of {fields.subject} is {describe(value['id'])}, not a string"
            fields.refuse("id", text, "put it in quotes", row.WRONG_TYPE)
        description = fields.get_text("description")
        model = self._resolve_component(value.get("llm_config"))
        model_id = model.value.get("model_id") if model is not None else None
        raw: dict[str, Any] = {}
        for key in _LISTS:
            if listed := list(self._list_tool_names(fields, key)):
                raw[key] = [word for word, _ in listed]
                fields.marks[key] = (fields.marks[key][0], (fields.start(key), [mark for _, mark in listed]))
        role_id = convert_to_id(name)
        if len(role_id) > MAX_NAME_LENGTH:
            fields.refuse(
                "name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID
            )
        self._problems += fields.problems
        if fields.is_refused:
            ids = (role_id, value.get("id"))
            claimed = frozenset(each for each in ids if isinstance(each, str) and each)
            self._broken.append(BrokenDocument(self._source.name, self._source.path, ROLE, claimed))
            return
        record = RoleProfile(
            role_id=role_id,
            role_name=name,
            description=description,
            chain_of_command=ChainOfCommand(reports_to="user"),
            requirements=Requirements(preferred_model=model_id if isinstance(model_id, str) else None),
        )
        at = fields.marks["name"]
        below: dict[str, Any] = {**fields.marks, "role_id": at, "role_name": at}
        if record.requirements.preferred_model is not None:
            model_at = fields.marks["llm_config"][0]
            inner = {"preferred_model": (model_at, fields.start("llm_config"))}
            below["requirements"] = (model_at, (model_at, inner))
        yield read_as(self._source, self._root, ROLE, record, (start_of(at[1]), below), raw)
        if prompt:
            order = StandingOrder(audience="role", target=role_id, body=prompt)
            marks = (start_of(at[1]), {"body": fields.marks["system_prompt"]})
            yield read_as(self._source, self._root, "standing_order", order, marks)

    def _list_tool_names(self, fields: FieldReader, key: str) -> Iterator[tuple[str, int]]:
        """The tools in a list: by name if they are in this file, otherwise by the id of the reference."""
        written = fields.value.get(key)
        if written is not None and not isinstance(written, tuple):
            fields.get_words(key)
            return
        for item, marks in fields.get_only_mappings(key, "name"):
            if TYPE not in item and REF not in item:
                text = (
                    f"{quote(key)} of {fields.subject} lists a mapping without {quote(TYPE)} and {quote(REF)}"
                )
                fields.problems.append(
                    DocumentProblem(row.MISSING_FIELD, start_of(marks), text, f"write {quote(TYPE)}")
                )
            component = self._resolve_component(item)
            if component is not None and isinstance(name := component.value.get("name"), str):
                yield name.strip(), start_of(marks)
            elif isinstance(item.get(REF), str):
                yield item[REF], start_of(marks)

    def _resolve_component(self, value: Any) -> _Found | None:
        """The component for an inline value, or for a reference to another component in the file."""
        if not isinstance(value, dict):
            return None
        if isinstance(value.get(REF), str):
            return self._by_id.get(value[REF])
        return _Found(value, None) if TYPE in value else None

    def _find_leader(self, value: Any, depth: int = 0) -> str | None:
        """The role of an agent, or of the leader of a team. If the reference leads out of the file, the reference
        itself.
        """
        component = self._resolve_component(value)
        if component is None:
            ref = value.get(REF) if isinstance(value, dict) else None
            return f"{REF} {ref}" if isinstance(ref, str) else None
        kind, name = component.value[TYPE], component.value.get("name")
        if kind in _AGENTS:
            return convert_to_id(name.strip()) if isinstance(name, str) else None
        # The depth is limited, because references can form a cycle.
        inner = {MANAGER: "group_manager", SWARM: "first_agent", SPECIALIZED: "agent"}.get(kind)
        return self._find_leader(component.value.get(inner), depth + 1) if inner and depth < 40 else None

    def _list_edges(self, team: _Found) -> Iterator[tuple[list[Any], int]]:
        """Command relations in a team, and query relations in a swarm, each with its mark."""
        value, marks = team.value, team.marks[1]
        subject = f"{value[TYPE]} {quote(value.get('name') or '')}"
        if value[TYPE] == MANAGER:
            if not isinstance(value.get("group_manager"), dict):
                self._refuse(team, "group_manager", row.MISSING_FIELD, f"{subject} has no `group_manager`")
                return
            workers = value.get("workers")
            if not isinstance(workers, tuple) or not workers:
                self._refuse(team, "workers", row.MISSING_FIELD, f"{subject} has no `workers`")
                return
            manager = self._find_leader(value["group_manager"])
            for worker, at in zip(workers, marks["workers"][1][1], strict=True):
                yield ["commands", manager, self._find_leader(worker)], start_of(at)
            return
        pairs = value.get("relationships")
        if not isinstance(pairs, tuple):
            self._refuse(team, "relationships", row.MISSING_FIELD, f"{subject} has no `relationships`")
            return
        for pair, at in zip(pairs, marks["relationships"][1][1], strict=True):
            if isinstance(pair, tuple) and len(pair) == 2:
                yield ["queries", self._find_leader(pair[0]), self._find_leader(pair[1])], start_of(at)
            else:
                text = f"{subject} has a relationship that is not a pair"
                self._problems.append(
                    DocumentProblem(
                        row.INVALID_VALUE, start_of(at), text, "list the caller and the recipient"
                    )
                )

    def _map_agents_to_roles(self) -> dict[str, str]:
        """The role of each agent or team in the file, for references from other files."""
        leaders = ((each, self._find_leader(self._by_id[each].value)) for each in self._by_id)
        return {each: leader for each, leader in leaders if leader and not leader.startswith(REF)}

    def _ask(self, start: int, confirmations: dict[str, int]) -> SourceDocument:
        """Build `ask` policies for tools that require a confirmation."""
        record, marks = build_access_policies(
            ToolPolicy(
                _build_policy_id(tool, number),
                "ask",
                f"The tool {tool} requires a confirmation.",
                Permissions(tools=(tool,)),
                mark,
            )
            for number, (tool, mark) in enumerate(confirmations.items(), 1)
        )
        return read_as(self._source, self._root, POLICIES, record, place_policies(start, marks))

    def _refuse(self, component: _Found, key: str, row: row.Row, text: str) -> None:
        marks = component.marks[1]
        mark = start_of(marks[key][1]) if key in marks else start_of(component.marks)
        self._problems.append(DocumentProblem(row, mark, text, f"write `{key}`"))


def _build_policy_id(tool: str, number: int) -> str:
    """A unique policy id for each tool, so no tool loses its policy because of a duplicate id."""
    named = f"confirm_{tool}"
    return named if len(named) <= MAX_NAME_LENGTH else f"confirm_{number}"


def _build_tool(value: dict[str, Any], name: str) -> Tool:
    """Build a tool. Its side effects are not declared, so the most severe are assumed."""
    kind = value[TYPE]
    type: ToolType = "deterministic_function"
    if kind.startswith("MCP"):
        type = "mcp_server"
    elif kind == "RemoteTool":
        type = "remote_api"
    description = value.get("description")
    description_text = description.strip() if isinstance(description, str) else ""
    return Tool(name=name, description=description_text, type=type, side_effects="destructive")
