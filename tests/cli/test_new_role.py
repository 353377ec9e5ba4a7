"""`orgkernel new role ID --org ORG`: one new file, and one new line in the organization's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import copy_template, write_tree


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_new_role_is_part_of_the_organization_and_clean(shop: Path) -> None:
    """The file's path on stdout; then `check` has nothing to say and the manifest knows the role."""
    done = run("new", "role", "night_shift", "--org", "shop", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "roles/night_shift.yaml\n")
    assert done.stderr == "shop now includes the role; edit the file, then run `orgkernel check`\n"
    assert run("check", "--fail-on", "info", cwd=shop).returncode == 0
    manifest = json.loads(
        run("manifest", "night_shift", "--org", "shop", "--format", "json", cwd=shop).stdout
    )
    assert manifest["role_name"] == "Night Shift"
    assert manifest["role_type"] == "specialist"
    assert [superior["id"] for superior in manifest["chain_of_command"]] == ["co"]


@pytest.mark.parametrize("role_type", ["specialist", "executive"])
def test_type_and_superior_can_be_chosen(shop: Path, role_type: str) -> None:
    """An executive may delegate, a specialist may not."""
    arguments = ("--type", role_type, "--reports-to", "co")
    assert run("new", "role", "extra", "--org", "shop", *arguments, cwd=shop).returncode == 0
    manifest = json.loads(run("manifest", "extra", "--org", "shop", "--format", "json", cwd=shop).stdout)
    identity = {fact["id"]: fact["value"] for fact in manifest["identity"]}
    assert manifest["role_type"] == role_type
    assert identity["can_delegate"] is (role_type == "executive")
    assert run("check", "--fail-on", "info", cwd=shop).returncode == 0


def test_the_organization_file_is_kept_byte_for_byte_but_for_one_line(tmp_path: Path) -> None:
    """Comments, blank lines and spacing stay; the line stands at the end of the hierarchy."""
    folder = copy_template(tmp_path / "org", "software_dev")
    before = everything(folder)
    run("new", "role", "reviewer", "--org", "software_dev", "--path", "org", cwd=tmp_path)
    after = everything(folder)
    assert after.keys() - before.keys() == {"roles/reviewer.yaml"}
    assert {name for name in before if before[name] != after[name]} == {"org.yaml"}
    old, new = before["org.yaml"].split(b"\n"), after["org.yaml"].split(b"\n")
    added = new.index(b"  reviewer: {}")
    assert new[:added] + new[added + 1 :] == old
    assert old[added - 1] == b"    role_name: OSINT Specialist"


@pytest.mark.parametrize(
    ("name", "text", "becomes"),
    [
        (
            "comments",
            "# first\n_schema: orgkernel:organization\norg_id: shop\nhierarchy:   # who\n    co:   # boss\n"
            "        subordinates: [dev, ops]\n    dev: {}\n\n    # the last\n    ops: {}   # keeps it up\n\n# end\n"
            "description: 'x'\n",
            "# first\n_schema: orgkernel:organization\norg_id: shop\nhierarchy:   # who\n    co:   # boss\n"
            "        subordinates: [dev, ops]\n    dev: {}\n\n    # the last\n    ops: {}   # keeps it up\n"
            "    reviewer: {}\n\n# end\ndescription: 'x'\n",
        ),
        (
            "no newline at the end",
            "_schema: orgkernel:organization\norg_id: shop\nhierarchy:\n  co: {}\n  dev: {}\n  ops:\n    role_name: Ops",
            "_schema: orgkernel:organization\norg_id: shop\nhierarchy:\n  co: {}\n  dev: {}\n  ops:\n    role_name: Ops\n"
            "  reviewer: {}",
        ),
        (
            "line ends of Windows and a byte order mark",
            "\ufeff_schema: orgkernel:organization\r\norg_id: shop\r\nhierarchy:\r\n  co: {}\r\n  dev: {}\r\n  ops: {}\r\n",
            "\ufeff_schema: orgkernel:organization\r\norg_id: shop\r\nhierarchy:\r\n  co: {}\r\n  dev: {}\r\n  ops: {}\r\n"
            "  reviewer: {}\r\n",
        ),
        (
            "keys in quotes, text that looks like a key",
            '_schema: orgkernel:organization\norg_id: shop\n"hierarchy":\n  "co": {}\n  dev:\n    role_name: >\n      Dev\n'
            '  ops: {}\ndescription: |\n  hierarchy:\n    ops: {}\n',
            '_schema: orgkernel:organization\norg_id: shop\n"hierarchy":\n  "co": {}\n  dev:\n    role_name: >\n      Dev\n'
            '  ops: {}\n  reviewer: {}\ndescription: |\n  hierarchy:\n    ops: {}\n',
        ),
    ],
)  # fmt: skip
def test_ways_to_write_a_hierarchy(shop: Path, name: str, text: str, becomes: str) -> None:
    """Exactly one line is added, wherever the hierarchy ends and however the file is written."""
    (shop / "org.yaml").write_bytes(text.encode())
    done = run("new", "role", "reviewer", "--org", "shop", cwd=shop)
    assert done.stderr == "shop now includes the role; edit the file, then run `orgkernel check`\n"
    assert (shop / "org.yaml").read_bytes() == becomes.encode()


