"""The direction of an edit that no answer and no manifest shows: whether it loosens or tightens a rule.

Answers are compared without a store. A rank matrix, a restriction or a threshold that no declared subject meets today still
decides tomorrow, so the edit is told with the direction of its field. A field that is not in the table `may widen`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.edits import GOVERNANCE, NOUNS, ORGANIZATION, DeclaredEdit
from orgkernel.diff.sections import EDITS, ORDER
from orgkernel.documents.records import LEVELS
from orgkernel.shell.openings import list_openings

_RUNTIME_FIELDS: Mapping[str, frozenset[str]] = {
    "*": frozenset({"description", "name", "_version"}),
    "posts": frozenset({"role_name", "standing_orders", "does_not_have", "requirements", "lmc_mode", "examples", "not_examples",
                        "doctrine", "overlay", "role_id"}),
    "organization": frozenset({"org_name", "mission", "communication_channels", "mode", "microcosm_config", "macrocosm_config",
                               "defaults", "domains", "sources", "departments", "procedure_proposals"}),
    "tools": frozenset({"provider", "names", "intents"}),
    "agents": frozenset({"callsign", "personality"}),
    "people": frozenset(),
    "domains": frozenset({"examples", "triggers", "broader", "passthrough"}),
    "plans": frozenset({"domains", "steps", "stale_after_turns", "tools"}),
    "skills": frozenset({"category", "domain", "preferred_tools", "external"}),
    "bills": frozenset(),
}  # fmt: skip
"""Fields that no access decision reads; `*` stands for every section. What they change in routing or in a manifest is told by
the task or the manifest that changes."""
_RUNTIME_SECTIONS = frozenset({"settings", "sharing", "domains", "aliases", "plans"})


def _compare_openings(edit: DeclaredEdit) -> ChangeEffect:
    """Whether an entry for a program declares more uses harmless than before, in addition to those of the shipped
    catalog.
    """
    opened = [
        {(each.words, each.fields) for each in list_openings(edit.id, _as_entry(edit, value))}
        for value in (edit.before, edit.after)
    ]
    if opened[1] - opened[0]:
        return "widened"
    return "narrowed" if opened[0] - opened[1] else "unclear"


def _as_entry(edit: DeclaredEdit, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if len(edit.route) > 1:
        return {}
    return {edit.field: value} if edit.route else dict(value)


EditDirection = Callable[[Any, Any], ChangeEffect]


def is_read_by_runtime_only(edit: DeclaredEdit) -> bool:
    """Whether a field is only handed to the runtime, and no decision reads it."""
    if edit.section in _RUNTIME_SECTIONS or ORDER in edit.route:
        return True
    field = edit.field
    return (
        field in _RUNTIME_FIELDS["*"]
        or field in _RUNTIME_FIELDS.get(edit.section, ())
        or str(edit.route[-1:] and edit.route[-1]) in ("description",)
    )


def describe_edit_change(org_id: str, edit: DeclaredEdit, number: int, ranks: Sequence[str]) -> Change:
    """The edit as a change of its own. `ranks` are those of the organization, lowest first."""
    kind = (
        "changed"
        if edit.before is not None and edit.after is not None
        else "gained"
        if edit.before is None
        else "lost"
    )
    role_id = edit.id if edit.section == "posts" else None
    return Change(
        org_id=org_id,
        role_id=role_id,
        kind=kind,  # type: ignore[arg-type]
        subject=f"{NOUNS.get(edit.section, edit.section)}:{edit.id}".rstrip(":"),
        classification=classify_edit(edit, ranks),
        sentence=edit.text,
        before=edit.before,
        after=edit.after,
        why_before=edit.why_before,
        why_after=edit.why_after,
        causes=(number,),
        path=(EDITS, edit.section, edit.id, *map(str, edit.route)),
    )


def classify_edit(edit: DeclaredEdit, ranks: Sequence[str]) -> ChangeEffect:
    """Whether an edit loosens or tightens what is declared."""
    before, after = edit.before, edit.after
    if edit.section == "orders":
        return "neutral"
    if (edit.section, edit.field) in (("agents", "rank"), ("posts", "entry_rank")):
        return _climb(*ranks)(before, after)
    if edit.section == "programs":
        return _compare_openings(edit)
    direction = _find_direction(edit)
    return "unclear" if direction is None else direction(before, after)


def _grow(before: Any, after: Any) -> ChangeEffect:
    """More is wider."""
    one, other = _measure(before), _measure(after)
    if one is None or other is None or one == other:
        return "unclear"
    return "widened" if other > one else "narrowed"


def _shrink(before: Any, after: Any) -> ChangeEffect:
    """More is narrower."""
    return _INVERSE[_grow(before, after)]


def _measure(value: Any) -> float | None:
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, list | tuple | dict):
        return float(len(value))
    return LEVELS.index(value) if value in LEVELS else None


def _restrict(before: Any, after: Any) -> ChangeEffect:
    """A list of the subjects that are admitted. An empty list admits all, so the first entry narrows access and
    each further one widens it.
    """
    was, now = set(before or ()), set(after or ())
    if not was or not now:
        return "narrowed" if now else "widened"
    return "widened" if now > was else "narrowed" if now < was else "unclear"


def _require(before: Any, after: Any) -> ChangeEffect:
    """A list of what has to be met: each entry narrows."""
    was, now = _elements(before), _elements(after)
    return "narrowed" if now > was else "widened" if now < was else "unclear"


def _elements(value: Any) -> set[str]:
    return (
        {repr(each) for each in value.items()}
        if isinstance(value, Mapping)
        else {repr(each) for each in value or ()}
    )


def _climb(*ladder: Any) -> EditDirection:
    """A value on a ladder, lowest first: higher is wider."""

    def compare(before: Any, after: Any) -> ChangeEffect:
        if before not in ladder or after not in ladder or before == after:
            return "unclear"
        return "widened" if ladder.index(after) > ladder.index(before) else "narrowed"

    return compare


def _presence(wider: bool) -> EditDirection:
    """An entry that is there, or not."""

    def compare(before: Any, after: Any) -> ChangeEffect:
        if (before is None) == (after is None):
            return "unclear"
        return "widened" if (before is None) == wider else "narrowed"

    return compare


_INVERSE: Mapping[ChangeEffect, ChangeEffect] = {
    "widened": "narrowed",
    "narrowed": "widened",
    "unclear": "unclear",
    "neutral": "neutral",
}
_DIRECTIONS: Mapping[tuple[str, str], EditDirection] = {
    ("tools", "restricted_to"): _restrict,
    ("tools", "departments"): _restrict,
    ("tools", "qualifications"): _require,
    ("tools", "enabled"): _climb(False, None, True),
    ("tools", ""): _presence(wider=True),
    ("agents", ""): _presence(wider=True),
    ("agents", "trust"): _grow,
    ("qualifications", "threshold"): _shrink,
    ("qualifications", "prerequisites"): _require,
    ("qualifications", "expires_after_days"): _grow,
    ("qualifications", "min_sample_size"): _shrink,
    ("qualifications", "raises"): _grow,
    ("ranks", "trust_from"): _shrink,
    ("ranks", "agency"): _climb("reactive", "suggestive", "autonomous", "unrestricted"),
    ("ranks", "recall_tier"): _climb("basic", "enhanced", "full", "oracle"),
    ("promotions", ""): _presence(wider=True),
    ("promotions", "requirements"): _require,
    ("promotions", "qualifications"): _require,
    ("posts", "may_grant"): _grow,
    ("posts", "permissionMode"): _climb("plan", "default", "acceptEdits", "bypassPermissions"),
    ("posts", "mcpServers"): _grow,
    ("posts", "credentials"): _grow,
    ("posts", "data"): _grow,
    (ORGANIZATION, "separations"): _require,
    (ORGANIZATION, "external"): lambda before, after: "unclear",
    (GOVERNANCE, "sacred_scopes"): _require,
    (GOVERNANCE, "destructive_operations"): _require,
    (GOVERNANCE, "quality_gates"): _require,
    (GOVERNANCE, "phrases"): _require,
    (GOVERNANCE, "batch_size"): _grow,
    (GOVERNANCE, "lmc_modes"): _climb("full", "lite", "direct"),
    (GOVERNANCE, "limits"): _grow,
    (GOVERNANCE, "claims"): lambda before, after: "unclear",
    (GOVERNANCE, "dispatch_edges"): lambda before, after: _INVERSE[_require(before, after)],
}


def _find_direction(edit: DeclaredEdit) -> EditDirection | None:
    if len(edit.route) > 1 and edit.field in ("separations", "sacred_scopes", "quality_gates"):
        # An entry of the mapping came, went or changed.
        return _presence(wider=False) if len(edit.route) == 2 else None
    return _DIRECTIONS.get((edit.section, edit.field))
