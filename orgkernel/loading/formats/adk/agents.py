"""Reads an agent configuration of Google ADK."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import join_reads
from orgkernel.loading.formats.declared_agents import (
    KIND,
    DeclaredAgent,
    ListedTool,
    Transfer,
    build_declared,
)
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_foreign_yaml

_LLM = ("LlmAgent", "Agent")
_ROOTS = ("root_agent.yaml", "root_agent.yml")
_DISTINCTIVE_FIELDS = frozenset({"instruction", "agent_class", "sub_agents"})
_FIELDS = {"name": "name", "model": "model", "body": "instruction"}
_OWN_PACKAGE = "google.adk."
_OWN_TOOLS = "google.adk.tools."
_PATHS = (".yaml", ".yml")
_EVERY_AGENT = (
    "name", "agent_class", "description", "sub_agents", "before_agent_callbacks", "after_agent_callbacks", "before_agent_callback",
    "after_agent_callback",
)  # fmt: skip
# Source: the `config_type` of each class in google-adk 2.13.0, which refuses other fields, and the fields of `Workflow`, which ignores them.
_KNOWN: dict[str, tuple[str, ...]] = {
    "SequentialAgent": _EVERY_AGENT,
    "ParallelAgent": _EVERY_AGENT,
    "LoopAgent": (*_EVERY_AGENT, "max_iterations"),
    "Workflow": (
        "name", "agent_class", "description", "edges", "graph", "input_schema", "max_concurrency", "output_schema", "rerun_on_resume",
        "retry_config", "state_schema", "timeout", "wait_for_output",
    ),
    **dict.fromkeys(_LLM, (
        *_EVERY_AGENT, "model", "model_code", "instruction", "static_instruction", "disallow_transfer_to_parent",
        "disallow_transfer_to_peers", "input_schema", "output_schema", "output_key", "include_contents", "tools",
        "before_model_callbacks", "after_model_callbacks", "before_tool_callbacks", "after_tool_callbacks", "generate_content_config",
    )),
}  # fmt: skip
_MAX_DEPTH = 20
# Classes without a model: they run the agents below them, and nothing is transferred to or from them.
_WITHOUT_MODEL = frozenset({"SequentialAgent", "ParallelAgent", "LoopAgent", "Workflow", "BaseAgent"})
# Strings that pydantic, which Google ADK uses, reads as booleans.
_TRUE, _FALSE = (
    frozenset({"true", "1", "1.0", "yes", "on", "y", "t"}),
    frozenset({"false", "0", "0.0", "no", "off", "n", "f"}),
)
_TRANSFERS: dict[str, Transfer] = {
    "disallow_transfer_to_parent": "superior",
    "disallow_transfer_to_peers": "siblings",
}


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file, and those of the agents that it declares inside the edges of a workflow. Empty for another YAML file."""
    mapping = read_mapping(source, parse_foreign_yaml)
    is_root = os.path.basename(source.path) in _ROOTS
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems)) if is_root else FileResult(skipped=True)
    if not is_root and not ("name" in mapping.value and _DISTINCTIVE_FIELDS & mapping.value.keys()):
        return FileResult(skipped=True)
    read = []
    top: tuple[dict[str, Any], Marks] = (mapping.value, (mapping.start, mapping.marks))
    # If two inline agents have the same name, they are the same agent.
    inline = {str(value["name"]): (value, marks) for value, marks in reversed([*_list_inline_agents(*top)])}
    for value, marks in (top, *reversed(inline.values())):
        fields = FieldReader(value, marks, "the agent", start_of(marks))
        agent = _read_fields(fields)
        if not fields.is_refused:
            read.append(
                build_declared(source, root, agent, (fields.at, fields.marks), _FIELDS, fields.problems)
            )
        elif inline:
            role_id = convert_to_id(agent.name)[:MAX_NAME_LENGTH] or "unreadable-agent"
            read.append(read_broken_role(source, role_id, fields.problems))
        else:
            read.append(read_broken(source, KIND, fields.problems))
    return join_reads(read)


