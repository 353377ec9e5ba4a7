"""Change the tools that a profile gives to its role, and nothing else in its text.

INVARIANT: the new text has the values of the old one with exactly the announced change. Otherwise there is no new text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.loading.documents import parse_source
from orgkernel.loading.files import SourceText
from orgkernel.project.edits.spans import Edit, apply_edits
from orgkernel.project.edits.yaml_lists import (
    CannotEdit,
    add_after_key,
    add_entry,
    add_item,
    comment_behind,
    find_entry,
    find_value,
    is_quoted,
    read_nodes,
    remove_item,
    replace_scalar,
)

_LISTS = ("tools_primary", "tools_secondary")
"""The lists that give a tool at the highest level."""
_FULL: ToolLevel = "full"
_ABLE, _TOOLS = "capabilities", "tools"


def limit_tool(source: SourceText, role_id: str, tool_id: str, level: ToolLevel | None) -> SourceText:
    """Limit a tool in a profile to a level, or remove it for None. Raises `CannotEdit`."""
    return _edit(
        source, role_id, lambda value: _limit_entry(value, tool_id, level), _plan_limit(tool_id, level)
    )


def add_tool(source: SourceText, role_id: str, tool_id: str, level: ToolLevel) -> SourceText:
    """Add a tool that a profile does not give yet. Raises `CannotEdit`."""

    def edits(text: str, profile: MappingNode) -> list[Edit] | None:
        entry = {"tool": tool_id, "level": level}
        has = entry in _list_entries(_get_plain_value(find_value(profile, _ABLE, _TOOLS)))
        return None if has else [_plan_addition(text, profile, tool_id, level)]

    return _edit(source, role_id, lambda value: _add_entry(value, tool_id, level), edits)


# -- the text ----------------------------------------------------------------------------------------------------------


def _edit(
    source: SourceText,
    role_id: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    next_edit: Callable[[str, MappingNode], list[Edit] | None],
) -> SourceText:
    """Apply one edit after the other, and check that the new values are those that `change` makes of the old ones."""
    documents = parse_source(source).documents
    number = _find_number(documents, role_id)
    text = source.text
    for _ in range(len(text)):
        nodes = read_nodes(text)
        profile = nodes[number] if len(nodes) == len(documents) else None
        if not isinstance(profile, MappingNode):
            raise CannotEdit("its documents cannot be told apart")
        edits = next_edit(text, profile)
        if edits is None:
            break
        text = apply_edits(text, edits)
    edited = replace(source, text=text)
    expected = [document.value for document in documents]
    expected[number] = change(expected[number])
    after = parse_source(edited)
    if after.refusals or [document.value for document in after.documents] != expected:
        raise CannotEdit("another part of it would change with it")
    return edited


def _find_number(documents: Any, role_id: str) -> int:
    for number, document in enumerate(documents):
        if isinstance(document.value, dict) and document.value.get("role_id") == role_id:
            return number
    raise CannotEdit("it is not the profile of this role")


def _plan_limit(tool_id: str, level: ToolLevel | None) -> Callable[[str, MappingNode], list[Edit] | None]:
    """The next edit, while the profile gives more of a tool than `level`."""

    def next_edit(text: str, profile: MappingNode) -> list[Edit] | None:
        able = find_value(profile, _ABLE)
        stated = find_value(able, _TOOLS)
        own = [
            each for each in _list_items(stated) if _get_plain_value(find_value(each, "tool")) == tool_id
        ]  # in the order of the text
        more = [each for each in own if _does_exceed(_get_level(each), level)]
        is_said = any(_get_level(each) == level for each in own)
        listed = [
            (name, item)
            for name in (_LISTS if level != _FULL else ())
            for item in _list_items(find_value(able, name))
            if _get_plain_value(item) == tool_id
        ]
        if level is not None and not is_said and (more or listed):
            # Entries that stay come first, so no text in between gives less than the result.
            if more:
                return [_change_level(text, more[0], level)]
            return [_plan_addition(text, profile, tool_id, level, comment_behind(text, listed[0][1]))]
        if more:
            return _plan_removal(text, able, _TOOLS, more[0])
        return _plan_removal(text, able, *listed[0]) if listed else None

    return next_edit


def _plan_removal(text: str, able: Node | None, name: str, item: Node) -> list[Edit]:
    entry = find_entry(able, name)
    assert entry is not None
    key, items = entry
    assert isinstance(items, SequenceNode)
    return remove_item(
        text, key, items, next(number for number, each in enumerate(items.value) if each is item)
    )


def _change_level(text: str, entry: Node, level: ToolLevel) -> Edit:
    assert isinstance(entry, MappingNode)
    written = find_value(entry, "level")
    if isinstance(written, ScalarNode):
        return replace_scalar(text, written, level)
    return add_entry(text, entry, [f'"level": "{level}"' if is_quoted(text, entry) else f"level: {level}"])


def _plan_addition(
    text: str, profile: MappingNode, tool_id: str, level: ToolLevel, comment: str = ""
) -> Edit:
    as_json = is_quoted(text, profile)
    item = (
        f'{{"tool": "{tool_id}", "level": "{level}"}}' if as_json else f"{{tool: {tool_id}, level: {level}}}"
    )
    able = find_value(profile, _ABLE)
    stated = find_value(able, _TOOLS)
    if isinstance(stated, SequenceNode):
        return add_item(text, stated, item, comment)
    if isinstance(able, MappingNode) and able.value:
        if able.flow_style:
            return add_entry(text, able, [f'"tools": [{item}]' if as_json else f"tools: [{item}]"])
        return add_entry(text, able, ["tools:", f"  - {item}{f'  {comment}' if comment else ''}"])
    entry = find_entry(profile, "role_id")
    if able is not None or entry is None or profile.flow_style:
        raise CannotEdit("it has no place for a tool")
    return add_after_key(
        text, entry[0], ["capabilities:", "  tools:", f"    - {item}"], profile.start_mark.column
    )


def _list_items(node: Node | None) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else []


def _get_plain_value(node: Node | None) -> Any:
    """The value of a node as text."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, MappingNode):
        return {_get_plain_value(key): _get_plain_value(value) for key, value in node.value}
    return [_get_plain_value(each) for each in node.value] if isinstance(node, SequenceNode) else None


