"""Reads the agents of an AutoGen component: an agent, or a team with its participants, also nested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ToolType
from orgkernel.loading.documents import read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import join_reads
from orgkernel.loading.formats.declared_agents import KIND, DeclaredAgent, ListedTool, build_declared
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, build_server_tool_id, convert_to_id
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import FileResult
from orgkernel.runtime.url_secrets import mask_urls

_PROVIDER, _CONFIG, _COMPONENTS = "provider", "config", "components"
_PACKAGES = ("autogen_agentchat.", "autogen_ext.", "autogen_core.")
_PERSON = "UserProxyAgent"
_FIELDS = {"name": "name", "model": "model_client", "body": "system_message"}
_MAX_DEPTH = 20
_UNREADABLE = "unreadable-component"
"""The id for an entry of a team that is not a component, so that findings about it leave the other agents in
service.
"""
# Tools that agents of these classes have without listing them.
_OWN_TOOLS: dict[str, tuple[str, ToolType]] = {
    "CodeExecutorAgent": ("code_executor", "computer_use"),
    "MultimodalWebSurfer": ("web_browser", "computer_use"),
    "FileSurfer": ("file_browser", "computer_use"),
}


class _Agent(NamedTuple):
    provider: str
    config: FieldReader
    team: str = ""
    """The team in a gallery, if another team has an agent of the same name."""


def read_components(source: SourceText, root: Root) -> FileResult:
    """The roles of a file. Empty for another JSON file."""
    mapping = read_mapping(source, parse_json)
    if mapping.problems:
        is_component = f'"{_PACKAGES[0]}' in source.text
        return read_broken(source, KIND, list(mapping.problems)) if is_component else FileResult(skipped=True)
    problems: list[DocumentProblem] = []
    if str(mapping.value.get(_PROVIDER, "")).startswith(_PACKAGES):
        agents = list(_list_agents(mapping.value, (mapping.start, mapping.marks), problems, 0))
    else:
        agents = list(_list_in_gallery(mapping.value, mapping.marks, problems))
    if not agents and not problems:
        return FileResult(skipped=True)
    # An agent that cannot be read does not take the readable agents of its file with it.
    read = [_read_agent(source, root, agent, number) for number, agent in enumerate(agents, 1)]
    if problems:
        read.append(
            read_broken_role(source, _UNREADABLE, problems) if agents else read_broken(source, KIND, problems)
        )
    return join_reads(read)


def _list_in_gallery(
    value: dict[str, Any], marks: dict[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> Iterator[_Agent]:
    """The agents of a gallery of AutoGen Studio: those that it lists, and those of its teams. A team of a gallery can have an
    agent of the same name as another team, so such an agent has the name of its team too.
    """
    components = value.get(_COMPONENTS)
    if not isinstance(components, dict):
        return
    first: dict[object, _Agent] = {}
    for kind in ("agents", "teams"):
        listed = components.get(kind)
        if not isinstance(listed, tuple):
            continue
        for item, at in zip(listed, marks[_COMPONENTS][1][1][kind][1][1], strict=True):
            for agent in _list_agents(item, at, problems, 0):
                name = agent.config.value.get("name")
                known = first.setdefault(name, agent)
                if known is agent:
                    yield agent
                elif known.config.value != agent.config.value and isinstance(item.get("label"), str):
                    yield agent._replace(team=item["label"])


def _list_agents(value: Any, marks: Marks, problems: list[DocumentProblem], depth: int) -> Iterator[_Agent]:
    """The agents in a component. People and other parts of a team are left out."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return
    provider, config = value.get(_PROVIDER), value.get(_CONFIG)
    if not isinstance(provider, str) or not isinstance(config, dict):
        problems.append(
            DocumentProblem(
                row.MISSING_FIELD, start_of(marks), "the component has no `provider` or no `config`"
            )
        )
        return
    below = marks[1][_CONFIG][1]
    last = provider.rpartition(".")[2]
    for key in ("participants", "team"):
        listed = config.get(key)
        items: list[tuple[Any, Marks]] = []
        if isinstance(listed, tuple):
            items = list(zip(listed, below[1][key][1][1], strict=True))
        elif isinstance(listed, dict):
            items = [(listed, below[1][key][1])]
        for item, at in items:
            yield from _list_agents(item, at, problems, depth + 1)
    if ".agents." in provider and last != _PERSON:
        yield _Agent(last, FieldReader(config, below, "the agent"))


