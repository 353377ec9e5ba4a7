"""`orgkernel check`: what is checked, how it is reported, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import REPOSITORY, copy_template, write_tree

# One finding of each severity.
ERROR = {"roles/dev.yaml": SHOP["roles/dev.yaml"].replace("codegen]", "codegen, codegn]")}
WARNING = {"roles/dev.yaml": SHOP["roles/dev.yaml"].replace("description", "descripton")}
INFO = {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("description: Keeps it running.\n", "")}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def codes(stdout: str) -> list[str]:
    return [found["code"] for found in json.loads(stdout)]


def test_a_clean_organization_exits_0_with_nothing_on_stdout(shop: Path) -> None:
    """Data on stdout, talk on stderr: clean means no data."""
    done = run("check", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "no findings in 1 organization, 3 roles, 4 files\n"


def test_json_of_a_clean_organization_is_an_empty_list(shop: Path) -> None:
    """A program that reads the output never has to treat `nothing` specially."""
    done = run("check", "--format", "json", cwd=shop)
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


@pytest.mark.parametrize(
    ("broken", "fail_on", "code"),
    [
        (ERROR, None, 1),
        (ERROR, "error", 1),
        (ERROR, "warning", 1),
        (ERROR, "info", 1),
        (WARNING, None, 0),
        (WARNING, "error", 0),
        (WARNING, "warning", 1),
        (WARNING, "info", 1),
        (INFO, None, 0),
        (INFO, "error", 0),
        (INFO, "warning", 0),
        (INFO, "info", 1),
    ],
)
def test_fail_on_says_from_which_severity_on_the_exit_code_is_1(
    shop: Path, broken: dict[str, str], fail_on: str | None, code: int
) -> None:
    """Findings below the threshold are reported and do not fail."""
    write_tree(shop, broken)
    done = run("check", *(("--fail-on", fail_on) if fail_on else ()), cwd=shop)
    assert done.returncode == code
    assert done.stdout


def test_json_findings_have_the_promised_keys(shop: Path) -> None:
    """Other tools read `code, name, severity, message, file, line, column, help`."""
    write_tree(shop, ERROR)
    done = run("check", "--format", "json", cwd=shop)
    (found,) = json.loads(done.stdout)
    assert found == {
        "code": "ORG301",
        "name": "unknown-domain",
        "severity": "error",
        "message": "role `dev` handles `codegn`, which is not a declared domain",
        "file": "roles/dev.yaml",
        "line": 5,
        "column": 26,
        "help": "did you mean `codegen`?",
        "subject": "role:dev",
        "related": [],
    }
    assert done.returncode == 1


def test_concise_is_a_line_each(shop: Path) -> None:
    """A line that editors and grep understand: file, line, column, what."""
    write_tree(shop, ERROR | INFO)
    done = run("check", "--format", "concise", cwd=shop)
    assert done.stdout == (
        "roles/dev.yaml:5:26: error[ORG301] unknown-domain: role `dev` handles `codegn`, which is not a declared domain\n"
        "roles/ops.yaml:2:10: info[ORG702] undescribed-role: role `ops` has no description\n"
    )
    assert done.stderr == "1 error, 1 info in 1 organization, 3 roles, 4 files\n"


def test_full_shows_the_line_the_caret_the_help_and_the_rule(shop: Path) -> None:
    """The exact text a person reads, for a broken organization."""
    write_tree(
        shop,
        {
            "roles/dev.yaml": SHOP["roles/dev.yaml"]
            + 'chain_of_command:\n  reports_to: cco\nrole_name: "Dev\\e[31m\\ttab"\n'
            + "doctrine: {salute_interval_turns: 20, max_turns_without_progress: 10}\n",
            "roles/ops.yaml": "_schema: orgkernel:role_profile\nrole_id: ops\nrole_type: specialst\n",
            "roles/extra.json": '{"_schema": "orgkernel:role_profile",\n "role_id": 7}\n',
        },
    )
    done = run("check", cwd=shop)
    assert done.stdout == (Path(__file__).parent / "golden" / "check_full.txt").read_text(encoding="utf-8")
    assert done.returncode == 1


def test_one_broken_file_does_not_hide_the_findings_of_the_others(shop: Path) -> None:
    """A truncated file is one error, with the role that it takes out of service. The other files are checked,
    and ids that the broken file could declare are not reported as missing.
    """
    write_tree(shop, {"roles/ops.yaml": "_schema: orgkernel:role_profile\nrole_id: [ops\n"} | ERROR)
    done = run("check", "--format", "json", cwd=shop)
    assert codes(done.stdout) == ["ORG301", "ORG005", "ORG725"]


def test_without_a_path_the_nearest_project_file_upwards_says_what_is_checked(tmp_path: Path) -> None:
    """`paths` start at the folder of `orgkernel.toml`; files outside where one stands are named in full."""
    write_tree(
        tmp_path,
        {"orgkernel.toml": 'paths = ["orgs"]\n', "elsewhere/org.yaml": "_schema: orgkernel:nonsense\n"}
        | {f"orgs/shop/{name}": text for name, text in (SHOP | ERROR).items()},
    )
    deep = tmp_path / "orgs" / "shop" / "roles"
    done = run("check", "--format", "json", cwd=deep)
    assert codes(done.stdout) == ["ORG301"]
    assert [found["file"] for found in json.loads(done.stdout)] == [str(deep / "dev.yaml")]
    assert done.stderr.startswith("note: reading `orgs` of the project in `../../..`\n")
    above = run("check", "--format", "concise", cwd=tmp_path)
    assert above.stdout.startswith("orgs/shop/roles/dev.yaml:5:26: ")


def test_a_project_in_pyproject_toml_is_a_project_too(tmp_path: Path) -> None:
    """`[tool.orgkernel]` holds the same settings."""
    write_tree(
        tmp_path,
        {"pyproject.toml": '[tool.orgkernel]\npaths = ["orgs"]\nfail_on = "info"\n'}
        | {f"orgs/{name}": text for name, text in (SHOP | INFO).items()},
    )
    assert run("check", cwd=tmp_path).returncode == 1


def test_without_a_path_and_a_project_the_current_folder_is_checked(shop: Path) -> None:
    """Standing in an organization is enough."""
    write_tree(shop, ERROR)
    assert codes(run("check", "--format", "json", cwd=shop).stdout) == ["ORG301"]


def test_a_project_gives_rules_another_severity_or_switches_them_off(shop: Path) -> None:
    """`[severities]` and `fail_on` of `orgkernel.toml`; `--fail-on` wins over the latter."""
    write_tree(
        shop,
        {"orgkernel.toml": 'fail_on = "warning"\n[severities]\nORG301 = "warning"\nORG702 = "off"\n'}
        | ERROR
        | INFO,
    )
    done = run("check", "--format", "json", cwd=shop)
    assert [(found["code"], found["severity"]) for found in json.loads(done.stdout)] == [
        ("ORG301", "warning")
    ]
    assert done.returncode == 1
    assert run("check", "--fail-on", "error", cwd=shop).returncode == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('path = ["a"]', "the setting `path` is not known\nhelp: did you mean `paths`?"),
        ("paths = [1]", "`paths` is not a list of strings"),
        ('fail_on = "never"', "`fail_on` is `never`"),
        ('severities = "off"', "`severities` is not a table"),
        ('[severities]\nORG301 = "loud"', "`ORG301` is `loud`"),
        (
            '[severities]\nORG3O1 = "off"',
            "there is no rule `ORG3O1`\nhelp: list all rules with `orgkernel rule`",
        ),
        ("paths = [", "cannot be read"),
        ('paths = ["gone"]', "`gone` does not exist"),
    ],
)
def test_a_project_file_that_cannot_be_used_is_exit_2(shop: Path, settings: str, message: str) -> None:
    """A misspelled setting is refused rather than ignored."""
    write_tree(shop, {"orgkernel.toml": settings})
    done = run("check", cwd=shop)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_nothing_found_is_exit_2(tmp_path: Path) -> None:
    """A check that looked at nothing must not look like one that passed."""
    write_tree(
        tmp_path, {"notes.yaml": "a: 1\n", "package.json": "{}\n", "readme.md": "# orgkernel:organization\n"}
    )
    for arguments in ((), ("--format", "json"), (".",)):
        done = run("check", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "nothing to check" in done.stderr


def test_a_path_that_does_not_exist_is_exit_2(shop: Path) -> None:
    """Even beside one that does."""
    done = run("check", ".", "gone", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "error: `gone` does not exist\nhelp: give the path of a document or of a folder of documents\n"
    )


def test_a_path_may_be_one_file(shop: Path) -> None:
    """Its own findings are reported, those of its neighbors are not, and what it refers to is known."""
    write_tree(shop, ERROR | INFO)
    assert codes(run("check", "roles/dev.yaml", "--format", "json", cwd=shop).stdout) == ["ORG301"]
    assert codes(run("check", "roles/ops.yaml", "--format", "json", cwd=shop).stdout) == ["ORG702"]
    clean = run("check", "roles/co.yaml", "--format", "json", cwd=shop)
    assert (clean.returncode, codes(clean.stdout)) == (0, [])


def test_a_path_may_be_a_folder_of_documents(shop: Path) -> None:
    """A folder of roles is no organization, and is checked with the one it lies in."""
    write_tree(shop, ERROR | {"org.yaml": SHOP["org.yaml"] + "hierachy: {}\n"})
    assert codes(run("check", "roles", "--format", "json", cwd=shop).stdout) == ["ORG301"]


def test_a_path_may_be_an_organization_folder(shop: Path) -> None:
    """The same findings as standing in it, under the path's name."""
    write_tree(shop, ERROR)
    done = run("check", "shop", "--format", "concise", cwd=shop.parent)
    assert done.stdout.startswith("shop/roles/dev.yaml:5:26: error[ORG301]")


