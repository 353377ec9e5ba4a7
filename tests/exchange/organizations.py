"""Organizations for exports: one whose texts are hostile, one that takes every kind of tool away in every way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orgkernel.graph.questions import OrgView
from tests.support.trees import TEMPLATES, read, write_tree

ALL_TEMPLATES = tuple(sorted(path.name for path in TEMPLATES.iterdir() if (path / "org.yaml").is_file()))

TEXTS = (
    "---",
    "=1+1",
    "= Env.SECRET",
    "a: b # c",
    "- item\n---\nname: other\ntools: '*'",
    "'single' \"double\" \\ back",
    "{{placeholder}} and {topic} and ${HOME} and {{{deep}}}",
    "bell \x07, escape \x1b[2J, next \x85, separator \u2028, mark \u202e",
    "*star &anchor !tag %directive @at `tick`",
    "null",
    "1_000",
    " leading and trailing ",
    "// comment /* not one */",
    "# Made by orgkernel from organization other for claude-code. Change the organization and export again.",
    "日本語 🛰 é",
    "tab\there",
    "Reads --- only.\n---- all",
    "a-----b",
)


def hostile_documents() -> dict[str, Any]:
    """A role for each hostile text, which it has as its description, name, order and everything else that is text."""
    hierarchy = {"top": {"subordinates": [f"role_{n}" for n in range(len(TEXTS))]}}
    documents: dict[str, Any] = {
        "org.json": {
            "_schema": "orgkernel:organization", "org_id": "hostile", "hierarchy": hierarchy,
            "mission": {"objective": TEXTS[6], "success_criteria": list(TEXTS)},
        },
        "roles/top.json": _role("top", "The one above.", chain_of_command={"reports_to": "user"}),
    }  # fmt: skip
    for number, text in enumerate(TEXTS):
        documents[f"roles/{number}.json"] = _role(
            f"role_{number}",
            text,
            role_name=text,
            does_not_have=[text],
            standing_orders=[text],
            pace_plan={"primary": {"action": text}},
            capabilities={"tools_primary": [f"tool_{number}"]},
        )
    tools = {
        f"tool_{number}": {"type": "remote_api", "name": text, "description": text, "side_effects": "read"}
        for number, text in enumerate(TEXTS)
    }
    documents["tools.json"] = {"_schema": "orgkernel:tool_catalog", "tools": tools}
    return documents


def _role(role_id: str, description: str, **more: Any) -> dict[str, Any]:
    return {"_schema": "orgkernel:role_profile", "role_id": role_id, "description": description, **more}


# Tool to what Claude Code and Copilot call it, and what it is. All of them are listed by `worker`.
GUARDED: dict[str, dict[str, Any]] = {
    "whole": {"names": {"claude_code": "Read", "copilot": "read"}, "type": "remote_api", "side_effects": "read"},
    "partly": {"names": {"claude_code": "Bash", "copilot": "execute"}, "type": "remote_api", "actions": {"look": "read", "do": "full"}},
    "denied": {"names": {"claude_code": "WebFetch", "copilot": "web/githubRepo"}, "type": "remote_api", "side_effects": "read"},
    "asked": {"names": {"claude_code": "WebSearch", "copilot": "web/fetch"}, "type": "remote_api", "side_effects": "read"},
    "timed": {"names": {"claude_code": "Glob", "copilot": "search"}, "type": "remote_api", "side_effects": "read"},
    "scoped": {"names": {"claude_code": "Write", "copilot": "edit"}, "type": "deterministic_function", "side_effects": "write"},
    "disabled": {"names": {"claude_code": "NotebookEdit", "copilot": "edit/editNotebook"}, "type": "remote_api", "side_effects": "write", "enabled": False},
    "alone": {"names": {"claude_code": "LSP", "copilot": "search/usages"}, "type": "remote_api", "side_effects": "read", "concurrency": "exclusive"},
    "claims_less": {"names": {"claude_code": "PowerShell", "copilot": "runInTerminal"}, "type": "remote_api", "side_effects": "read"},
    "shares": {"names": {"claude_code": "Grep", "copilot": "textSearch"}, "type": "remote_api", "side_effects": "read"},
    "shared_and_denied": {"names": {"claude_code": "Grep", "copilot": "textSearch"}, "type": "remote_api", "side_effects": "read"},
    "nameless": {"type": "remote_api", "side_effects": "read"},
    "elsewhere": {"names": {"claude_code": "TodoWrite", "copilot": "todo"}, "type": "remote_api", "side_effects": "read", "departments": ["attic"]},
    "star": {"names": {"claude_code": "*", "copilot": "*"}, "type": "remote_api", "side_effects": "destructive"},
    "argument": {"names": {"claude_code": "Bash(git:*)", "copilot": "shell(git)"}, "type": "remote_api", "side_effects": "destructive"},
    "mcp__tracker": {"type": "mcp_server", "side_effects": "destructive", "path_arguments": []},
    "mcp__tracker__close": {"type": "mcp_server", "side_effects": "destructive", "path_arguments": []},
    "mcp__tracker__read": {"type": "mcp_server", "side_effects": "destructive", "path_arguments": []},
    "hands_on": {"names": {"claude_code": "Task", "copilot": "agent"}, "type": "utility_agent", "side_effects": "write", "essential": {"delegating": True}},
}  # fmt: skip


def guarded_documents() -> dict[str, Any]:
    """A worker who lists every tool, and a boss above."""
    tools = [{"tool": tool, "level": "read" if tool == "partly" else "full"} for tool in GUARDED]
    tools = [each for each in tools if each["tool"] != "hands_on"]
    policies = {
        "no_fetching": {"effect": "deny", "permissions": {"tools": ["denied", "shared_and_denied", "mcp__tracker__close"]}},
        "ask_first": {"effect": "ask", "permissions": {"tools": ["asked"]}},
        "not_at_night": {"effect": "deny", "permissions": {"tools": ["timed"]}, "match": {"conditions": [{"time": "22:00-06:00"}]}},
    }  # fmt: skip
    return {
        "org.json": {
            "_schema": "orgkernel:organization",
            "org_id": "guarded",
            "hierarchy": {"boss": {"subordinates": ["worker"]}},
            "departments": {"attic": {}},
        },
        "roles/boss.json": _role(
            "boss", "Above.", role_type="commander", chain_of_command={"can_delegate": True}
        ),
        "roles/worker.json": _role(
            "worker",
            "Below.",
            capabilities={"tools": tools},
            file_scope=["src/"],
            chain_of_command={"can_delegate": False},
        ),
        "tools.json": {"_schema": "orgkernel:tool_catalog", "tools": GUARDED},
        "policies.json": {"_schema": "orgkernel:access_policies", "policies": policies},
    }


def view_of(folder: Path, documents: dict[str, Any]) -> OrgView:
    """The only organization of these documents; all of its roles are in service."""
    write_tree(folder, {name: json.dumps(document) for name, document in documents.items()})
    (organization,) = read(folder).organizations.values()
    assert not organization.records.withheld
    return organization.index


def template_view(template: str) -> OrgView:
    """The organization of a template."""
    (organization,) = read(TEMPLATES / template).organizations.values()
    return organization.index