def _read_agent(source: SourceText, root: Root, agent: _Agent, number: int) -> FileResult:
    """The documents of one agent, or its problems."""
    fields = agent.config
    name = fields.get_text("name", needed=True)
    if name:
        fields.subject = f"agent {quote(name)}"
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    fields.check_identifier("name", "AutoGen")
    description = fields.get_text("description")
    message = fields.get_text("system_message")
    tools = (
        [ListedTool(each, fields.at, type) for each, type in [_OWN_TOOLS[agent.provider]]]
        if agent.provider in _OWN_TOOLS
        else []
    )
    tools += _list_tools(fields)
    peers = [(word, mark) for word, mark in fields.get_words("handoffs")]
    for item, marks in fields.get_mappings("handoffs"):
        if isinstance(item.get("target"), str):
            peers.append((item["target"], start_of(marks[1]["target"][1])))
        else:
            text = f"a hand-off of {fields.subject} has no `target`"
            fields.problems.append(
                DocumentProblem(row.MISSING_FIELD, start_of(marks), text, "write the name of an agent")
            )
    client = fields.value.get("model_client")
    model = (
        client.get(_CONFIG, {}).get("model", "")
        if isinstance(client, dict) and isinstance(client.get(_CONFIG), dict)
        else ""
    )
    if fields.is_refused:
        role_id = convert_to_id(name)[:MAX_NAME_LENGTH] or f"agent-{number}"
        return read_broken_role(source, role_id, fields.problems)
    marks_of_fields = dict(fields.marks)
    if isinstance(client, dict):
        key, value = marks_of_fields["model_client"]
        marks_of_fields["model_client"] = (key, start_of(value))
    model = model if isinstance(model, str) else ""
    if agent.team:
        name = f"{'-'.join(agent.team.split())}-{name}"
    declared = DeclaredAgent(name, description, tools, (), model, message, peers=peers)
    return build_declared(source, root, declared, (fields.at, marks_of_fields), _FIELDS, fields.problems)


def _list_tools(fields: FieldReader) -> Iterator[ListedTool]:
    """The tools of an agent, also those of its workbenches."""
    for item, marks in fields.get_only_mappings("tools", "provider"):
        yield from _build_tool(item, marks)
    if isinstance(fields.value.get("workbench"), dict):
        benches = [(fields.value["workbench"], fields.marks["workbench"][1])]  # before AutoGen 0.7
    else:
        benches = fields.get_only_mappings("workbench", "provider")
    for item, marks in benches:
        config = item.get(_CONFIG)
        if not isinstance(config, dict):
            continue
        inner = FieldReader(config, marks[1][_CONFIG][1], "the workbench")
        if isinstance(config.get("server_params"), dict):
            server = config["server_params"]
            called = next(
                (str(each) for each in (item.get("label"), server.get("command"), server.get("url")) if each),
                "mcp",
            )
            yield ListedTool(build_server_tool_id(mask_urls(called)), start_of(marks), "mcp_server")
        for tool, at in inner.get_mappings("tools"):
            yield from _build_tool(tool, at)


def _build_tool(item: dict[str, Any], marks: Marks) -> Iterator[ListedTool]:
    config = item.get(_CONFIG)
    name = config.get("name") if isinstance(config, dict) else None
    if not isinstance(name, str) or not name.strip():
        name = str(item.get("label") or item.get(_PROVIDER, "")).rpartition(".")[2]
    if name.strip():
        about = config.get("description", "") if isinstance(config, dict) else ""
        yield ListedTool(
            name.strip(), start_of(marks), description=about.strip() if isinstance(about, str) else ""
        )
