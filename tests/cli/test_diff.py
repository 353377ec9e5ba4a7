"""`orgkernel diff`: what the roles gained and lost between two trees, two revisions, or a revision and the work tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import change_line, copy_template, write_tree

CODEGEN = "org/roles/codegen_specialist.yaml"


@pytest.fixture(autouse=True)
def own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the git settings of the current user nor the repository of a running hook affect the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, message: str = "x") -> str:
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose first commit holds a template in `org/`; not to be altered."""
    folder = tmp_path_factory.mktemp("first") / "repository"
    copy_template(folder / "org", "software_dev")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


@pytest.fixture
def repository(first_commit: Path, tmp_path: Path) -> Path:
    """A copy of that repository."""
    return Path(shutil.copytree(first_commit, tmp_path / "repository"))


def gain_browser(repository: Path) -> None:
    """Give a role one more tool."""
    change_line(repository / CODEGEN, "    - skills_tool", "    - skills_tool\n    - browser_agent")


def move_osint(repository: Path) -> None:
    """Move a role under another superior, in the hierarchy and in its profile."""
    change_line(repository / "org/org.yaml", "      - osint_specialist", "")
    change_line(
        repository / "org/org.yaml",
        "      - devops_specialist",
        "      - devops_specialist\n      - osint_specialist",
    )
    path = repository / "org/roles/osint_specialist.yaml"
    path.write_text(path.read_text().replace(": research_xo", ": engineering_xo"))


def sentences(folder: Path, *arguments: str) -> list[tuple[str, str]]:
    done = run("diff", *arguments, "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return [(each["classification"], each["sentence"]) for each in json.loads(done.stdout)["changes"]]


def test_a_role_gains_a_tool(repository: Path) -> None:
    """A reviewer reads the edit with its line, and under it who gains what."""
    gain_browser(repository)
    done = run("diff", "git:HEAD", "org", cwd=repository)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == """\
software_dev
  role `codegen_specialist`: `capabilities.tools_secondary` gains `browser_agent`
    (org/roles/codegen_specialist.yaml:32)
    + codegen_specialist gains tool browser_agent

1 change in 1 organization by 1 edit: 1 widened, 0 narrowed, 0 neutral
"""
    )


def test_two_folders(repository: Path, tmp_path: Path) -> None:
    """Trees need no repository; what is lost is shown with the line it stood in."""
    copy_template(tmp_path / "other", "software_dev")
    change_line(tmp_path / "other/roles/osint_specialist.yaml", "    - browser_agent", "")
    done = run("diff", repository / "org", "other", cwd=tmp_path)
    assert "    - osint_specialist loses tool browser_agent\n" in done.stdout
    assert "loses `browser_agent` (was repository/org/roles/osint_specialist.yaml:" in " ".join(
        done.stdout.split()
    )
    back = run("diff", "other", repository / "org", cwd=tmp_path)
    assert "    + osint_specialist gains tool browser_agent\n" in back.stdout
    assert "gains `browser_agent` (repository/org/roles/osint_specialist.yaml:" in " ".join(
        back.stdout.split()
    )


def test_two_revisions(repository: Path) -> None:
    """Both sides may be revisions, with a path of their own or with the other side's; the work tree is not looked at."""
    first = git(repository, "rev-parse", "HEAD")
    gain_browser(repository)
    git(repository, "mv", "org", "moved")
    second = commit(repository)
    git(repository, "tag", "-a", "v1", "-m", "x")
    shutil.rmtree(repository / "moved")
    wanted = [
        each
        for each in sentences(repository, f"git:{first}:org", f"git:{second}:moved")
        if each[0] == "widened"
    ]
    assert ("widened", "codegen_specialist gains tool browser_agent") in wanted
    assert [each for each in sentences(repository, "git:HEAD~1", "git:v1:") if each[0] == "widened"] == wanted
    assert [
        each for each in sentences(repository, "git:HEAD~1", "git:HEAD") if each[0] == "widened"
    ] == wanted
    assert sentences(repository, "git:v1", "git:main") == []
    assert git(repository, "status", "--porcelain") != ""