def test_a_path_outside_the_current_folder_is_named_in_full(shop: Path, tmp_path: Path) -> None:
    """A place that can be opened from where one stands."""
    write_tree(shop, ERROR)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = run("check", shop, "--format", "json", cwd=elsewhere)
    assert json.loads(done.stdout)[0]["file"] == str(shop / "roles" / "dev.yaml")


def flat(tmp_path: Path) -> Path:
    """The published layout: several organizations in one folder, sharing one `roles/`."""
    other = (
        SHOP["org.yaml"]
        .replace("org_id: shop", "org_id: other")
        .replace("ops", "night")
        .replace("docker_ops", "osint")
    )
    return write_tree(
        tmp_path,
        {
            "shop.yaml": SHOP["org.yaml"],
            "other.yaml": other.replace("docker_night", "osint"),
            "roles/night.yaml": "_schema: orgkernel:role_profile\nrole_id: night\ncapabilities: {bst_domains: [osint]}\n",
        }
        | {name: text for name, text in SHOP.items() if name.startswith("roles/")},
    )


def test_an_organization_file_in_a_flat_folder_is_checked_alone(tmp_path: Path) -> None:
    """With the profiles it includes, and without its neighbors: their findings and roles are not its business."""
    flat(tmp_path)
    shop = run("check", "shop.yaml", "--format", "json", cwd=tmp_path)
    assert (shop.returncode, codes(shop.stdout)) == (0, [])
    assert shop.stderr == (
        "note: also read 2 files next to `shop.yaml`: `other.yaml`, `roles/night.yaml`\n"
        "no findings in 1 organization, 3 roles, 4 files\n"
    )
    other = run("check", "other.yaml", "--format", "json", cwd=tmp_path)
    assert [(found["code"], found["file"]) for found in json.loads(other.stdout)] == [
        ("ORG702", "roles/night.yaml")
    ]
    both = run("check", "--format", "json", cwd=tmp_path)
    assert codes(both.stdout) == ["ORG702"]
    assert both.stderr.startswith("1 info in 2 organizations, 6 roles, ")


def test_an_organization_folder_sees_the_roles_beside_it(tmp_path: Path) -> None:
    """`roles/` may lie in the parent; a profile there that only another organization includes is not reported."""
    write_tree(
        tmp_path,
        {
            "orgs/shop/org.yaml": SHOP["org.yaml"],
            "orgs/roles/unused.yaml": "_schema: orgkernel:role_profile\nrole_id: unused\n",
        }
        | {f"orgs/{name}": text for name, text in (SHOP | INFO).items() if name.startswith("roles/")},
    )
    done = run("check", "orgs/shop", "--format", "json", cwd=tmp_path)
    assert [(found["code"], found["file"]) for found in json.loads(done.stdout)] == [
        ("ORG702", "orgs/roles/ops.yaml")
    ]


def test_a_folder_without_documents_is_exit_2_whatever_lies_above(shop: Path) -> None:
    """A check that looked at the neighbors only must not look like one that passed."""
    write_tree(shop, {"empty/notes.yaml": "a: 1\n", "empty/deep/readme.md": ""})
    for path in ("empty", "empty/deep"):
        done = run("check", path, cwd=shop)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: nothing to check: there are no orgkernel documents and no agents in `{path}`\n"
            "help: a parent folder contains an organization: pass `.`\n"
        )
    assert run("check", "roles", "empty", cwd=shop).returncode == 2
    for command in (("check",), ("graph", "--org", "shop"), ("dispatch", "--org", "shop", "codegen")):
        inside = run(*command, cwd=shop / "empty")
        assert (inside.returncode, inside.stdout) == (2, "")
        assert (
            "there are no orgkernel documents and no agents in `.`\nhelp: a parent folder contains an organization: pass `..`"
            in (inside.stderr)
        )


