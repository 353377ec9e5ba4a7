"""The sentence for a change, and its subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.diff.changes import Change
from orgkernel.diff.normal_form import get_default_name
from orgkernel.diff.sections import (
    ACTIONS,
    ASKED,
    DEPENDING,
    DIRECTORY,
    ECHO,
    ELEMENTS,
    EVERY_HOLDER,
    MEMBERS,
    ORDER,
    ROLES,
    SINGLE,
    Path,
    get_noun,
    resolve_address,
)
from orgkernel.documents.role_fields import ROLE_FIELDS

_SHOWN = 8
_TEXTS = frozenset(field.part for field in ROLE_FIELDS if field.shown == "texts")
"""Parts whose items are free text, not ids."""
_LISTED = (
    ("domains", "domain"),
    ("plans", "plan"),
    ("tools", "tool"),
    ("credentials", "credential"),
    ("data", "data"),
)


def say_edit(field: str, before: Any, after: Any) -> str:
    """A declared value that is set, removed or changed; of lists, what came and went."""
    if before is None:
        return f"{field} is added" if after in ({}, []) else f"{field} is set to {_write_value(after)}"
    if after is None:
        return (
            f"{field} is removed"
            if before in ({}, [])
            else f"{field} is removed, which was {_write_value(before)}"
        )
    if isinstance(before, list) and isinstance(after, list):
        gone = [_write_value(each) for each in before if each not in after]
        come = [_write_value(each) for each in after if each not in before]
        clauses = [
            f"{verb} {list_words(words)}" for verb, words in (("gains", come), ("loses", gone)) if words
        ]
        return f"{field} {' and '.join(clauses)}" if clauses else f"the order of {field} is different"
    return f"{field} is {_write_value(after)} instead of {_write_value(before)}"


def _write_value(value: Any) -> str:
    """A value as YAML writes it on one line; the words of a plain list one by one."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return list_words([quote(each) for each in value])
    return quote(_write_flow(value))


