"""The action, the pre-commit hook and our own workflow, held by the tools that read such files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.markers import Marker
from packaging.utils import canonicalize_name

from orgkernel.cli import cli
from orgkernel.cli.author.check import FORMATS
from tests.architecture.test_default_install import DEFAULT, EXTRAS, PROJECT, find_all
from tests.cli.running import ORGKERNEL, SHOP
from tests.cli.test_check import ERROR, WARNING
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree
from tests.support.yaml_text import read_yaml_file
from tools.pin import pin_actions, pin_images
from tools.sbom import build_bill

BIN = Path(sys.executable).parent
ACTION = read_yaml_file(REPOSITORY / "action.yml")
WORKFLOW = REPOSITORY / ".github/workflows/ci.yml"
RELEASE = REPOSITORY / ".github/workflows/release.yml"
NIGHTLY = REPOSITORY / ".github/workflows/nightly.yml"
HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"


@pytest.mark.parametrize(
    "command",
    [
        ("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"),
        (
            *("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
            *(f".github/workflows/{name}.yml" for name in ("ci", "nightly", "release")),
        ),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"),
        ("prek", "validate-manifest", ".pre-commit-hooks.yaml"),
        ("zizmor", "--offline", "--no-progress", "--persona=pedantic", "."),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_the_tools_that_read_it_have_nothing_to_say(command: tuple[str, ...], tmp_path: Path) -> None:
    """Schemas of actions and workflows, the manifest of hooks, and an audit of what could be injected."""
    done = subprocess.run(
        [BIN / command[0], *command[1:]],
        cwd=REPOSITORY,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PREK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def steps() -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in ACTION["runs"]["steps"]}


def test_inputs_reach_the_shell_only_through_its_environment() -> None:
    """An expression inside a script would let a branch name run commands."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        assert all(re.fullmatch(r"\$\{\{ inputs\.[a-z-]+ \}\}|1", value) for value in step["env"].values())
    used = set(re.findall(r"inputs\.([a-z-]+)", (REPOSITORY / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


def test_no_host_is_named() -> None:
    """What is installed comes with the action."""
    for path in (REPOSITORY / "action.yml", HOOKS, WORKFLOW, NIGHTLY, RELEASE):
        assert "://" not in path.read_text(encoding="utf-8")


def test_our_workflow_may_read_and_nothing_else_and_runs_what_we_run() -> None:
    """The workflow has the least permissions, every supported Python, and the same command as every user."""
    workflow = read_yaml_file(WORKFLOW)
    assert workflow["permissions"] == {}
    assert all(job["permissions"] == {"contents": "read"} for job in workflow["jobs"].values())
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())
    test = workflow["jobs"]["test"]
    assert test["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert test["steps"][-1] == {"run": ".ci/run"}


def test_actions_are_named_by_a_commit_that_cannot_be_moved() -> None:
    """With the release it belongs to, which `make pin` renews."""
    for path in (WORKFLOW, NIGHTLY, RELEASE):
        uses = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
        assert uses
        for each in uses:
            assert re.fullmatch(r"\./ # .*|actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


def test_a_release_is_built_without_rights_and_attached_with_one() -> None:
    """What is built runs code of others, so it may read only; the job that may write runs none."""
    workflow = read_yaml_file(RELEASE)
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["build"]["permissions"] == {"contents": "read"}
    assert workflow["jobs"]["attach"]["permissions"] == {"contents": "write"}
    assert {"run": "make dist sbom"} in workflow["jobs"]["build"]["steps"]
    assert not any("checkout" in step.get("uses", "") for step in workflow["jobs"]["attach"]["steps"])


def test_pins_are_renewed_within_their_major_version() -> None:
    """A signed tag is followed to its commit; an image keeps its tag."""
    old, tag, new = "0" * 40, "1" * 40, "2" * 40
    tags = f"{tag}\trefs/tags/v6.1.0\n{new}\trefs/tags/v6.1.0^{{}}\n{old}\trefs/tags/v6.0.9\n{old}\trefs/tags/v7.0.0\n"
    pinned = pin_actions(f"- uses: a/b@{old} # v6.0.0\n", lambda _: tags)
    assert pinned == f"- uses: a/b@{new} # v6.1.0\n"
    digest = "sha256:" + "a" * 64
    assert pin_images("FROM python:3 AS x\n", lambda _: digest) == f"FROM python:3@{digest} AS x\n"
    assert pin_images(f"image: b:1@sha256:{'0' * 64}\n", lambda _: digest) == f"image: b:1@{digest}\n"


@pytest.mark.nightly
def test_the_bill_of_materials_lists_what_is_locked() -> None:
    """Nothing more, nothing less, each with its hashes, in a form that CycloneDX allows."""
    lock = REPOSITORY / "requirements/serve.lock"
    bill = build_bill(lock)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    locked = re.findall(r"(?m)^([a-z0-9._-]+)(?:\[.*?\])?==(\S+)", lock.read_text(encoding="utf-8"))
    (*parts,) = (part for part in bill["components"] if part["purl"].startswith("pkg:pypi/"))
    assert sorted((part["name"], part["version"]) for part in parts) == sorted(locked)
    for part in bill["components"]:
        assert all(each["hashes"] for each in part["externalReferences"])
    (root, *others) = bill["dependencies"]
    assert f"pkg:pypi/sqlalchemy@{dict(locked)['sqlalchemy']}" in root["dependsOn"]
    assert len(others) == len(bill["components"])


@pytest.mark.nightly
def test_the_bill_of_materials_lists_what_is_built_into_the_page() -> None:
    """The wheel has the code of these packages of npm. The bill has the version and the hash of each from the lock file."""
    bill = build_bill(REPOSITORY / "requirements/run.lock")
    page = {part["name"]: part for part in bill["components"] if part["purl"].startswith("pkg:npm/")}
    locked = json.loads((REPOSITORY / "requirements/page/package-lock.json").read_text("utf-8"))["packages"]
    assert set(page) == {"preact", "d3-hierarchy"}
    for name, part in page.items():
        assert part["version"] == locked[f"node_modules/{name}"]["version"]
        (reference,) = part["externalReferences"]
        assert len(reference["hashes"][0]["content"]) == 128
        assert part["purl"] in bill["dependencies"][0]["dependsOn"]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("run", ()), ("serve", ("postgres", "oidc", "signing", "uvloop"))],
    ids=["run", "serve"],
)
def test_the_bill_of_materials_is_what_is_installed(
    tmp_path: Path, lock: str, extras: tuple[str, ...]
) -> None:
    """`make sbom` names each package that the metadata of this environment says orgkernel needs, in its version; and of what it
    names for this machine, everything is installed.
    """
    target = tmp_path / "bill.json"
    command = [sys.executable, "-m", "tools.sbom", f"requirements/{lock}.lock", str(target)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=PATIENCE)
    components = json.loads(target.read_text(encoding="utf-8"))["components"]
    named = {
        (canonicalize_name(part["name"]), part["version"])
        for part in components
        if part["purl"].startswith("pkg:pypi/") and is_for_this_machine(part)
    }
    needed = find_all([*DEFAULT, *(each for extra in extras for each in EXTRAS[extra])])
    installed = {(name, package.version) for name, package in needed.items()}
    assert installed <= named
    # The lock also has what the package is built with.
    build = find_all(PROJECT["dependency-groups"]["build"])
    assert named - installed <= {(name, package.version) for name, package in build.items()}


@pytest.mark.parametrize("left", ["templates/shop/.orgkernel/state.db.audit/key", "orgkernel/notes.txt"])
def test_a_release_is_not_built_with_a_file_that_git_does_not_know(tmp_path: Path, left: str) -> None:
    """The first line of `make dist` ends it, whether the file is ignored or not; compiled modules are no matter."""
    recipe = (REPOSITORY / "Makefile").read_text(encoding="utf-8").partition("\ndist:")[2].splitlines()[1]
    folders = ("orgkernel", "manifest_api", "ontology", "templates", "extension")
    write_tree(
        tmp_path,
        {f"{folder}/known.txt": "" for folder in folders} | {".gitignore": ".orgkernel/\n__pycache__/\n"},
    )
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=PATIENCE)
    (tmp_path / "orgkernel/__pycache__").mkdir()
    (tmp_path / "orgkernel/__pycache__/known.pyc").touch()

    def run_guard() -> int:
        script = recipe.strip().replace("$$", "$")
        return subprocess.run(["sh", "-c", script], cwd=tmp_path, check=False, timeout=PATIENCE).returncode

    assert run_guard() == 0
    write_tree(tmp_path, {left: "secret"})
    assert run_guard() != 0


def is_for_this_machine(part: dict[str, Any]) -> bool:
    """Whether the condition of a component is true here."""
    conditions = [each["value"] for each in part.get("properties", ()) if each["name"] == "orgkernel:marker"]
    return all(Marker(each).evaluate() for each in conditions)


def test_every_night_a_hundred_thousand_cases_are_decided() -> None:
    """The workflow uses the same target as every user, with read permissions only."""
    workflow = read_yaml_file(NIGHTLY)
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read"}
    assert job["timeout-minutes"]
    assert job["steps"][-1] == {"run": ".ci/nightly"}
    assert "make nightly " in (REPOSITORY / ".ci/nightly").read_text(encoding="utf-8")
    target = (
        (REPOSITORY / "Makefile").read_text(encoding="utf-8").partition("\nnightly:")[2].partition("\n\n")[0]
    )
    assert "ORGKERNEL_DEPTH=$(DEPTH)" in target
    assert "$(MAKE) differential" in target
    assert "CASES ?= 100000\n" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def test_hooks_read_the_whole_tree_with_commands_that_exist() -> None:
    """A role can break the organization around it, so no file names are passed, and deleting a file runs the hook too."""
    hooks = {hook["id"]: hook for hook in read_yaml_file(HOOKS)}
    assert list(hooks) == ["orgkernel-check", "orgkernel-test", "orgkernel-diff"]
    for hook in hooks.values():
        assert (hook["pass_filenames"], hook["always_run"]) == (False, True)
        assert not {"files", "types", "types_or", "exclude"} & set(hook)
        program, command, *_ = hook["entry"].split()
        assert program == "orgkernel"
        assert command in cli.list_commands(None)


def run_step(name: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script as the runner does, with orgkernel where the first step would have put it."""
    bin = folder.parent / "temp/orgkernel/bin"
    if not bin.exists():
        bin.mkdir(parents=True)
        (bin / "orgkernel").symlink_to(ORGKERNEL)
    script = folder.parent / "step.sh"
    script.write_text(steps()[name]["run"], encoding="utf-8")
    defaults = {
        variable: ACTION["inputs"][value.removeprefix("${{ inputs.").removesuffix(" }}")]["default"]
        for variable, value in steps()[name]["env"].items()
        if value.startswith("${{")
    }
    runner = {
        "CI": "true",
        "GITHUB_ACTION_PATH": str(REPOSITORY),
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(folder.parent / "output"),
        "GITHUB_REPOSITORY": "owner/upstream",
        "GITHUB_SERVER_URL": f"file://{folder.parent}",
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
        "GITHUB_WORKSPACE": str(folder),
        "HOME": str(folder.parent),
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(folder.parent / "temp"),
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        cwd=folder,
        env=runner | defaults | env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_check_step_annotates_and_fails(tmp_path: Path) -> None:
    """With nothing but defaults, in the folder that was checked out."""
    shop = write_tree(tmp_path / "shop", SHOP | ERROR)
    done = run_step("Check", shop)
    assert (done.returncode, done.stdout.count("::error ")) == (1, 1), done.stderr
    assert "ORG301" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_check_step_takes_its_inputs(tmp_path: Path) -> None:
    """Several paths, one with a space, a threshold, a folder to stand in and a baseline."""
    write_tree(tmp_path / "work/agents/one org", SHOP | WARNING)
    other = {"org.yaml": SHOP["org.yaml"].replace("org_id: shop", "org_id: two")}
    write_tree(tmp_path / "work/agents/two", SHOP | other | ERROR)
    write_tree(tmp_path / "work/agents/unasked", SHOP | ERROR)
    work = tmp_path / "work"
    inputs = {"CHECK_FOLDER": "agents", "CHECK_PATHS": "one org\n\ntwo\n", "CHECK_FAIL_ON": "warning"}
    done = run_step("Check", work, **inputs)
    assert (done.returncode, done.stdout.count("::error ")) == (1, 1), done.stderr
    assert done.stdout.count("::warning ") == 1
    baseline = [ORGKERNEL, "check", "one org", "two", "--write-baseline", "baseline.json"]
    subprocess.run(baseline, cwd=work / "agents", check=True, capture_output=True)
    done = run_step("Check", work, **inputs, CHECK_BASELINE="baseline.json")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


COULD_NOT_RUN = "::error title=orgkernel check::the check could not run; the log of this step says why\n"


def test_a_check_that_cannot_run_is_annotated(tmp_path: Path) -> None:
    """The annotation points to the log, which has the error."""
    done = run_step("Check", write_tree(tmp_path / "empty", {"README.md": "nothing\n"}))
    assert (done.returncode, done.stdout) == (2, COULD_NOT_RUN)
    assert done.stderr.startswith("error: nothing to check")


CASES = {
    "cases.yaml": """\
_schema: orgkernel:decision_cases
cases:
  - {name: code, org: shop, dispatch: [{ask: {domain: codegen}, outcome: role, role_id: dev}]}
"""
}


def test_the_test_step_annotates_failed_cases(tmp_path: Path) -> None:
    """Cases that pass print nothing; a failure is annotated at its line and listed in the summary."""
    shop = write_tree(tmp_path / "work/shop", SHOP | CASES)
    inputs = {"TEST_FOLDER": "shop", "TEST_CASES": "\ncases.yaml\n"}
    done = run_step("Test", shop.parent, **inputs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 passed, 0 failed\n")
    write_tree(shop, {"cases.yaml": CASES["cases.yaml"].replace("role_id: dev", "role_id: opps")})
    done = run_step("Test", shop.parent, **inputs)
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=ORG708 undeclared-case-name,file=")
    assert "did you mean `ops`?" in done.stdout
    assert "### orgkernel test" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    done = run_step("Test", shop.parent, TEST_FOLDER="shop", TEST_CASES="gone.yaml")
    assert done.returncode == 2
    assert done.stdout == (
        "::error title=orgkernel test::not all cases could be run; the log of this step says why\n"
    )
    assert done.stderr.startswith("error: `gone.yaml` does not exist\n")


def test_cases_are_run_if_they_are_named() -> None:
    """Without the input there is nothing to run; after a failed check there still is."""
    assert steps()["Test"]["if"] == "${{ !cancelled() && inputs.cases != '' }}"
    assert ACTION["inputs"]["cases"]["default"] == ""


@pytest.mark.parametrize("hostile", ["$(touch pwned)`touch pwned`'\"; touch pwned #", "--help", "*"])
@pytest.mark.parametrize("variable", ["CHECK_PATHS", "CHECK_FAIL_ON", "CHECK_BASELINE", "CHECK_FOLDER"])
def test_an_input_is_a_word_whatever_it_holds(tmp_path: Path, variable: str, hostile: str) -> None:
    """Nothing runs, nothing is taken for an option, and the check does not pass."""
    shop = write_tree(tmp_path / "shop", SHOP)
    done = run_step("Check", shop, **{variable: hostile})
    assert done.returncode in {1, 2}, done.stdout
    assert done.stdout in ("", COULD_NOT_RUN)
    assert not list(tmp_path.rglob("pwned"))


def test_the_comparison_needs_its_input() -> None:
    """Without a base there is nothing to compare; after a failed check there still is."""
    assert steps()["Compare"]["if"] == "${{ !cancelled() && inputs.diff-base != '' }}"
    assert ACTION["inputs"]["diff-base"]["default"] == ""


class Remote:
    """A repository with a base that has been left behind, and a shallow clone with a change that widens a role."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.origin = write_tree(folder / "origin", SHOP)
        self.git("init", "-q")
        self.commit("one")
        self.git("branch", "base")
        self.git("commit", "-qm", "two", "--allow-empty")
        self.base = self.git("rev-parse", "base")
        self.git("clone", "-q", "--depth=1", f"file://{self.origin}", "../work")
        ops = SHOP["roles/ops.yaml"].replace("execution_tool]", "execution_tool, browser_agent]")
        self.work = write_tree(folder / "work", {"roles/ops.yaml": ops})

    def git(self, *arguments: str) -> str:
        own = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
        done = subprocess.run(
            ["git", *own, *arguments], cwd=self.origin, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", ".")
        self.git("commit", "-qm", message)

    def compare(self, base: str, fail_on: str = "", path: str = ".") -> subprocess.CompletedProcess[str]:
        return run_step("Compare", self.work, DIFF_BASE=base, DIFF_PATH=path, DIFF_FAIL_ON=fail_on)

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote(tmp_path)


def test_the_comparison_fetches_a_base_that_is_missing_and_appends_to_the_summary(remote: Remote) -> None:
    """A shallow clone lacks the base; the step fetches a commit or a branch, annotates, and passes without a gate."""
    for base, path in ((remote.base, ""), ("base", ".")):
        done = remote.compare(base, path=path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("::warning ")
        assert done.stdout.count("\n") == 1
        assert "browser_agent" in done.stdout
    assert remote.summary.count("browser_agent") >= 2


@pytest.mark.parametrize("gate", ["widened", "any"])
def test_a_comparison_that_fails_prints_and_annotates_what_failed(remote: Remote, gate: str) -> None:
    """The log lists the effects, between marks that keep the runner from obeying them, and the summary has them too."""
    done = remote.compare(remote.base, gate)
    assert done.returncode == 1
    annotation, stop, *text, go, error = done.stdout.splitlines()
    assert annotation.startswith("::warning ")
    assert "browser_agent" in annotation
    assert stop == f"::stop-commands::{go.strip(':')}"
    assert any(line.lstrip().startswith("+ ") and "browser_agent" in line for line in text)
    assert error == f"::error title=orgkernel diff::this change does not pass the gate diff-fail-on: {gate}"
    assert "browser_agent" in remote.summary


def test_a_narrowed_role_fails_the_gate_any_and_is_printed(remote: Remote) -> None:
    """A change that no annotation tells is in the log."""
    ops = SHOP["roles/ops.yaml"].replace("tools_primary: [code_execution_tool]", "tools_primary: []")
    write_tree(remote.work, {"roles/ops.yaml": ops})
    assert remote.compare(remote.base, "widened").returncode == 0
    done = remote.compare(remote.base, "any")
    assert done.returncode == 1
    assert any(
        line.lstrip().startswith("- ") and "code_execution_tool" in line for line in done.stdout.splitlines()
    )


def test_a_comparison_without_a_change_passes_every_gate(remote: Remote) -> None:
    """Nothing is annotated."""
    write_tree(remote.work, {"roles/ops.yaml": SHOP["roles/ops.yaml"]})
    done = remote.compare(remote.base, "any")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_base_of_a_fork_is_fetched_from_the_repository_of_the_workflow(remote: Remote) -> None:
    """The remote `origin` of a fork lacks the base; the repository that the workflow runs for has it."""
    (remote.folder / "owner").mkdir()
    remote.git("clone", "-q", "--bare", ".", "../owner/upstream")
    remote.git("branch", "-D", "base")
    remote.git("checkout", "-q", "--orphan", "fork")
    remote.git("commit", "-qm", "fork", "--allow-empty")
    remote.git("branch", "-D", "main")
    remote.git("reflog", "expire", "--expire=now", "--all")
    remote.git("gc", "-q", "--prune=now")
    done = remote.compare(remote.base, "widened")
    assert done.returncode == 1, done.stderr
    assert "browser_agent" in done.stdout


def test_a_deleted_base_is_an_error_that_names_the_cause(remote: Remote) -> None:
    """A comparison that cannot be made is not a comparison without changes, with a gate or without one."""
    for base in ("gone", "0" * 40):
        for gate in ("", "widened"):
            done = remote.compare(base, gate)
            assert done.returncode == 2
            assert done.stdout == (
                "::error title=orgkernel diff::the base of the comparison cannot be fetched; its branch may have been "
                "deleted, or the commit may be gone after a force push\n"
            )
    assert not (remote.folder / "summary.md").exists()


def test_versions_that_cannot_be_compared_are_an_error(remote: Remote) -> None:
    """The annotation points to the log, which has the error."""
    done = remote.compare(remote.base, path="nowhere")
    assert done.returncode == 2
    assert done.stdout == (
        "::error title=orgkernel diff::the versions could not be compared; the log of this step says why\n"
    )
    assert "nowhere" in done.stderr


@pytest.mark.parametrize("hostile", ["--upload-pack=touch pwned", "$(touch pwned)"])
def test_a_base_is_a_word_whatever_it_holds(remote: Remote, hostile: str) -> None:
    """Nothing runs, nothing is taken for an option, and the step fails."""
    assert remote.compare(hostile, path="").returncode == 2
    assert not list(remote.folder.rglob("pwned"))


PAGE = (REPOSITORY / "docs/ci.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "command"),
    [
        (
            ".github/workflows/organization.yml",
            ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ),
        (
            ".github/workflows/organization-scanning.yml",
            ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ),
        (".gitlab-ci.yml", ("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci")),
        (".pre-commit-config.yaml", ("prek", "validate-config")),
    ],
)
def test_every_file_the_page_shows_is_valid(file: str, command: tuple[str, ...], tmp_path: Path) -> None:
    """A reader copies it as it stands."""
    (block,) = (
        text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if text.startswith(f"# {file}\n")
    )
    copied = tmp_path / Path(file).name
    copied.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [BIN / command[0], *command[1:], copied],
        cwd=tmp_path,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PREK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for step in re.findall(r"uses: OWNER/orgkernel@.*?\n +with:\n((?: {10}.*\n)*)", block):
        assert set(re.findall(r"^ {10}([a-z-]+):", step, re.MULTILINE)) <= set(ACTION["inputs"])


def test_the_page_names_every_input_and_format() -> None:
    """What is not written down is not found."""
    listed = re.search(r"All inputs are optional: (.*?)\. ", PAGE, re.DOTALL)
    assert listed
    assert set(re.findall(r"`([a-z-]+)`", listed[1])) == set(ACTION["inputs"])
    assert set(re.findall(r"`([a-z]+)`", PAGE.partition("\n\n| `--format`")[2].partition("\n\n")[0])) >= set(
        FORMATS
    )