def _get_level(entry: Node) -> str:
    return str(_get_plain_value(find_value(entry, "level")) or _FULL)


def _list_entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _does_exceed(written: str, level: ToolLevel | None) -> bool:
    """Whether an entry gives more than `level`. An entry that gives nothing is not changed."""
    if written not in LEVELS or written == "none":
        return False
    return level is None or LEVELS.index(written) > LEVELS.index(level)


# -- what it says ------------------------------------------------------------------------------------------------------


def _limit_entry(profile: dict[str, Any], tool_id: str, level: ToolLevel | None) -> dict[str, Any]:
    able = dict(profile.get(_ABLE) or {})
    was_listed = False
    for name in _LISTS if level != _FULL else ():
        if tool_id in (able.get(name) or ()):
            was_listed = True
            able[name] = tuple(each for each in able[name] if each != tool_id)
    entries = tuple(able.get(_TOOLS) or ())
    if not all(isinstance(each, dict) for each in entries):
        raise CannotEdit("an entry of `tools` has another shape")
    own = [_get_level_of_entry(each) for each in entries if each.get("tool") == tool_id]
    waits = (
        level is not None
        and level not in own
        and (was_listed or any(_does_exceed(each, level) for each in own))
    )
    kept = tuple(_keep_entry(entries, tool_id, level, waits=waits))
    if waits and not any(each.get("tool") == tool_id and _get_level_of_entry(each) == level for each in kept):
        kept = (*kept, {"tool": tool_id, "level": level})
    if _TOOLS in able or kept:
        able[_TOOLS] = kept
    return {**profile, _ABLE: able}


def _keep_entry(
    entries: tuple[dict[str, Any], ...], tool_id: str, level: ToolLevel | None, *, waits: bool
) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if entry.get("tool") != tool_id or not _does_exceed(_get_level_of_entry(entry), level):
            yield entry
        elif waits:
            waits = False
            yield {**entry, "level": level}


def _get_level_of_entry(entry: dict[str, Any]) -> str:
    return str(entry.get("level", _FULL))


def _add_entry(profile: dict[str, Any], tool_id: str, level: ToolLevel) -> dict[str, Any]:
    able = dict(profile.get(_ABLE) or {})
    return {
        **profile,
        _ABLE: {**able, _TOOLS: (*(able.get(_TOOLS) or ()), {"tool": tool_id, "level": level})},
    }
