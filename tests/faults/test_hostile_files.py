"""Files that are broken, hostile or gone while they are read: each ends in one clear finding, at once."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from orgkernel.loading import files
from orgkernel.loading.files import Root, find_files, read_text
from orgkernel.loading.parsed import MAX_PROBLEMS
from orgkernel.loading.sources import LoadedFiles
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots.snapshot import Snapshot
from tests.cli.running import run
from tests.support.patience import within
from tests.support.trees import TEMPLATES, copy_template, read, write_tree

ROLE = "_schema: orgkernel:role_profile\nrole_id: {}\nrole_type: {}\ndescription: One of many.\n"


def findings(result: Snapshot | LoadedFiles) -> list[str]:
    """Findings as they are shown on one line."""
    return [f"{found.place} {found.code} {found.message}" for found in result.diagnostics]


def read_folder(folder: Path) -> LoadedFiles:
    """What reading a folder alone yields."""
    return read_tree([Root(str(folder), "")])


def write_crowd(folder: Path, executives: int, each: int) -> None:
    """One organization of one commander, some executives and their specialists, one file each."""
    below = {f"x{x}": [f"r{x}_{r}" for r in range(each)] for x in range(executives)}
    lines = [
        "_schema: orgkernel:organization",
        "org_id: crowd",
        "limits: {span_of_control: 1000}",
        "hierarchy:",
    ]
    lines += [
        f"  {name}: {{subordinates: [{', '.join(them)}]}}" for name, them in {"co": [*below], **below}.items()
    ]
    roles = {"co": "commander", **dict.fromkeys(below, "executive")}
    roles |= dict.fromkeys((name for them in below.values() for name in them), "specialist")
    write_tree(folder, {"org.yaml": "\n".join(lines) + "\n"})
    (folder / "roles").mkdir()
    for role_id, role_type in roles.items():
        (folder / "roles" / f"{role_id}.yaml").write_text(ROLE.format(role_id, role_type), encoding="utf-8")


def test_one_broken_file_among_ten_thousand(tmp_path: Path) -> None:
    """One truncated file gives one error, only its role is out of service, and the other 9,999 are read."""
    write_crowd(tmp_path, executives=101, each=98)
    broken = tmp_path / "roles" / "r50_50.yaml"
    broken.write_text('_schema: orgkernel:role_profile\nrole_id: r50_50\nrole_name: "Ro', encoding="utf-8")
    with within(60):
        snapshot = read(tmp_path)
    assert findings(snapshot) == [
        "roles/r50_50.yaml:3:15 ORG005 not valid YAML: found unexpected end of stream while scanning a quoted scalar",
        "roles/r50_50.yaml:3:15 ORG725 role `r50_50` of organization `crowd` is out of service, "
        "because its file has an error (ORG005)",
    ]
    organization = snapshot.organizations["crowd"]
    assert len(organization.records.posts) == 9_999
    assert organization.records.withheld.keys() == {"r50_50"}
    assert organization.records.without_profile == {}
    assert organization.records.unread == {"roles/r50_50.yaml"}
    assert organization.has_errors


def test_ten_thousand_files_of_others(tmp_path: Path) -> None:
    """Files that are not orgkernel documents are ignored quickly, with any content."""
    copy_template(tmp_path / "org", "software_dev")
    other = tmp_path / "charts"
    other.mkdir()
    for number in range(10_000):
        (other / f"{number}.yaml").write_text("kind: {{ .Values.kind }}\ntools: [\n", encoding="utf-8")
    with within(20):
        snapshot = read(tmp_path)
    assert findings(snapshot) == []
    assert snapshot.tree.skipped == 10_000


def test_a_hundred_megabytes(tmp_path: Path) -> None:
    """A file that is too large is refused by its size, without being read."""
    path = tmp_path / "co.yaml"
    with path.open("wb") as file:
        file.write(ROLE.format("co", "commander").encode())
        file.truncate(100 * 2**20)
    with within(2):
        assert findings(read_folder(tmp_path)) == [
            "co.yaml:1:1 ORG003 the file has 100.0 MiB, more than the limit of 16 MiB"
        ]


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds for what is read, whatever the size was before."""
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    path = tmp_path / "co.yaml"
    path.write_text("12345678901234567890", encoding="utf-8")
    size = os.stat_result([*os.stat(path)[:6], 5, *os.stat(path)[7:]])
    monkeypatch.setattr(files.os, "fstat", lambda _: size)
    refusal = read_text(str(path), "co.yaml").problem
    assert refusal is not None
    assert refusal.row.code == "ORG003"


