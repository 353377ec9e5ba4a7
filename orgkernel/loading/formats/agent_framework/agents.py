"""Reads a declarative agent of the Microsoft Agent Framework."""

from __future__ import annotations

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ToolType
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_framework import is_prompt
from orgkernel.loading.formats.declared_agents import KIND, DeclaredAgent, ListedTool, build_declared
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.marks import start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_foreign_yaml

_FIELDS = {"name": "name", "model": "model", "body": "instructions"}
# Source: agent-framework-declarative 1.4.0, which compares kinds of agents in any case and refuses other fields and other kinds of tools.
_KINDS = ("prompt", "agent")
_KNOWN = (
    "kind", "name", "displayName", "description", "metadata", "inputSchema", "outputSchema", "model", "tools", "template", "instructions",
    "additionalInstructions",
)  # fmt: skip
_TOOL_KINDS = ("function", "web_search", "file_search", "mcp", "code_interpreter")
_TYPES: dict[str, ToolType] = {"mcp": "mcp_server", "code_interpreter": "computer_use"}


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file. Empty for another YAML file, such as a workflow."""
    mapping = read_mapping(source, parse_foreign_yaml)
    if mapping.problems:
        return (
            read_broken(source, KIND, list(mapping.problems))
            if is_prompt(source.text)
            else FileResult(skipped=True)
        )
    kind = mapping.value.get("kind")
    if (
        not isinstance(kind, str)
        or kind.lower() not in _KINDS
        or (kind == "Agent" and "instructions" not in mapping.value)
    ):
        return FileResult(skipped=True)
    fields = FieldReader(mapping.value, (mapping.start, mapping.marks), "the agent", mapping.start)
    name = fields.get_text("name", needed=True)
    if name:
        fields.subject = f"agent {quote(name)}"
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    description = fields.get_text("description")
    instructions = fields.get_text("instructions")
    written = mapping.value.get("model")
    model = written.get("id") if isinstance(written, dict) else written
    tools = []
    for item, marks in fields.get_only_mappings("tools", "name"):
        kind = item.get("kind")
        if kind not in _TOOL_KINDS:
            written_kind = quote(kind) if isinstance(kind, str) else describe(kind)
            text = f"the kind of a tool of {fields.subject} is {written_kind}, not {', '.join(map(quote, _TOOL_KINDS))}"
            fields.problems.append(DocumentProblem(row.INVALID_VALUE, start_of(marks), text))
            continue
        label = next((item[key] for key in ("name", "serverName") if isinstance(item.get(key), str)), kind)
        if isinstance(label, str) and isinstance(kind, str):
            about = item.get("description")
            description_text = about.strip() if isinstance(about, str) else ""
            type = _TYPES.get(kind, "deterministic_function")
            tools.append(ListedTool(label.strip(), start_of(marks), type, description_text))
    fields.report_unknown(_KNOWN, "the Microsoft Agent Framework", only_misspelled=False)
    if fields.is_refused:
        return read_broken(source, KIND, fields.problems)
    marks_of_fields = dict(fields.marks)
    if isinstance(written, dict):
        marks_of_fields["model"] = (marks_of_fields["model"][0], start_of(marks_of_fields["model"][1]))
    agent = DeclaredAgent(name, description, tools, (), model if isinstance(model, str) else "", instructions)
    return build_declared(source, root, agent, (mapping.start, marks_of_fields), _FIELDS, fields.problems)
