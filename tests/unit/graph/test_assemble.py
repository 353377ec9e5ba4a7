"""Which documents make up which organization: lookup from near to far, copies, overrides and second declarations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orgkernel.documents.records import Doctrine, PacePlan
from orgkernel.graph.assemble import Assembly, assemble
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from tests.support.trees import write_tree

SHARED = "shared"


def org(org_id: str, hierarchy: str, more: str = "") -> str:
    """The text of an organization."""
    return f"_schema: orgkernel:organization\norg_id: {org_id}\nhierarchy: {hierarchy}\n{more}"


def role(role_id: str, more: str = "") -> str:
    """The text of a profile."""
    return f"_schema: orgkernel:role_profile\nrole_id: {role_id}\n{more}"


def domains(*ids: str, more: str = "") -> str:
    """The text of a catalog of domains."""
    entries = ", ".join(f"{each}: {{}}" for each in ids)
    return f"_schema: orgkernel:domain_catalog\ndomains: {{{entries}}}\n{more}"


def assembled(folder: Path, files: Mapping[str, str]) -> Assembly:
    """The organizations of some files; those below `shared/` are the shared catalogs."""
    write_tree(folder, files)
    (folder / SHARED).mkdir(exist_ok=True)
    return assemble(read_tree([Root(str(folder / SHARED), SHARED, shared=True), Root(str(folder), "")]))


def records_of(folder: Path, files: Mapping[str, str]) -> dict[str, OrgRecords]:
    """Organizations by id."""
    return {records.org_id: records for records in assembled(folder, files).organizations}


def profile_files(records: OrgRecords) -> dict[str, str]:
    """Role to the file of its profile."""
    return {role_id: post.document.name for role_id, post in records.posts.items()}


def test_an_organization_sees_its_own_folder_first(tmp_path: Path) -> None:
    """A profile near the organization hides one of the same id beside it, and that one hides a shared one."""
    files = {
        "a/org.yaml": org("a", "{near: {}, beside: {}, far: {}, nowhere: {}}"),
        "a/roles/deep/near.yaml": role("near"),
        "roles/near.yaml": role("near"),
        "roles/beside.yaml": role("beside"),
        f"{SHARED}/near.yaml": role("near"),
        f"{SHARED}/beside.yaml": role("beside"),
        f"{SHARED}/far.yaml": role("far"),
    }
    records = records_of(tmp_path, files)["a"]
    assert profile_files(records) == {
        "near": "a/roles/deep/near.yaml",
        "beside": "roles/beside.yaml",
        "far": f"{SHARED}/far.yaml",
    }
    assert {role_id: str(place) for role_id, place in records.without_profile.items()} == {
        "nowhere": "a/org.yaml:3:44"
    }


def test_a_catalog_entry_near_by_hides_one_far_away(tmp_path: Path) -> None:
    """Entry by entry, not file by file; only entries of the own folder are the organization's own."""
    files = {
        "a/org.yaml": org("a", "{}"),
        "a/domains.yaml": domains("one"),
        "domains.yaml": domains("one", "two"),
        f"{SHARED}/domains.yaml": domains("one", "two", "three", more="aliases: {un: one}\n"),
    }
    records = records_of(tmp_path, files)["a"]
    assert {each.id: (each.document.name, each.own) for each in records.domains.values()} == {
        "one": ("a/domains.yaml", True),
        "two": ("domains.yaml", False),
        "three": (f"{SHARED}/domains.yaml", False),
    }
    assert records.aliases["un"].target == "one"


def test_organizations_side_by_side_do_not_see_each_other(tmp_path: Path) -> None:
    """What lies in the folder of one organization is not seen by its neighbor."""
    files = {
        "a/org.yaml": org("a", "{co: {}, xo: {}}"),
        "a/roles/co.yaml": role("co"),
        "a/domains.yaml": domains("one"),
        "b/org.yaml": org("b", "{co: {}, xo: {}}"),
        "b/roles/xo.yaml": role("xo"),
    }
    found = records_of(tmp_path, files)
    assert profile_files(found["a"]) == {"co": "a/roles/co.yaml"}
    assert profile_files(found["b"]) == {"xo": "b/roles/xo.yaml"}
    assert not found["b"].domains
    assert found["b"].files == {"b/org.yaml", "b/roles/xo.yaml"}


