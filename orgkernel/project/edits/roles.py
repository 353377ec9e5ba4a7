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

_FULL_LEVEL_LISTS = ("tools_primary", "tools_secondary")
"""The lists whose tools have the highest level (specification, "Capabilities")."""
_FULL: ToolLevel = "full"
_CAPABILITIES, _TOOLS = "capabilities", "tools"


def limit_tool(source: SourceText, role_id: str, tool_id: str, level: ToolLevel | None) -> SourceText:
    """Limit a tool in a profile to a level, or remove it for None. Raises `CannotEdit`."""
    return _edit(
        source, role_id, lambda value: _limit_entry(value, tool_id, level), _plan_limit(tool_id, level)
    )


def add_tool(source: SourceText, role_id: str, tool_id: str, level: ToolLevel) -> SourceText:
    """Add a tool that a profile does not give yet. Raises `CannotEdit`."""

    def plan_edits(text: str, profile: MappingNode) -> list[Edit] | None:
        entry = {"tool": tool_id, "level": level}
        has = entry in _list_entries(_get_plain_value(find_value(profile, _CAPABILITIES, _TOOLS)))
        return None if has else [_plan_addition(text, profile, tool_id, level)]

    return _edit(source, role_id, lambda value: _add_entry(value, tool_id, level), plan_edits)


# -- the text ----------------------------------------------------------------------------------------------------------


def _edit(
    source: SourceText,
    role_id: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    plan_edits: Callable[[str, MappingNode], list[Edit] | None],
) -> SourceText:
    """Apply the planned edits until there are none, and check that the new values are `change` of the old ones.

    The text is parsed again after each step, because an edit moves the positions of all nodes behind it.
    Raises `CannotEdit`.
    """
    documents = parse_source(source).documents
    index = _find_profile(documents, role_id)
    text = source.text
    for _ in range(len(text)):  # each step removes or changes something, so this only stops a bug
        nodes = read_nodes(text)
        profile = nodes[index] if len(nodes) == len(documents) else None
        if not isinstance(profile, MappingNode):
            raise CannotEdit("its documents cannot be told apart")
        edits = plan_edits(text, profile)
        if edits is None:
            break
        text = apply_edits(text, edits)
    edited = replace(source, text=text)
    expected = [document.value for document in documents]
    expected[index] = change(expected[index])
    after = parse_source(edited)
    if after.problems or [document.value for document in after.documents] != expected:
        raise CannotEdit("another part of it would change with it")
    return edited


def _find_profile(documents: Any, role_id: str) -> int:
    """The index of the document with the profile of a role. Raises `CannotEdit`."""
    for index, document in enumerate(documents):
        if isinstance(document.value, dict) and document.value.get("role_id") == role_id:
            return index
    raise CannotEdit("it is not the profile of this role")


def _plan_limit(tool_id: str, level: ToolLevel | None) -> Callable[[str, MappingNode], list[Edit] | None]:
    """Plans the next edit; None as soon as the profile gives no more of a tool than `level`."""

    def plan_edits(text: str, profile: MappingNode) -> list[Edit] | None:
        capabilities = find_value(profile, _CAPABILITIES)
        entries = [
            each
            for each in _list_items(find_value(capabilities, _TOOLS))
            if _get_plain_value(find_value(each, "tool")) == tool_id
        ]  # in the order of the text
        exceeding = [each for each in entries if _does_exceed(_get_level(each), level)]
        has_entry_at_level = any(_get_level(each) == level for each in entries)
        listed = [
            (name, item)
            for name in (_FULL_LEVEL_LISTS if level != _FULL else ())
            for item in _list_items(find_value(capabilities, name))
            if _get_plain_value(item) == tool_id
        ]
        if level is not None and not has_entry_at_level and (exceeding or listed):
            # The entry with the new level comes first, so no text in between gives less than the result.
            if exceeding:
                return [_change_level(text, exceeding[0], level)]
            return [_plan_addition(text, profile, tool_id, level, comment_behind(text, listed[0][1]))]
        if exceeding:
            return _plan_removal(text, capabilities, _TOOLS, exceeding[0])
        return _plan_removal(text, capabilities, *listed[0]) if listed else None

    return plan_edits


def _plan_removal(text: str, capabilities: Node | None, name: str, item: Node) -> list[Edit]:
    entry = find_entry(capabilities, name)
    assert entry is not None
    key, items = entry
    assert isinstance(items, SequenceNode)
    index = next(index for index, each in enumerate(items.value) if each is item)
    return remove_item(text, key, items, index)


