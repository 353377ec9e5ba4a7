"""`check --baseline` and `--write-baseline`: adopting the check on a tree that has findings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.cli.test_check import ERROR, INFO, codes
from tests.support.in_process import run_here
from tests.support.trees import write_tree

FILE = ".orgkernel-baseline.json"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An old tree with one error and one note, both accepted."""
    shop = write_tree(tmp_path / "shop", SHOP | ERROR | INFO)
    done = run_here("check", "--write-baseline", FILE, "--format", "json", cwd=shop)
    assert (done.returncode, json.loads(done.stdout)) == (0, [])
    return shop


def check(folder: Path, *arguments: str) -> tuple[int, list[str], str]:
    """Exit code, codes of what is reported, and talk."""
    done = run_here("check", "--baseline", FILE, "--format", "json", *arguments, cwd=folder)
    return done.returncode, codes(done.stdout), done.stderr


def entries(folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / FILE).read_text(encoding="utf-8"))["entries"]
    return found


def test_what_is_in_the_baseline_is_neither_reported_nor_fails(old: Path) -> None:
    """Findings in the baseline are not reported and do not fail the check at any threshold; their number is printed."""
    assert check(old, "--fail-on", "info") == (
        0,
        [],
        "no findings in 1 organization, 3 roles, 4 files; 2 findings allowed by the baseline\n",
    )
    assert run_here("check", cwd=old).returncode == 1


def test_moving_lines_changes_nothing(old: Path) -> None:
    """There is no line in a baseline."""
    for name in ("roles/dev.yaml", "roles/ops.yaml"):
        (old / name).write_text("# moved\n\n" + (old / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert check(old)[:2] == (0, [])
    assert all(
        set(entry) == {"code", "file", "subject", "message", "count", "text"} for entry in entries(old)
    )


def test_a_new_finding_is_reported_and_fails(old: Path) -> None:
    """Also of a rule, in a file and about a role that have one already."""
    write_tree(old, {"roles/dev.yaml": ERROR["roles/dev.yaml"].replace("codegn", "codegn, osnt")})
    code, found, talk = check(old)
    assert (code, found) == (1, ["ORG301"])
    assert talk == "1 error in 1 organization, 3 roles, 4 files; 2 findings allowed by the baseline\n"


@pytest.mark.parametrize(
    ("mended", "said"),
    [
        (
            ("roles/dev.yaml",),
            "1 entry of the baseline no longer matches; update it with `--write-baseline`\n",
        ),
        (
            ("roles/dev.yaml", "roles/ops.yaml"),
            "2 entries of the baseline no longer match; update it with `--write-baseline`\n",
        ),
    ],
)
def test_a_mended_finding_is_said_to_be_stale_and_does_not_fail(
    old: Path, mended: tuple[str, ...], said: str
) -> None:
    """Writing it anew takes the entry out, so that the finding cannot come back unnoticed."""
    write_tree(old, {name: SHOP[name] for name in mended})
    code, found, talk = check(old)
    assert (code, found) == (0, [])
    assert talk.startswith(said)
    assert run_here("check", "--write-baseline", FILE, cwd=old).returncode == 0
    assert len(entries(old)) == 2 - len(mended)
    assert "no longer" not in check(old)[2]


def test_a_file_that_is_gone_leaves_stale_entries(old: Path) -> None:
    """Baseline entries about a deleted file are counted as no longer matching."""
    (old / "roles/ops.yaml").unlink()
    org = SHOP["org.yaml"].replace(", ops]", "]").replace("  ops: {}\n", "").replace(", docker_ops]", "]")
    write_tree(old, {"org.yaml": org})
    assert check(old)[2].startswith("1 entry of the baseline no longer matches")


def test_a_renamed_file_keeps_its_findings(old: Path) -> None:
    """The check passes and says that entries name a renamed file; writing the baseline again names the new file."""
    (old / "roles/dev.yaml").rename(old / "roles/developer.yaml")
    (old / "roles").rename(old / "people")
    code, found, talk = check(old)
    assert (code, found) == (0, [])
    assert talk.startswith(
        "2 entries of the baseline name a file that was renamed; update it with `--write-baseline`\n"
    )
    assert run_here("check", "--write-baseline", FILE, cwd=old).returncode == 0
    assert [entry["file"] for entry in entries(old)] == ["people/developer.yaml", "people/ops.yaml"]
    assert "baseline" not in check(old)[2].partition("allowed by")[0]


def test_a_copied_file_does_not_bring_its_findings(old: Path) -> None:
    """While the old file exists, the same finding in another file is new."""
    text = (old / "roles/dev.yaml").read_text(encoding="utf-8")
    write_tree(
        old,
        {
            "org2/org.yaml": "_schema: orgkernel:organization\norg_id: two\nhierarchy: {dev: {}}\n",
            "org2/roles/dev.yaml": text,
        },
    )
    assert "ORG301" in check(old)[1]


def test_an_entry_can_be_read(old: Path) -> None:
    """Each line of the baseline has the message that it allows."""
    assert [entry["text"] for entry in entries(old)] == [
        "role `dev` handles `codegn`, which is not a declared domain",
        "role `ops` has no description",
    ]


def test_it_does_not_matter_where_one_stands(old: Path) -> None:
    """Files are named from the folder of the baseline."""
    for folder, baseline in (
        (old / "roles", f"../{FILE}"),
        (old.parent, f"shop/{FILE}"),
        (old.parent, str(old / FILE)),
    ):
        done = run_here("check", "--baseline", baseline, str(old), cwd=folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "no longer" not in done.stderr


def test_checking_one_path_says_nothing_about_the_rest(old: Path) -> None:
    """Entries of other files are neither stale, nor lost when the baseline is written for one file."""
    others = (
        "note: also read 3 files next to `roles/co.yaml`: `org.yaml`, `roles/dev.yaml`, `roles/ops.yaml`\n"
    )
    assert check(old, "roles/co.yaml") == (0, [], f"{others}no findings in 1 role, 1 file\n")
    write_tree(old, {"roles/dev.yaml": SHOP["roles/dev.yaml"]})
    assert run_here("check", "roles/dev.yaml", "--write-baseline", FILE, cwd=old).returncode == 0
    assert [entry["file"] for entry in entries(old)] == ["roles/ops.yaml"]


def test_the_same_tree_gives_the_same_bytes(old: Path) -> None:
    """Writing it again changes nothing that a reviewer would have to look at."""
    before = (old / FILE).read_bytes()
    assert run_here("check", "--write-baseline", FILE, cwd=old).returncode == 0
    assert (old / FILE).read_bytes() == before
    assert {path.name for path in old.iterdir()} == {"org.yaml", "roles", FILE}


@pytest.mark.parametrize("form", ["full", "github", "sarif"])
def test_every_format_leaves_out_what_is_allowed(old: Path, form: str) -> None:
    """No format brings it back."""
    done = run_here("check", "--baseline", FILE, "--format", form, cwd=old)
    assert done.returncode == 0
    assert "codegn" not in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            None,
            "error: the baseline `b.json` cannot be used: the file cannot be read: no such file or directory\n",
        ),
        (b"\xff\xfe", "error: the baseline `b.json` cannot be used: "),
        (b"", "error: `b.json` is not a baseline: line 1 is not JSON\n"),
        (b'{"version": 3}', "error: `b.json` is not a baseline: it has no `orgkernel_baseline`\n"),
        (
            b'{"orgkernel_baseline": "7"}',
            "error: `b.json` is a baseline of version `7`, but this program reads",
        ),
        (
            b'{"orgkernel_baseline": "1", "entries": [{}]}',
            "error: `b.json` is not a baseline: entry 1 lacks one of",
        ),
    ],
)
def test_a_baseline_that_cannot_be_used_is_exit_2(old: Path, content: bytes | None, message: str) -> None:
    """An unusable baseline exits with 2 and a remedy, for reading and for replacing it, and the file is unchanged."""
    file = old.parent / "b.json"
    if content is not None:
        file.write_bytes(content)
    for option in ("--baseline", "--write-baseline") if content is not None else ("--baseline",):
        done = run_here("check", str(old), option, "b.json", cwd=old.parent)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(message)
        assert "\nhelp: " in done.stderr
    assert content is None or file.read_bytes() == content