def test_an_unreadable_neighbor_keeps_its_folder(tmp_path: Path) -> None:
    """An organization that cannot be read still owns its roles and catalogs: its neighbor must not inherit them."""
    files = {
        "a/org.yaml": org("a", "{co: {}"),
        "a/roles/co.yaml": role("co"),
        "a/domains.yaml": domains("one"),
        "b/org.yaml": org("b", "{co: {}}"),
    }
    assembly = assembled(tmp_path, files)
    (records,) = assembly.organizations
    assert records.org_id == "b"
    assert not records.posts
    assert not records.domains
    assert not assembly.strays_are_known


def test_organizations_inside_one_another(tmp_path: Path) -> None:
    """An inner organization sees the folder it lies in; the outer one does not look into the inner one's folder."""
    files = {
        "outer/org.yaml": org("outer", "{co: {}, inner_only: {}}"),
        "outer/roles/co.yaml": role("co"),
        "outer/inner/org.yaml": org("inner", "{co: {}, inner_only: {}}"),
        "outer/inner/roles/inner_only.yaml": role("inner_only"),
    }
    found = records_of(tmp_path, files)
    assert profile_files(found["outer"]) == {"co": "outer/roles/co.yaml"}
    assert profile_files(found["inner"]) == {
        "co": "outer/roles/co.yaml",
        "inner_only": "outer/inner/roles/inner_only.yaml",
    }
    assert found["inner"].posts["co"].shared_profile


def test_organizations_in_one_folder_share_its_roles(tmp_path: Path) -> None:
    """A profile that several organizations include is read once, knows it, and says where else it is included."""
    files = {
        "a.yaml": org("a", "{co: {subordinates: [xo]}}"),
        "b.yaml": org("b", "{co: {}, only_b: {}}"),
        "c.yaml": org("c", "{}"),
        "roles/co.yaml": role("co"),
        "roles/xo.yaml": role("xo"),
        "roles/only_b.yaml": role("only_b"),
    }
    found = records_of(tmp_path, files)
    assert found["a"].posts["co"].document is found["b"].posts["co"].document
    assert {role_id: post.shared_profile for role_id, post in found["a"].posts.items()} == {
        "co": True,
        "xo": False,
    }
    assert dict(found["a"].elsewhere) == {"co": ("b",), "only_b": ("b",)}
    assert dict(found["c"].elsewhere) == {"co": ("a", "b"), "xo": ("a",), "only_b": ("b",)}
    assert "xo" not in found["a"].elsewhere
    assert found["a"].elsewhere.get("nobody") is None
    assert len(found["a"].elsewhere) == 2


def test_roles_come_in_the_order_of_the_hierarchy(tmp_path: Path) -> None:
    """Keys first, then subordinates that have no entry of their own, each placed where it is named."""
    files = {
        "org.yaml": org("a", "\n  co: {subordinates: [z, y]}\n  y: {subordinates: [x, ghost]}"),
        **{f"roles/{each}.yaml": role(each) for each in ("x", "y", "z", "co")},
    }
    records = records_of(tmp_path, files)["a"]
    assert list(records.posts) == ["co", "y", "z", "x"]
    assert {each: str(place) for each, place in records.without_profile.items()} == {"ghost": "org.yaml:5:25"}


def test_the_active_copy_is_no_second_declaration(tmp_path: Path) -> None:
    """`active.json` counts only for an organization nothing else declares, in whatever order the files come."""
    copy = '{"_schema": "orgkernel:organization", "org_id": "a", "hierarchy": {"co": {}}}'
    files = {"active.json": copy, "b/org.yaml": org("a", "{xo: {}}")}
    assembly = assembled(tmp_path / "both", files)
    assert [records.document.name for records in assembly.organizations] == ["b/org.yaml"]
    assert assembly.duplicates == ()
    alone = assembled(tmp_path / "alone", {"active.json": copy, "co.yaml": role("co")})
    assert [records.document.name for records in alone.organizations] == ["active.json"]
    assert list(alone.organizations[0].posts) == ["co"]


def test_the_active_copy_of_an_unreadable_original(tmp_path: Path) -> None:
    """The copy does not answer for an organization whose own file is broken."""
    copy = '{"_schema": "orgkernel:organization", "org_id": "a", "hierarchy": {}}'
    assembly = assembled(tmp_path, {"active.json": copy, "main.yaml": org("a", "{co: {}")})
    assert assembly.organizations == ()


