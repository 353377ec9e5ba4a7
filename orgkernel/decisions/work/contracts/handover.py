"""Draft the brief of the next task from stored records. The sender completes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from orgkernel.decisions.work.contracts.briefs import get_sections
from orgkernel.documents.records import (
    Brief,
    BriefContext,
    BriefScope,
    BriefSpec,
    DecisionEntry,
    SessionReport,
)

TITLES = {
    "mission": "Mission",
    "purpose": "Purpose",
    "context": "Context",
    "whats_done": "What's Done",
    "current_task": "Current Task",
    "done_criteria": "Done Criteria",
    "verify_command": "Verify Command",
    "key_decisions": "Key Decisions",
    "files_owned": "Files in Scope",
    "relevant_memories": "Relevant Memories",
}
"""The titles of the ten sections, in order."""


def draft_brief(
    parent: Brief, reports: Iterable[SessionReport], log: Iterable[DecisionEntry], brief_id: str
) -> Brief:
    """A brief derived from another one, with the results and decisions of its mission.

    The task, the verify command and the files stay empty, so the brief is not valid until the sender writes them.
    """
    reports, log = tuple(reports), tuple(log)
    context = parent.context or BriefContext()
    runs = [report.id for report in reports if report.id is not None]
    replaced = {entry.supersedes for entry in log}
    return Brief(
        id=brief_id,
        parent=parent.id,
        mission=parent.mission,
        purpose=parent.purpose,
        context=msgspec.structs.replace(context, prior_runs=(*context.prior_runs, *runs)),
        whats_done=(*(parent.whats_done or ()), *(_describe_result(report) for report in reports)),
        current_task="",
        done_criteria="",
        verify_command="",
        key_decisions=tuple(
            f"[{entry.timestamp}] {entry.title}: {entry.decision}"
            for entry in log
            if entry.task == parent.mission and entry.id not in replaced
        ),
        spec=BriefSpec(scope=BriefScope(files_owned=())),
        relevant_memories=parent.relevant_memories or (),
        ship=False,
        audit_gates=parent.audit_gates,
    )


def render_brief(brief: Brief) -> str:
    """The ten sections as Markdown, for an agent that knows nothing else."""
    context = brief.context or BriefContext()
    about = {
        "Project root": context.project_root,
        "Deployed URL": context.deployed_url,
        "Stack": context.stack,
        "Prior runs": ", ".join(context.prior_runs),
    }
    bodies = {
        "mission": brief.mission,
        "purpose": brief.purpose,
        "context": _render_bullets(f"{name}: {value}" for name, value in about.items() if value),
        "whats_done": _render_bullets(brief.whats_done or ()),
        "current_task": brief.current_task,
        "done_criteria": brief.done_criteria,
        "verify_command": brief.verify_command,
        "key_decisions": _render_bullets(brief.key_decisions or ()),
        "files_owned": _render_bullets(brief.files_owned),
        "relevant_memories": _render_bullets(brief.relevant_memories or ()),
    }
    return "\n".join(f"## {TITLES[name]}\n{_close_body(body)}" for name, body in bodies.items())


def convert_to_document(brief: Brief) -> dict[str, Any]:
    """A brief as a document, with every section."""
    fields: dict[str, Any] = msgspec.to_builtins(brief)
    written = {"_schema": brief.kind, "_version": brief.version, **fields}
    for route in get_sections(brief):
        inner = written
        for step in route[:-1]:
            inner = inner.setdefault(str(step), {})
        inner.setdefault(str(route[-1]), {} if route == ("context",) else [])
    return written


def _describe_result(report: SessionReport) -> str:
    """One line about a result."""
    rest = {
        "done_clean": "",
        "pending": f": {', '.join(report.pending_actions)}",
        "failed": f": {report.refusal_reason or report.evidence.verify_stderr}",
    }[report.status]
    return f"{report.session or report.agent}: {report.status}{rest}"


def _render_bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def _close_body(body: str | None) -> str:
    """A section's text with a line end, in which no line looks like a section heading."""
    text = "\n".join(
        f"\\{line}" if line.startswith("#") else line for line in (body or "").strip().splitlines()
    )
    return f"{text}\n" if text else ""
