"""The messages at the start of a session: the organization and role, and the changes since the activation."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from orgkernel.project.hooks.claude_hook.activated import ActiveOrganization
from orgkernel.project.hooks.claude_hook.deciding import FREE, quote_foreign
from orgkernel.runtime.regular_files import read_regular
from orgkernel.version import __version__

AGENTS: Final = ".claude/agents"
_MAX_SHOWN: Final = 5
_MARKED_LINES: Final = 5
"""The mark of an export is in one of the first lines of a file."""
_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_AGENTS: Final = 1_000
_NAME: Final = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:.*\r?\n)*?name:[ \t]*(.+?)[ \t]*\r?\n", re.MULTILINE)


class SessionStart(NamedTuple):
    """The messages at the start of a session."""

    context: str
    """The message for the agent."""
    drift: tuple[str, ...]
    """The messages for the person and the agent."""


def describe_session(active: ActiveOrganization, call: Mapping[str, Any]) -> SessionStart:
    """Describe the organization, the role of the main thread, and the changes since the activation."""
    data, name = active.data, call.get("agent_type")
    role = active.get_role(name) if isinstance(name, str) else active.settings["main_role"]
    who = f" You work in role `{role}` ({data['names'].get(role, role)})." if role not in (None, FREE) else ""
    context = (
        f"The organization {data['org_name']} decides what each agent may do here, by the role that is named like the "
        f"agent.{who} A refusal says why, with the line of the document, and who can do it."
    )
    drift = tuple(find_drift(active))
    return SessionStart("\n".join((context, *drift)), drift)


def find_drift(active: ActiveOrganization) -> Iterator[str]:
    """Find the differences from the activated state, as sentences."""
    data, project = active.data, shlex.quote(active.project)
    again = f"activate it again: `orgkernel host activate {data['org_id']} --claude-code {project}`"
    if changed := sorted(_find_changed_documents(active)):
        yield f"The documents of {data['org_name']} have changed since it was activated ({_render_list(changed)}); {again}."
    if data["compiled_by"] != f"orgkernel {__version__}":
        yield f"{data['org_name']} was activated by {data['compiled_by']}, and this is orgkernel {__version__}; {again}."
    agent_files = dict(_list_agent_files(active.project))
    agents = [name for name in map(_find_name, agent_files.values()) if name is not None]
    if others := sorted(_find_changed_exports(active, agent_files)):
        yield (
            f"These exported agents differ from what {data['org_name']} declares now: {_render_list(others)}; export them again: "
            f"`orgkernel export --to claude-code --org {data['org_id']} -o {project}`."
        )
    if not agents:
        return
    if strangers := sorted({name for name in agents if active.get_role(name) is None}):
        yield f"No role of {data['org_name']} is named after these agents: {_render_list(strangers)}."
    there = set(map(active.get_role, agents))
    if missing := [
        each for each in data["roles"] if each not in there and each != active.settings["main_role"]
    ]:
        yield f"These roles of {data['org_name']} have no agent in {AGENTS}: {_render_list(missing)}."


def compute_digest(path: str) -> str | None:
    """The digest of a document; None if it cannot be read."""
    try:
        return hashlib.sha256(read_regular(path, _MAX_BYTES)).hexdigest()
    except (OSError, ValueError):
        return None


def list_document_names(folder: str) -> list[str]:
    """The names in a folder that could be documents."""
    try:
        return sorted(each for each in os.listdir(folder) if each.endswith((".yaml", ".yml", ".md", ".json")))
    except OSError:
        return []


def _find_changed_documents(active: ActiveOrganization) -> Iterator[str]:
    documents = active.read_documents()
    for path, digest in documents["documents"].items():
        if compute_digest(os.path.join(active.project, path)) != digest:
            yield path
    for folder, names in documents["folders"].items():
        for name in set(list_document_names(os.path.join(active.project, folder))).difference(names):
            yield os.path.join(folder, name)


def _list_agent_files(project: str) -> Iterator[tuple[str, bytes]]:
    """The agent files of a project, by their path in it."""
    seen = 0
    for place, _, names in os.walk(os.path.join(project, AGENTS)):
        for name in sorted(names):
            if name.endswith(".md") and seen < _MAX_AGENTS:
                seen += 1
                path = os.path.join(place, name)
                try:
                    yield os.path.relpath(path, project).replace(os.sep, "/"), read_regular(path, _MAX_BYTES)
                except (OSError, ValueError):
                    continue


def _find_name(content: bytes) -> str | None:
    """The name of an agent from its front matter."""
    head, _, _ = content.decode("utf-8", "replace").partition("\n---")
    match = _NAME.match(head + "\n")
    return None if match is None else match[1].strip("\"'")


def _find_changed_exports(active: ActiveOrganization, agent_files: Mapping[str, bytes]) -> Iterator[str]:
    """Exported files that differ from what an export would write now."""
    documents = active.read_documents()
    mark, exported = documents["mark"].encode(), documents["exported"]
    for path, content in agent_files.items():
        # Only marked files: an agent that was written by hand has no export to differ from.
        is_ours = any(mark in line for line in content.split(b"\n", _MARKED_LINES)[:_MARKED_LINES])
        if is_ours and hashlib.sha256(content).hexdigest() != exported.get(path):
            yield path


def _render_list(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return ", ".join(map(quote_foreign, names[:_MAX_SHOWN])) + more


def as_data(paths: list[str]) -> dict[str, Any]:
    """The digests of the documents that an activation records, by path."""
    folders = {os.path.dirname(path): list_document_names(os.path.dirname(path)) for path in paths}
    return {"documents": {path: compute_digest(path) for path in paths}, "folders": folders}