def _change_level(text: str, entry: Node, level: ToolLevel) -> Edit:
    assert isinstance(entry, MappingNode)
    level_node = find_value(entry, "level")
    if isinstance(level_node, ScalarNode):
        return replace_scalar(text, level_node, level)
    return add_entry(text, entry, [f'"level": "{level}"' if is_quoted(text, entry) else f"level: {level}"])


def _plan_addition(
    text: str, profile: MappingNode, tool_id: str, level: ToolLevel, comment: str = ""
) -> Edit:
    as_json = is_quoted(text, profile)
    item = (
        f'{{"tool": "{tool_id}", "level": "{level}"}}' if as_json else f"{{tool: {tool_id}, level: {level}}}"
    )
    capabilities = find_value(profile, _CAPABILITIES)
    tools = find_value(capabilities, _TOOLS)
    if isinstance(tools, SequenceNode):
        return add_item(text, tools, item, comment)
    if isinstance(capabilities, MappingNode) and capabilities.value:
        if capabilities.flow_style:
            return add_entry(text, capabilities, [f'"tools": [{item}]' if as_json else f"tools: [{item}]"])
        return add_entry(text, capabilities, ["tools:", f"  - {item}{f'  {comment}' if comment else ''}"])
    entry = find_entry(profile, "role_id")
    if capabilities is not None or entry is None or profile.flow_style:
        raise CannotEdit("it has no place for a tool")
    return add_after_key(
        text, entry[0], ["capabilities:", "  tools:", f"    - {item}"], profile.start_mark.column
    )


def _list_items(node: Node | None) -> list[Node]:
    return list(node.value) if isinstance(node, SequenceNode) else []


def _get_plain_value(node: Node | None) -> Any:
    """The value of a node, with every scalar as its text: `yes` and `1` are not converted."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, MappingNode):
        return {_get_plain_value(key): _get_plain_value(value) for key, value in node.value}
    return [_get_plain_value(each) for each in node.value] if isinstance(node, SequenceNode) else None


def _get_level(entry: Node) -> str:
    return str(_get_plain_value(find_value(entry, "level")) or _FULL)


def _list_entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _does_exceed(stated_level: str, level: ToolLevel | None) -> bool:
    """Whether an entry gives more than `level`. An entry that gives nothing is not changed."""
    if stated_level not in LEVELS or stated_level == "none":
        return False
    return level is None or LEVELS.index(stated_level) > LEVELS.index(level)


# -- the values, computed apart from the text so that the one proves the other -----------------------------------------


def _limit_entry(profile: dict[str, Any], tool_id: str, level: ToolLevel | None) -> dict[str, Any]:
    capabilities = dict(profile.get(_CAPABILITIES) or {})
    was_listed = False
    for name in _FULL_LEVEL_LISTS if level != _FULL else ():
        if tool_id in (capabilities.get(name) or ()):
            was_listed = True
            capabilities[name] = tuple(each for each in capabilities[name] if each != tool_id)
    entries = tuple(capabilities.get(_TOOLS) or ())
    if not all(isinstance(each, dict) for each in entries):
        raise CannotEdit("an entry of `tools` has another shape")
    levels = [_get_level_of_entry(each) for each in entries if each.get("tool") == tool_id]
    needs_entry = (
        level is not None
        and level not in levels
        and (was_listed or any(_does_exceed(each, level) for each in levels))
    )
    kept = tuple(_limit_entries(entries, tool_id, level, lower_first=needs_entry))
    if needs_entry and not any(
        each.get("tool") == tool_id and _get_level_of_entry(each) == level for each in kept
    ):
        kept = (*kept, {"tool": tool_id, "level": level})
    if _TOOLS in capabilities or kept:
        capabilities[_TOOLS] = kept
    return {**profile, _CAPABILITIES: capabilities}


def _limit_entries(
    entries: tuple[dict[str, Any], ...], tool_id: str, level: ToolLevel | None, *, lower_first: bool
) -> Iterator[dict[str, Any]]:
    """The entries without those that exceed `level`, or with the first of these lowered to it."""
    for entry in entries:
        if entry.get("tool") != tool_id or not _does_exceed(_get_level_of_entry(entry), level):
            yield entry
        elif lower_first:
            lower_first = False
            yield {**entry, "level": level}


def _get_level_of_entry(entry: dict[str, Any]) -> str:
    return str(entry.get("level", _FULL))


def _add_entry(profile: dict[str, Any], tool_id: str, level: ToolLevel) -> dict[str, Any]:
    capabilities = dict(profile.get(_CAPABILITIES) or {})
    capabilities[_TOOLS] = (*(capabilities.get(_TOOLS) or ()), {"tool": tool_id, "level": level})
    return {**profile, _CAPABILITIES: capabilities}
