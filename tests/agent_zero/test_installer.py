"""The installer: the real script on a tree of each generation, with nothing but what a stock image has."""

from __future__ import annotations

import ast
import contextlib
import errno
import hashlib
import io
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orgkernel import __version__
from orgkernel.exchange.agent_zero.installer import install, main, uninstall
from orgkernel.exchange.agent_zero.status import read_status
from orgkernel.runtime.bundle import read_bundle
from tests.support.hosts import GENERATIONS, make_host, picture
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

SCRIPT = REPOSITORY / "extension/install_org_kernel.sh"
ORGANIZATIONS = "usr/organizations"
LIBRARY = f"{ORGANIZATIONS}/lib/orgkernel_agent_zero"
SHIMS = {"G1": "python/extensions", "G2": "usr/extensions", "G3": "usr/plugins/orgkernel/extensions/python"}
DISPATCHER = "before_main_llm_call/_12_org_dispatcher.py"
STOCK = ("bash", "dirname", "python3")

SELECTOR = """\
class Selector:
    async def execute(self):
        if True:
            library = _load_library(self.agent)
            if not library:
                return
            self.seen = library


def _load_library(agent):
    return agent.library
"""


@pytest.fixture(params=GENERATIONS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A host of each generation."""
    return request.param, make_host(tmp_path, request.param)


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the only commands there are."""
    folder = tmp_path_factory.mktemp("bin")
    for name in STOCK:
        found = os.path.realpath(sys.executable) if name == "python3" else shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def run(
    *arguments: str | Path, path: Path | str | None = None, script: Path = SCRIPT
) -> subprocess.CompletedProcess[str]:
    """What the script does: itself where `path` says with which commands, otherwise the function to which it hands over."""
    command = ["/bin/bash", str(script), *map(str, arguments)]
    if path is None and script == SCRIPT:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(SCRIPT.parent), *command[2:]])
        return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
    return subprocess.run(
        command, env={"PATH": str(path or os.environ["PATH"])}, text=True,
        capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


def installed(root: Path, path: Path | str | None = None, script: Path = SCRIPT) -> str:
    """What an installation that succeeds says."""
    done = run(root, path=path, script=script)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_what_the_host_kept_of_the_plugin_is_removed_with_it(tmp_path: Path) -> None:
    """Whether a user switched it on or off: for all, in a profile, in a project. Other plugins keep theirs."""
    root = make_host(tmp_path, "G3")
    write_tree(
        root, {"usr/agents/mine/plugins/other/.toggle-0": "", "usr/projects/p/.a0proj/project.json": "{}"}
    )
    before = picture(root)
    extension = str(REPOSITORY / "extension")
    install(str(root), extension, lambda _: None)
    places = ("usr", "usr/agents/mine", "usr/projects/p/.a0proj", "usr/projects/p/.a0proj/agents/mine")
    write_tree(
        root, {f"{place}/plugins/orgkernel/.toggle-{number}": "" for number, place in enumerate(places[:2])}
    )
    write_tree(root, {f"{place}/plugins/orgkernel/.toggle-0": "" for place in places[2:]})
    uninstall(str(root), lambda _: None, dry_run=True)
    assert (root / "usr/plugins/orgkernel/.toggle-0").exists()
    uninstall(str(root), lambda _: None)
    (root / "usr/projects/p/.a0proj/agents/mine").rmdir()
    (root / "usr/projects/p/.a0proj/agents").rmdir()
    assert picture(root) == before
    assert not (root / "usr/plugins/orgkernel").exists()


def test_install_again_and_uninstall_leave_no_trace(host: tuple[str, Path], stock: Path) -> None:
    """Installed twice nothing changes the second time; taken out, every file and folder is as it was."""
    generation, root = host
    before = picture(root)
    said = installed(root, stock)
    after = picture(root)
    assert f"{SHIMS[generation]}/{DISPATCHER}" in after
    assert {name: after[name] for name in before} == before
    assert not (root / ORGANIZATIONS / "active.json").exists()
    assert f"orgkernel host activate software_dev --agent-zero '{root}'" in said
    assert "wrote" not in installed(root, stock)
    assert picture(root) == after
    done = run("--uninstall", root, path=stock)
    assert (done.returncode, done.stderr) == (0, "")
    assert picture(root) == before
    assert "nothing is installed" in run("--uninstall", root, path=stock).stdout


def test_a_dry_run_changes_nothing_and_says_what_it_would_do(host: tuple[str, Path], stock: Path) -> None:
    """Of installing and of uninstalling; the files it names are those that are then written."""
    _, root = host
    before = picture(root)
    would = run("--dry-run", root, path=stock).stdout
    assert picture(root) == before
    wrote = installed(root, stock)
    named = [
        line.removeprefix("would write ") for line in would.splitlines() if line.startswith("would write ")
    ]
    assert named == [line.removeprefix("wrote ") for line in wrote.splitlines() if line.startswith("wrote ")]
    after = picture(root)
    assert "would write" not in run("--dry-run", root, path=stock).stdout
    assert f"would remove {LIBRARY}/hooks.py" in run("--dry-run", "--uninstall", root, path=stock).stdout
    assert picture(root) == after


def test_what_is_installed_runs_without_orgkernel(host: tuple[str, Path]) -> None:
    """The host's own Python finds the adapter and its runtime below its root, and nothing of any orgkernel elsewhere."""
    _, root = host
    installed(root)
    program = (
        "import sys; sys.path.insert(0, '.')\n"
        "from usr.organizations.lib.orgkernel_agent_zero import hooks\n"
        "from usr.organizations.lib.orgkernel_agent_zero.runtime import bundle\n"
        "assert hooks.before_main_llm_call\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('orgkernel', 'msgspec', 'yaml')]\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], cwd=root, text=True, capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_templates_come_compiled(host: tuple[str, Path]) -> None:
    """Copying one to `active.json` is enough to switch it on; no role file is written."""
    _, root = host
    installed(root)
    for org in ("software_dev", "sigint_alpha"):
        document = json.loads((root / ORGANIZATIONS / f"{org}.json").read_text(encoding="utf-8"))
        bundle = read_bundle(
            json.loads((root / ORGANIZATIONS / "bundles" / f"{org}.json").read_text(encoding="utf-8"))
        )
        assert document == bundle.document
        shutil.copy(root / ORGANIZATIONS / f"{org}.json", root / ORGANIZATIONS / "active.json")
        status = read_status(str(root))
        assert (status.on, status.why, status.organization) == (True, "an organization is active", org)
    assert (status.installed, status.missing) == (__version__, ())
    assert len(status.shims) == len(list((REPOSITORY / "extension/shims").glob("*/*.py")))
    assert not (root / ORGANIZATIONS / "roles").exists()


def test_an_upgrade_replaces_code_and_keeps_what_the_user_changed(tmp_path: Path) -> None:
    """Code is replaced, what this version no longer has goes, an organization that was edited stays."""
    root = make_host(tmp_path, "G2")
    old = copy_of_the_sources(tmp_path)
    (old / "extension/host/gone.py").write_text("")
    dispatcher = old / "extension/shims" / DISPATCHER
    dispatcher.write_text(dispatcher.read_text() + "# old\n")
    installed(root, script=old / "extension/install_org_kernel.sh")
    assert (root / LIBRARY / "gone.py").exists()
    write_tree(root, {f"{ORGANIZATIONS}/software_dev.json": "mine"})
    said = installed(root)
    assert f"note: {ORGANIZATIONS}/software_dev.json was changed after installation and is kept" in said
    assert not (root / LIBRARY / "gone.py").exists()
    assert "# old" not in (root / SHIMS["G2"] / DISPATCHER).read_text()
    done = run("--uninstall", root)
    assert (
        f"note: {ORGANIZATIONS}/software_dev.json was changed after installation and is kept" in done.stdout
    )
    left = [path for path in (root / "usr").rglob("*") if path.is_file() and path.name != ".gitkeep"]
    assert left == [root / ORGANIZATIONS / "software_dev.json"]


def test_an_upgrade_under_an_active_organization_does_not_call_it_off(tmp_path: Path) -> None:
    """What is said at the end is so: the switch was not touched."""
    root = make_host(tmp_path, "G2")
    assert "Installed. No organization is active." in installed(root)
    shutil.copyfile(root / ORGANIZATIONS / "software_dev.json", root / ORGANIZATIONS / "active.json")
    said = installed(root)
    assert "The organization in active.json stays active" in said
    assert "off" not in said


def test_a_foreign_shim_is_not_replaced(host: tuple[str, Path]) -> None:
    """An earlier dispatcher of the same name is an error before anything is written."""
    generation, root = host
    write_tree(root, {f"{SHIMS[generation]}/{DISPATCHER}": "theirs"})
    before = picture(root)
    done = run(root)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: other files are in the way: {SHIMS[generation]}/{DISPATCHER}\n")
    assert picture(root) == before


def test_the_plan_filter_is_one_marked_line_with_a_backup(host: tuple[str, Path], stock: Path) -> None:
    """A selector that does not filter gets a line, once; it filters then; taken out, the file is what it was."""
    generation, root = host
    name = (
        f"{SHIMS[generation].replace('plugins/orgkernel/', '')}/before_main_llm_call/_15_htn_plan_selector.py"
    )
    write_tree(root, {name: SELECTOR})
    before = picture(root)
    assert f"would add one marked line to {name}" in run("--dry-run", root, path=stock).stdout
    assert picture(root) == before
    installed(root, stock)
    text = (root / name).read_text()
    added = set(text.splitlines()) - set(SELECTOR.splitlines())
    assert len(added) == 1
    assert added.pop().endswith("# orgkernel: only plans of the active role")
    assert (root / f"{name}.before-orgkernel").read_text() == SELECTOR
    assert [plans_seen(text, allowed) for allowed in (None, [], ["b"])] == [["a", "b"], [], ["b"]]
    installed(root, stock)
    assert (root / name).read_text() == text
    run("--uninstall", root, path=stock)
    assert picture(root) == before


def plans_seen(selector: str, allowed: list[str] | None) -> list[str]:
    """The plans the selector has before it while some are allowed."""

    class Agent:
        def __init__(self) -> None:
            self.library = {"plans": {"a": 1, "b": 2}, "version": 1}

        def get_data(self, key: str) -> list[str] | None:
            assert key == "_org_htn_allowed_plans"
            return allowed

    ast.parse(selector)
    space: dict[str, type] = {}
    exec(selector, space)
    one = space["Selector"]()
    one.agent = Agent()
    with pytest.raises(StopIteration):
        one.execute().send(None)
    return list(one.seen["plans"])


@pytest.mark.parametrize(
    "text", ["agent.get_data('_org_htn_allowed_plans')\n", "library = something_else()\n"]
)
def test_other_selectors_stay_as_they_are(tmp_path: Path, text: str) -> None:
    """One that filters already, and one whose form is not known."""
    root = make_host(tmp_path, "G1")
    name = "python/extensions/before_main_llm_call/_15_htn_plan_selector.py"
    write_tree(root, {name: text})
    said = installed(root)
    assert (root / name).read_text() == text
    assert ("its form is unknown; it was not changed" in said) == ("something_else" in text)
    assert not (root / f"{name}.before-orgkernel").exists()


def test_compiled_files_of_ours_are_cleared(tmp_path: Path) -> None:
    """A stale compiled file could run instead of the new one; those of others stay."""
    root = make_host(tmp_path, "G1")
    folder = "python/extensions/before_main_llm_call/__pycache__"
    ours, theirs = (
        f"{folder}/_12_org_dispatcher.cpython-311.pyc",
        f"{folder}/_10_log_for_stream.cpython-311.pyc",
    )
    write_tree(root, {ours: "", theirs: ""})
    installed(root)
    assert not (root / ours).exists()
    write_tree(root, {ours: "", f"{LIBRARY}/__pycache__/hooks.cpython-311.pyc": ""})
    run("--uninstall", root)
    assert not (root / ours).exists()
    assert (root / theirs).exists()
    assert not (root / "usr").exists()


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="the administrator may write anywhere"
)
def test_a_target_that_cannot_be_written_to_is_a_clear_error(host: tuple[str, Path]) -> None:
    """One line, exit 1, and nothing is changed."""
    _, root = host
    before = picture(root)
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    for folder in root.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o555)
    drop = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, "/bin/bash", SCRIPT, root], text=True, capture_output=True, check=False, timeout=PATIENCE
    )
    for folder in folders:
        folder.chmod(0o755)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "cannot be created" in done.stderr or "cannot be written to" in done.stderr
    assert picture(root) == before