def test_second_declarations(tmp_path: Path) -> None:
    """An id declared twice at one distance is told with both places, and the first by name is the one that is seen."""
    files = {
        "org.yaml": org("a", "{co: {}}"),
        "more/org.yaml": org("a", "{}"),
        "roles/co.yaml": role("co", "role_name: First\n"),
        "roles/co_again.yaml": role("co", "role_name: Second\n"),
        "one.yaml": domains("one", more="---\n" + domains("one")),
    }
    assembly = assembled(tmp_path, files)
    assert [(each.what, each.id, str(each.first), str(each.place)) for each in assembly.duplicates] == [
        ("organization", "a", "org.yaml:2:9", "more/org.yaml:2:9"),
        ("role", "co", "roles/co.yaml:2:10", "roles/co_again.yaml:2:10"),
        ("domain", "one", "one.yaml:2:11", "one.yaml:5:11"),
    ]
    (records,) = assembly.organizations
    assert records.posts["co"].profile.name == "First"


def test_the_same_id_at_another_distance_is_no_second_declaration(tmp_path: Path) -> None:
    """Hiding an entry on purpose is not a mistake."""
    files = {
        "a/org.yaml": org("a", "{co: {}}"),
        "a/co.yaml": role("co"),
        "roles/co.yaml": role("co"),
        f"{SHARED}/co.yaml": role("co"),
    }
    assert assembled(tmp_path, files).duplicates == ()


def test_a_profile_that_no_organization_includes_is_stray(tmp_path: Path) -> None:
    """A profile that no organization includes is a stray one, one that is hidden by a nearer one too."""
    files = {
        "a/org.yaml": org("a", "{co: {}}"),
        "a/co.yaml": role("co"),
        "a/loner.yaml": role("loner"),
        "roles/co.yaml": role("co"),
    }
    assembly = assembled(tmp_path, files)
    assert {document.name for document in assembly.stray_profiles} == {"a/loner.yaml", "roles/co.yaml"}
    assert assembly.strays_are_known


def test_catalogs_without_an_organization(tmp_path: Path) -> None:
    """They can be asked about as if an organization without roles saw them."""
    assembly = assembled(tmp_path, {"x/domains.yaml": domains("one"), f"{SHARED}/d.yaml": domains("two")})
    assert assembly.organizations == ()
    assert assembly.loose_catalogs is not None
    assert {each.id: each.own for each in assembly.loose_catalogs.domains.values()} == {
        "one": True,
        "two": False,
    }


def test_what_could_not_be_read(tmp_path: Path) -> None:
    """Ids that a broken file seems to declare are excused; only the organizations that include them miss them."""
    files = {
        "a.yaml": org("a", "{co: {}, xo: {}}"),
        "b.yaml": org("b", "{co: {}}"),
        "roles/co.yaml": role("co"),
        "roles/xo.yaml": "_schema: orgkernel:role_profile\nrole_id: [xo\n",
        "roles/other_name.yaml": '{"_schema": "orgkernel:role_profile", "role_id": "yo", x',
        "tools.yaml": "_schema: orgkernel:tool_catalog\ntools: [\n",
        "reports/xo.json": '{"_schema": "orgkernel:salute_report", "unit": {"role_id": "co"',
    }
    found = records_of(tmp_path, files)
    assert found["a"].excused >= {"xo", "yo"}
    assert "co" not in found["a"].excused
    assert found["a"].incomplete == {"role_profile", "tool_catalog"}
    assert found["a"].unread == {"roles/xo.yaml", "tools.yaml"}
    assert found["b"].unread == {"tools.yaml"}
    assert found["a"].files == {"a.yaml", "roles/co.yaml", "roles/xo.yaml", "tools.yaml"}


OVERRIDES = """overrides:
  co:
    department: east
    doctrine: {salute_interval_turns: 9}
    pace_plan:
      contingent: {trigger: "context_fill > 0.5"}
"""
PROFILE = """department: west
doctrine:
  salute_interval_turns: 5
  max_turns_without_progress: 20
pace_plan:
  alternate: {trigger: "context_fill > 0.1"}
  contingent:
    trigger: "context_fill > 0.2"
    escalate_to: user
"""


