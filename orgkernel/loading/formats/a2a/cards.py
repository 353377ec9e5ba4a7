"""Reads an agent card as a role. Its skills become skills, and their examples become the role's examples.

Required fields are those that the protocol requires and that its Python SDK checks, for each version.
"""

from __future__ import annotations

from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Capabilities, ChainOfCommand, RoleProfile, Skill, SkillCatalog
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe
from orgkernel.loading.sources import BrokenDocument, FileResult

_KIND = "role_profile"
_BOTH = (
    "name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills", "provider",
    "documentationUrl", "iconUrl", "securitySchemes", "signatures",
)  # fmt: skip
_ONLY_NEW = ("supportedInterfaces", "securityRequirements")
_ONLY_OLD = (
    "url", "protocolVersion", "preferredTransport", "additionalInterfaces", "security", "supportsAuthenticatedExtendedCard",
)  # fmt: skip
_INTERFACE = ("url", "protocolBinding", "protocolVersion")
_NEW, _OLD = "1.0", "0.3"
_OWN_DATA = "put your own data into `capabilities.extensions`"


def read_card(source: SourceText, root: Root) -> FileResult:
    """The role of a card and its skills. Empty for a JSON file that is not a card."""
    value, marks, start, refused = read_mapping(source, parse_json)
    if refused:
        return read_broken(source, _KIND, list(refused))
    if not ("skills" in value or "supportedInterfaces" in value or "url" in value):
        return FileResult(skipped=True)
    version = _OLD if not value.keys() & set(_ONLY_NEW) and value.keys() & set(_ONLY_OLD) else _NEW
    card = FieldReader(value, (start, marks), "the card")
    name, description = _require_text(card, "name", version), _require_text(card, "description", version)
    if name:
        card.subject = f"card {quote(name)}"
    _require_text(card, "version", version)
    for field in ("defaultInputModes", "defaultOutputModes"):
        _require_one(card, field, version)
    if not isinstance(value.get("capabilities"), dict):
        _report_missing(card, "capabilities", "a mapping, which may be empty", version)
    if version == _NEW:
        _check_interfaces(card)
        # The SDK writes the fields of 0.3 next to those of 1.0, for clients of that version.
        card.report_unknown(
            (*_BOTH, *_ONLY_NEW, *_ONLY_OLD), "A2A 1.0", only_misspelled=False, way_out=_OWN_DATA
        )
    else:
        _require_text(card, "url", version)
        card.report_unknown((*_BOTH, *_ONLY_OLD), "A2A 0.3", only_misspelled=True)
    if not isinstance(value.get("provider") or {}, dict):
        text = f"`provider` of {card.subject} is {describe(value['provider'])}, not a mapping"
        card.refuse("provider", text, row=row.WRONG_TYPE)
    skills = _read_skills(card, convert_to_id(name), version)
    role_id = convert_to_id(name)
    if len(role_id) > MAX_NAME_LENGTH:
        card.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    diagnostics = tuple(build_diagnostic(source, each) for each in card.problems[:MAX_PROBLEMS])
    if card.is_refused:
        broken = BrokenDocument(source.name, source.path, _KIND, frozenset({role_id}))
        return FileResult((), (broken,), diagnostics)
    role = RoleProfile(
        role_id=role_id,
        role_name=name,
        description=description,
        examples=tuple(skills.examples),
        chain_of_command=ChainOfCommand(reports_to="user"),
        capabilities=Capabilities(skills=tuple(skills.skills)),
    )
    at = marks["skills"]
    below: dict[str, Any] = {**marks, "role_id": marks["name"], "role_name": marks["name"]}
    below["capabilities"] = (
        at[0],
        (at[0], {"skills": (at[0], (at[0], [mark for mark, _ in skills.marks.values()]))}),
    )
    if skills.examples:
        below["examples"] = (at[0], (at[0], list(skills.examples.values())))
    raw = {"version": [version], "signatures": ["true"] if value.get("signatures") else []}
    documents = [read_as(source, root, _KIND, role, (start, below), raw)]
    catalog = SkillCatalog(skills=skills.skills)
    documents.append(
        read_as(source, root, "skill_catalog", catalog, (start, {"skills": (at[0], (at[0], skills.marks))}))
    )
    return FileResult(tuple(documents), (), diagnostics)


