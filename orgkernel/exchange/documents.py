"""Convert an organization in another format to orgkernel documents, as `orgkernel import` writes them.

The documents contain every fact that answers depend on, so their organization answers as the source does. Other
content of the source files is lost, and the loss is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics import Place
from orgkernel.documents.records import PREFIX, Document, StandingOrder
from orgkernel.exchange.agents.names import map_names
from orgkernel.exchange.agents.pages import (
    CitedValue,
    Line,
    page,
    quote_text,
    render_text_lines,
    render_yaml_lines,
)
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.formats.claude_code.host_table import list_older_names
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.skill_files import list_files
from orgkernel.loading.sources import SourceDocument

_SECTIONS = {"tool_catalog": ("tools", "tools.yaml"), "procedure_catalog": ("procedures", "procedures.yaml")}
_MARKDOWN = ("cognitive_skill", "standing_order")
_FOLDERS = {"role": "roles/", "department": "departments/"}
_WITH_FOREIGN_FIELDS = ("role_profile", "tool_catalog", "skill_catalog", "organization")
_NO_AUDIENCE = "no agent with a post has its name"
# Fields that every document has, and fields that name an orgkernel document.
_ALWAYS = frozenset({"kind", "version", "suppressions"})


def export_documents(records: OrgRecords, source: str) -> ConvertedFiles:
    """Export the documents of an organization. `source` names the folder that it comes from."""
    files: dict[str, tuple[str, tuple[Place | None, ...]]] = {}
    files["org.yaml"] = _render_file(records.document, source)
    for role_id, post in records.posts.items():
        files[f"roles/{role_id}.yaml"] = _render_file(
            post.document, source, _find_assumed_delegation(records, role_id)
        )
    theirs = [each for each in records.catalogs if each.format]
    profiles = (post.profile.capabilities for post in records.posts.values())
    used = {tool for each in profiles for tool in (*each.tools_primary, *each.tools_secondary)}
    for kind, (section, name) in _SECTIONS.items():
        definitions = [each for each in getattr(records, section).values() if each.document.format]
        if definitions:
            unused = section == "tools" and any(each.id not in used for each in definitions)
            files[name] = page(_render_catalog(kind, section, definitions, source, unused))
    for number, document in enumerate(each for each in theirs if each.kind not in (*_SECTIONS, *_MARKDOWN)):
        files[f"{document.kind}_{number + 1}.yaml"] = _render_file(document, source)
    for order in theirs:
        if isinstance(order.record, StandingOrder) and order.record.body.strip():
            name = _order_name(order.record)
            text, places = _order(order, order.record.body)
            before = files.get(name)
            if before is not None:
                text, places = f"{before[0]}\n{text}", (*before[1], None, *places)
            files[name] = text, places
    skills = [each for each in records.cognitive_skills.values() if each.document.format]
    for skill, name in zip(skills, map_names(each.id for each in skills).values(), strict=True):
        files[f"skills/{name}/SKILL.md"] = page(_render_skill(skill, name))
    return ConvertedFiles(
        {name: text for name, (text, _) in files.items()},
        ("roles", "hierarchy", "tools", "standing orders", "skills"),
        tuple(_list_losses([records.document, *(post.document for post in records.posts.values()), *theirs])),
        {name: places for name, (_, places) in files.items()},
    )


def _render_head(kind: str, source: str) -> Iterator[Line]:
    yield f"# Imported from {source}. The next import keeps what is changed here.", None
    yield f"_schema: {PREFIX}{kind}", None


def _render_foot() -> Iterator[Line]:
    """A last line that no import changes, so lines added at the end never touch a changed line."""
    yield "# Further fields go below this line.", None


def _render_file(
    document: SourceDocument, source: str, accepted: Mapping[str, str] | None = None
) -> tuple[str, tuple[Place | None, ...]]:
    lines = render_yaml_lines(_list_values(document), document.place())
    return page(
        (
            *_render_head(document.kind, source),
            *_render_accepted_findings(accepted or {}),
            *lines,
            *_render_foot(),
        )
    )


def _render_accepted_findings(accepted: Mapping[str, str]) -> Iterator[Line]:
    """Suppressions of findings about facts that a format does not express, with the reason."""
    if accepted:
        yield "suppressions:", None
    for rule, reason in accepted.items():
        yield f"  - {{rule: {rule}, reason: {quote_text(reason)}}}", None


def _find_assumed_delegation(records: OrgRecords, role_id: str) -> dict[str, str]:
    """Whether a role hands on work although its source does not say that it leads: that is assumed."""
    post, entry = records.posts[role_id], records.organization.hierarchy.get(role_id)
    profile = post.profile
    hands_on = profile.can_delegate or profile.handoff.may_to or (entry is not None and entry.subordinates)
    if profile.role_type != "specialist" or not hands_on or post.document.has("role_type"):
        return {}
    return {"ORG208": "the source does not declare the type of a role"}


def _list_values(document: SourceDocument) -> Mapping[str, Any]:
    """The fields of a document except those that every document has, each value with its place."""
    record = msgspec.structs.replace(document.record, suppressions=())
    fields: Mapping[str, Any] = msgspec.to_builtins(record)
    return {
        key: CitedValue(_add_places(value, document, (key,)), document.place(key))
        for key, value in fields.items()
        if key not in ("_schema", "_version") and (value != {} or key == "hierarchy")
    }


def _add_places(value: Any, document: SourceDocument, route: tuple[str | int, ...]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: CitedValue(_add_places(each, document, (*route, key)), document.place(*route, key))
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            CitedValue(_add_places(each, document, (*route, at)), document.place(*route, at))
            for at, each in enumerate(value)
        ]
    return value


def _render_catalog(
    kind: str, section: str, definitions: Sequence[Definition[Any]], source: str, has_unused: bool
) -> Iterator[Line]:
    yield from _render_head(kind, source)
    if has_unused:
        yield from _render_accepted_findings(
            {"ORG701": "the host provides these tools, whether an agent uses them or not"}
        )
    yield f"{section}:", None
    for each in sorted(definitions, key=lambda each: each.id):
        fields = _add_places(msgspec.to_builtins(each.record), each.document, (section, each.id))
        yield from render_yaml_lines({each.id: CitedValue(fields, each.place())}, each.place(), 2)
    yield from _render_foot()


def _order_name(order: StandingOrder) -> str:
    return f"standing_orders/{_FOLDERS.get(order.audience, '')}{order.target or order.audience}.md"


def _order(document: SourceDocument, body: str) -> tuple[str, tuple[Place | None, ...]]:
    """The body of a standing order, with characters escaped that a file may not contain."""
    lines = list(render_text_lines(body, document.place("body"), follows=True))
    is_plain = all(line == plain.rstrip() for (line, _), plain in zip(lines, body.split("\n"), strict=False))
    text = body if is_plain else "".join(f"{line}\n" for line, _ in lines)
    return text, tuple(place for _, place in lines)


def _render_skill(skill: Definition[Any], name: str) -> Iterator[Line]:
    """The file of a skill, under a name that the standard allows, which is also that of its folder."""
    document = skill.document
    fields = dict(_list_values(document))
    if fields["name"].value != name:
        fields["name"] = CitedValue(name, document.place("name"))
    body = fields.pop("body", CitedValue("", None)).value
    yield "---", None
    yield from render_yaml_lines(fields, document.place())
    yield "---", None
    yield from ((line, document.place("body")) for line in body.split("\n"))


# -- what is lost ------------------------------------------------------------------------------------------------------


# What documents contain in another way, by format: agents and tools that the code of a crew names, and a limit that became tools.
_CONTAINED = {"crewai": frozenset({"configured", "agent_tools"}), "cursor": frozenset({"readonly"})}


def _list_losses(documents: Iterable[SourceDocument]) -> Iterator[Loss]:
    parts = [part for document in documents for part in document.parts if part.format and not part.context]
    keys: Counter[str] = Counter()
    carried: dict[str, set[int]] = {}
    for part in parts:
        carried.setdefault(part.name, set()).update(_list_carried_positions(part))
    for name, key, marks in dict.fromkeys(_list_foreign_keys(parts)):
        if carried[name].isdisjoint(marks):
            keys[key] += 1
    for key, count in sorted(keys.items()):
        # A whole file, which its format would have addressed to an agent.
        reason = _NO_AUDIENCE if "/" in key else "orgkernel documents have no field for it"
        yield Loss(f"`{key}`", reason, count)
    older = list_older_names()
    words = sum(
        older.get(word, word) not in part.record.capabilities.tools_primary  # type: ignore[attr-defined]
        for part in parts
        if part.kind == "role_profile"
        for word in get_list_words(part).get("tools", ())
        if word != "*"
    )
    if words:
        yield Loss("words in lists of tools", "no tool is declared under this exact name", words)
    accepted = sum(len(part.record.suppressions) for part in parts)
    if accepted:
        yield Loss("accepted findings", "they are about the files of the source", accepted)
    beside = sum(len(list_files(part.path)) for part in parts if part.kind == "cognitive_skill")
    if beside:
        yield Loss("files next to skills", "only SKILL.md is written; copy what the skill needs", beside)


def _list_fields(record: Document) -> frozenset[str]:
    return frozenset(each.encode_name for each in msgspec.structs.fields(type(record)))


def _list_carried_positions(part: SourceDocument) -> Iterator[int]:
    """The source positions of values that the orgkernel document contains."""
    below = {} if isinstance(part.marks, int) else part.marks[1]
    for key in _list_fields(part.record) & below.keys():
        yield from _list_positions(below[key])


def _list_foreign_keys(parts: Sequence[SourceDocument]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """The file, name and positions of each source field that orgkernel documents do not have."""
    for part in parts:
        below = {} if isinstance(part.marks, int) else part.marks[1]
        if part.kind in _WITH_FOREIGN_FIELDS:
            for key in below.keys() - _list_fields(part.record) - _CONTAINED.get(part.format, frozenset()):
                yield part.name, key, tuple(_list_positions(below[key]))


def _list_positions(marks: Any) -> Iterator[int]:
    """All source positions of a value."""
    if isinstance(marks, int):
        yield marks
        return
    for each in marks.values() if isinstance(marks, dict) else marks:
        yield from _list_positions(each)
