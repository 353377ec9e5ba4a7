"""An organization that was read from a format of others, as documents of ours: what `orgkernel import` writes.

The documents say what answers are made of, so the organization that they declare answers as the source does. What the
files of the source say besides is lost, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics import Place
from orgkernel.documents.records import PREFIX, Document, StandingOrder
from orgkernel.exchange.agents.pages import At, Line, page, quoted, text_lines, yaml_lines
from orgkernel.exchange.exported import Export, Loss
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.skill_files import list_files
from orgkernel.loading.sources import SourceDocument, get_skill_name

_SECTIONS = {"tool_catalog": ("tools", "tools.yaml"), "procedure_catalog": ("procedures", "procedures.yaml")}
_MARKDOWN = ("cognitive_skill", "standing_order")
_FOLDERS = {"role": "roles/", "department": "departments/"}
# What every document has, and what names a document of ours in its own words.
_ALWAYS = frozenset({"kind", "version", "suppressions"})


def as_documents(records: OrgRecords, source: str) -> Export:
    """The documents of an organization; `source` says where it comes from."""
    files: dict[str, tuple[str, tuple[Place | None, ...]]] = {}
    files["org.yaml"] = _file(records.document, source)
    for role_id, post in records.posts.items():
        files[f"roles/{role_id}.yaml"] = _file(post.document, source, _delegating(records, role_id))
    theirs = [each for each in records.catalogs if each.format]
    used = {tool for post in records.posts.values() for tool in post.profile.capabilities.tools_primary}
    for kind, (section, name) in _SECTIONS.items():
        definitions = [each for each in getattr(records, section).values() if each.document.format]
        if definitions:
            unused = section == "tools" and any(each.id not in used for each in definitions)
            files[name] = page(_catalog(kind, section, definitions, source, unused))
    for number, document in enumerate(each for each in theirs if each.kind not in (*_SECTIONS, *_MARKDOWN)):
        files[f"{document.kind}_{number + 1}.yaml"] = _file(document, source)
    for order in theirs:
        if isinstance(order.record, StandingOrder) and order.record.body.strip():
            files[_order_name(order.record)] = _order(order, order.record.body)
    for skill in records.cognitive_skills.values():
        if skill.document.format:
            files[f"skills/{get_skill_name(skill.document.path)}/SKILL.md"] = page(_skill(skill))
    return Export(
        {name: text for name, (text, _) in files.items()},
        ("roles", "hierarchy", "tools", "standing orders", "skills"),
        tuple(_lost([records.document, *(post.document for post in records.posts.values()), *theirs])),
        {name: places for name, (_, places) in files.items()},
    )


def _head(kind: str, source: str) -> Iterator[Line]:
    yield f"# Imported from {source}. The next import keeps what is changed here.", None
    yield f"_schema: {PREFIX}{kind}", None


def _foot() -> Iterator[Line]:
    """A line that no import changes, so that what is added at the end never stands beside one that does."""
    yield "# Further fields go below this line.", None


def _file(
    document: SourceDocument, source: str, accepted: Mapping[str, str] | None = None
) -> tuple[str, tuple[Place | None, ...]]:
    lines = yaml_lines(_values(document), document.place())
    return page((*_head(document.kind, source), *_accepting(accepted or {}), *lines, *_foot()))


def _accepting(accepted: Mapping[str, str]) -> Iterator[Line]:
    """Findings about what a format does not say, with the reason."""
    if accepted:
        yield "suppressions:", None
    for rule, reason in accepted.items():
        yield f"  - {{rule: {rule}, reason: {quoted(reason)}}}", None


def _delegating(records: OrgRecords, role_id: str) -> dict[str, str]:
    """Whether a role hands on work although its source does not say that it leads: that is assumed."""
    post, entry = records.posts[role_id], records.organization.hierarchy.get(role_id)
    profile = post.profile
    hands_on = profile.can_delegate or profile.handoff.may_to or (entry is not None and entry.subordinates)
    if profile.role_type != "specialist" or not hands_on or post.document.has("role_type"):
        return {}
    return {"ORG208": "its source does not say of which type a role is"}


def _values(document: SourceDocument) -> Mapping[str, Any]:
    """What a document says, without what every document has, each value with its place."""
    record = msgspec.structs.replace(document.record, suppressions=())
    fields: Mapping[str, Any] = msgspec.to_builtins(record)
    return {
        key: At(_placed(value, document, (key,)), document.place(key))
        for key, value in fields.items()
        if key not in ("_schema", "_version") and (value != {} or key == "hierarchy")
    }


def _placed(value: Any, document: SourceDocument, route: tuple[str | int, ...]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: At(_placed(each, document, (*route, key)), document.place(*route, key))
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            At(_placed(each, document, (*route, at)), document.place(*route, at))
            for at, each in enumerate(value)
        ]
    return value


def _catalog(
    kind: str, section: str, definitions: Sequence[Definition[Any]], source: str, has_unused: bool
) -> Iterator[Line]:
    yield from _head(kind, source)
    if has_unused:
        yield from _accepting(
            {"ORG701": "the host brings these tools along, whether an agent uses them or not"}
        )
    yield f"{section}:", None
    for each in sorted(definitions, key=lambda each: each.id):
        fields = _placed(msgspec.to_builtins(each.record), each.document, (section, each.id))
        yield from yaml_lines({each.id: At(fields, each.place())}, each.place(), 2)
    yield from _foot()


def _order_name(order: StandingOrder) -> str:
    return f"standing_orders/{_FOLDERS.get(order.audience, '')}{order.target or order.audience}.md"


def _order(document: SourceDocument, body: str) -> tuple[str, tuple[Place | None, ...]]:
    """The text as it is, where a file may hold it."""
    lines = list(text_lines(body, document.place("body"), follows=True))
    is_plain = all(line == plain.rstrip() for (line, _), plain in zip(lines, body.split("\n"), strict=False))
    text = body if is_plain else "".join(f"{line}\n" for line, _ in lines)
    return text, tuple(place for _, place in lines)


def _skill(skill: Definition[Any]) -> Iterator[Line]:
    document = skill.document
    fields = dict(_values(document))
    body = fields.pop("body", At("", None)).value
    yield "---", None
    yield from yaml_lines(fields, document.place())
    yield "---", None
    yield from ((line, document.place("body")) for line in body.split("\n"))


# -- what is lost ------------------------------------------------------------------------------------------------------


def _lost(documents: Iterable[SourceDocument]) -> Iterator[Loss]:
    parts = [part for document in documents for part in document.parts if part.format and not part.context]
    keys: Counter[str] = Counter()
    carried: dict[str, set[int]] = {}
    for part in parts:
        carried.setdefault(part.name, set()).update(_carried(part))
    for name, key, marks in dict.fromkeys(_foreign_keys(parts)):
        if carried[name].isdisjoint(marks):
            keys[key] += 1
    for key, count in sorted(keys.items()):
        yield Loss(f"`{key}`", "no field of our documents says it", count)
    words = sum(
        word not in part.record.capabilities.tools_primary  # type: ignore[attr-defined]
        for part in parts
        if part.kind == "role_profile"
        for word in get_list_words(part).get("tools", ())
        if word != "*"
    )
    if words:
        yield Loss(
            "words in lists of tools", "nothing declares a tool that they stand for as it is written", words
        )
    accepted = sum(len(part.record.suppressions) for part in parts)
    if accepted:
        yield Loss("accepted findings", "they are about the files of the source", accepted)
    beside = sum(len(list_files(part.path)) for part in parts if part.kind == "cognitive_skill")
    if beside:
        yield Loss("files beside skills", "only SKILL.md is written; copy what the skill needs", beside)


def _fields(record: Document) -> frozenset[str]:
    return frozenset(each.encode_name for each in msgspec.structs.fields(type(record)))


def _carried(part: SourceDocument) -> Iterator[int]:
    """Where the values stand that our document says."""
    below = {} if isinstance(part.marks, int) else part.marks[1]
    for key in _fields(part.record) & below.keys():
        yield from _positions(below[key])


def _foreign_keys(parts: Sequence[SourceDocument]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """The file, the name and the places of each field that is none of our documents."""
    for part in parts:
        below = {} if isinstance(part.marks, int) else part.marks[1]
        if part.kind in ("role_profile", "tool_catalog"):
            for key in below.keys() - _fields(part.record):
                yield part.name, key, tuple(_positions(below[key]))


def _positions(marks: Any) -> Iterator[int]:
    """Every mark among those of a value."""
    if isinstance(marks, int):
        yield marks
        return
    for each in marks.values() if isinstance(marks, dict) else marks:
        yield from _positions(each)