class _Skills:
    """The skills of a card, with ids that are unique across cards."""

    def __init__(self) -> None:
        self.skills: dict[str, Skill] = {}
        self.marks: dict[str, tuple[int, Marks]] = {}
        self.examples: dict[str, int] = {}


def _read_skills(card: FieldReader, role_id: str, version: str) -> _Skills:
    skills = _Skills()
    listed = card.value.get("skills")
    if not isinstance(listed, tuple) or (not listed and version == _NEW):
        _report_missing(card, "skills", "at least one skill", version)
        return skills
    for number, (item, marks) in enumerate(zip(listed, card.marks["skills"][1][1], strict=True), 1):
        if not isinstance(item, dict):
            text = f"skill {number} of {card.subject} is {describe(item)}, not a mapping"
            card.problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text))
            continue
        skill = FieldReader(item, marks, f"skill {number} of {card.subject}")
        name, title, description = (
            _require_text(skill, key, version) for key in ("id", "name", "description")
        )
        _require_one(skill, "tags", version)
        # Example requests. If a skill has no example, its description.
        for text, mark in skill.get_words("examples") or [(description, skill.start("description"))]:
            if text:
                skills.examples.setdefault(text, mark)
        card.problems += skill.problems
        skill_id = f"{role_id}_2f_{convert_to_id(name)}"
        if not name or skill_id in skills.skills:
            if name:
                text = f"{card.subject} has two skills {quote(name)}"
                card.problems.append(
                    DocumentProblem(row.DUPLICATE_KEY, skill.start("id"), text, "give each a unique id")
                )
            continue
        if len(role_id) > MAX_NAME_LENGTH:
            return skills
        if len(skill_id) > MAX_NAME_LENGTH:
            text = f"the names of the card and the skill {quote(name)} have more than {MAX_NAME_LENGTH} characters together"
            card.problems.append(
                DocumentProblem(row.MALFORMED_ID, skill.start("id"), text, "shorten the id of the skill")
            )
            continue
        skills.skills[skill_id] = Skill(name=title, description=description)
        skills.marks[skill_id] = (skill.start("id"), (skill.at, skill.marks))
    return skills


def _check_interfaces(card: FieldReader) -> None:
    listed = card.value.get("supportedInterfaces")
    if not isinstance(listed, tuple) or not listed:
        _report_missing(card, "supportedInterfaces", "at least one interface", _NEW)
        return
    for number, (item, marks) in enumerate(
        zip(listed, card.marks["supportedInterfaces"][1][1], strict=True), 1
    ):
        subject = f"interface {number} of {card.subject}"
        if not isinstance(item, dict):
            text = f"{subject} is {describe(item)}, not a mapping"
            card.problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text))
            continue
        interface = FieldReader(item, marks, subject)
        for key in _INTERFACE:
            _require_text(interface, key, _NEW)
        card.problems += interface.problems


def _require_text(fields: FieldReader, key: str, version: str) -> str:
    """A string that the protocol requires."""
    if fields.value.get(key) is None or fields.value[key] == "":
        _report_missing(fields, key, "a string", version)
        return ""
    return fields.get_text(key, needed=True)


def _require_one(fields: FieldReader, key: str, version: str) -> None:
    """A list of strings that the protocol requires. Only version 1.0 requires at least one entry."""
    listed = fields.value.get(key)
    if listed is None or (listed == () and version == _NEW):
        _report_missing(
            fields, key, "at least one string" if version == _NEW else "a list of strings", version
        )
        return
    fields.get_words(key)
    for item, marks in fields.get_mappings(key):
        text = f"{quote(key)} of {fields.subject} lists {describe(item)}, not a string"
        fields.problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text))


def _report_missing(fields: FieldReader, key: str, wanted: str, version: str) -> None:
    at = fields.marks[key][0] if key in fields.marks else fields.at
    text = f"{fields.subject} has no {quote(key)}, which A2A {version} requires"
    fields.problems.append(DocumentProblem(row.MISSING_FIELD, at, text, f"write {quote(key)}: {wanted}"))
