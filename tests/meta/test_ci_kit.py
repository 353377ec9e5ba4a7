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

from orgkernel.cli import cli
from orgkernel.cli.author.check import FORMATS
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
    """Least permissions, every supported Python, the same command as anybody's."""
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


def test_the_bill_of_materials_lists_what_is_locked() -> None:
    """Nothing more, nothing less, each with its hashes, in a form that CycloneDX allows."""
    lock = REPOSITORY / "requirements/serve.lock"
    bill = build_bill(lock)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    locked = dict(re.findall(r"(?m)^([a-z0-9._-]+)(?:\[.*?\])?==(\S+)", lock.read_text(encoding="utf-8")))
    assert {part["name"]: part["version"] for part in bill["components"]} == locked
    for part in bill["components"]:
        assert all(each["hashes"] for each in part["externalReferences"])
    (root, *_) = bill["dependencies"]
    assert f"pkg:pypi/sqlalchemy@{locked['sqlalchemy']}" in root["dependsOn"]


def test_every_night_a_hundred_thousand_cases_are_decided() -> None:
    """By the same target as anybody's, with what may be read and nothing else."""
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


def test_the_hook_checks_the_whole_tree_with_a_command_that_exists() -> None:
    """A role can break the organization around it, so no file names are passed."""
    (hook,) = read_yaml_file(HOOKS)
    assert hook["pass_filenames"] is False
    program, command, option = hook["entry"].split()
    assert program == "orgkernel"
    assert command in cli.list_commands(None)
    assert option == "--no-cache"


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
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "RUNNER_TEMP": str(folder.parent / "temp"),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
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


@pytest.mark.parametrize("hostile", ["$(touch pwned)`touch pwned`'\"; touch pwned #", "--help", "*"])
@pytest.mark.parametrize("variable", ["CHECK_PATHS", "CHECK_FAIL_ON", "CHECK_BASELINE", "CHECK_FOLDER"])
def test_an_input_is_a_word_whatever_it_holds(tmp_path: Path, variable: str, hostile: str) -> None:
    """Nothing runs, nothing is taken for an option, and the check does not pass."""
    shop = write_tree(tmp_path / "shop", SHOP)
    done = run_step("Check", shop, **{variable: hostile})
    assert done.returncode in {1, 2}, done.stdout
    assert done.stdout == ""
    assert not list(tmp_path.rglob("pwned"))


def test_the_comparison_needs_its_input() -> None:
    """Without a base there is nothing to compare; after a failed check there still is."""
    assert steps()["Compare"]["if"] == "${{ !cancelled() && inputs.diff-base != '' }}"
    assert ACTION["inputs"]["diff-base"]["default"] == ""


def test_the_comparison_fetches_a_base_that_is_not_there_and_appends_to_the_summary(tmp_path: Path) -> None:
    """A shallow checkout lacks it; the command is given the revision that was fetched."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    origin = write_tree(tmp_path / "origin", SHOP)
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "one"), ("branch", "base")):
        subprocess.run([*git, *arguments], cwd=origin, check=True)
    subprocess.run([*git, "commit", "-qm", "two", "--allow-empty"], cwd=origin, check=True)
    subprocess.run([*git, "clone", "-q", "--depth=1", f"file://{origin}", "work"], cwd=tmp_path, check=True)
    base = subprocess.run(
        ["git", "rev-parse", "base"], cwd=origin, check=True, capture_output=True, text=True
    ).stdout.strip()
    work = write_tree(
        tmp_path / "work",
        {
            "roles/ops.yaml": SHOP["roles/ops.yaml"].replace(
                "execution_tool]", "execution_tool, browser_agent]"
            )
        },
    )
    for given, path in ((base, ""), ("base", ".")):
        done = run_step("Compare", work, DIFF_BASE=given, DIFF_PATH=path, DIFF_FAIL_ON="")
        assert done.returncode == 0, done.stderr
    assert run_step("Compare", work, DIFF_BASE=base, DIFF_PATH=".", DIFF_FAIL_ON="widened").returncode == 1
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("browser_agent") >= 2
    for hostile in ("--upload-pack=touch pwned", "$(touch pwned)"):
        assert run_step("Compare", work, DIFF_BASE=hostile, DIFF_PATH="", DIFF_FAIL_ON="").returncode != 0
    assert not list(tmp_path.rglob("pwned"))


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