def test_overrides_replace_what_is_written_in_them(tmp_path: Path) -> None:
    """A value of the doctrine, a whole tier, the department: everything else stays as in the profile."""
    files = {"org.yaml": org("a", "{co: {}}", OVERRIDES), "co.yaml": role("co", PROFILE)}
    post = records_of(tmp_path, files)["a"].posts["co"]
    profile = post.profile
    assert profile.department == "east"
    assert (profile.doctrine.salute_interval_turns, profile.doctrine.max_turns_without_progress) == (9, 20)
    assert profile.pace_plan is not None
    assert profile.pace_plan.alternate is not None
    assert profile.pace_plan.alternate.trigger == "context_fill > 0.1"
    assert profile.pace_plan.contingent is not None
    assert (profile.pace_plan.contingent.trigger, profile.pace_plan.contingent.escalate_to) == (
        "context_fill > 0.5",
        None,
    )


def test_overrides_have_their_own_places(tmp_path: Path) -> None:
    """Each value is placed where it is written; a tier that is replaced whole is placed among the overrides."""
    files = {"org.yaml": org("a", "{co: {}}", OVERRIDES), "co.yaml": role("co", PROFILE)}
    post = records_of(tmp_path, files)["a"].posts["co"]
    assert str(post.place("department")) == "org.yaml:6:17"
    assert str(post.place("doctrine", "salute_interval_turns")) == "org.yaml:7:39"
    assert str(post.place("doctrine", "max_turns_without_progress")) == "co.yaml:6:31"
    assert str(post.place("pace_plan", "alternate", "trigger")) == "co.yaml:8:24"
    assert str(post.locate_within(3, "pace_plan", "contingent", "trigger")) == "org.yaml:9:33"
    assert str(post.place("pace_plan", "contingent", "escalate_to")) == "org.yaml:9:19"
    assert post.has("pace_plan", "contingent", "trigger")
    assert not post.has("pace_plan", "contingent", "escalate_to")
    assert str(post.place("role_id")) == "co.yaml:2:10"


def test_null_in_an_override(tmp_path: Path) -> None:
    """`null` takes a department or a tier away, and leaves what every role has."""
    nothing = (
        "overrides: {co: {department: null, doctrine: null, requirements: ~, "
        "pace_plan: {primary: null, contingent: null}}}\n"
    )
    files = {"org.yaml": org("a", "{co: {}}", nothing), "co.yaml": role("co", PROFILE)}
    profile = records_of(tmp_path, files)["a"].posts["co"].profile
    assert profile.department is None
    assert profile.doctrine == Doctrine(salute_interval_turns=5, max_turns_without_progress=20)
    assert profile.requirements.required_extensions == ()
    assert profile.pace_plan is not None
    assert profile.pace_plan.primary == PacePlan().primary
    assert profile.pace_plan.contingent is None
    assert profile.pace_plan.alternate is not None


def test_an_override_gives_a_plan_to_a_role_without_one(tmp_path: Path) -> None:
    """A profile without a PACE plan gets the tiers that are written for it."""
    more = "overrides: {co: {pace_plan: {emergency: {escalate_to: user}}}}\n"
    files = {"org.yaml": org("a", "{co: {}}", more), "co.yaml": role("co")}
    profile = records_of(tmp_path, files)["a"].posts["co"].profile
    assert profile.pace_plan is not None
    assert profile.pace_plan.emergency is not None
    assert profile.pace_plan.emergency.escalate_to == "user"


def test_context_is_not_answered_for(tmp_path: Path) -> None:
    """An organization read only so that others can refer to it is not part of the result, and still owns its folder."""
    write_tree(
        tmp_path,
        {
            "a/org.yaml": org("a", "{co: {}}"),
            "a/co.yaml": role("co"),
            "b/org.yaml": org("b", "{co: {}}"),
            "b/co.yaml": role("co"),
        },
    )
    roots = [Root(str(tmp_path / "a"), "a"), Root(str(tmp_path / "b"), "b", context=True)]
    assembly = assemble(read_tree(roots))
    assert [records.org_id for records in assembly.organizations] == ["a"]
    assert assembly.stray_profiles == ()
    assert not assembly.organizations[0].elsewhere


def test_many_organizations_of_many_roles(tmp_path: Path) -> None:
    """Two hundred organizations that share a hundred profiles are assembled without comparing each with each."""
    hierarchy = "{r0: {subordinates: [" + ", ".join(f"r{number}" for number in range(1, 100)) + "]}}"
    files = {f"o{number}.yaml": org(f"o{number}", hierarchy) for number in range(200)}
    files |= {f"roles/r{number}.yaml": role(f"r{number}") for number in range(100)}
    found = records_of(tmp_path, files)
    assert len(found) == 200
    assert all(len(records.posts) == 100 for records in found.values())
    assert found["o0"].domains is found["o1"].domains