def _write_flow(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_write_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_flow, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "null" if value is None else str(value)


def say_difference(field: str, before: Any, after: Any) -> str:
    """A value that is another one now; of lists of words, what came and went."""
    if _is_words(before) and _is_words(after):
        gone = [quote(each) for each in before if each not in after]
        come = [quote(each) for each in after if each not in before]
        clauses = [
            f"{verb} {list_words(words)}" for verb, words in (("gained", come), ("lost", gone)) if words
        ]
        return (
            f"{field} {', '.join(clauses)}"
            if clauses
            else f"{field} now reads {list_words(list(map(quote, after)))}"
        )
    return f"{field} is {_format_value(after)} instead of {_format_value(before)}"


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "nothing"
    return quote(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def list_words(words: Sequence[str]) -> str:
    """The first words, and how many more."""
    shown = ", ".join(words[:_SHOWN])
    more = len(words) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def say_somebody(change: Change, subject: str) -> str:
    """What is said of them now and was before, and which policies match them because of it."""
    before, after = change.before or {}, change.after or {}
    kind, _, name = subject.partition(":")
    who = f"{kind.replace('system', 'system origin')} {name}"
    if change.kind != "changed":
        matching = (after or before)["policies"]
        matched = f", matched by {list_words(list(map(quote, matching)))}" if matching else ""
        return f"{change.org_id} {'gains' if change.kind == 'gained' else 'loses'} {who}{matched}"
    clauses = [
        say_difference(field, before.get(field), after.get(field))
        for field in dict.fromkeys((*before, *after))
        if field != "policies" and before.get(field) != after.get(field)
    ]
    come = [quote(each) for each in after["policies"] if each not in before["policies"]]
    gone = [quote(each) for each in before["policies"] if each not in after["policies"]]
    clauses += [f"now matched by {list_words(come)}"] if come else []
    clauses += [f"no longer matched by {list_words(gone)}"] if gone else []
    return f"{who} of {change.org_id}: {', '.join(clauses)}"


def describe_change(change: Change) -> Change:
    """The change with its subject and its sentence."""
    return msgspec.structs.replace(
        change, subject=_get_subject(change.path), sentence=_write_sentence(change)
    )


def _get_subject(path: Path) -> str:
    _, part, key, _ = resolve_address(path)
    if key is None:
        return part
    if key == ORDER:
        return f"order:{part}"
    if part == DIRECTORY:
        return key
    noun = (
        {"skills": "skill", "escalation": "escalation"}.get(part, get_noun(part))
        .replace("-", "")
        .replace(" ", "_")
        .lower()
    )
    return f"{noun}:{_get_id(part, key)}"


def _get_id(part: str, key: str) -> str:
    if part == "findings":
        return key.partition(" ")[0]
    return key.partition("@")[0] if part in MEMBERS else key


def _write_sentence(change: Change) -> str:
    role_id, part, key, field = resolve_address(change.path)
    who = role_id if role_id not in (None, EVERY_HOLDER) else change.org_id
    if part == ROLES and key != ORDER:
        return _describe_role_change(change)
    if part == DIRECTORY:
        return say_somebody(change, key or "")
    if part == "organizations":
        return f"organization {key} is {change.kind}"
    if change.kind == "moved":
        return f"{who} moves from {_name_superior(change.before)} to {_name_superior(change.after)}"
    if key is None or key == ORDER:
        return _describe_part_change(change, who or "", part, key == ORDER)
    if field is None:
        return _describe_item_change(change, who or "", part, key)
    if role_id == EVERY_HOLDER:
        count = len(change.roles)
        holders = f"for {count} role{'s' * (count != 1)}"
        return f"{get_noun(part)} {key}: {say_difference(field, change.before, change.after)}, {holders}"
    return _describe_field_change(change, who or "", part, key, field)


def _describe_role_change(change: Change) -> str:
    if change.kind == "renamed":
        return f"{change.before} is renamed {change.after}"
    role: Mapping[str, Any] = change.after if change.kind == "added" else change.before
    superior = f" under {role['superior']['id']}" if role["superior"] else ""
    has = []
    for part, noun in _LISTED:
        ids = [item["id"] for item in role[part]]
        if ids:
            has.append(f"{noun}{'s' * (len(ids) > 1 and noun != 'data')} {list_words(ids)}")
    held = f", with {'; '.join(has)}" if has else ""
    return f"{role['role_id']} is {change.kind}: {role['role_type']}{superior}{held}"


def _name_superior(member: Mapping[str, Any] | None) -> str:
    return member["id"] if member else "the top"


def _describe_part_change(change: Change, who: str, part: str, is_order: bool) -> str:
    if is_order:
        ids = [_get_id(part, key[0]) for key in change.after]
        shown = [quote(each) if part in _TEXTS else each for each in ids]
        return f"{who}: the order of {part.replace('_', ' ')} is now {list_words(shown)}"
    before, after = change.before, change.after
    if part in SINGLE and part != "mode":
        noun = get_noun(part)
        if before is None or after is None:
            return f"{who} {'gains' if before is None else 'loses'} {noun} {(after or before)['id']}"
        if before["id"] != after["id"]:
            return f"{who} has {noun} {after['id']} instead of {before['id']}"
        return f"{who}: the details of {noun} {after['id']} change"
    if part == "mode":
        before, after = before["value"], after["value"]
    if part == "role_name":
        before, after = (each or get_default_name(who) for each in (before, after))
    return f"{who}: {say_difference(part, before, after)}"


def _describe_item_change(change: Change, who: str, part: str, key: str) -> str:
    item = change.after if change.kind == "gained" else change.before
    verb = "gains" if change.kind == "gained" else "loses"
    name = _get_id(part, key)
    if part == "findings":
        return f"{who} {verb} finding {item['id']} {item['name']}: {item['message']}"
    if "value" in item:
        values = (each and each["value"] for each in (change.before, change.after))
        return f"{who}: {say_difference(f'{part}.{name}', *values)}"
    if part in _TEXTS:
        name = quote(name)
    if part == "domains" and resolve_address(change.path).role_id is None:
        taker = f", which goes to {item['role_id']}" if item["role_id"] else ", which goes to no role"
        return f"{who} {verb} domain {name}{taker}"
    more = _MORE.get(part)
    return f"{who} {verb} {get_noun(part)} {name}{more(item) if more else ''}"


def _describe_tool(item: Mapping[str, Any]) -> str:
    level = f" at level {item['level']}" if item["level"] != "full" else ""
    return f"{level}{' (destructive)' if item['side_effects'] == 'destructive' else ''}"


def _describe_plan(item: Mapping[str, Any]) -> str:
    if item["runnable"]:
        return ""
    lacks = f": it lacks {list_words(item['missing_tools'])}" if item["missing_tools"] else ""
    return f", which it cannot run{lacks}"


_MORE: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "tools": _describe_tool,
    "essential_tools": _describe_tool,
    "plans": _describe_plan,
    "may_grant": lambda item: f" up to level {item['level']}",
    "skills": lambda item: f" ({'optional, ' * item['optional']}at least {item['min_proficiency']})",
    "peers": lambda item: f" on channel {item['channel']}",
    "escalation": lambda item: f" at tier {item['tier']}",
}


def _describe_field_change(change: Change, who: str, part: str, key: str, field: str) -> str:
    name, before, after = _get_id(part, key), change.before, change.after
    if field in ELEMENTS:
        if change.kind == "changed":
            return f"{who}: the order of {field.replace('_', ' ')} of {get_noun(part)} {name} is now {list_words(after)}"
        gained = change.kind == "gained"
        actions = after if gained else before
        if field not in (ACTIONS, ASKED, DEPENDING):
            verb = field if gained else f"no longer {field}"
            return f"{who}: {get_noun(part)} {name} {'now ' * gained}{verb} {list_words(actions)}"
        if field == ASKED:
            word = f"action{'s' * (len(actions) != 1)} {list_words(actions)} of {get_noun(part)} {name}"
            return f"{who} {'may now ask' if gained else 'no longer asks'} for {word}"
        word = f"action{'s' * (len(actions) != 1)} {list_words(actions)} of {get_noun(part)} {name}"
        if field == DEPENDING:
            return f"{who}: {word} {'now depends' if gained else 'no longer depends'} on circumstances"
        return f"{who} {'may now' if gained else 'may no longer'} use {word}"
    if field == "value":
        if key == "can_delegate":
            return f"{who} {'may now' if after else 'may no longer'} delegate"
        if key == "open_to_probation":
            return f"{who} {'is now' if after else 'is no longer'} open to agents on probation"
        return f"{who}: {say_difference(name if part == 'identity' else f'{part}.{name}', before, after)}"
    if field == "conditional":
        now, was = (set(each.split("; ")) if each else set() for each in (after, before))
        clauses = [f"now depends on {list_words(sorted(now - was))}"] if now - was else []
        clauses += [f"no longer depends on {list_words(sorted(was - now))}"] if was - now else []
        return f"{who}: {get_noun(part)} {name} {' and '.join(clauses) or 'depends on the same conditions in another order'}"
    if field == "level" and part == "may_grant":
        return f"{who} may grant {name} up to level {after} instead of {before}"
    if field == "level":
        return f"{who} holds {get_noun(part)} {name} at level {after['level']} instead of {before['level']}"
    if field == "runnable":
        if before["runnable"] != after["runnable"]:
            lacks = f": it lacks {list_words(after['missing_tools'])}" if after["missing_tools"] else ""
            return f"{who} {'can now' if after['runnable'] else 'can no longer'} run plan {name}{lacks}"
        before, after, field = before["missing_tools"], after["missing_tools"], "missing tools"
    if field == "min_proficiency":
        before, after = (
            f"{each[field]} ({each['proficiency_name'] or 'unnamed'})" for each in (before, after)
        )
    if field == "member":
        clauses = [
            say_edit(each, (before or {}).get(each), (after or {}).get(each))
            for each in _list_differing(before, after)
        ]
        return f"{who}: {get_noun(part)} {name}: {', '.join(clauses)}"
    if field == "role_id":
        return f"domain {name} of {who} goes to {after or 'no role'} instead of {before or 'no role'}"
    return f"{who}: {get_noun(part)} {name}: {say_difference(field, before, after)}"


def _list_differing(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Sequence[str]:
    one, other = before or {}, after or {}
    return [field for field in ECHO if one.get(field) != other.get(field)]
