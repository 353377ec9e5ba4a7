"""`orgkernel dispatch` and `orgkernel manifest`: the same answers for people and programs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.manifest.v1 import build_manifest_schema
from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import copy_template, write_tree
from tests.support.yaml_text import read_yaml


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def test_dispatch_json_has_the_promised_keys(shop: Path) -> None:
    """Other tools read `outcome, role_id, plans, tools, reasons, considered, snapshot`."""
    done = run("dispatch", "codegen", "--org", "shop", "--format", "json", cwd=shop)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["outcome"] == "role"
    assert answer["role_id"] == "dev"
    assert answer["plans"] == ["codegen_module"]
    assert answer["tools"] == ["code_execution_tool", "text_editor", "memory_load"]
    assert [reason["code"] for reason in answer["reasons"]] == ["HANDLES_DOMAIN", "ONLY_CANDIDATE"]
    assert answer["reasons"][0]["why"] == [
        {"text": "role dev handles domain codegen", "file": "roles/dev.yaml", "line": 5}
    ]
    assert answer["considered"] == []
    assert answer["snapshot"].startswith("sha256:")


def test_a_domain_without_a_role_is_an_answer_and_exit_0(shop: Path) -> None:
    """`not_applicable` is no failure: nothing changes for the host."""
    for word in ("osint", "nonsense", "conversational"):
        done = run("dispatch", word, "--org", "shop", "--format", "json", cwd=shop)
        answer = json.loads(done.stdout)
        assert (done.returncode, answer["outcome"], answer["role_id"]) == (0, "not_applicable", None)
        assert answer["plans"] == answer["tools"] == []


def test_dispatch_says_in_words_who_and_why(shop: Path) -> None:
    """The exact text a person reads."""
    write_tree(
        shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("[docker_ops]", "[docker_ops, codegen]")}
    )
    done = run("dispatch", "coding", "--org", "shop", cwd=shop)
    assert done.stdout.replace(" \n", "\n") == (
        "coding → dev (Dev)\n"
        "  because `coding` means domain `codegen`\n"
        "      ontology/domains.yaml:1028\n"
        "  because role `dev` handles domain `codegen`\n"
        "      roles/dev.yaml:5\n"
        "  because role `dev` is preferred to `ops`: it handles fewer domains (1 against 2)\n"
        "      roles/dev.yaml:5\n"
        "      roles/ops.yaml:5\n"
        "  plans: codegen_module\n"
        "  tools: code_execution_tool, text_editor, memory_load\n"
        "  escalates: co\n"
        "  not ops: role `dev` is preferred: it handles fewer domains (1 against 2)\n"
        "      roles/ops.yaml:5\n"
        "      roles/dev.yaml:5\n"
    )
    nobody = run("dispatch", "osint", "--org", "shop", cwd=shop)
    assert nobody.stdout.startswith("osint → not applicable: no role takes this\n  because no role handles ")


def test_needs_and_all_are_passed_on(shop: Path) -> None:
    """If no role has a needed tool, the answer is `not_applicable` and names the roles that lack it."""
    done = run(
        "dispatch",
        "codegen",
        "--org",
        "shop",
        "--needs",
        "browser_agent",
        "--all",
        "--format",
        "json",
        cwd=shop,
    )
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "not_applicable"
    assert [(other["role_id"], other["code"]) for other in answer["considered"]] == [("dev", "LACKS_TOOL")]


def test_a_template_answers_where_there_is_no_organization_and_says_so(tmp_path: Path) -> None:
    """What one tries first works anywhere; an organization of that name that is there wins."""
    done = run("dispatch", "bugfix", "--org", "software_dev", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["role_id"] == "bugfix_specialist"
    assert done.stderr == (
        "note: there is no organization `software_dev` here; using the template `software_dev`\n"
    )
    copy_template(tmp_path / "mine", "software_dev")
    assert run("dispatch", "bugfix", "--org", "software_dev", cwd=tmp_path).stderr == ""


def test_active_is_the_only_organization_or_the_one_the_project_names(shop: Path) -> None:
    """Several and none named, in the folder of none: refused, with their names."""
    assert run("dispatch", "codegen", "--org", "active", cwd=shop).returncode == 0
    copy_template(shop.parent / "dev", "software_dev")
    done = run("dispatch", "codegen", "--org", "active", cwd=shop.parent)
    assert done.returncode == 2
    assert "`shop`" in done.stderr + done.stdout
    assert "`software_dev`" in done.stderr
    write_tree(shop.parent, {"orgkernel.toml": 'active = "software_dev"\n'})
    answer = json.loads(run("dispatch", "codegen", "--org", "active", "--format", "json", cwd=shop).stdout)
    assert answer["role_id"] == "codegen_specialist"


@pytest.mark.parametrize(
    "arguments",
    [
        ("dispatch", "codegen", "--org", "shp"),
        ("dispatch", "--org", "shop"),
        ("dispatch", "codegen", "--org", "shop", "--path", "gone"),
        ("dispatch", "codegen", "--org", "shop", "--format", "xml"),
        ("manifest", "dv", "--org", "shop"),
        ("manifest", "--org", "shp"),
        ("manifest", "dev", "--org", "shop", "--tool", "text_editor"),
        ("manifest", "dev", "--org", "shop", "--tool", ""),
        ("graph", "--org", "shp"),
        ("test", "gone.yaml"),
        ("test", "org.yaml"),
        ("test",),
    ],
)
def test_what_cannot_be_answered_is_exit_2_with_nothing_on_stdout(
    shop: Path, arguments: tuple[str, ...]
) -> None:
    """A program that reads stdout never mistakes an apology for an answer."""
    done = run(*arguments, cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_an_organization_with_errors_is_not_answered_for(shop: Path) -> None:
    """Exit 2 and where to look: an answer from a broken organization would be a guess."""
    write_tree(shop, {"org.yaml": SHOP["org.yaml"].replace("docker_ops]", "docker_op]")})
    for arguments in (("dispatch", "codegen"), ("manifest", "co"), ("manifest",)):
        done = run(*arguments, "--org", "shop", cwd=shop)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith("\nhelp: run `orgkernel check` to see them\n")


@pytest.mark.parametrize("role", [("codegen_specialist",), ()])
def test_json_and_yaml_of_a_manifest_are_the_same_data(tmp_path: Path, role: tuple[str, ...]) -> None:
    """In the published shape, for readers of YAML 1.1 and of 1.2 alike."""
    arguments = ("manifest", *role, "--org", "software_dev", "--format")
    data = json.loads(run(*arguments, "json", cwd=tmp_path).stdout)
    jsonschema.validate(data, build_manifest_schema())
    text = run(*arguments, "yaml", cwd=tmp_path).stdout
    assert read_yaml(text) == data
    (document,) = parse_yaml(text).documents
    assert json.loads(json.dumps(document.value)) == data
    assert list(read_yaml(text)) == list(data)


def test_texts_that_look_like_something_else_survive_both_formats(shop: Path) -> None:
    """Numbers of YAML 1.2, words of YAML 1.1, line separators, text over several lines."""
    texts = ["1e3", "0o17", "no", "12:30", "~", "010", "1_000", "a: b", "- x", "# y", "*z", "a\nb\n", " pad ", "\u2028", "\x85", "é"]  # fmt: skip
    listed = "".join(f"  - {json.dumps(text)}\n" for text in texts)
    write_tree(shop, {"roles/dev.yaml": SHOP["roles/dev.yaml"] + f"standing_orders:\n{listed}"})
    arguments = ("manifest", "dev", "--org", "shop", "--format")
    data = json.loads(run(*arguments, "json", cwd=shop).stdout)
    assert [item["id"] for item in data["standing_orders"]] == texts
    text = run(*arguments, "yaml", cwd=shop).stdout
    assert read_yaml(text) == data
    parsed = parse_yaml(text)
    assert not parsed.problems
    assert json.loads(json.dumps(parsed.documents[0].value)) == data


def test_the_table_names_every_item_and_its_line(tmp_path: Path) -> None:
    """What a person sees: all domains, plans, tools and tiers, each with the place that says so."""
    data = json.loads(
        run("manifest", "devops_specialist", "--org", "software_dev", "--format", "json", cwd=tmp_path).stdout
    )
    lines = run("manifest", "devops_specialist", "--org", "software_dev", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "DevOps Specialist (devops_specialist), specialist of software_dev"
    for section in ("domains", "plans", "tools", "essential_tools", "skills", "doctrine"):
        for item in data[section]:
            row = next(line for line in lines if item["id"] in line.split())
            place = (
                f"{item['why'][0]['file'].removeprefix('templates/software_dev/')}:{item['why'][0]['line']}"
            )
            assert place in row
    assert max(map(len, lines)) <= 110


def test_the_table_of_an_organization_names_every_role_and_who_takes_what(tmp_path: Path) -> None:
    """One row a role, then one a domain."""
    lines = run("manifest", "--org", "sigint_alpha", cwd=tmp_path).stdout.splitlines()
    for role in ("co", "s2_xo", "ops_xo", "sigint_specialist", "infrastructure_specialist"):
        assert any(line.split()[:1] == [role] for line in lines)
    assert any(line.split()[:2] == ["osint", "sigint_specialist"] for line in lines)


@pytest.mark.parametrize(
    ("option", "value", "roles"),
    [
        ("--role-type", "executive", ["engineering_xo", "research_xo"]),
        ("--domain", "bugfix", ["bugfix_specialist"]),
        ("--domain", "coding", ["codegen_specialist"]),
        ("--plan", "codegen_module", ["codegen_specialist"]),
        ("--tool", "text_editor", ["codegen_specialist", "bugfix_specialist", "devops_specialist"]),
        ("--skill", "task_command", ["co", "engineering_xo", "research_xo"]),
        ("--reports-to", "research_xo", ["analysis_specialist", "osint_specialist"]),
        ("--department", "command", ["co"]),
        ("--layer", "nowhere", []),
        ("--domain", "nowhere", []),
        ("--domain", "", []),
    ],
)
def test_filters_choose_roles(tmp_path: Path, option: str, value: str, roles: list[str]) -> None:
    """Each option by itself; a value that fits nothing gives no role and exit 0."""
    done = run("manifest", "--org", "software_dev", option, value, "--format", "json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert [role["role_id"] for role in data["roles"]] == roles
    assert data["count"] == len(roles)
