"""Links that lead out of what is read: they are reported and not followed, and nothing outside is printed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from orgkernel.errors import BadProject
from orgkernel.kernel.settings import find_project
from orgkernel.loading.cache import Cache
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.cli.running import SHOP
from tests.faults.test_hostile_files import within
from tests.support.in_process import run_here
from tests.support.trees import write_tree

SECRET = "the_secret_of_another_file"
FORMS = ("full", "concise", "json", "github", "gitlab", "sarif", "junit")
PROFILE = (
    "_schema: orgkernel:role_profile\nrole_id: far\nrole_name: Far\nrole_type: specialist\nreports_to: lead\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An organization, and files outside of it that were not requested."""
    write_tree(tmp_path / "outside", {"secret.yaml": f"role_id: [{SECRET}\n", "roles/far.yaml": PROFILE})
    return write_tree(tmp_path / "shop", SHOP)


def said(*command: str, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """The exit code of a command, and everything it prints."""
    done = run_here(*command, cwd=cwd, env=env)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "target", ["../../outside/secret.yaml", "../../outside/../outside/secret.yaml"], ids=["file", "long way"]
)
@pytest.mark.parametrize("form", FORMS)
def test_no_line_outside_is_printed(form: str, target: str, shop: Path) -> None:
    """A link to a file with a syntax error shows the error of the link only, in every format."""
    (shop / "roles" / "extra.yaml").symlink_to(target)
    code, text = said("check", "--format", form, cwd=shop)
    assert code == 1
    assert SECRET not in text
    if form == "concise":
        assert "roles/extra.yaml:1:1: error[ORG023] link-leaves-root:" in text


def test_no_line_of_a_large_file_outside_is_printed(shop: Path, tmp_path: Path) -> None:
    """Not even of one that is too large to be read."""
    with (tmp_path / "outside" / "large.yaml").open("wb") as file:
        file.write(f"role_id: {SECRET}\n".encode())
        file.truncate(20 * 2**20)
    (shop / "roles" / "extra.yaml").symlink_to(tmp_path / "outside" / "large.yaml")
    code, text = said("check", cwd=shop)
    assert code == 1
    assert SECRET not in text


def test_nothing_outside_is_printed_for_the_settings_of_a_tree(shop: Path, tmp_path: Path) -> None:
    """Settings come with the documents: what they name elsewhere is neither read nor quoted."""
    (shop / "away").symlink_to(tmp_path / "outside")
    (shop / "disk").symlink_to("/")
    leaves = "leads out of the tree that the settings are in"
    for settings, found in {
        'paths = ["../outside"]': leaves,
        'paths = ["away"]': leaves,
        'paths = ["/"]': leaves,
        'links = ["../outside"]': leaves,
        'links = ["away"]': leaves,
        'links = ["/"]': leaves,
        'links = ["disk/proc/1/cwd"]': leaves,
        'links = ["~"]': leaves,
        r'links = ["a\u0000b"]': "U+0000",
        r'paths = ["a\u0000b"]': "U+0000",
        r'cache = "a\u0000b"': "U+0000",
        'paths = ["named.yaml"]': "ORG023",
    }.items():
        (shop / "orgkernel.toml").write_text(settings)
        for name in ("roles/extra.yaml", "named.yaml"):
            (shop / name).unlink(missing_ok=True)
            (shop / name).symlink_to(tmp_path / "outside" / "secret.yaml")
        code, text = said("check", cwd=shop)
        assert code == (1 if found == "ORG023" else 2), settings
        assert found in text
        assert SECRET not in text