def test_the_work_tree_and_the_index_are_left_alone(repository: Path) -> None:
    """Reading a revision changes no file, no entry of the index, no branch, and leaves nothing behind."""
    gain_browser(repository)
    (repository / "untracked.txt").write_text("x")
    state = git(repository, "status", "--porcelain"), (repository / ".git/index").read_bytes()
    files = sorted(repository.rglob("*"))
    temporary = repository.parent / "temporary"
    temporary.mkdir()
    for old, code in (("git:HEAD", 0), ("git:HEAD:nothing", 2), ("git:nothing", 2)):
        assert run("diff", old, "org", cwd=repository, env={"TMPDIR": str(temporary)}).returncode == code
    assert list(temporary.iterdir()) == []
    assert sorted(repository.rglob("*")) == files
    assert (git(repository, "status", "--porcelain"), (repository / ".git/index").read_bytes()) == state


def test_new_may_be_left_out(repository: Path) -> None:
    """Without NEW a revision is compared with the work tree as the project says."""
    (repository / "orgkernel.toml").write_text('paths = ["org"]\n')
    gain_browser(repository)
    (repository / "org/deeper").mkdir()
    for folder in (repository, repository / "org/deeper"):
        assert ("widened", "codegen_specialist gains tool browser_agent") in sentences(folder, "git:HEAD")
    refused = run("diff", "org", cwd=repository)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "NEW is missing, and OLD is not a git revision" in refused.stderr


def test_paths_of_a_revision_start_at_the_top_or_here(repository: Path) -> None:
    """As in git: `REV:PATH` counts from the top of the repository, `REV:./PATH` from the current folder."""
    gain_browser(repository)
    here = repository / "org"
    assert len(sentences(here, "git:HEAD", ".")) == len(sentences(here, "git:HEAD:org", ".")) > 0
    assert (
        sentences(here, "git:HEAD:./", ".")
        == sentences(here, "git:HEAD:../org", ".")
        == sentences(here, "git:HEAD", ".")
    )
    done = run("diff", "git:HEAD", ".", cwd=here)
    assert "(roles/codegen_specialist.yaml:32)" in done.stdout
    outside = run("diff", "git:HEAD:../../elsewhere", ".", cwd=here)
    assert outside.returncode == 2
    assert "is not inside the repository" in outside.stderr


def test_files_above_the_current_folder_have_one_name_on_both_sides(repository: Path) -> None:
    """In a folder of an organization, the files above it are shown in full, on both sides by their place in the work tree."""
    org = repository / "org/org.yaml"
    change_line(org, "      - codegen_specialist", "      - codegen_specialist\n      - extra")
    done = run("diff", "git:HEAD", "--format", "json", cwd=repository / "org/roles")
    changes = json.loads(done.stdout)["changes"]
    places = [place["file"] for each in changes for place in (*each["why_before"], *each["why_after"])]
    assert str(org) in places
    assert not [file for file in places if "orgkernel-diff" in file]


def test_a_renamed_role(repository: Path) -> None:
    """A role with another id and the same content is reported as renamed, and references to it are not reported."""
    for path in (repository / "org").rglob("*.yaml"):
        path.write_text(path.read_text().replace("osint_specialist", "webint_specialist"))
    git(repository, "mv", "org/roles/osint_specialist.yaml", "org/roles/webint_specialist.yaml")
    change_line(
        repository / "org/roles/webint_specialist.yaml",
        "role_name: OSINT Specialist",
        "role_name: OSINT Specialist  # still",
    )
    assert sentences(repository, "git:HEAD", "org") == [
        ("neutral", "osint_specialist is renamed webint_specialist")
    ]


def test_a_moved_role(repository: Path) -> None:
    """A role with another superior moves; the superiors lose and gain to whom they hand work, and it can escalate elsewhere."""
    move_osint(repository)
    done = run("diff", "git:HEAD", "org", cwd=repository)
    lines = done.stdout.splitlines()
    for line in (
        "    ~ osint_specialist moves from research_xo to engineering_xo",
        "    + engineering_xo gains hand-off target osint_specialist",
        "    - research_xo loses hand-off target osint_specialist",
        "    + osint_specialist may now escalate to `engineering_xo`",
    ):
        assert any(each.startswith(line) for each in lines), done.stdout
    heading = lines.index(
        "  `hierarchy.research_xo.subordinates` loses `osint_specialist` (was org/org.yaml:54)"
    )
    assert heading < lines.index("    ~ osint_specialist moves from research_xo to engineering_xo")


