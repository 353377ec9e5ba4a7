"""The kernel: which version of an organization answers, and what a reload changes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from orgkernel.errors import AmbiguousActive, NothingToRead, NotServed, UnknownOrganization, UnknownRole
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry_state import Reload
from tests.support.trees import copy_template, write_tree

BROKEN = "_schema: orgkernel:role_profile\nrole_id: dev\nrole_type: wizard\n"


def role(role_id: str, domain: str) -> str:
    return f"_schema: orgkernel:role_profile\nrole_id: {role_id}\ndescription: x\ncapabilities: {{bst_domains: [{domain}]}}\n"  # fmt: skip


def organization(org_id: str, role_id: str = "dev") -> str:
    return f"_schema: orgkernel:organization\norg_id: {org_id}\nhierarchy: {{{role_id}: {{}}}}\n"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two organizations, each with a role of its own."""
    return write_tree(
        tmp_path,
        {
            "a/org.yaml": organization("a"), "a/roles/dev.yaml": role("dev", "codegen"),
            "b/org.yaml": organization("b"), "b/roles/dev.yaml": role("dev", "osint"),
        },
    )  # fmt: skip


def test_a_good_edit_is_answered_from_at_once(two: Path) -> None:
    """The other organization is the same version as before."""
    kernel = Kernel.open(two)
    other = kernel.organization("b").snapshot.digest
    write_tree(two, {"a/roles/dev.yaml": role("dev", "bugfix")})
    assert kernel.reload() == Reload(updated=("a",), changed=True)
    assert kernel.dispatch("a", "bugfix").role_id == "dev"
    assert kernel.dispatch("a", "codegen").role_id is None
    assert kernel.organization("b").snapshot.digest == other


def test_a_reload_without_a_change_changes_nothing(two: Path) -> None:
    """And says so."""
    kernel = Kernel.open(two)
    assert kernel.reload() == Reload()


def test_a_bad_edit_keeps_the_last_good_version_and_says_so(two: Path) -> None:
    """The organization answers as before, is marked stale, and `check` and `refusal` show why."""
    kernel = Kernel.open(two)
    before = kernel.manifest("a", "dev")
    write_tree(two, {"a/roles/dev.yaml": BROKEN})
    assert kernel.reload() == Reload(kept=("a",), changed=True)
    assert kernel.manifest("a", "dev") == before
    assert kernel.organization("a").stale
    assert not kernel.organization("b").stale
    assert [found.code for found in kernel.refusal("a")] == ["ORG104"]
    assert [found.code for found in kernel.check()] == ["ORG104"]
    assert kernel.latest("a").has_errors
    assert kernel.refusal("b") == ()


def test_a_good_edit_ends_a_bad_one(two: Path) -> None:
    """Nothing of the bad version stays."""
    kernel = Kernel.open(two)
    write_tree(two, {"a/roles/dev.yaml": BROKEN})
    kernel.reload()
    write_tree(two, {"a/roles/dev.yaml": role("dev", "bugfix")})
    assert kernel.reload() == Reload(updated=("a",), changed=True)
    assert not kernel.organization("a").stale
    assert kernel.refusal("a") == ()


@pytest.mark.parametrize("text", ["_schema: orgkernel:organization\norg_id: [\n", "", "\x00", "org_id: a\n"])
def test_an_organization_file_that_cannot_be_read_keeps_the_last_good_version(two: Path, text: str) -> None:
    """A file cut short is not a decision to remove the organization."""
    kernel = Kernel.open(two)
    write_tree(two, {"a/org.yaml": text})
    assert kernel.reload().kept == ("a",)
    assert kernel.dispatch("a", "codegen").role_id == "dev"
    assert kernel.refusal("a")


def test_an_organization_whose_file_is_gone_is_removed(two: Path) -> None:
    """Deleting a file is a decision."""
    kernel = Kernel.open(two)
    (two / "a" / "org.yaml").unlink()
    assert kernel.reload().removed == ("a",)
    with pytest.raises(UnknownOrganization):
        kernel.dispatch("a", "codegen")
    assert kernel.dispatch("b", "osint").role_id == "dev"


def test_a_new_organization_is_answered_for(two: Path) -> None:
    """Without a restart."""
    kernel = Kernel.open(two)
    write_tree(two, {"c/org.yaml": organization("c"), "c/roles/dev.yaml": role("dev", "git_ops")})
    assert kernel.reload() == Reload(updated=("c",), changed=True)
    assert kernel.dispatch("c", "git_ops").role_id == "dev"


