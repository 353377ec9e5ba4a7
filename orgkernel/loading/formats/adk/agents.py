"""Reads an agent configuration of Google ADK."""

from __future__ import annotations

import os

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.declared_agents import KIND, DeclaredAgent, ListedTool, build_declared
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import LONGEST, convert_to_id
from orgkernel.loading.marks import start_of
from orgkernel.loading.sources import ReadFile
from orgkernel.loading.yaml_reader import parse_foreign_yaml

_LLM = "LlmAgent"
_ROOTS = ("root_agent.yaml", "root_agent.yml")
_SHOWING = frozenset({"instruction", "agent_class", "sub_agents"})
_FIELDS = {"name": "name", "model": "model", "body": "instruction"}


def read_agent(source: SourceText, root: Root) -> ReadFile:
    """The role of a file. Empty for another YAML file."""
    mapping = read_mapping(source, parse_foreign_yaml)
    is_root = os.path.basename(source.path) in _ROOTS
    if mapping.refusals:
        return read_broken(source, KIND, list(mapping.refusals)) if is_root else ReadFile(skipped=True)
    if not is_root and not ("name" in mapping.value and _SHOWING & mapping.value.keys()):
        return ReadFile(skipped=True)
    fields = FieldReader(mapping.value, (mapping.start, mapping.marks), "the agent", mapping.start)
    name = fields.get_text("name", needed=True)
    fields.subject = f"agent {quote(name)}"
    if len(convert_to_id(name)) > LONGEST:
        fields.refuse("name", f"the name has more than {LONGEST} characters", row=row.MALFORMED_ID)
    kind = fields.get_text("agent_class").rpartition(".")[2] or _LLM
    description = fields.get_text("description")
    instruction = fields.get_text("instruction", needed=kind == _LLM)
    model = fields.get_text("model")
    tools = [ListedTool(word, mark) for word, mark in fields.get_words("tools")]
    for item, marks in fields.get_mappings("tools"):
        if isinstance(item.get("name"), str):
            tools.append(ListedTool(item["name"].strip(), start_of(marks[1]["name"][1])))
    below: list[tuple[str, int]] = []
    for item, marks in fields.get_mappings("sub_agents"):
        keys = (key for key in ("config_path", "code") if isinstance(item.get(key), str))
        below += [(item[key].strip(), start_of(marks[1][key][1])) for key in keys]
    if fields.is_refused:
        return read_broken(source, KIND, fields.refusals)
    agent = DeclaredAgent(name, description, tools, below, model, instruction)
    return build_declared(source, root, agent, (mapping.start, fields.marks), _FIELDS, fields.refusals)
