"""The steps of an upgrade: small functions from a document to edits of its text.

`tidy` applies to every version. `STEPS` leads from each older version of the format to the next; a later version adds a
row. A step yields only the edits that move the fields; the driver writes the new `_version` itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from orgkernel.diagnostics.wording import quote
from orgkernel.documents.model.kinds import RENAMED_FIELDS
from orgkernel.loading.marks import LINE_BREAK, Marks, RouteStep, find_mark, start_of
from orgkernel.project.edits.spans import Edit, TextPlaces
from orgkernel.runtime.tiers import ABOVE_PRIMARY
from orgkernel.runtime.trigger_parser import parse_trigger
from orgkernel.runtime.trigger_problems import ParsedTrigger

FIRST = "1.0"
"""The version of a document without `_version`."""
_WORDS_RULE = "ORG503"
_NEW_LINE = "\n"
_NUMBER = re.compile(r"[-+.0-9eE]+")
_QUOTED_KEY = '"_version"'
# The rest of the line after an entry in braces.
_REST_OF_ENTRY = re.compile(r"[ \t]*(?P<comma>,)?[ \t]*(?P<comment>#[^\r\n]*)?(?=[\r\n])")
_REST_OF_LINE = re.compile(r"[ \t]*(?:[ \t]#[^\r\n]*)?(?=\r|\n|\Z)")

ValueRoute: TypeAlias = tuple[RouteStep, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """One document of a text that is being rewritten."""

    places: TextPlaces
    kind: str
    value: dict[str, Any]
    marks: Marks

    def mark(self, *route: RouteStep, key: bool = False) -> int:
        """The place of the value (or its key) at a route."""
        return find_mark(self.marks, route, key=key)

    @property
    def version(self) -> str:
        """The version of the format, as the loader reads it."""
        return str(self.value.get("_version", FIRST))


@dataclass(frozen=True, slots=True)
class TextChange:
    """An edit, its description, and the value that it gives the document."""

    edit: Edit
    what: str
    route: ValueRoute
    value: Any
    key: str = ""
    """The new name of the last key of the route; empty if it keeps its name."""


@dataclass(frozen=True, slots=True)
class ManualChange:
    """Something that a person must rewrite: its place, what it is and what to do."""

    offset: int
    what: str
    help: str


UpgradeStep: TypeAlias = Callable[[Draft], Iterator[TextChange | ManualChange]]

STEPS: Final[Mapping[tuple[int, int], UpgradeStep]] = MappingProxyType({})
"""Steps from a version to the next minor one. There are none before 1.0."""


def tidy(draft: Draft) -> Iterator[TextChange | ManualChange]:
    """Fields that are written in an outdated form."""
    yield from write_version(draft)
    yield from name_trigger_words(draft)
    yield from rename_fields(draft)


def write_version(draft: Draft, version: str | None = None) -> Iterator[TextChange | ManualChange]:
    """Make `_version` a text, and set it to `version` if given."""
    written = draft.value.get("_version")
    if "_version" not in draft.value:
        yield _add_version(draft, version or FIRST)
    elif isinstance(written, float):
        yield _quote_version(draft, version or str(written))
    elif version is not None and version != written:
        mark = draft.mark("_version")
        span = draft.places.find_span_with_quotes(mark, str(written))
        what = f"writes `_version` {quote(version)} instead of {quote(written)}"
        yield (
            TextChange(Edit(*span, f'"{version}"'), what, ("_version",), version)
            if span
            else ManualChange(
                draft.places.compute_offset(mark),
                "`_version` is written with escapes",
                f'write `"{version}"`',
            )
        )


def _quote_version(draft: Draft, version: str) -> TextChange | ManualChange:
    start = draft.places.compute_offset(draft.mark("_version"))
    match = _NUMBER.match(draft.places.text, start)
    if match is None:
        return ManualChange(start, "`_version` is a number", f'write `_version: "{version}"`')
    edit = Edit(start, match.end(), f'"{version}"')
    return TextChange(edit, f"puts `_version` {quote(match[0])} in quotes", ("_version",), version)


def _add_version(draft: Draft, version: str) -> TextChange | ManualChange:
    """Add it after `_schema` in the style of the mapping: on its own line or after a comma."""
    text, places = draft.places.text, draft.places
    mark = draft.mark("_schema")
    span = places.find_span_with_quotes(mark, draft.value["_schema"])
    by_hand = ManualChange(
        places.compute_offset(mark), "`_version` is missing", f'add `_version: "{version}"`'
    )
    if span is None:
        return by_hand
    key, end = places.compute_offset(draft.mark("_schema", key=True)), span[1]
    line_start = key - (places.position(key)[1] - 1)
    indent = text[line_start:key]
    line_break = LINE_BREAK.search(text, end) or LINE_BREAK.search(text)
    new_line = None if indent.strip(" \t") else f"{line_break[0] if line_break else _NEW_LINE}{indent}"
    if not places.is_in_braces(start_of(draft.marks)):
        rest = _REST_OF_LINE.match(text, end)
        if rest is None or new_line is None:
            return by_hand
        end, inserted = rest.end(), f'{new_line}_version: "{version}"'
    else:
        is_quoted = text[key] == '"'
        tight = is_quoted and text[span[0] - 1] == ":"
        space = "" if tight else " "
        entry = f'{_QUOTED_KEY if is_quoted else "_version"}:{space}"{version}"'
        rest = _REST_OF_ENTRY.match(text, end) if new_line else None
        if rest is None:
            inserted = f",{space}{entry}"
        elif rest["comma"]:
            end, inserted = rest.end(), f"{new_line}{entry},"
        elif rest["comment"]:
            return by_hand  # it would need a comma before it
        else:
            inserted = f",{new_line}{entry}"
    return TextChange(Edit(end, end, inserted), f"adds `_version` {quote(version)}", ("_version",), version)


def name_trigger_words(draft: Draft) -> Iterator[TextChange | ManualChange]:
    """Replace published words in triggers by the names of the trigger language (ORG503)."""
    for route, role_id in _list_trigger_routes(draft):
        trigger = _get_value(draft.value, route)
        if not isinstance(trigger, str) or _is_suppressed(draft.value, f"role:{role_id}"):
            continue
        read = parse_trigger(trigger)
        aliases = [use for use in read.uses if use.is_alias and use.target]
        if not aliases:
            continue
        becomes = trigger
        for use in reversed(aliases):
            becomes = f"{becomes[: use.start]}{use.target}{becomes[use.end :]}"
        mark = draft.mark(*route)
        span = draft.places.find_span(mark, trigger)
        if span is None or not _has_same_meaning(read, parse_trigger(becomes)):
            why = (
                "it is written with escapes or over several lines" if span is None else "it becomes too long"
            )
            words = ", ".join(dict.fromkeys(f"{quote(use.name)}" for use in aliases))
            names = ", ".join(dict.fromkeys(f"{quote(use.target)}" for use in aliases))
            yield ManualChange(
                draft.places.compute_offset(mark),
                f"the trigger uses {words}, and {why}",
                f"write {names} instead",
            )
            continue
        for use in aliases:
            edit = Edit(span[0] + use.start, span[0] + use.end, str(use.target))
            yield TextChange(edit, f"writes {quote(use.target)} instead of {quote(use.name)}", route, becomes)


def _list_trigger_routes(draft: Draft) -> Iterator[tuple[ValueRoute, str]]:
    """The routes of all triggers, and the subject of each."""
    if draft.kind == "role_profile":
        for tier in ABOVE_PRIMARY:
            yield ("pace_plan", tier, "trigger"), str(draft.value.get("role_id"))
    elif draft.kind == "organization" and isinstance(overrides := draft.value.get("overrides"), dict):
        for role_id in overrides:
            for tier in ABOVE_PRIMARY:
                yield ("overrides", role_id, "pace_plan", tier, "trigger"), role_id


def rename_fields(draft: Draft) -> Iterator[TextChange | ManualChange]:
    """Write the new names of renamed fields. A comment, the order and the value stay."""
    for pattern, new_name in RENAMED_FIELDS.get(draft.kind, ()):
        for route in _list_matching_routes(draft.value, pattern):
            old_name = str(route[-1])
            mark = draft.mark(*route, key=True)
            span = draft.places.find_span(mark, old_name)
            what = f"writes the field {quote(new_name)} instead of {quote(old_name)}"
            siblings = _get_value(draft.value, route[:-1])
            if span is None or new_name in siblings:
                offset = draft.places.compute_offset(mark)
                yield ManualChange(
                    offset, f"the field {quote(old_name)} is renamed", f"write {quote(new_name)}"
                )
            else:
                yield TextChange(Edit(*span, new_name), what, route, siblings[old_name], new_name)


def _list_matching_routes(value: Any, pattern: tuple[str | None, ...]) -> Iterator[ValueRoute]:
    """The routes of a document that match a pattern, where None matches every key and every number of a list."""
    if not pattern:
        yield ()
        return
    step, *rest = pattern
    if isinstance(value, dict):
        steps: Iterable[RouteStep] = value if step is None else [step] if step in value else []
    else:
        steps = range(len(value)) if step is None and isinstance(value, tuple) else ()
    for each in steps:
        yield from ((each, *route) for route in _list_matching_routes(value[each], tuple(rest)))


def _get_value(value: Any, route: ValueRoute) -> Any:
    for step in route:
        if isinstance(value, tuple) and isinstance(step, int):
            value = value[step]
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def _is_suppressed(document: dict[str, Any], subject: str) -> bool:
    """Whether the author gave a reason to keep the published words."""
    entries = document.get("suppressions")
    return isinstance(entries, tuple) and any(
        isinstance(entry, dict)
        and entry.get("rule") == _WORDS_RULE
        and entry.get("subject") in (None, subject)
        for entry in entries
    )


def _has_same_meaning(old: ParsedTrigger, new: ParsedTrigger) -> bool:
    """Whether both triggers mean the same. A new text over the length limit has no meaning."""
    return (
        old.tree == new.tree
        and len(old.problems) == len(new.problems)
        and [use.target for use in old.uses] == [use.target for use in new.uses]
    )
