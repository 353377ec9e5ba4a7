"""Reads an agent of the Agent Format (https://agentformat.org)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ToolType
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.declared_agents import KIND, DeclaredAgent, ListedTool, build_declared
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import (
    MAX_NAME_LENGTH,
    build_server_tool_id,
    build_tool_id,
    convert_to_id,
)
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_foreign_yaml

_METADATA, _SPACE, _POLICY, _CONFIG = "metadata", "action_space", "execution_policy", "config"
_APPROVAL = "approval"
_FIELDS = {"name": "name", "model": "model", "body": "instructions"}


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file."""
    mapping = read_mapping(source, parse_foreign_yaml)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    whole = FieldReader(mapping.value, (mapping.start, mapping.marks), "the agent", mapping.start)
    metadata = _read_part(whole, _METADATA, needed=True)
    if metadata is None:
        return read_broken(source, KIND, whole.problems)
    name = metadata.get_text("name", needed=True)
    own_id = metadata.get_text("id", needed=True)
    description = metadata.get_text("description")
    if len(convert_to_id(own_id)) > MAX_NAME_LENGTH:
        metadata.refuse("id", f"the id has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    policy = _read_part(whole, _POLICY)
    config = _read_part(policy, _CONFIG) if policy is not None else None
    space = _read_part(whole, _SPACE)
    readers = [each for each in (whole, metadata, policy, config, space) if each is not None]
    tools: list[ListedTool] = []
    asking: list[tuple[str, int]] = []
    below: list[tuple[str, int]] = []
    if space is not None:
        for tool, does_ask in _list_tools(space):
            tools.append(tool)
            asking += [(tool.name, tool.mark)] if does_ask else []
        below = list(_list_agents(space))
    instructions = config.get_text("instructions") if config is not None else ""
    model = config.get_text("model") if config is not None else ""
    problems = [problem for reader in readers for problem in reader.problems]
    if any(reader.is_refused for reader in readers):
        return read_broken(source, KIND, problems)
    marks = {key: each for key, each in metadata.marks.items() if key in ("name", "description", "id")}
    marks["role_id"] = marks["id"]
    if config is not None:
        marks |= {key: each for key, each in config.marks.items() if key in ("model", "instructions")}
    agent = DeclaredAgent(name, description, tools, below, model, instructions, own_id, asking)
    return build_declared(source, root, agent, (mapping.start, marks), _FIELDS, problems)


def _read_part(reader: FieldReader, key: str, *, needed: bool = False) -> FieldReader | None:
    """A mapping in a field. None if there is none, which is refused if it is needed or something else is there."""
    written = reader.value.get(key)
    if isinstance(written, dict):
        return FieldReader(written, reader.marks[key][1], f"{quote(key)}", reader.start(key))
    if written is not None or needed:
        what = f"is {describe(written)}, not a mapping" if written is not None else "is missing"
        reader.problems.append(
            DocumentProblem(row.MISSING_FIELD, reader.start(key), f"the field {quote(key)} {what}")
        )
    return None


def _list_tools(space: FieldReader) -> Iterator[tuple[ListedTool, bool]]:
    """The tools of an agent, each with whether a person has to approve its calls."""
    for item, marks in _list_entries(space, "local_tools"):
        about = item.get("description")
        yield _build_tool(item["alias"], marks, "deterministic_function", about), _does_ask(item)
    for item, marks in _list_entries(space, "mcp_servers"):
        allowed = item.get("allowed_tools")
        if not isinstance(allowed, tuple):
            yield _build_tool(build_server_tool_id(item["alias"]), marks, "mcp_server", None), _does_ask(item)
            continue
        for each, at in zip(allowed, marks[1]["allowed_tools"][1][1], strict=True):
            name = each.get("name") if isinstance(each, dict) else each
            if isinstance(name, str):
                does_ask = _does_ask(item) or (isinstance(each, dict) and _does_ask(each))
                yield _build_tool(build_tool_id(item["alias"], name), at, "mcp_server", None), does_ask
    for item, marks in _list_entries(space, "remote_agents"):
        yield _build_tool(item["alias"], marks, "utility_agent", item.get("description")), _does_ask(item)


def _list_agents(space: FieldReader) -> Iterator[tuple[str, int]]:
    """The files of the agents that an agent commands. One that a person has to approve first is left out, because a hand-off
    cannot ask.
    """
    for item, marks in _list_entries(space, "local_agents"):
        if isinstance(item.get("source"), str) and not _does_ask(item):
            yield item["source"].strip(), start_of(marks[1]["source"][1])


def _list_entries(space: FieldReader, key: str) -> Iterator[tuple[dict[str, Any], Marks]]:
    if key in space.value and not isinstance(space.value[key], tuple):
        space.refuse(key, f"{quote(key)} is {describe(space.value[key])}, not a list", row=row.MISSING_FIELD)
        return
    for item, marks in space.get_only_mappings(key, "alias"):
        alias = item.get("alias")
        if isinstance(alias, str) and alias.strip():
            yield item, marks
        else:
            written = describe(alias) if "alias" in item else "missing"
            text = f"the `alias` of an entry of {quote(key)} is {written}, not a string"
            space.problems.append(
                DocumentProblem(row.MISSING_FIELD, start_of(marks), text, "write it in quotes")
            )


def _build_tool(name: str, marks: Marks, type: ToolType, description: object) -> ListedTool:
    return ListedTool(
        name.strip(), start_of(marks), type, description.strip() if isinstance(description, str) else ""
    )


def _does_ask(item: dict[str, Any]) -> bool:
    """Whether a person approves calls. Conditions are not read, so a conditional approval is always needed."""
    return item.get(_APPROVAL, False) not in (False, "false", None)