def test_at_the_start_a_bad_organization_is_refused_and_the_rest_is_served(two: Path) -> None:
    """With its findings; when it is mended, it is served."""
    write_tree(two, {"a/roles/dev.yaml": BROKEN})
    kernel = Kernel.open(two)
    with pytest.raises(NotServed, match=r"organization `a` has 1 error$"):
        kernel.dispatch("a", "codegen")
    assert kernel.dispatch("b", "osint").role_id == "dev"
    assert kernel.reload() == Reload(unserved=("a",))
    write_tree(two, {"a/roles/dev.yaml": role("dev", "codegen")})
    assert kernel.reload() == Reload(updated=("a",), changed=True)
    assert kernel.dispatch("a", "codegen").role_id == "dev"


def test_a_warning_does_not_keep_a_version_from_answering(two: Path) -> None:
    """Only errors do; the findings still count as a change."""
    kernel = Kernel.open(two)
    write_tree(two, {"a/roles/dev.yaml": role("dev", "codegen").replace("description", "descripton")})
    report = kernel.reload()
    assert (report.updated, report.kept) == (("a",), ())
    assert "ORG102" in [found.code for found in kernel.check()]


def test_a_state_kept_aside_answers_from_one_version(two: Path) -> None:
    """A reload in between does not change it."""
    kernel = Kernel.open(two)
    state = kernel.state
    write_tree(two, {"a/roles/dev.yaml": role("dev", "bugfix")})
    kernel.reload()
    assert [edge.target for edge in state.served["a"].snapshot.index.list_domains("dev")] == ["codegen"]


def test_reloads_and_questions_from_many_threads_agree(two: Path) -> None:
    """Every answer is wholly of one version: domain, snapshot and manifest never mix."""
    kernel = Kernel.open(two)
    texts = [role("dev", "codegen"), role("dev", "bugfix")]
    known = {}
    for text in texts:
        write_tree(two, {"a/roles/dev.yaml": text})
        kernel.reload()
        known[kernel.organization("a").snapshot.digest] = kernel.manifest("a", "dev").domains[0].id
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            manifest = kernel.manifest("a", "dev")
            if known.get(manifest.snapshot) != manifest.domains[0].id:
                wrong.append(manifest)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for number in range(10):
        write_tree(two, {"a/roles/dev.yaml": texts[number % 2]})
        kernel.reload()
    done.set()
    for asker in askers:
        asker.join()
    assert not wrong


def test_active_is_the_only_one_or_the_one_that_was_named(two: Path) -> None:
    """Several and none named is refused with their names; an organization that is called `active` wins."""
    with pytest.raises(AmbiguousActive) as refused:
        Kernel.open(two).dispatch("active", "osint")
    assert "`a`" in refused.value.message + refused.value.help
    assert Kernel.open(two, active="b").dispatch("active", "osint").role_id == "dev"
    assert Kernel.open(two / "b").dispatch("active", "osint").role_id == "dev"
    write_tree(two, {"c/org.yaml": organization("active"), "c/roles/dev.yaml": role("dev", "git_ops")})
    assert Kernel.open(two, active="b").dispatch("active", "git_ops").role_id == "dev"


def test_the_copy_by_which_a_host_is_told_who_is_active_is_no_second_declaration(tmp_path: Path) -> None:
    """The specification's `active.json` beside the original: one organization, no finding."""
    text = '{"_schema": "orgkernel:organization", "org_id": "a", "hierarchy": {"dev": {}}}'
    write_tree(tmp_path, {"a.json": text, "active.json": text, "roles/dev.yaml": role("dev", "codegen")})
    kernel = Kernel.open(tmp_path)
    assert list(kernel.state.served) == ["a"]
    assert kernel.check() == ()


def test_unknown_names_are_refused_with_a_suggestion(two: Path) -> None:
    """What was meant, or what there is."""
    kernel = Kernel.open(copy_template(two / "c", "software_dev"))
    with pytest.raises(UnknownOrganization) as organization_refused:
        kernel.dispatch("software_dv", "codegen")
    assert organization_refused.value.help == "did you mean `software_dev`?"
    with pytest.raises(UnknownRole) as role_refused:
        kernel.manifest("software_dev", "codegen_specialst")
    assert role_refused.value.help == "did you mean `codegen_specialist`?"
    with pytest.raises(NothingToRead):
        Kernel.open(two / "gone")


def test_an_override_with_null_changes_nothing(two: Path) -> None:
    """`doctrine: null` is a way to say nothing, and not a crash."""
    text = (
        organization("a")
        + "overrides: {dev: {doctrine: null, requirements: null, pace_plan: null, department: null}}\n"
    )
    write_tree(two, {"a/org.yaml": text})
    kernel = Kernel.open(two / "a")
    facts = {fact.id: fact.value for fact in kernel.manifest("a", "dev").doctrine}
    assert facts["salute_interval_turns"] == 5