@pytest.mark.parametrize("step", ["replace", "fsync", "mkdir"])
@pytest.mark.parametrize("fails_at", [1, 2, 14, 29, 44])
def test_what_stops_in_the_middle_can_be_finished_or_taken_out(
    fails_at: int, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk leaves nothing that the next call does not know."""
    root = make_host(tmp_path, "G3")
    before = picture(root)
    real, calls = getattr(os, step), itertools.count(1)

    def failing(*arguments: Any, **named: Any) -> Any:
        if next(calls) == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, step, failing)
        done = run_here("host", "install", "--agent-zero", root, cwd=tmp_path)
    if step == "mkdir" and fails_at > 25:
        assert done.returncode == 0  # so many folders are not made
    else:
        assert (done.returncode, "No space left on device" in done.stderr) == (2, True), done.stderr
    if fails_at % 2:
        installed(root)
    assert run("--uninstall", root).returncode == 0
    left = {name: what for name, what in picture(root).items() if what != "folder"}
    assert left == {name: what for name, what in before.items() if what != "folder"}


def test_installers_wait_for_each_other(tmp_path: Path) -> None:
    """Four at once leave what one leaves."""
    root, other = make_host(tmp_path / "a", "G3"), make_host(tmp_path / "b", "G3")
    processes = [subprocess.Popen([SCRIPT, root], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted("wrote" in each for each in said) == [False] * 3 + [True]
    installed(other)
    assert picture(root) == picture(other)


def hostile_journal(*paths: str) -> str:
    """An installation's journal that lists files that were never installed, with the digest of `theirs`."""
    digest = f"sha256:{hashlib.sha256(b'theirs').hexdigest()}"
    files = {path: [digest] for path in paths}
    folders = ["..", "usr/agents", "usr/organizations/../../.."]
    return json.dumps(
        {"_schema": "orgkernel:installation", "version": "1", "files": files, "folders": folders}
    )


@pytest.mark.parametrize("options", [[], ["--uninstall"]])
def test_a_foreign_journal_replaces_no_files(options: list[str], tmp_path: Path) -> None:
    """What the agent of the host writes there must not have files replaced or removed."""
    root = make_host(tmp_path, "G2")
    outside = tmp_path / "outside"
    listed = [
        "../outside",
        str(outside),
        "agent.py",
        "usr/x.py",
        "usr/organizations/active.json",
        "usr/organizations/lib/orgkernel_agent_zero/../../../../../outside",
        "usr/extensions/before_main_llm_call/_12_mine.py",
        "usr/plugins/orgkernel\\..\\..\\x.py",
    ]
    theirs = [name for name in listed if ".." not in name and not name.startswith("/") and "\\" not in name]
    write_tree(tmp_path, {"outside": "theirs"})
    write_tree(root, dict.fromkeys(theirs, "theirs"))
    write_tree(root, {f"{LIBRARY}/installed.json": hostile_journal(*listed)})
    assert run(*options, root).returncode == 0
    assert outside.read_text() == "theirs"
    assert [(root / name).read_text() for name in theirs] == ["theirs"] * len(theirs)


@pytest.mark.parametrize("options", [[], ["--uninstall"], ["--dry-run"]])
@pytest.mark.parametrize(
    "link",
    [
        LIBRARY,
        "usr/organizations",
        "usr/extensions",
        f"{LIBRARY}/hooks.py",
        f"{LIBRARY}/installed.json",
        f"{ORGANIZATIONS}/software_dev.json",
        f"usr/extensions/{DISPATCHER}",
        "usr/extensions/before_main_llm_call/_15_htn_plan_selector.py",
        "usr/extensions/before_main_llm_call/__pycache__",
    ],
)
def test_nothing_is_written_or_removed_through_a_link(link: str, options: list[str], tmp_path: Path) -> None:
    """Whether a link stands for a file, a folder or the journal: what it leads to stays as it is."""
    root = make_host(tmp_path, "G2")
    elsewhere = tmp_path / "elsewhere"
    kept = {
        "hooks.py": "theirs",
        "before_main_llm_call/_12_org_dispatcher.py": "theirs",
        "lib/orgkernel_agent_zero/hooks.py": "theirs",
        "lib/orgkernel_agent_zero/installed.json": hostile_journal(f"{LIBRARY}/hooks.py"),
        "_12_org_dispatcher.cpython-311.pyc": "theirs",
    }
    write_tree(elsewhere, kept)
    write_tree(elsewhere, {"text": SELECTOR})
    before = picture(elsewhere)
    target = elsewhere / "text" if link.endswith((".py", ".json")) else elsewhere
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target)
    done = run(*options, root)
    assert done.returncode in (0, 1)
    assert (done.returncode == 1) == bool(done.stderr)
    assert picture(elsewhere) == before


