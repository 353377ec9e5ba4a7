"""The parts of a manifest, as the comparison of two manifests walks them: the names of items, and the fields that belong together.

A part is a list of items, a single item, or a plain value. A part does not have to be named here to be compared; parts
that are not in these tables are compared as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

PathStep = str | int
Path = tuple[PathStep, ...]
"""From the organization to a value: `roles`, role id, part, key of the item, field. A number after a key tells items
with the same key apart, from the second on."""

ORDER = "(order)"
"""Last step of a path that stands for the order of a list, and not for something in it."""
EVERY_HOLDER = "*"
"""In place of a role id: all roles that the change names."""

ROLES = "roles"
COGNITIVE_SKILLS = "cognitive_skills"
DIRECTORY = "directory"
"""First step of a path to a person, webhook or system origin. The directory is compared in addition to the manifests."""
ANSWERS = "answers"
"""First step of a path to an answer that differs and that no manifest shows."""
EDITS = "edits"
"""First step of a path to an edit that is a change by itself."""
SINGLE = frozenset({"superior", "department", "layer", "rank", "mode"})
"""Parts that are one item, or none."""
MEMBERS = frozenset({"superior", "subordinates", "peers", "handoff_targets", "handoff_sources", "escalation"})
"""Parts whose items are other roles."""
UNORDERED = frozenset({"findings"})
"""Parts whose order is that of lines, and which are sorted by their keys instead."""
ECHO = ("name", "role_type", "authority_level", "external")
"""What a manifest repeats of another role."""
ACTIONS = "allowed_actions"
ASKED = "ask_actions"
DEPENDING = "conditional_actions"
ELEMENTS = frozenset({ACTIONS, ASKED, DEPENDING, "allows", "asks", "denies", "spares", "bounds"})
"""Fields of an item whose elements are gained and lost one by one: actions of a tool, what a policy speaks of."""

_QUALIFIER = {"peers": "channel", "escalation": "tier"}
_TOOL = frozenset(
    {
        "name", "description", "type", "provider", "side_effects", "actions", "falls_back_to", "names",
        "input_schema",
    }
)  # fmt: skip
CATALOG: Mapping[str, tuple[str, frozenset[str]]] = {
    "domains": ("domain", frozenset({"description"})),
    "plans": ("plan", frozenset({"name", "description", "domains", "steps", "stale_after_turns"})),
    "tools": ("tool", _TOOL),
    "essential_tools": ("tool", _TOOL),
    "skills": ("skill", frozenset({"name", "description", "category"})),
}
"""Part to the kind of its catalog entries, and the fields that are the same in every role because they say them."""

_LEVEL = {"level": ("level", "letters")}
GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "tools": _LEVEL,
    "essential_tools": _LEVEL,
    "plans": {"runnable": ("runnable", "missing_tools")},
    "skills": {"min_proficiency": ("min_proficiency", "proficiency_name")},
    **{part: {"member": ECHO} for part in MEMBERS},
}
"""Fields of a part's items that say one thing together, under the name it has in a path."""


_NOUNS = {
    "skills": "required skill",
    "escalation": "escalation to",
    "does_not_have": "stated limit",
    "listed_procedures": "procedure",
    "may_grant": "right to grant",
    "not_examples": "counterexample",
    "pace": "PACE tier",
    "policies": "policy",
    "limits": "limits",
    "roots": "roots",
    "requirements": "requirements",
    "handoff_targets": "hand-off target",
    "handoff_sources": "hand-off source",
    "dispatch_edges": "hand-off edge",
}
"""What one item of a part is called, where that is not the singular of the part's name."""


class Address(NamedTuple):
    """A path taken apart."""

    role_id: str | None
    part: str
    key: str | None
    field: str | None


def resolve_address(path: Path) -> Address:
    """What a path leads to."""
    in_role = path[0] == ROLES and len(path) > 2
    role_id = str(path[1]) if in_role else None
    part, *rest = path[2:] if in_role else path
    steps = [step for step in rest if isinstance(step, str)]
    return Address(role_id, str(part), steps[0] if steps else None, steps[1] if len(steps) > 1 else None)


def get_item_key(part: str, item: Mapping[str, Any]) -> str:
    """What an item is told apart by; items with the same key are numbered."""
    if part == ROLES:
        return str(item["role_id"])
    if part == COGNITIVE_SKILLS:
        return str(item["name"])
    if part == "findings":
        help = f" ({item['help']})" if item["help"] else ""
        return f"{item['id']} {item['severity']}: {item['message']}{help}"
    qualifier = _QUALIFIER.get(part)
    return f"{item['id']}@{item[qualifier]}" if qualifier else str(item["id"])


def list_item_keys(part: str, items: Sequence[Mapping[str, Any]]) -> list[Path]:
    """Every item's steps in a path: its key, and from the second with that key on a number."""
    return numbered(get_item_key(part, item) for item in items)


def numbered(keys: Iterable[str]) -> list[Path]:
    """Keys with the repeated ones told apart."""
    seen: Counter[str] = Counter()
    paths: list[Path] = []
    for key in keys:
        paths.append((key, seen[key]) if seen[key] else (key,))
        seen[key] += 1
    return paths


def is_item_list(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether the value of a part is a list of items."""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def get_group(part: str, field: str) -> str:
    """The name under which a field of an item is compared, with those that say one thing with it."""
    groups = GROUPS.get(part, {})
    return next((name for name, fields in groups.items() if field in fields), field)


def read_field(part: str, item: Mapping[str, Any], field: str) -> Any:
    """The value of a field; of fields that belong together, those the item has."""
    fields = GROUPS.get(part, {}).get(field)
    if fields is None:
        return item.get(field)
    return {each: item[each] for each in fields if each in item} or None


def get_noun(part: str) -> str:
    """What one item of a part is called."""
    return _NOUNS.get(part, part.removesuffix("s").replace("_", " "))