def test_of_the_folders_above_only_what_the_organization_needs_is_read(shop: Path) -> None:
    """Its file, its roles and its catalogs; neither what else lies there nor the organizations of others."""
    domains = (
        '_schema: orgkernel:domain_catalog\n_version: "1.0"\ndomains: {knitting: {description: Knits.}}\n'
    )
    write_tree(
        shop,
        {
            "catalogs/domains.yaml": domains,
            "roles/ops.yaml": SHOP["roles/ops.yaml"].replace("docker_ops", "docker_ops, knitting"),
            "junk/deep/role.yaml": "_schema: orgkernel:role_profile\nrole_id: [\n",
            "junk/values.yaml": "a: 1\n",
            **{f"other/{name}": text.replace("org_id: shop", "org_id: other") for name, text in SHOP.items()},
        },
    )
    done = run("check", "roles", "--format", "concise", cwd=shop)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "note: also read 2 files next to `roles`: `catalogs/domains.yaml`, `org.yaml`\n"
        "no findings in 3 roles, 3 files\n"
    )
    inside = run("check", "--format", "concise", cwd=shop / "roles")
    assert (inside.returncode, inside.stdout) == (0, "")
    assert inside.stderr.startswith(f"note: also read 2 files next to `{shop / 'roles'}`: ")
    one = run("dispatch", "knitting", "--org", "shop", cwd=shop / "roles")
    assert one.stdout.startswith("knitting → ops")
    assert one.stderr.startswith("note: also read 2 files next to ")


def test_a_folder_of_documents_belongs_to_an_organization_above_that_includes_them(shop: Path) -> None:
    """An organization above the folder that names none of its roles is not read."""
    write_tree(
        shop,
        {
            "team/dev.yaml": SHOP["roles/dev.yaml"],
            "mine/new.yaml": "_schema: orgkernel:role_profile\nrole_id: new\ndescription: New.\n",
        },
    )
    (shop / "roles" / "dev.yaml").unlink()
    theirs = run("check", "team", cwd=shop)
    assert theirs.stderr.endswith("`roles/ops.yaml`\nno findings in 1 role, 1 file\n")
    mine = run("check", "mine", cwd=shop)
    assert (mine.returncode, mine.stderr) == (0, "no findings in 1 role, 1 file\n")


def test_shipped_is_what_comes_with_the_package(tmp_path: Path) -> None:
    """From anywhere, all organizations without a finding, whatever project one stands in."""
    write_tree(tmp_path, {"orgkernel.toml": 'paths = ["gone"]\n'})
    done = run("check", "--shipped", "--fail-on", "info", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("no findings in 6 organizations, 42 roles, ")


def test_shipped_takes_no_path(shop: Path) -> None:
    """The two contradict each other."""
    done = run("check", "--shipped", ".", cwd=shop)
    assert done.returncode == 2
    assert "`--shipped` cannot be combined with PATH" in done.stderr


def test_the_repository_checks_its_own_templates() -> None:
    """`orgkernel check` at the top of the repository reads its `orgkernel.toml`."""
    done = run("check", "--fail-on", "info", cwd=REPOSITORY)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_template_is_clean_when_copied(tmp_path: Path) -> None:
    """Each on its own, with the shared catalogs from the package."""
    for template in ("blank", "software_dev", "sigint_alpha"):
        copy_template(tmp_path / template, template)
    done = run("check", "--fail-on", "info", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_passed_over_is_counted(shop: Path) -> None:
    """Files that are not orgkernel documents are not findings, and are not silently ignored either."""
    write_tree(shop, {"compose.yaml": "services: {}\n", "package.json": '{"name": "x"}\n'})
    (shop / "compose.yaml").rename(shop.parent / "compose.yaml")
    (shop / "package.json").rename(shop.parent / "package.json")
    done = run("check", cwd=shop.parent)
    assert done.returncode == 0
    assert done.stderr.endswith("; 2 files skipped: not orgkernel documents\n")