@pytest.mark.parametrize("options", [[], ["--uninstall"]])
@pytest.mark.parametrize(
    "pipe",
    [
        "python/helpers/extension.py",
        f"{LIBRARY}/installed.json",
        f"{ORGANIZATIONS}/software_dev.json",
        f"{LIBRARY}/hooks.py",
        "usr/extensions/before_main_llm_call/_15_htn_plan_selector.py",
    ],
)
def test_a_pipe_in_the_target_does_not_hold_the_installer(
    pipe: str, options: list[str], tmp_path: Path
) -> None:
    """No process writes to the pipe, so opening it would block."""
    root = make_host(tmp_path, "G2")
    (root / pipe).parent.mkdir(parents=True, exist_ok=True)
    (root / pipe).unlink(missing_ok=True)
    os.mkfifo(root / pipe)
    assert run(*options, root).returncode in (0, 1)


def test_the_name_of_the_root_is_quoted_for_a_shell(tmp_path: Path) -> None:
    """What is to be pasted runs nothing but what it says."""
    root = make_host(tmp_path / "it's $(touch x); `y`", "G2")
    line = next(line for line in installed(root).splitlines() if "host activate" in line)
    assert shlex.split(line)[-1] == str(root)


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        ([], 2, "ROOT is missing"),
        (["--now", "x"], 2, "unknown option: --now"),
        (["a", "b"], 2, "more than one ROOT given: a and b"),
        (["/nowhere"], 1, "`/nowhere` cannot be opened as a folder: No such file or directory"),
        (
            ["/"],
            1,
            "`/` is not an Agent-Zero folder: helpers/extension.py and python/helpers/extension.py are missing",
        ),
    ],
)
def test_wrong_arguments_are_explained(arguments: list[str], code: int, error: str) -> None:
    """With an exit code of their own."""
    done = run(*arguments, path=os.environ["PATH"])
    assert done.returncode == code
    assert f"error: {error}\n" in done.stderr


def copy_of_the_sources(folder: Path) -> Path:
    """What the script needs of a checkout."""
    sources = folder / "older checkout"
    for name in ("extension", "orgkernel"):
        shutil.copytree(REPOSITORY / name, sources / name)
    return sources


def test_the_command_runs_the_script(host: tuple[str, Path], tmp_path: Path) -> None:
    """For those who have the package and no checkout."""
    _, root = host
    before = picture(root)
    tried = run_here("host", "install", "--dry-run", "--agent-zero", root, cwd=tmp_path)
    assert (tried.returncode, tried.stdout) == (0, run("--dry-run", root).stdout)
    assert picture(root) == before
    done = run_here("host", "install", "--agent-zero", root, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run_here("host", "status", "--agent-zero", root, cwd=tmp_path).stdout.startswith("activation:     off: no organization is active\n")  # fmt: skip
    assert run_here("host", "uninstall", "--agent-zero", root, cwd=tmp_path).returncode == 0
    assert picture(root) == before


def test_the_script_has_no_findings_of_shellcheck() -> None:
    """Quoting, portability, dead code."""
    done = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), SCRIPT], text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout
