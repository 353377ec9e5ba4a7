"""Read SKILL.md files: the requirements of the Agent Skills standard, and the gates in the metadata.

Metadata starts with `orgkernel-` or, as an alias, `probos-`. A value that cannot be read withholds the skill from every
subject.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import CognitiveSkill, RoleProfile, SkillUse
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import NAMES_BEFORE, SKILL_KEY_PREFIXES, SourceDocument, get_skill_name
from orgkernel.runtime.lazy_patterns import lazy_pattern

KEYS = ("department", "skill-id", "min-proficiency", "min-rank", "intents", "triggers", "activation")
ACTIVATIONS = ("discovery", "augmentation", "both")
MAX_NAME_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_COMPATIBILITY_LENGTH = 64, 1024, 500
ANY = "*"
_NAME = lazy_pattern(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
_ID = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_-]{0,99}\Z")
_SEPARATORS = lazy_pattern(r"[,\s]+")
_NUMBER = lazy_pattern(r"[0-9]{1,3}\Z")
_HIGHEST = 7
_STANDARD = "skills"
"""The format of skills that are for every host."""


class SkillProblem(msgspec.Struct, frozen=True):
    """A problem in a SKILL.md that withholds the skill from every subject."""

    route: tuple[RouteStep, ...]
    text: str
    """The problem, as the end of a sentence about the skill."""
    help: str = ""
    is_harmless_elsewhere: bool = False
    """Whether other hosts load the skill all the same, so it is not withheld if it is theirs."""


class SkillGates(msgspec.Struct, frozen=True):
    """The gates of a skill, and the intents it serves."""

    departments: tuple[str, ...] = ()
    """The departments of the skill; empty for all."""
    skill_id: str = ""
    """The declared skill that the role must require."""
    min_proficiency: int = 1
    min_rank: str = ""
    intents: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    activation: str = "discovery"
    written: frozenset[str] = frozenset()
    """The written keys, without prefix."""
    problems: tuple[SkillProblem, ...] = ()

    @property
    def is_found_by_intent(self) -> bool:
        """Whether an intent finds the skill. Otherwise it is added to work that is already handled."""
        return self.activation != "augmentation"


def find_metadata_key(record: CognitiveSkill, key: str) -> str:
    """The metadata key as written."""
    return next(
        (prefix + key for prefix in SKILL_KEY_PREFIXES if prefix + key in record.metadata),
        SKILL_KEY_PREFIXES[0] + key,
    )


def list_skill_names(document: SourceDocument) -> tuple[str, str]:
    """The name in a SKILL.md, and the name that people see: the same, or the one with its source in a union."""
    before = next((names for route, names in document.unknown if route == (NAMES_BEFORE,)), None)
    if before is not None:
        return before[0], before[1]
    record = document.record
    assert isinstance(record, CognitiveSkill)
    return record.name, record.name


def find_violations(document: SourceDocument) -> tuple[SkillProblem, ...]:
    """The requirements of the Agent Skills standard that a SKILL.md violates."""
    record = document.record
    assert isinstance(record, CognitiveSkill)
    name, folder = list_skill_names(document)[0], get_skill_name(document.path)
    return tuple(_find_violations(record, name, folder, is_of_host=document.format != _STANDARD))


def find_closing_violations(document: SourceDocument) -> tuple[SkillProblem, ...]:
    """The violations for which a skill is withheld. Hosts load a skill in any folder, and Claude Code one with any name."""
    violations = find_violations(document)
    return (
        *(each for each in violations if not (document.format and each.is_harmless_elsewhere)),
        *_find_misplaced_gates(document),
    )


def _find_misplaced_gates(document: SourceDocument) -> Iterator[SkillProblem]:
    """The fields of a SKILL.md that are written like a gate, or like the metadata with the gates, and are neither."""
    for route, _ in document.unknown:
        name = str(route[0])
        if len(route) == 1 and (_is_like_gate(name) or _fold_key(name) == "metadata"):
            yield SkillProblem(
                route, f"has the field {quote(name)}, which has no effect", "write gates below `metadata`"
            )


def _is_like_gate(key: str) -> bool:
    """Whether a key is written like a gate, whatever its prefix is."""
    return _fold_key(key).startswith(tuple(map(_fold_key, SKILL_KEY_PREFIXES)))


def _fold_key(key: str) -> str:
    """A key without what people mistake in it: case, and signs between words."""
    return "".join(each for each in key.casefold() if each.isalnum())


def _find_violations(
    record: CognitiveSkill, name: str, folder: str, *, is_of_host: bool
) -> Iterator[SkillProblem]:
    if not name or len(name) > MAX_NAME_LENGTH:
        yield SkillProblem(
            ("name",), f"has a name of {len(name)} characters", f"use 1 to {MAX_NAME_LENGTH} characters"
        )
    elif not _NAME.match(name):
        yield SkillProblem(
            ("name",),
            "has an invalid name; only lower-case letters, digits and single hyphens are allowed",
            "write it like `write-posts`",
            is_harmless_elsewhere=is_of_host,
        )
    elif name != folder:
        yield SkillProblem(
            ("name",),
            f"is in the folder {quote(folder)}",
            "give the folder the name of the skill",
            is_harmless_elsewhere=True,
        )
    size = len(record.description)
    if not record.description.strip() or size > MAX_DESCRIPTION_LENGTH:
        yield SkillProblem(
            ("description",),
            f"has a description of {size if record.description.strip() else 0} characters",
            f"use 1 to {MAX_DESCRIPTION_LENGTH} characters",
            is_harmless_elsewhere=bool(record.description.strip()),
        )
    if len(record.compatibility) > MAX_COMPATIBILITY_LENGTH:
        yield SkillProblem(
            ("compatibility",),
            f"has {len(record.compatibility)} characters of `compatibility`",
            f"use at most {MAX_COMPATIBILITY_LENGTH} characters",
        )


def read_gates(record: CognitiveSkill) -> SkillGates:
    """The gates in the metadata of a skill. Values that cannot be read are listed as problems."""
    values: dict[str, str] = {}
    problems: list[SkillProblem] = []
    for written, text in record.metadata.items():
        prefix = next((each for each in SKILL_KEY_PREFIXES if written.startswith(each)), None)
        if prefix is None and not _is_like_gate(written):
            continue
        key, route = written.removeprefix(prefix or ""), ("metadata", written)
        # A misspelled prefix too: `orgkernel_department` would open the skill to all.
        if prefix is None or key not in KEYS:
            help = (
                did_you_mean(written, [(prefix or SKILL_KEY_PREFIXES[0]) + each for each in KEYS])
                or f"use one of {listing(KEYS)}"
            )
            problems.append(
                SkillProblem(route, f"has the metadata {quote(written)}, which has no effect", help)
            )
        # Two prefixes can name one gate. With two values, choosing either could open the skill, so it is withheld.
        elif values.setdefault(key, text.strip()) != text.strip():
            problems.append(
                SkillProblem(
                    route, f"has two values of `{key}`", f"write `{SKILL_KEY_PREFIXES[0]}{key}` only once"
                )
            )
    lists = {key: _split_words(values.get(key, "")) for key in ("department", "intents", "triggers")}

    def refuse(key: str, text: str, help: str) -> None:
        problems.append(SkillProblem(("metadata", find_metadata_key(record, key)), text, help))

    for intent in lists["intents"]:
        if not _ID.match(intent):
            refuse(
                "intents",
                f"serves the intent {quote(intent)}, which is not an id",
                "write it like `create_post`",
            )
    for trigger in lists["triggers"]:
        if not any(each.isalnum() for each in trigger):
            refuse("triggers", f"has the trigger {quote(trigger)}, which is not a word", "write words")
    for key in ("department", "skill-id", "min-proficiency", "min-rank"):
        if values.get(key) == "":
            refuse(key, f"has no value of `{key}`", "write a value, or remove the line")
    level = 1
    if text := values.get("min-proficiency", ""):
        if _NUMBER.match(text) and 1 <= int(text) <= _HIGHEST:
            level = int(text)
        else:
            refuse("min-proficiency", f"needs the proficiency {quote(text)}", f"write 1 to {_HIGHEST}")
    if level > 1 and not values.get("skill-id"):
        refuse(
            "min-proficiency",
            f"needs the proficiency {level} of no skill",
            f"name the skill with `{SKILL_KEY_PREFIXES[0]}skill-id`",
        )
    activation = values.get("activation") or ACTIVATIONS[0]
    if activation not in ACTIVATIONS:
        refuse(
            "activation",
            f"has the activation {quote(activation)}",
            did_you_mean(activation, ACTIVATIONS) or f"use one of {listing(ACTIVATIONS)}",
        )
    # A list that contains `any` restricts nothing, even if it contains other entries.
    departments = () if ANY in lists["department"] else lists["department"]
    return SkillGates(
        departments, values.get("skill-id", ""), level, values.get("min-rank", ""), lists["intents"],
        lists["triggers"], activation, frozenset(values), tuple(problems),
    )  # fmt: skip


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _SEPARATORS.split(text) if word))


def find_unknown_names(
    records: OrgRecords, definition: Definition[CognitiveSkill], gates: SkillGates
) -> tuple[SkillProblem, ...]:
    """Names in the metadata that the organization does not declare. Each withholds the skill."""
    return tuple(_find_unknown_names(records, definition.record, gates))


def _find_unknown_names(
    records: OrgRecords, record: CognitiveSkill, gates: SkillGates
) -> Iterator[SkillProblem]:
    departments = records.organization.departments
    for name in gates.departments:
        if name not in departments:
            help = did_you_mean(name, departments)
            route = ("metadata", find_metadata_key(record, "department"))
            yield SkillProblem(route, f"is for the department {quote(name)}, which is not declared", help)
    ranks = [rank.id for rank in records.ranks]
    if gates.min_rank and gates.min_rank not in ranks:
        help = did_you_mean(gates.min_rank, ranks)
        route = ("metadata", find_metadata_key(record, "min-rank"))
        yield SkillProblem(route, f"needs the rank {quote(gates.min_rank)}, which is not declared", help)
    if gates.skill_id and gates.skill_id not in records.skills:
        help = did_you_mean(gates.skill_id, records.skills)
        route = ("metadata", find_metadata_key(record, "skill-id"))
        yield SkillProblem(route, f"needs the skill {quote(gates.skill_id)}, which is not declared", help)


def open_skills(records: OrgRecords) -> Iterator[tuple[Definition[CognitiveSkill], SkillGates]]:
    """The skills without problems, with their gates."""
    for definition in records.cognitive_skills.values():
        gates = read_gates(definition.record)
        if not (
            gates.problems
            or find_closing_violations(definition.document)
            or find_unknown_names(records, definition, gates)
        ):
            yield definition, gates


def has_cognitive_skill(profile: RoleProfile, gates: SkillGates) -> bool:
    """Whether a role has an open skill: its department matches, and it requires the declared skill."""
    if not is_for_department(profile, gates):
        return False
    return not gates.skill_id or gates.skill_id in list_required_skills(profile)


def is_for_department(profile: RoleProfile, gates: SkillGates) -> bool:
    """Whether a skill is for the department of a role."""
    return not gates.departments or profile.department in gates.departments


def list_required_skills(profile: RoleProfile) -> frozenset[str]:
    """The declared skills that a role requires, without those that are optional."""
    return frozenset(
        each.skill if isinstance(each, SkillUse) else each
        for each in profile.capabilities.skills
        if not (isinstance(each, SkillUse) and each.optional)
    )
