"""The decision log as the Markdown that people and agents read."""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.documents.records import DecisionEntry


def render_decision_log(entries: Iterable[DecisionEntry]) -> str:
    """The entries as headings and lists, in order. A replacing entry cites the old one by time and title."""
    known: dict[str, DecisionEntry] = {}
    parts = []
    for entry in entries:
        lines = [
            f"### [{_fold_line(entry.timestamp)}] {_fold_line(entry.title)}",
            f"- **Task:** {_fold_line(entry.task)}",
            f"- **Classification:** {(entry.classification or '').upper()}",
            f"- **Decision:** {_fold_line(entry.decision)}",
            f"- **Rationale:** {_fold_line(entry.rationale)}",
            f"- **Falsifier:** {_fold_line(entry.falsifier)}",
        ]
        if entry.corrects_premise:
            lines.append(f"- **Corrects the premise:** {_fold_line(entry.corrects_premise)}")
        if entry.supersedes:
            old = known.get(entry.supersedes)
            cited = (
                f"[{_fold_line(old.timestamp)}] {_fold_line(old.title)}"
                if old
                else _fold_line(entry.supersedes)
            )
            lines.append(f"- **Supersedes:** {cited}")
        if entry.id:
            known[entry.id] = entry
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _fold_line(text: str | None) -> str:
    """A text on one line."""
    return " ".join((text or "").split())
