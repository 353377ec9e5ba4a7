"""Merges the agents that several layers of OpenCode declare under one name: the configurations of a project and its files.

For each field, the highest layer that sets it wins. Rules are merged by tool: a later layer keeps the place of a rule and
changes its effect, as the host merges objects.
Source: `packages/opencode/src/config/config.ts` of anomalyco/opencode, looked up in November 2026.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.documents.records import RoleProfile, StandingOrder
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.coding_agents import (
    EVERY,
    INHERITS,
    RULES,
    STARTED,
    ToolRule,
    get_rules,
    keep_rules,
)
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.formats.opencode.agents import (
    DISABLED,
    ENABLED,
    MODE,
    OWN_RULES,
    list_implied_rules,
)
from orgkernel.loading.formats.opencode.layout import CONFIGURATIONS, rank_layer
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import LoadedFile, SourceDocument


class _Declaration(NamedTuple):
    """What one file declares about an agent."""

    rank: int
    role: SourceDocument | None
    """None if the file disables the agent."""
    orders: Sequence[SourceDocument]


def merge_layers(files: Sequence[LoadedFile]) -> dict[int, SourceDocument | None]:
    """The replacements of documents by identity. None removes a document that is merged into another one, or that a
    higher layer disables.
    """
    replaced: dict[int, SourceDocument | None] = {}
    for declarations in _group_by_agent(files).values():
        layers = sorted(declarations, key=lambda each: each.rank)
        if len(layers) < 2 or len({each.rank for each in layers}) < len(layers):
            continue  # a name that one layer declares twice stays a finding
        if _is_disabled(layers):
            for each in layers:
                if each.role is not None:
                    replaced |= dict.fromkeys(map(id, (each.role, *each.orders)), None)
        elif len(roles := [each for each in layers if each.role is not None]) > 1:
            replaced |= _merge(roles)
    return replaced


def _is_disabled(layers: Iterable[_Declaration]) -> bool:
    """Whether the highest layer that says whether the agent is disabled disables it."""
    stated = [
        each.role is None for each in layers if each.role is None or ENABLED in get_list_words(each.role)
    ]
    return bool(stated) and stated[-1]


def _group_by_agent(files: Sequence[LoadedFile]) -> dict[str, list[_Declaration]]:
    grouped: dict[str, list[_Declaration]] = defaultdict(list)
    for file in files:
        rank = rank_layer(file.located.path)
        orders: dict[str, list[SourceDocument]] = defaultdict(list)
        for document in file.read.documents:
            if isinstance(document.record, StandingOrder):
                orders[document.record.target].append(document)
        for document in file.read.documents:
            if isinstance(document.record, RoleProfile):
                role_id = document.record.role_id
                grouped[role_id].append(_Declaration(rank, document, orders[role_id]))
            for name in get_list_words(document).get(DISABLED, ()):
                grouped[convert_to_id(name)].append(_Declaration(rank, None, ()))
    return grouped


def _merge(layers: Sequence[_Declaration]) -> dict[int, SourceDocument | None]:
    """The replacement of the highest role, and the removal of the others.

    `raw` are the rules as words, which are kept next to the role; `marks` are the places of the values.
    """
    roles = [each.role for each in layers if each.role is not None]
    top, record = roles[-1], roles[-1].record
    assert isinstance(record, RoleProfile)
    below = [each.record for each in roles[:-1] if isinstance(each.record, RoleProfile)]
    descriptions = [each.description for each in (*below, record) if each.description]
    models = [each.requirements for each in (*below, record) if each.requirements.preferred_model]
    modes = [words[MODE][0] for each in roles if MODE in (words := get_list_words(each))]
    mode = modes[-1] if modes else "all"
    rules = _merge_rules([_list_own_rules(each, top) for each in roles])
    rules += list_implied_rules(mode, rules, top.marks[0])
    marks = {key: each for key, each in top.marks[1].items() if key != RULES}
    raw, marks = keep_rules(rules, top.marks[0], marks)
    words = {key: each for key, each in get_list_words(top).items() if key not in (*raw, STARTED)}
    words |= {INHERITS: ["true"], **raw, **({} if mode == "primary" else {STARTED: ["true"]})}
    merged = replace(
        record,
        description=descriptions[-1] if descriptions else "",
        requirements=models[-1] if models else record.requirements,
    )
    replaced: dict[int, SourceDocument | None] = dict.fromkeys(map(id, roles[:-1]), None)
    replaced[id(top)] = replace_document(top, merged, (top.marks[0], marks), words)
    # A Markdown file always sets the prompt, even to nothing.
    owner = next(
        each for each in reversed(layers) if each.orders or each is layers[0] or not _is_configuration(each)
    )
    for each in layers:
        if each is not owner:
            replaced |= dict.fromkeys(map(id, each.orders), None)
    return replaced


def _is_configuration(declaration: _Declaration) -> bool:
    return declaration.role is not None and declaration.role.path.endswith(CONFIGURATIONS)


def _list_own_rules(role: SourceDocument, top: SourceDocument) -> list[ToolRule]:
    """The rules that an agent itself declares. Those of another file are shown at the top one."""
    count = int(get_list_words(role)[OWN_RULES][0])
    rules = get_rules(role)[:count]
    return rules if role is top else [each._replace(mark=top.marks[0]) for each in rules]


def _merge_rules(layers: Iterable[list[ToolRule]]) -> list[ToolRule]:
    """The rules of all layers. A rule for a whole tool replaces all rules for this tool, as a value replaces an object; a
    rule for a part replaces the one for this part.
    """
    merged: list[ToolRule] = []
    for rules in layers:
        for tool in dict.fromkeys(each.tool for each in rules):
            merged = _merge_tool(merged, [each for each in rules if each.tool == tool], tool)
    return merged


def _merge_tool(merged: list[ToolRule], rules: list[ToolRule], tool: str) -> list[ToolRule]:
    earlier = [each for each in merged if each.tool == tool]
    if _is_whole(earlier) or _is_whole(rules):
        combined = rules
    else:
        changed = {each.part: each for each in rules}
        combined = [changed.pop(each.part, each) for each in earlier]
        combined += changed.values()
    at = next((number for number, each in enumerate(merged) if each.tool == tool), len(merged))
    before = [each for each in merged[:at] if each.tool != tool]
    after = [each for each in merged[at:] if each.tool != tool]
    return [*before, *combined, *after]


def _is_whole(rules: Sequence[ToolRule]) -> bool:
    """Whether the rules for a tool are one effect for all of it."""
    return len(rules) == 1 and rules[0].part == EVERY