def test_a_device_is_no_baseline(old: Path) -> None:
    """One that never ends would be read for ever."""
    done = run_here("check", "--baseline", "/dev/zero", cwd=old)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: the baseline `/dev/zero` cannot be used: the path is not a regular file\n"
    )


@pytest.mark.parametrize("name", ["org.yaml", "roles/dev.yaml", "baseline.json"])
def test_a_baseline_never_takes_the_place_of_a_document(old: Path, name: str) -> None:
    """Nor stands where it would be checked as one."""
    before = (old / name).read_bytes() if (old / name).exists() else None
    done = run_here("check", "--write-baseline", name, cwd=old)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        f"error: the baseline `{name}` would be checked as a document\nhelp: start its name with a dot"
        in done.stderr
    )
    assert ((old / name).read_bytes() if (old / name).exists() else None) == before


def test_a_baseline_that_cannot_be_written_is_exit_2_and_leaves_nothing_behind(old: Path) -> None:
    """A folder that is not there, and a name that is taken by one."""
    (old / ".taken").mkdir()
    before = sorted(os.listdir(old))
    for name in ("gone/.b.json", ".taken"):
        done = run_here("check", "--write-baseline", name, cwd=old)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: the baseline `{name}` cannot be ")
    assert sorted(os.listdir(old)) == before


def test_a_baseline_behind_a_link_stays_behind_it(old: Path) -> None:
    """The file is replaced, not the link."""
    (old / FILE).rename(old.parent / "kept.json")
    (old / FILE).symlink_to(old.parent / "kept.json")
    assert run_here("check", "--write-baseline", FILE, cwd=old).returncode == 0
    assert (old / FILE).is_symlink()
    assert check(old)[:2] == (0, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--baseline", FILE, "--write-baseline", FILE), "cannot be combined with `--write-baseline`"),
        (("--shipped", "--baseline", FILE), "cannot be combined with a baseline"),
        (("--shipped", "--write-baseline", FILE), "cannot be combined with a baseline"),
    ],
)
def test_options_that_contradict_each_other_are_exit_2(
    old: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Rather than one of them winning silently."""
    done = run_here("check", *arguments, cwd=old)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