def _read_fields(fields: FieldReader) -> DeclaredAgent:
    """The fields of one agent. Values that Google ADK refuses are refused."""
    name = fields.get_text("name", needed=True)
    if name:
        fields.subject = f"agent {quote(name)}"
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    fields.check_identifier("name", "Google ADK")
    if name == "user":
        fields.refuse("name", "Google ADK keeps the name `user` for the person", "choose another name")
    written = fields.get_text("agent_class")
    kind = written.rpartition(".")[2] or _LLM[0]
    if kind in _KNOWN and ("." not in written or written.startswith(_OWN_PACKAGE)):
        fields.report_unknown(_KNOWN[kind], "Google ADK", only_misspelled=False)
    for key in ("agent_class", "description", "model", "sub_agents", "tools"):
        if key in fields.value and fields.value[key] is None:
            fields.refuse(key, f"{quote(key)} of {fields.subject} is null", "remove it", row.WRONG_TYPE)
    description = fields.get_text("description")
    instruction = fields.get_text("instruction", needed=kind in _LLM)
    model = fields.get_text("model")
    below: list[tuple[str, int]] = []
    for item, marks in fields.get_only_mappings("sub_agents", "config_path"):
        below += _read_reference(fields, item, marks)
    transferred = [] if kind in _WITHOUT_MODEL else list(below)
    tools = []
    for item, marks in fields.get_only_mappings("tools", "name"):
        inner = FieldReader(item, marks, f"a tool of {fields.subject}")
        inner.report_unknown(("name", "args"), "Google ADK", only_misspelled=False)
        fields.problems += inner.problems
        tool = item.get("name")
        if not isinstance(tool, str) or not tool.strip():
            text = f"a tool of {fields.subject} has no `name`"
            fields.problems.append(DocumentProblem(row.MISSING_FIELD, start_of(marks), text, "write `name`"))
            continue
        if "." not in tool.removeprefix(_OWN_TOOLS):
            tool = tool.removeprefix(_OWN_TOOLS)
        tools.append(ListedTool(tool, start_of(marks[1]["name"][1])))
        args = item.get("args")
        if isinstance(args, dict) and isinstance(args.get("agent"), dict):
            below += _read_reference(fields, args["agent"], marks[1]["args"][1][1]["agent"][1])
    below += _list_nodes(
        fields.value.get("edges"), fields.marks["edges"][1] if "edges" in fields.marks else 0, 0
    )
    transfers: list[Transfer] = []
    if kind not in _WITHOUT_MODEL:
        transfers = [each for key, each in _TRANSFERS.items() if not _is_true(fields, key)]
    return DeclaredAgent(
        name, description, tools, below, model, instruction, transferred=transferred, transfers=transfers
    )


def _is_true(fields: FieldReader, key: str) -> bool:
    """A boolean as Google ADK reads it: with the numbers 0 and 1, and words in any case. Another value is refused."""
    written = fields.value.get(key, False)
    word = str(written).lower()
    if isinstance(written, bool | int | float | str) and word in _TRUE | _FALSE:
        return word in _TRUE
    fields.refuse(
        key,
        f"{quote(key)} of {fields.subject} is {describe(written)}, not `true` or `false`",
        row=row.WRONG_TYPE,
    )
    return False


def _read_reference(fields: FieldReader, item: dict[str, Any], marks: Marks) -> list[tuple[str, int]]:
    """The file or the code that a reference to an agent names."""
    named = [
        (item[key], start_of(marks[1][key][1]))
        for key in ("config_path", "code")
        if isinstance(item.get(key), str)
    ]
    if len(named) != 1 or ("config_path" in item and not named[0][0].endswith(_PATHS)):
        text = (
            f"a reference of {fields.subject} to an agent needs either `config_path`, a YAML file, or `code`"
        )
        fields.problems.append(DocumentProblem(row.INVALID_VALUE, start_of(marks), text))
    return named


def _iterate_nodes(value: Any, marks: Marks, depth: int) -> Iterator[tuple[Any, Marks]]:
    """The nodes in the edges of a workflow: text, references and agents, in lists and in maps of routes."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, tuple):
        for item, below in zip(value, marks[1], strict=True):
            yield from _iterate_nodes(item, below, depth + 1)
    elif isinstance(value, dict) and value.keys().isdisjoint(("name", "config_path", "code")):
        for key, item in value.items():
            yield from _iterate_nodes(item, marks[1][key][1], depth + 1)
    else:
        yield value, marks


def _list_nodes(edges: Any, marks: Marks, depth: int) -> list[tuple[str, int]]:
    """The files and names of the agents that a workflow runs."""
    nodes = []
    for node, at in _iterate_nodes(edges, marks, depth):
        written = node
        if isinstance(node, dict):
            written = next((node[key] for key in ("config_path", "code", "name") if key in node), None)
        is_agent = isinstance(node, dict) or (isinstance(node, str) and node.endswith(_PATHS))
        if is_agent and isinstance(written, str):
            nodes.append((written, start_of(at)))
    return nodes


def _list_inline_agents(value: dict[str, Any], marks: Marks) -> Iterator[tuple[dict[str, Any], Marks]]:
    """The agents that a workflow declares in its edges, not in files of their own."""
    if "edges" not in value:
        return
    for node, at in _iterate_nodes(value["edges"], marks[1]["edges"][1], 0):
        if (
            isinstance(node, dict)
            and "name" in node
            and node.keys().isdisjoint(("config_path", "code", "func_code"))
        ):
            yield node, at
            yield from _list_inline_agents(node, at)