@pytest.mark.parametrize(
    "organization",
    [
        {"org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {co: {}, dev: {}, ops: {}}\n"},
        {"org.json": json.dumps({"_schema": "orgkernel:organization", "org_id": "shop",
                                 "hierarchy": {"co": {}, "dev": {}, "ops": {}}}, indent=2)},
        {"org.yaml": "a: &h\n  co: {}\n  dev: {}\n  ops: {}\nhierarchy: *h\n_schema: orgkernel:organization\norg_id: shop\n"},
        {"org.yaml": SHOP["org.yaml"] + "---\n_schema: orgkernel:domain_catalog\ndomains: {}\n"},
    ],
    ids=["flow style", "json", "alias", "two documents"],
)  # fmt: skip
def test_where_no_line_can_be_added_the_user_is_told_what_to_write(
    shop: Path, organization: dict[str, str]
) -> None:
    """The profile is written all the same, the organization's file is not touched."""
    (shop / "org.yaml").unlink()
    write_tree(shop, organization)
    before = everything(shop)
    done = run("new", "role", "reviewer", "--org", "shop", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "roles/reviewer.yaml\n")
    assert done.stderr == f"add it under `hierarchy` in {next(iter(organization))}: `reviewer: {{}}`\n"
    after = everything(shop)
    del after["roles/reviewer.yaml"]
    assert after == before


def test_a_role_the_hierarchy_already_names_gets_its_profile(shop: Path) -> None:
    """What ORG201 advises works: its help is a command that can be copied, and settles the finding."""
    text = SHOP["org.yaml"].replace("[dev, ops]", "[dev, ops, night]")
    write_tree(shop, {"org.yaml": text})
    (found,) = json.loads(run("check", "--format", "json", cwd=shop).stdout)
    assert found["code"] == "ORG201"
    advice = found["help"].split("`")[1].split()
    assert advice[0] == "orgkernel"
    assert run(*advice[1:], cwd=shop).returncode == 0
    assert (shop / "org.yaml").read_text() == text
    assert run("check", "--fail-on", "info", cwd=shop).returncode == 0


@pytest.mark.parametrize("role_id", ["dev", "co"])
def test_a_taken_id_is_refused(shop: Path, role_id: str) -> None:
    """Nothing is changed."""
    before = everything(shop)
    done = run("new", "role", role_id, "--org", "shop", cwd=shop)
    assert done.returncode == 2
    assert done.stderr == f"error: organization `shop` already has a role `{role_id}`\n"
    assert everything(shop) == before


def test_a_file_in_the_way_is_refused(shop: Path) -> None:
    """A profile that no organization includes is not overwritten."""
    write_tree(shop, {"roles/reviewer.yaml": "_schema: orgkernel:role_profile\nrole_id: reviewer\n"})
    before = everything(shop)
    assert run("new", "role", "reviewer", "--org", "shop", cwd=shop).returncode == 2
    assert everything(shop) == before


@pytest.mark.parametrize(
    "role_id",
    ["a/b", "../evil", "ä", "1st", "", " ", "a b", "-", "a.b", "x" * 101, "x" * 10_000, "a\nb", "a\n", "\x1b[31m", "a:b", "."],
)  # fmt: skip
def test_a_malformed_id_is_refused(shop: Path, role_id: str) -> None:
    """An id stands in file names and addresses: nothing is written, nothing reaches the terminal."""
    before = everything(shop)
    done = run("new", "role", "--org", "shop", "--", role_id, cwd=shop)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "is not an id" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 500
    assert everything(shop) == before
    assert sorted(os.listdir(shop.parent)) == ["shop"]


@pytest.mark.parametrize("role_id", ["no", "null", "True", "_x", "a-b", "x" * 100])
def test_an_id_that_yaml_would_read_as_something_else_stays_text(shop: Path, role_id: str) -> None:
    """`null` is a bad name for a role, and not a reason to break a file."""
    assert run("new", "role", role_id, "--org", "shop", cwd=shop).returncode == 0
    assert run("check", "--fail-on", "info", cwd=shop).returncode == 0
    manifest = run("manifest", role_id, "--org", "shop", "--format", "json", cwd=shop)
    assert json.loads(manifest.stdout)["role_id"] == role_id


def test_an_unknown_organization_or_superior_is_refused(shop: Path) -> None:
    """With a suggestion, and without a template being changed by accident."""
    before = everything(shop)
    done = run("new", "role", "reviewer", "--org", "shp", cwd=shop)
    assert done.returncode == 2
    assert done.stderr == "error: there is no organization `shp`\nhelp: did you mean `shop`?\n"
    assert run("new", "role", "reviewer", "--org", "software_dev", cwd=shop).returncode == 2
    done = run("new", "role", "reviewer", "--org", "shop", "--reports-to", "cco", cwd=shop)
    assert done.returncode == 2
    assert done.stderr == "error: organization `shop` has no role `cco`\nhelp: did you mean `co`?\n"
    assert everything(shop) == before


def test_a_failure_leaves_nothing_behind(shop: Path) -> None:
    """When the organization's file cannot be replaced, the profile is taken back; a file in the way is not."""
    (shop / f"org.yaml.{os.getpid()}.new").write_text("mine")  # `run` stays in this process
    before = everything(shop)
    done = run("new", "role", "reviewer", "--org", "shop", cwd=shop)
    assert done.returncode == 2
    assert "cannot be written: file exists" in done.stderr
    assert everything(shop) == before


def test_the_file_keeps_its_mode_and_stays_the_target_of_a_link(shop: Path) -> None:
    """Replacing the file is not noticed by what points to it."""
    (shop / "org.yaml").rename(shop.parent / "real.yaml")
    (shop / "org.yaml").symlink_to(shop.parent / "real.yaml")
    (shop.parent / "real.yaml").chmod(0o640)
    assert run("new", "role", "reviewer", "--org", "shop", cwd=shop).returncode == 0
    assert (shop / "org.yaml").is_symlink()
    assert (shop.parent / "real.yaml").stat().st_mode & 0o777 == 0o640
    assert "  reviewer: {}\n" in (shop.parent / "real.yaml").read_text()
