"""Agent Skills: a folder with a `SKILL.md` for each cognitive skill that a role has, and each plan and procedure in
use.

Every agent that reads the folder has all of them, and no tool of a skill is approved in advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place
from orgkernel.documents.records import Plan, PlanStep, Procedure
from orgkernel.exchange.agents.losses import find_losses
from orgkernel.exchange.agents.names import MAX_NAME_LENGTH, map_names
from orgkernel.exchange.agents.pages import (
    CitedValue,
    Line,
    LongText,
    page,
    render_markdown_lines,
    render_text_lines,
)
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.graph.schema import EdgeKind

TARGET = "skills"
PLACES = ("skills/*/SKILL.md",)
MAX_DESCRIPTION_LENGTH, MAX_COMPATIBILITY_LENGTH = 1024, 500


def export_skills(view: OrgView) -> ConvertedFiles:
    """The folders. The same documents always give the same bytes."""
    mark = render_mark(view.org_id, TARGET)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    taken: set[str] = set()
    refused = 0
    for name, front, body, place in (
        *_list_cognitive_skills(view),
        *_list_sequences(view, "plan", EdgeKind.FOLLOWS, view.records.plans),
        *_list_sequences(view, "procedure", EdgeKind.PERFORMS, view.records.procedures),
    ):
        if name in taken or len(name) > MAX_NAME_LENGTH or _is_too_long(front):
            refused += 1
            continue
        taken.add(name)
        path = f"skills/{name}/SKILL.md"
        files[path], places[path] = page(render_markdown_lines(mark, {"name": name, **front}, body, place))
    known = view.records.cognitive_skills
    kept = [known[each].record for each in known if view.list_sources_to(EdgeKind.KNOWS, each)]
    some = sum(len(view.list_sources_to(EdgeKind.KNOWS, each)) not in (0, len(view.roles)) for each in known)
    withheld = (
        ("roles", "a skill does not declare who has it; export them with `--to claude-code` or another format", len(view.roles)),
        ("who has a skill", "every agent that reads the folder has all skills", some),
        ("skills that no role has", "not exported: every agent would have them there", len(known) - len(kept)),
        ("tools that a skill approves", "left out: the host would not ask for them anymore", sum(bool(each.allowed_tools) for each in kept)),
        ("skills that cannot be written", "not exported: a name or description that is too long, or a name that is taken", refused),
    )  # fmt: skip
    lost = (
        *(Loss(what, why, count) for what, why, count in withheld if count),
        # Facts about roles are lost with the roles, which are counted as a whole.
        *find_losses(view, roles=False),
        Loss("files next to skills", "only the text of a skill is read; copy its other files"),
    )
    return ConvertedFiles(files, ("cognitive skills", "plans in use", "procedures in use"), lost, places)


def _is_too_long(front: Mapping[str, object]) -> bool:
    texts = {key: str(each.value if isinstance(each, CitedValue) else each) for key, each in front.items()}
    return (
        len(texts["description"]) > MAX_DESCRIPTION_LENGTH
        or len(texts.get("compatibility", "")) > MAX_COMPATIBILITY_LENGTH
    )


_Skill = tuple[str, dict[str, object], LongText, Place]


def _list_cognitive_skills(view: OrgView) -> Iterator[_Skill]:
    for name, declared in view.records.cognitive_skills.items():
        if not view.list_sources_to(EdgeKind.KNOWS, name):
            continue
        skill = declared.record
        front: dict[str, object] = {
            "description": CitedValue(skill.description, declared.place("description"))
        }
        if skill.license:
            front["license"] = CitedValue(skill.license, declared.place("license"))
        if skill.compatibility:
            front["compatibility"] = CitedValue(skill.compatibility, declared.place("compatibility"))
        if skill.metadata:
            front["metadata"] = CitedValue(skill.metadata, declared.place("metadata"))
        body = LongText(
            tuple(render_text_lines(skill.body.strip("\n"), declared.place("body"), follows=True))
        )
        yield name, front, body, declared.place("name")


def _list_sequences(
    view: OrgView,
    kind: str,
    edges: EdgeKind,
    declared: Mapping[str, Definition[Plan]] | Mapping[str, Definition[Procedure]],
) -> Iterator[_Skill]:
    """The plans or procedures that a role follows."""
    used = [each for each in view.list_targets_of_kind(edges) if each in declared]
    names = map_names(used)
    for each in sorted(used):
        place = declared[each].place()
        yield (f"{kind}-{names[each]}", *_build_front_matter(each, declared[each].record, kind, place), place)


def _build_front_matter(
    each: str, record: Plan | Procedure, kind: str, place: Place
) -> tuple[dict[str, object], LongText]:
    description = record.description or record.name or f"The {kind} {each}."
    front: dict[str, object] = {"description": description, "metadata": {kind: each}}
    return front, LongText(tuple(_render_steps(record, place, description)))


def _render_steps(record: Plan | Procedure, place: Place, description: str) -> Iterator[Line]:
    yield from render_text_lines(description, place)
    yield "", place
    for number, step in enumerate(record.steps, 1):
        if isinstance(step, str):
            text = step
        elif isinstance(step, PlanStep):
            text = step.step
        else:
            text = step.name or step.id
        for at, (line, where) in enumerate(render_text_lines(text.strip(), place)):
            yield (f"   {line}" if at else f"{number}. {line}"), where