HOSTILE = {
    "empty": (b"", "ORG004 the file contains no document"),
    "latin-1": (b"role_id: \xe9", "ORG002 byte 0xe9 is not valid UTF-8"),
    "utf-16": ("role_id: co".encode("utf-16"), "ORG002 byte 0xff is not valid UTF-8"),
    "zeros": (b"\x00" * 1000, "ORG015 the character U+0000 is not allowed"),
    "gzip": (b"\x1f\x8b\x08\x00", "ORG002 byte 0x8b is not valid UTF-8"),
    "dashes": (b"- " * 100_000, "ORG012 values are nested more than 40 levels deep"),
    "braces": (b"{" * 100_000, "ORG012 values are nested more than 40 levels deep"),
    "digits": (
        b"a: " + b"9" * 5_000,
        "ORG013 the number `" + "9" * 79 + "…` does not fit in 64 bits or is not finite",
    ),
    "fraction": (
        b"a: " + b"9" * 4_000 + b".5e99999",
        "ORG013 the number `" + "9" * 79 + "…` does not fit in 64 bits or is not finite",
    ),
    "directives": (b"\n%TAG !a! b" * 200_000, "ORG005 not valid YAML: more than 100 lines begin with `%`"),
    "values": (b"[" + b"a, " * 1_100_000 + b"]", "ORG003 the file contains more than 100,000 values"),
    "documents": (b"---\n" * 1_100_000, "ORG003 the file contains more than 100,000 values"),
}


