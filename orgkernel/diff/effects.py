"""Whether a change widens what a role can do, narrows it, or is neutral.

Widened:

- for a role: a domain, a plan that it can run, a tool or a higher level of it, an action of a tool, an essential tool, a
  hand-off target, a credential, data, a right to grant a tool or a higher level of it, a cognitive skill, a longer file
  scope, the right to delegate, a higher authority or clearance; a cap on a tool that disappears; a circumstance that no
  longer restricts an allowed tool; an action that it may now ask for;
- for an organization: a hand-off edge, a higher limit on delegation, a policy that allows more or denies less;
- a role or an organization that is added.

Narrowed is the inverse. Unclear is a change of a policy that could let a subject do more. Everything else is neutral: a role's
instructions, its place in the organization, its reports.

A limit that bounds nothing is neutral: a ceiling that leaves everything, a `deny` that names nothing, the numbers of a
hand-off that no role may make.

INVARIANT: the effect of a reversed change is the inverse, so everything is a comparison of two measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.policy_effects import compute_policy_effect
from orgkernel.diff.sections import ACTIONS, ASKED, COGNITIVE_SKILLS, DEPENDING, ORDER, ROLES, resolve_address
from orgkernel.documents.records import LEVELS
from orgkernel.documents.role_fields import ROLE_FIELDS

_Role = Mapping[str, Any]
# What the table of fields says of a change of a role, and what is said here of the rest.
_GIVES = frozenset(field.part for field in ROLE_FIELDS if field.gives in ("items", "levels")) | {
    "dispatch_edges",
    COGNITIVE_SKILLS,
    ROLES,
    "organizations",
}
_LEVELED = frozenset(field.part for field in ROLE_FIELDS if field.gives == "levels")
_TOOLS = ("tools", "essential_tools")
_GATES = ("min_rank", "departments", "skill_id")
_DELEGATION = ("strict", "envelope")
# Facts whose values are compared as they are.
_GROWS = {(field.part, field.route[-1]) for field in ROLE_FIELDS if field.gives == "number"} | {
    ("limits", "max_spawn_depth"),
    ("limits", "max_children"),
    ("limits", "max_concurrent"),
}
# Of these, only a role that may hand work down makes any use.
_OF_HANDOFF = frozenset(each for each in _GROWS if each[0] == "limits")
# Facts whose values climb a ladder.
_LADDERS: Mapping[tuple[str, str | None], tuple[object, ...]] = {
    **{(field.part, field.route[-1]): field.gives for field in ROLE_FIELDS if isinstance(field.gives, tuple)},
    ("limits", "delegation"): _DELEGATION,
}


def compute_effect(change: Change, old: _Role | None = None, new: _Role | None = None) -> ChangeEffect:
    """The effect of a change; `old` and `new` are the role or the organization it is about, on both sides."""
    role_id, part, key, field = resolve_address(change.path)
    if change.kind in ("renamed", "moved"):
        return "neutral"
    if part in _TOOLS and key is not None and old is not None and new is not None:
        if field == ACTIONS:
            return _compute_presence_effect(change)
        if field in (ASKED, DEPENDING):
            return _compute_ask_effect(change, old, new, key)
        if field == "conditional":
            return _compute_condition_effect(change, old, new, part, key)
        if field != "capped_by":
            levels = _get_level(old, key), _get_level(new, key)
            return _compare(*levels) if field in (None, "level") else "neutral"
    if part in _TOOLS and field == "capped_by":
        return _compare(-len(change.before), -len(change.after))
    if part == "policies" and role_id is None and key != ORDER:
        assert key is not None
        return compute_policy_effect(change, field, key, _map_policies(old), _map_policies(new))
    if field is None and part in _GIVES and (part != "domains" or role_id is not None):
        return _compute_presence_effect(change)
    if part in _LEVELED and field == "level":
        return _compare(_get_step(LEVELS, change.before), _get_step(LEVELS, change.after))
    if field is None and part == "file_scope" and old is not None and new is not None:
        return _compute_file_scope_effect(change, old, new)
    if part == COGNITIVE_SKILLS and field == "min_proficiency":
        return _compare(-_parse_number(change.before), -_parse_number(change.after))
    if part == COGNITIVE_SKILLS and field in _GATES:
        # It stays open to the role; who else passes depends on ranks and departments.
        return "unclear"
    if part == "plans" and field in (None, "runnable"):
        return _compare(_is_runnable(change.before), _is_runnable(change.after))
    if (part, key) == ("limits", "workspace_root"):
        # Every relative path means another one.
        return "unclear"
    if field == "value" and (part, key) in _OF_HANDOFF and not (_may_hand_off(old) or _may_hand_off(new)):
        return "neutral"
    if field == "value" and (part, key) in _GROWS:
        return _compare(_parse_number(change.before), _parse_number(change.after))
    ladder = _LADDERS.get((part, key)) if field == "value" else None
    return (
        "neutral"
        if ladder is None
        else _compare(_get_step(ladder, change.before), _get_step(ladder, change.after))
    )


def _map_policies(organization: _Role | None) -> Mapping[str, _Role]:
    return {} if organization is None else {each["id"]: each for each in organization["policies"]}


def _may_hand_off(organization: _Role | None) -> bool:
    """Whether a role may hand work to another one. What is not known counts as yes."""
    return organization is None or any(role["handoff_targets"] for role in organization[ROLES])


def _compare(before: float, after: float) -> ChangeEffect:
    if before == after:
        return "neutral"
    return "widened" if after > before else "narrowed"


def _compute_presence_effect(change: Change) -> ChangeEffect:
    return _compare(change.kind in ("lost", "removed"), change.kind in ("gained", "added"))


def _get_level(role: _Role, tool: str) -> int:
    """The level of a tool, listed or essential: a tool that only changes from one to the other gives nothing."""
    levels = [
        _get_step(LEVELS, item["level"]) for part in _TOOLS for item in role[part] if item["id"] == tool
    ]
    return max(levels, default=0)


def _compute_ask_effect(change: Change, old: _Role, new: _Role, tool: str) -> ChangeEffect:
    """Asking is more than nothing and less than being allowed, so the other side of the change decides."""
    gained = change.kind == "gained"
    actions, other = (change.after, old) if gained else (change.before, new)
    if change.kind == "changed":
        return "neutral"
    allowed = {
        action
        for part in _TOOLS
        for item in other[part]
        if item["id"] == tool
        for action in item["allowed_actions"]
    }
    less = [action in allowed for action in actions]
    if any(less) and not all(less):
        return "unclear"
    return _compare(gained, not gained) if any(less) else _compare(not gained, gained)


def _compute_condition_effect(change: Change, old: _Role, new: _Role, part: str, tool: str) -> ChangeEffect:
    """Conditions on an allowed tool narrow it; conditions under which a refused tool would be allowed widen it."""
    allowed = {
        bool(item["allowed_actions"]) for role in (old, new) for item in role[part] if item["id"] == tool
    }
    if len(allowed) != 1:
        return "neutral"  # the gained or lost actions are changes of their own
    more = _compare(_count_conditions(change.before), _count_conditions(change.after))
    return _INVERSE[more] if allowed.pop() else more


def _count_conditions(conditions: str | None) -> int:
    return len(conditions.split("; ")) if conditions else 0


_INVERSE: Mapping[ChangeEffect, ChangeEffect] = {
    "widened": "narrowed",
    "narrowed": "widened",
    "neutral": "neutral",
}


def _compute_file_scope_effect(change: Change, old: _Role, new: _Role) -> ChangeEffect:
    """Without a file scope nothing is limited, so gaining the first path narrows, and losing the last one widens."""
    if change.kind == "gained":
        return "widened" if old["file_scope"] else "narrowed"
    if change.kind == "lost":
        return "narrowed" if new["file_scope"] else "widened"
    return "neutral"


def _is_runnable(plan: Any) -> bool:
    return isinstance(plan, Mapping) and bool(plan.get("runnable"))


def _parse_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0


def _get_step(ladder: tuple[object, ...], value: object) -> int:
    return ladder.index(value) if value in ladder else 0