def test_an_override_is_the_line(repository: Path) -> None:
    """What an organization overrides for a role is reported at the override."""
    path = repository / "org/org.yaml"
    path.write_text(
        path.read_text()
        + "\noverrides:\n  osint_specialist:\n    doctrine:\n      salute_interval_turns: 3\n"
    )
    line = len(path.read_text().splitlines())
    done = run("diff", "git:HEAD", "org", cwd=repository)
    shown = " ".join(done.stdout.split())
    assert (
        f"`overrides` is set to `{{osint_specialist: {{doctrine: {{salute_interval_turns: 3}}}}}}` (org/org.yaml:{line - 3})"
        in shown
    )
    assert "~ osint_specialist: doctrine.salute_interval_turns is `3` instead of `4`" in shown


TOOL = """\
_schema: orgkernel:tool_catalog
tools:
  text_editor:
    description: {description}
    type: deterministic_function
    actions:
      read: read
      write: {write}
"""
READER = """\
_schema: orgkernel:role_profile
role_id: {role}
description: Reads.
capabilities:
  tools: [{{tool: text_editor, level: read}}]
"""


def test_a_catalog_that_changes_many_roles(tmp_path: Path) -> None:
    """A catalog's change of a tool is reported once, and what several roles may do because of it is one line."""
    roles = {f"roles/{role}.yaml": READER.format(role=role) for role in ("co", "dev", "ops")}
    for side, said in (
        ("old", {"description": "One", "write": "write"}),
        ("new", {"description": "Two", "write": "read"}),
    ):
        write_tree(tmp_path / side, {**SHOP, **roles, "tools.yaml": TOOL.format(**said)})
    done = run("diff", "old", "new", cwd=tmp_path)
    assert done.stdout.count("tool text_editor: description is `Two` instead of `One`, for 3 roles") == 1
    assert (
        "  tool `text_editor`: `actions.write` is `read` instead of `write` (new/tools.yaml:8, was\n    old/tools.yaml:8)\n"
        "    + co, dev and ops may now use `write` of `text_editor`\n" in done.stdout
    )
    assert "1 widened, 0 narrowed, 2 neutral" in done.stdout


def test_organizations_come_and_go(repository: Path) -> None:
    """A whole organization is one change; `--org` asks about one."""
    shutil.copytree(repository / "org", repository / "other")
    path = repository / "other/org.yaml"
    path.write_text(path.read_text().replace("org_id: software_dev", "org_id: other_dev"))
    assert sentences(repository, "git:HEAD:", ".") == [("widened", "organization other_dev is added")]
    assert sentences(repository, ".", "git:HEAD:") == [("narrowed", "organization other_dev is removed")]
    assert sentences(repository, "git:HEAD:", ".", "--org", "software_dev") == []
    unknown = run("diff", "git:HEAD:", ".", "--org", "other_de", cwd=repository)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert (
        unknown.stderr
        == "error: neither side has an organization `other_de`\nhelp: did you mean `other_dev`?\n"
    )


def test_a_revision_that_does_not_exist(repository: Path) -> None:
    """Whatever stands where a revision should, it is looked up, never obeyed: a clear message and exit code 2."""
    before = sorted(repository.rglob("*"))
    for revision in ("nothing", "--help", "--output=x"):
        done = run("diff", f"git:{revision}", "org", cwd=repository)
        assert (done.returncode, done.stdout) == (2, ""), revision
        assert f"is not a revision in the repository `{repository}`" in done.stderr
    assert sorted(repository.rglob("*")) == before


