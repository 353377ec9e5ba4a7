"""The table of effects (`orgkernel/rules/effects.py`) is what happens, for every finding of every case of every rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.graph.assemble import assemble
from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.org_index import OrgIndex
from orgkernel.rules.effects import EffectPlace, RuleEffect, list_effects
from orgkernel.rules.pages import build_all_pages
from orgkernel.snapshots.consequences import DeclaredByFile, find_consequences, list_declared_by_file
from tests.rules.test_cases import lay_out, load_cases
from tests.support.sampling import sample_every
from tests.support.trees import read

ERRORS = {code for code, page in build_all_pages().items() if page.severity is Severity.ERROR}


def find_place(declared: DeclaredByFile, file: str) -> EffectPlace:
    """The kind of a file in the table."""
    if file in declared.profiles:
        return "profile"
    is_agent = "role_profile" in declared.kinds.get(file, ()) and len(declared.roles.get(file, ())) == 1
    return "agent" if is_agent else "document"


def find_effect(index: OrgIndex, declared: DeclaredByFile, diagnostic: Diagnostic) -> RuleEffect:
    """What a single finding takes out of service."""
    consequences = find_consequences(index, declared, [diagnostic])
    if consequences.is_held_back:
        return "the organization"
    if consequences.withheld:
        return "this agent" if index.records.document.format else "this role"
    of_one = diagnostic.subject.startswith(("cognitive_skill:", "procedure:"))
    return "this skill or procedure" if of_one else "nothing"


@pytest.mark.parametrize("code", sample_every(sorted(set(load_cases()) & ERRORS), 3))
def test_an_error_takes_out_what_the_table_says(code: str, tmp_path: Path) -> None:
    """Each error of each case, except that a role to which others report takes the organization with it."""
    cases: dict[str, Any] = load_cases()[code]
    for name, case in cases.items():
        folder = tmp_path / name
        folder.mkdir()
        lay_out(case, folder)
        snapshot = read(folder)
        for records in assemble(snapshot.tree).organizations:
            errors = [
                each
                for each in snapshot.organizations[records.org_id].diagnostics
                if each.severity is Severity.ERROR and each.code == code
            ]
            index = OrgIndex(records, EdgeColumns(extract_edges(records)))
            declared = list_declared_by_file(snapshot.tree, {each.place.file for each in errors})
            for each in errors:
                place = find_place(declared, each.place.file)
                effect, expected = (
                    find_effect(index, declared, each),
                    list_effects(code, Severity.ERROR)[place],
                )
                roles = declared.profiles.get(each.place.file) or declared.roles.get(
                    each.place.file, frozenset()
                )
                kind, _, subject = each.subject.partition(":")
                if place == "document" and effect == "nothing":
                    # An override of a role, or a task of another format, without which an agent is only less able.
                    is_task = declared.kinds.get(each.place.file) == {"procedure_catalog"}
                    assert is_task or (
                        kind == "role" and list_effects(code, Severity.ERROR)["profile"] == "nothing"
                    )
                    continue
                is_of_others = kind == "role" and subject not in roles
                is_only = len(records.posts) + len(records.without_profile) == 1
                if is_of_others or len(roles) > 1 or is_only:
                    assert effect in (expected, "the organization"), (name, each)
                else:
                    assert effect == expected, (name, each)


def test_prose_in_a_profile_stops_no_other_role(tmp_path: Path) -> None:
    """Whatever an author writes into the texts of a role, the other roles answer."""
    texts = (
        "AKIAIOSFODNN7EXAMPLE and password = 'hunter2hunter2'", "Ask `nobody`. Read `none/of/it.md`.", "word " * 9_000,
        "x: [y --- role_id: other", "_schema: orgkernel:access_policies",
    )  # fmt: skip
    for number, text in enumerate(texts):
        for field in (
            "description",
            "standing_orders",
            "examples",
            "not_examples",
            "does_not_have",
            "role_name",
        ):
            value = repr(text) if field in ("description", "role_name") else f"[{text!r}]"
            folder = tmp_path / f"{number}_{field}"
            (folder / "roles").mkdir(parents=True)
            (folder / "org.yaml").write_text(
                "_schema: orgkernel:organization\norg_id: o\nhierarchy: {a: {subordinates: [b]}, b: {subordinates: [c]}, c: {}}\n",
                encoding="utf-8",
            )
            (folder / "roles" / "a.yaml").write_text(
                "_schema: orgkernel:role_profile\nrole_id: a\nrole_type: commander\n", encoding="utf-8"
            )
            (folder / "roles" / "c.yaml").write_text(
                "_schema: orgkernel:role_profile\nrole_id: c\n", encoding="utf-8"
            )
            value = value.replace("'hunter2hunter2'", "hunter2hunter2").replace('"', "'")
            (folder / "roles" / "b.yaml").write_text(
                f"_schema: orgkernel:role_profile\nrole_id: b\nrole_type: executive\n{field}: {value}\n",
                encoding="utf-8",
            )
            organization = read(folder).organizations["o"]
            assert organization.may_answer, (text, field)
            assert {"a", "c"} <= organization.records.posts.keys()
