"""Add a policy that asks first: to a document of policies, or as a new document."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace
from yaml import MappingNode

from orgkernel.documents.records import PREFIX
from orgkernel.loading.documents import parse_source
from orgkernel.loading.files import SourceText
from orgkernel.project.edits.spans import apply_edits
from orgkernel.project.edits.yaml_lists import CannotEdit, add_after_key, find_entry, read_nodes

_MAX_LENGTH = 90
_HEAD = (f"_schema: {PREFIX}access_policies", '_version: "1.0"', "", "policies:")


def name_policy(role_id: str, tool_id: str, taken: Collection[str]) -> str:
    """Choose an id that no policy has yet.

    >>> name_policy("dev", "github", ["ask-dev-github"])
    'ask-dev-github-2'
    """
    name = f"ask-{role_id}-{tool_id}".replace(".", "-")[:_MAX_LENGTH]
    number = 2
    policy_id = name
    while policy_id in taken:
        policy_id, number = f"{name}-{number}", number + 1
    return policy_id


def policy_lines(policy_id: str, role_id: str, tool_id: str) -> list[str]:
    """A policy by which a role asks before each use of a tool."""
    return [
        f"{policy_id}:",
        f"  description: Role {role_id} asks before each use of {tool_id}.",
        "  match:",
        f"    principal: {{role: {role_id}}}",
        "  effect: ask",
        "  permissions:",
        f"    tools: [{tool_id}]",
    ]


def new_policies(lines: list[str]) -> str:
    """A document with one policy."""
    return "\n".join([*_HEAD, *(f"  {line}" for line in lines), ""])


def add_policy(source: SourceText, policy_id: str, lines: list[str]) -> SourceText:
    """Add a policy in front of the others in a document. Raises `CannotEdit`."""
    documents = parse_source(source).documents
    nodes = read_nodes(source.text)
    for number, document in enumerate(documents):
        value = document.value
        if not (isinstance(value, dict) and value.get("_schema") == f"{PREFIX}access_policies"):
            continue
        entry = find_entry(nodes[number], "policies") if len(nodes) == len(documents) else None
        if entry is None or not isinstance(entry[1], MappingNode) or entry[1].flow_style:
            break
        edit = add_after_key(source.text, entry[0], lines, entry[1].start_mark.column)
        edited = replace(source, text=apply_edits(source.text, [edit]))
        after = parse_source(edited)
        was, now = value["policies"], after.documents[number].value if not after.problems else None
        if now is None or {**now, "policies": {**now["policies"]}} != {
            **value,
            "policies": {policy_id: now["policies"].get(policy_id), **was},
        }:
            break
        return edited
    raise CannotEdit("its policies are written in an unusual way")