def test_a_revision_with_colons(repository: Path) -> None:
    """Colons inside braces belong to the revision."""
    assert sentences(repository, "git:HEAD^{/x}:org", "org") == []
    done = run("diff", "git:HEAD^{/no: such}:org", "org", cwd=repository)
    assert "`HEAD^{/no: such}` is not a revision" in done.stderr


def test_a_path_that_does_not_exist_at_the_revision(repository: Path) -> None:
    """A revision without the path is not an empty tree."""
    for name in ("nothing", "org/nothing.yaml", ".git"):
        done = run("diff", f"git:HEAD:{name}", "org", cwd=repository)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: OLD (git:HEAD:{name}) has no `{name}`\n")
    for name in ("org/../../x", "/etc"):
        done = run("diff", f"git:HEAD:{name}", "org", cwd=repository)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"is not inside the repository `{repository}`" in done.stderr


def test_a_path_that_is_new(repository: Path) -> None:
    """With several paths, those that a revision has are compared; one that exists nowhere is refused."""
    copy_template(repository / "new", "sigint_alpha")
    (repository / "orgkernel.toml").write_text('paths = ["org", "new"]\n')
    assert [each[1] for each in sentences(repository, "git:HEAD")] == ["organization sigint_alpha is added"]
    refused = run("diff", "git:HEAD", "new", cwd=repository)
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (2, "error: OLD (git:HEAD) has no `new`")
    refused = run("diff", "git:HEAD", "nowhere", cwd=repository)
    assert refused.returncode == 2