def test_a_file_that_is_swapped_before_it_is_quoted(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was read is quoted, whatever has its name by then."""
    from orgkernel.cli.author import check

    path = shop / "roles" / "dev.yaml"
    path.write_text("role_id: [\n")
    summary = check._render_summary

    def swap(*arguments: object) -> str:
        path.unlink()
        path.symlink_to(tmp_path / "outside" / "secret.yaml")
        return summary(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "_render_summary", swap)
    assert SECRET not in said("check", cwd=shop)[1]


def test_links_to_the_top_of_the_disk_end(shop: Path) -> None:
    """A link to `/`, in the tree, as the `roles` beside it or as a file, costs no search of the disk."""
    (shop / "everything").symlink_to("/")
    (shop / "roles" / "everything").symlink_to("/")
    (shop.parent / "roles").symlink_to("/")
    (shop.parent / "links.yaml").symlink_to("/etc/passwd")
    with within(5):
        for command in (("check",), ("check", "roles"), ("check", "everything/etc/hostname"), ("upgrade",)):
            code, text = said(*command, cwd=shop)
            assert code in (0, 1, 2)
            assert "root:x:" not in text
    code, text = said("check", "--format", "concise", cwd=shop)
    assert code == 1
    assert [line.split(" ")[0] for line in text.splitlines() if "ORG023" in line] == [
        "everything:1:1:",
        "roles/everything:1:1:",
    ]


def test_links_inside_and_among_the_paths_are_followed(shop: Path) -> None:
    """A link to another folder that is read anyway leaves nothing."""
    (shop / "roles" / "dev.yaml").rename(shop / "dev.txt")
    (shop / "roles" / "dev.yaml").symlink_to("../dev.txt")
    assert said("check", cwd=shop)[0] == 0
    assert said("check", "roles", cwd=shop)[0] == 0


def test_links_that_the_caller_allows_are_followed(shop: Path) -> None:
    """A variable of the environment names folders and files outside, which is told; the rest stays refused."""
    (shop / "roles" / "far.yaml").symlink_to("../../outside/roles/far.yaml")
    assert "ORG023" in said("check", cwd=shop)[1]
    allowed = {"ORGKERNEL_LINKS": f"{shop}/../outside/roles"}
    text = said("check", cwd=shop, env=allowed)[1]
    assert "ORG023" not in text
    assert "`far`" in text  # a profile that no organization includes
    assert "note: links can lead to `" in text
    (shop / "roles" / "extra.yaml").symlink_to("../../outside/secret.yaml")
    text = said("check", "--format", "concise", cwd=shop, env=allowed)[1]
    assert "roles/extra.yaml:1:1: error[ORG023]" in text


def test_links_in_the_tree_are_allowed_by_its_settings(shop: Path, tmp_path: Path) -> None:
    """The setting `links` names other folders of the repository that contains the settings."""
    (tmp_path / ".git").mkdir()
    (shop / "roles" / "far.yaml").symlink_to("../../outside/roles/far.yaml")
    (shop / "orgkernel.toml").write_text('links = ["../outside/roles"]\n')
    text = said("check", cwd=shop)[1]
    assert "ORG023" not in text
    assert "`far`" in text


@pytest.mark.parametrize("settings", ['links = "../outside"', "links = [1]", 'links = [""]'])
def test_links_that_are_no_list_of_texts(settings: str, shop: Path) -> None:
    """The setting is refused with a remedy."""
    (shop / "orgkernel.toml").write_text(settings)
    with pytest.raises(BadProject, match="`links` is not a list of strings"):
        find_project(str(shop))


def test_a_cache_does_not_remember_what_links_led_to(shop: Path, tmp_path: Path) -> None:
    """Allowed once and not any more: the next load refuses the link, in this process and in another."""
    (shop / "roles" / "far.yaml").symlink_to("../../outside/roles/far.yaml")
    cache = Cache(str(tmp_path / "c"))
    for links, expected in (([], True), (["../outside"], False), ([], True), (["../outside"], False)):
        loader = Loader(resolve_paths(["."], str(shop), links=links), {}, cache)
        for _ in range(2):
            codes = {found.code for found in loader.load().diagnostics}
            assert ("ORG023" in codes) is expected
            loader.save()


def test_upgrade_writes_nothing_outside(shop: Path, tmp_path: Path) -> None:
    """A document of an older form that a link leads to is not rewritten."""
    target = tmp_path / "outside" / "old.yaml"
    old = "_schema: orgkernel:role_profile\n_version: 1.0\nrole_id: old\nrole_name: Old\n"
    target.write_text(old)
    (shop / "roles" / "old.yaml").symlink_to(target)
    said("upgrade", cwd=shop)
    assert target.read_text() == old


def test_the_findings_of_a_server_quote_nothing_outside(shop: Path) -> None:
    """What `check --format json` prints is what a server lists."""
    (shop / "roles" / "extra.yaml").symlink_to("../../outside/secret.yaml")
    rows = json.loads(run_here("check", "--format", "json", cwd=shop).stdout)
    assert SECRET not in json.dumps(rows)
    assert os.path.lexists(shop / "roles" / "extra.yaml")