@pytest.mark.parametrize(("content", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_contents(content: bytes, expected: str, tmp_path: Path) -> None:
    """A named file with such contents gives exactly one finding, soon, with a line and a column."""
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with within(20):
        tree = read_tree([Root(str(path), "a.yaml")])
    (found,) = tree.diagnostics
    assert f"{found.code} {found.message}" == expected
    assert found.place.file == "a.yaml"


def test_a_billion_laughs(tmp_path: Path) -> None:
    """Nested aliases are refused before they are expanded."""
    lines = ["a0: &a0 [" + "ha, " * 9 + "ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    path = write_tree(tmp_path, {"a.yaml": "_schema: orgkernel:role_profile\n" + "\n".join(lines) + "\n"})
    with within(2):
        tree = read_folder(path)
    assert findings(tree) == ["a.yaml:6:45 ORG011 the aliases of the file expand to more than 100,000 values"]


def test_quadratic_blow_up(tmp_path: Path) -> None:
    """One long value, repeated by many aliases, is refused as well."""
    text = "_schema: orgkernel:role_profile\na: &a [" + "x, " * 1000 + "x]\nb: [" + "*a, " * 1000 + "*a]\n"
    with within(2):
        tree = read_folder(write_tree(tmp_path, {"a.yaml": text}))
    assert [found.code for found in tree.diagnostics] == ["ORG011"]


def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    """A pipe without a writer is not opened."""
    write_tree(tmp_path, {"co.yaml": ROLE.format("co", "commander")})
    os.mkfifo(tmp_path / "xo.yaml")
    with within(2):
        tree = read_folder(tmp_path)
    assert findings(tree) == ["xo.yaml:1:1 ORG001 the path is not a regular file"]


def test_devices_are_not_read(tmp_path: Path) -> None:
    """A link to an endless device is not followed into it."""
    write_tree(tmp_path, {"co.yaml": ROLE.format("co", "commander")})
    (tmp_path / "xo.yaml").symlink_to("/dev/zero")
    with within(2):
        assert findings(read_folder(tmp_path)) == [
            "xo.yaml:1:1 ORG023 the link leads out of the folders that are read"
        ]


def test_loops_of_links(tmp_path: Path) -> None:
    """Links to themselves, to each other and to folders above end in findings or are read once."""
    write_tree(tmp_path, {"org/roles/co.yaml": ROLE.format("co", "commander")})
    (tmp_path / "org/roles/self.yaml").symlink_to("self.yaml")
    (tmp_path / "org/roles/up").symlink_to(tmp_path)
    (tmp_path / "org/again").symlink_to(tmp_path / "org/roles")
    with within(2):
        tree = read_folder(tmp_path)
    assert findings(tree) == [
        "org/roles/self.yaml:1:1 ORG001 the file cannot be read: too many levels of symbolic links"
    ]
    assert [document.name for document in tree.documents] == ["org/roles/co.yaml"]


def test_a_root_that_is_a_loop(tmp_path: Path) -> None:
    """The path a user names may itself be a link to nowhere."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    tree = read_tree([Root(str(tmp_path / "a"), "a")])
    assert findings(tree) == ["a:1:1 ORG001 the file cannot be read: too many levels of symbolic links"]


def test_a_file_refused_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system says when it refuses a file is said with the file's name; the others are read."""
    write_tree(
        tmp_path, {"co.yaml": ROLE.format("co", "commander"), "xo.yaml": ROLE.format("xo", "executive")}
    )

    def refuse(path: str) -> object:
        if path.endswith("xo.yaml"):
            raise PermissionError(13, "Permission denied")
        return open(path, "rb")

    monkeypatch.setattr(files, "open_regular", refuse)
    tree = read_folder(tmp_path)
    assert findings(tree) == ["xo.yaml:1:1 ORG001 the file cannot be read: permission denied"]
    assert len(tree.documents) == 1


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder the system refuses to list is named; what else there is, is read."""
    write_tree(tmp_path, {"co.yaml": ROLE.format("co", "commander"), "sub/xo.yaml": ""})
    listed = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(files.os, "scandir", refuse)
    tree = read_folder(tmp_path)
    assert findings(tree) == ["sub:1:1 ORG001 the path is a folder that cannot be listed"]
    assert len(tree.documents) == 1


def test_a_file_deleted_while_reading(tmp_path: Path) -> None:
    """A file that is listed and then gone is a finding, and so is a folder that was renamed meanwhile."""
    copy_template(tmp_path, "software_dev")
    root = Root(str(tmp_path), "")
    listed = find_files(root)
    path, name = next(listed)
    os.unlink(path)
    refusal = read_text(path, name).problem
    assert refusal is not None
    assert refusal.message == "the file cannot be read: no such file or directory"
    shutil.rmtree(tmp_path / "roles")
    assert [name for _, name in listed] == ["org.yaml", "roles"]


@pytest.mark.parametrize(
    "name", ["a\nb.yaml", "a\x1b[31m.yaml", os.fsdecode(b"a\xff.yaml")], ids=["line", "escape", "bytes"]
)
def test_names_that_could_harm_a_terminal(name: str, tmp_path: Path) -> None:
    """A file may have any name: it is shown on one line, hashed and reported."""
    copy_template(tmp_path, "blank")
    try:
        (tmp_path / "roles" / "co.yaml").rename(tmp_path / "roles" / name)
    except (OSError, UnicodeError):
        return  # a file system that takes no such names
    snapshot = read(tmp_path)
    shown = next(each for each in snapshot.tree.paths if each.startswith("roles/"))
    assert shown.isprintable()
    assert shown.encode()
    assert findings(snapshot) == []
    assert snapshot.organizations["blank"].digest


def test_a_path_with_a_null_character() -> None:
    """A path no system takes is a finding, not an exception."""
    refusal = read_text("a\0b.yaml", "a").problem
    assert refusal is not None
    assert refusal.row.code == "ORG001"


def test_every_file_of_a_template_cut_in_half(tmp_path: Path) -> None:
    """Whichever file is cut, only that file is spoken about, and only what depends on it is missing."""
    names = sorted(
        path.relative_to(TEMPLATES / "software_dev") for path in (TEMPLATES / "software_dev").rglob("*.yaml")
    )
    for name in names:
        folder = copy_template(tmp_path / name.stem, "software_dev")
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text[: len(text) // 2] + '\n"', encoding="utf-8")
        snapshot = read(folder)
        assert {found.place.file for found in snapshot.diagnostics} == {str(name)}
        codes = [found.code for found in snapshot.diagnostics]
        assert codes == (["ORG005", "ORG725"] if name.parts[0] == "roles" else ["ORG005"])


@pytest.mark.parametrize("form", ["full", "concise", "github", "gitlab", "junit", "sarif", "json"])
def test_a_name_commands_neither_the_terminal_nor_the_annotations(tmp_path: Path, form: str) -> None:
    """Names of files, fields, roles and values, in the output of the installed command. A line that begins with `::` is a command to the
    runner of GitHub.
    """
    evil = "x\n::error file=a::pwned\r::stop-commands::t\x1b[31m\x9b2J\u202e"
    text = json.dumps(evil)
    write_tree(
        tmp_path,
        {
            "org.yaml": f"_schema: orgkernel:organization\norg_id: a\n{text}: 1\nhierarchy: {{a: {{}}, {text}: {{subordinates: [{text}]}}}}\n",
            "roles/a.yaml": f"_schema: orgkernel:role_profile\nrole_id: a\nrole_name: {text}\nrole_type: {text}\n",
        },
    )
    (tmp_path / f"{evil.replace('/', '')}.yaml").write_text("_schema: orgkernel:role_profile\nrole_id: [\n")
    done = run("check", "--format", form, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    printed = done.stdout + done.stderr
    assert "pwned" in printed
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", printed)
    commands = [line for line in printed.splitlines() if line.startswith("::")]
    assert all(re.match(r"::(error|warning|notice) ", line) and form == "github" for line in commands)
    assert not [line for line in commands if line.startswith("::error file=a::")]


@pytest.mark.parametrize("last", ["entry: [\n", "entry: \x7f\n", 'entry: "\\ud800"\n'])
@pytest.mark.parametrize("number", [MAX_PROBLEMS - 1, MAX_PROBLEMS, MAX_PROBLEMS + 1])
def test_the_last_finding_of_a_file_ends_its_reading(tmp_path: Path, number: int, last: str) -> None:
    """The finding that reaches the limit may be the one about the syntax. The installed command reports the findings."""
    keys = "".join(f"a{each}: 1\na{each}: 2\n" for each in range(number))
    (tmp_path / "org.yaml").write_text(f"_schema: orgkernel:organization\n{keys}{last}", encoding="utf-8")
    done = run("check", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert re.search(r"ORG00[56]|ORG01[0-9]", done.stdout), done.stdout