def test_not_a_repository(tmp_path: Path) -> None:
    """Outside of a git repository, a revision is an error that states the reason."""
    copy_template(tmp_path / "org", "blank")
    done = run("diff", "git:HEAD", "org", cwd=tmp_path, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not in a git repository" in done.stderr


def test_git_is_missing(repository: Path) -> None:
    """Without git, folders can still be compared."""
    empty = repository.parent / "empty"
    empty.mkdir()
    done = run("diff", "git:HEAD", "org", cwd=repository, env={"PATH": str(empty)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: reading a repository needs git")
    assert run("diff", "org", "org", cwd=repository, env={"PATH": str(empty)}).stdout == "no change\n"


def test_links_stay_inside(repository: Path, tmp_path: Path) -> None:
    """A link in a revision is followed inside of the tree, and never out of it."""
    copy_template(tmp_path / "outside", "sigint_alpha")
    (repository / "linked").symlink_to("org")
    (repository / "up").symlink_to("../outside")
    (repository / "absolute").symlink_to(tmp_path / "outside")
    commit(repository)
    assert sentences(repository, "git:HEAD:linked", "org") == []
    for name in ("up", "absolute"):
        done = run("diff", f"git:HEAD:{name}", "org", cwd=repository)
        assert (done.returncode, done.stdout) == (2, "")


def test_an_organization_that_is_held_back(repository: Path) -> None:
    """A side whose errors keep it from answering ends with 2 and says so first; what can be read of it is still shown."""
    change_line(
        repository / "org/org.yaml", "      - osint_specialist", "      - osint_specialist\n      - nobody"
    )
    done = run("diff", "git:HEAD", "org", cwd=repository)
    assert done.returncode == 2
    assert "research_xo gains subordinate nobody" in done.stdout
    assert done.stderr.startswith(
        "error: NEW (org): organization `software_dev` has 1 error and does not answer, so only"
    )
    assert "help: run `orgkernel check` on both sides" in done.stderr


def test_a_role_that_cannot_be_read(repository: Path) -> None:
    """A profile with a syntax error is not a removed role: the only report is that the role cannot be compared."""
    (repository / CODEGEN).write_text("_schema: orgkernel:role_profile\nrole_id: codegen_specialist\nx: [\n")
    done = run("diff", "git:HEAD", "org", cwd=repository)
    assert done.returncode == 2
    assert "codegen_specialist is removed" not in done.stdout
    assert done.stderr.startswith("error: NEW (org): role `codegen_specialist` is out of service: ")
    assert "so it is not compared\n" in done.stderr
    assert "about single roles, without `codegen_specialist`" in done.stderr


def test_a_role_that_could_not_be_read_before(repository: Path) -> None:
    """What a corrected profile gains is not known without its earlier version, so a gate does not pass."""
    profile = repository / CODEGEN
    text = profile.read_text(encoding="utf-8")
    profile.write_text("_schema: orgkernel:role_profile\nrole_id: codegen_specialist\nx: [\n")
    commit(repository)
    profile.write_text(text, encoding="utf-8")
    done = run("diff", "git:HEAD", "org", "--fail-on", "widened", cwd=repository)
    assert done.returncode == 2
    assert done.stderr.startswith("error: OLD (git:HEAD): role `codegen_specialist` is out of service: ")


def test_a_superior_that_cannot_be_read(repository: Path) -> None:
    """It is not compared, and is not a removed role either. The others are compared."""
    superior = repository / "org/roles/engineering_xo.yaml"
    superior.write_text("_schema: orgkernel:role_profile\nrole_id: engineering_xo\nx: [\n")
    done = run("diff", "git:HEAD", "org", cwd=repository)
    assert done.returncode == 2
    assert "engineering_xo is removed" not in done.stdout
    assert "role `engineering_xo` is out of service: org/roles/engineering_xo.yaml:4:1: " in done.stderr
    assert (
        "organization `software_dev` has 1 error about single roles, without `engineering_xo`" in done.stderr
    )


def test_an_organization_that_cannot_be_read(repository: Path) -> None:
    """An organization's file with a syntax error, or with a key twice, is neither a removed organization nor no change."""
    copy_template(repository / "other", "sigint_alpha")
    commit(repository)
    path = repository / "org/org.yaml"
    text = path.read_text()
    for broken in ("\nx: [\n", "\ndescription: Another.\n"):
        path.write_text(text + broken)
        done = run("diff", "git:HEAD", ".", cwd=repository)
        assert done.returncode == 2
        assert done.stderr.startswith(
            "error: NEW (.): organization `software_dev` cannot be read, so it is not compared"
        )
        assert done.stdout.startswith("incomplete comparison: no change")


def test_a_side_without_documents(repository: Path) -> None:
    """Nothing to read on one side is no comparison."""
    (repository / "empty").mkdir()
    for sides in (("empty", "org"), ("org", "empty"), ("git:HEAD", "empty")):
        assert run("diff", *sides, cwd=repository).returncode == 2
    assert "OLD (empty) has no orgkernel documents" in run("diff", "empty", "org", cwd=repository).stderr


@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_code(repository: Path, form: str) -> None:
    """With `--exit-code` 0 says equal and 1 says different; without it both are 0."""
    asked = ("diff", "git:HEAD", "org", "--format", form)
    assert [run(*asked, *more, cwd=repository).returncode for more in ((), ("--exit-code",))] == [0, 0]
    gain_browser(repository)
    assert [run(*asked, *more, cwd=repository).returncode for more in ((), ("--exit-code",))] == [0, 1]
    assert run("diff", "git:nothing", "org", "--exit-code", cwd=repository).returncode == 2


@pytest.mark.parametrize(
    ("old", "new", "widened", "any"),
    [
        ("    - skills_tool\n", "    - skills_tool\n    - browser_agent\n", 1, 1),
        ("    - skills_tool\n", "", 0, 1),
        ("role_name: ", "role_name: New ", 0, 1),
        ("role_name", "role_name", 0, 0),
    ],
)
def test_what_fails_a_comparison(repository: Path, old: str, new: str, widened: int, any: int) -> None:
    """One gate fails if a subject gains access, and one fails for every difference; without a gate, differences are only
    shown.
    """
    path = repository / CODEGEN
    path.write_text(path.read_text().replace(old, new))
    asked = ("diff", "git:HEAD", "org")
    assert run(*asked, cwd=repository).returncode == 0
    assert run(*asked, "--fail-on", "widened", cwd=repository).returncode == widened
    assert run(*asked, "--fail-on", "any", cwd=repository).returncode == any


def test_moving_lines_is_no_change(repository: Path) -> None:
    """Comments, blank lines and another file for a role change nothing that holds."""
    path = repository / CODEGEN
    path.write_text(path.read_text().replace("\n\n", "\n# here\n\n\n"))
    path.rename(path.with_name("coder.yaml"))
    done = run("diff", "git:HEAD", "org", "--exit-code", cwd=repository)
    assert (done.returncode, done.stdout) == (0, "no change\n")


def test_annotations(repository: Path) -> None:
    """GitHub marks the line of the new tree: a warning for what is widened, a notice for who moved."""
    gain_browser(repository)
    move_osint(repository)
    done = run("diff", "git:HEAD", "org", "--format", "github", cwd=repository)
    lines = done.stdout.splitlines()
    assert "::warning file=org/roles/codegen_specialist.yaml,line=32,title=orgkernel diff%3A widened::codegen_specialist gains tool browser_agent" in lines  # fmt: skip
    moved = "title=orgkernel diff%3A moved::osint_specialist moves from research_xo to engineering_xo"
    assert f"::notice file=org/org.yaml,line=44,{moved}" in lines
    assert any(line.startswith("::warning file=org/org.yaml,line=44,") for line in lines)
    assert done.stderr.splitlines()[-1].startswith("14 changes in 1 organization by 6 edits: ")


def test_gitlab_shows_the_edited_line(repository: Path) -> None:
    """A merge request shows an entry at each edited line; the fingerprint stays when the line moves."""
    gain_browser(repository)
    (entry,) = json.loads(run("diff", "git:HEAD", "org", "--format", "gitlab", cwd=repository).stdout)
    assert entry["location"] == {"path": CODEGEN, "lines": {"begin": 32}}
    assert (entry["severity"], entry["check_name"]) == ("major", "orgkernel-diff-widened")
    assert entry["description"] == "codegen_specialist gains tool browser_agent"
    path = repository / CODEGEN
    path.write_text("# moved\n" + path.read_text())
    (moved,) = json.loads(run("diff", "git:HEAD", "org", "--format", "gitlab", cwd=repository).stdout)
    assert (moved["fingerprint"], moved["location"]["lines"]["begin"]) == (entry["fingerprint"], 33)


def test_json_is_a_summary_and_a_list(repository: Path) -> None:
    """Programs get every edit and every change with both sides, their lines, the causes of changes, and the counts."""
    gain_browser(repository)
    found = json.loads(run("diff", "git:HEAD", "org", "--format", "json", cwd=repository).stdout)
    assert found["summary"]["widened"] == len(found["changes"]) == 1
    (change,), (edit,) = found["changes"], found["edits"]
    assert (change["subject"], change["before"], change["after"]["id"]) == (
        "tool:browser_agent",
        None,
        "browser_agent",
    )
    assert change["causes"] == [0]
    assert (edit["section"], edit["id"], edit["field"]) == (
        "roles",
        "codegen_specialist",
        "capabilities.tools_secondary",
    )
    assert set(edit["after"]) - set(edit["before"]) == {"browser_agent"}
    assert [(each["file"], each["line"]) for each in edit["why_after"]] == [
        ("org/roles/codegen_specialist.yaml", 32)
    ]
    assert found["incomparable"] == found["cut"] == []


def test_a_hostile_text_drives_nothing(repository: Path) -> None:
    """What a document says reaches no terminal, no workflow command and no table as anything but text."""
    text = r'description: "\e[31m\n::error::x\r| a | <img src=x> @everyone ghp_a1B2c3D4e5F6a7B8c9D0a1B2c3D4e5F6a7B8"'
    path = repository / CODEGEN
    lines = path.read_text().split("\n")
    lines = [text if line.startswith("description: ") else line for line in lines]
    path.write_text("\n".join(lines).replace("    - skills_tool", "    - skills_tool\n    - browser_agent"))
    for form in ("text", "github", "markdown"):
        shown = run("diff", "git:HEAD", "org", "--format", form, cwd=repository).stdout
        assert "\x1b" not in shown
        assert "ghp_a1B2" not in shown
        assert not any(line.startswith("::error") for line in shown.splitlines())
        if form == "markdown":
            assert "<img" not in shown
            assert "@everyone" not in shown
        if form == "text":
            assert max(map(len, shown.splitlines())) <= 100
