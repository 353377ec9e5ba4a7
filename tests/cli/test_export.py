"""`orgkernel export`: files for another tool, what they cover and what is lost."""

from __future__ import annotations

import json
from pathlib import Path

import cedarpy
import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import change_line, copy_template, write_tree

FILES = ("schema.cedarschema", "policies.cedar", "entities.json")
TEMPLATES = ("blank", "household", "sigint_alpha", "software_dev")


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_export_to_cedar_is_what_cedar_accepts(template: str, tmp_path: Path) -> None:
    """Policies are valid under the schema, in Cedar's strict mode, and entities fit it."""
    done = run("export", "--to", "cedar", "--org", template, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.split() == [f"out/{name}" for name in FILES]
    schema, policies, entities = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in FILES)
    checked = cedarpy.validate_policies(policies, schema)
    assert [str(error) for error in checked.errors] == []
    # The two actions come from the schema.
    assert len(cedarpy.Entities.from_json_str(entities, schema)) == len(json.loads(entities)) + 2


def test_what_is_lost_is_said_beside_the_files(tmp_path: Path) -> None:
    """What this organization declares with its number, then what is always lost; on stderr, because it is no data."""
    done = run("export", "--to", "cedar", "--org", "household", "-o", "out", cwd=tmp_path)
    assert (
        "  policies that annotate (2): sessions, personas and modifiers have no effect in Cedar"
        in done.stderr
    )
    assert "  exclusive tools (1): the caller must send `holds_lock`" in done.stderr
    assert "  handing off and escalating: " in done.stderr
    blank = run("export", "--to", "cedar", "--org", "blank", "-o", "out", cwd=tmp_path)
    assert "exclusive tools" not in blank.stderr


def test_without_a_folder_everything_is_one_json(tmp_path: Path) -> None:
    """The same files as texts, what they cover and what is lost."""
    run("export", "--to", "cedar", "--org", "household", "-o", "out", cwd=tmp_path)
    said = json.loads(run("export", "--to", "cedar", "--org", "household", cwd=tmp_path).stdout)
    assert said["files"] == {name: (tmp_path / "out" / name).read_text(encoding="utf-8") for name in FILES}
    assert "rank matrix" in said["covers"]
    assert {"what", "why", "count"} == set(said["lost"][0])


def test_the_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    """Files and policies in another order change nothing but the order of what is declared."""
    folder = copy_template(tmp_path / "home", "household")
    first = run("export", "--to", "cedar", "--org", "household", "--path", folder, cwd=tmp_path).stdout
    again = run("export", "--to", "cedar", "--org", "household", "--path", folder, "--no-cache", cwd=tmp_path)
    assert again.stdout == first


def test_cedar_decides_from_the_files_alone(tmp_path: Path) -> None:
    """Cedar can decide from the exported files without orgkernel."""
    run("export", "--to", "cedar", "--org", "software_dev", "-o", "out", cwd=tmp_path)
    schema, policies, entities = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in FILES)

    def ask(role: str) -> bool:
        request = {
            "principal": f'OrgKernel::Role::"{role}"',
            "action": 'OrgKernel::Action::"use"',
            "resource": 'OrgKernel::ToolAction::"code_execution_tool/terminal"',
            "context": {},
        }
        return bool(cedarpy.is_authorized(request, policies, entities, schema).allowed)

    assert ask("codegen_specialist")
    assert not ask("research_xo")


def test_an_organization_with_errors_is_not_exported(tmp_path: Path) -> None:
    """What is not answered for is not handed to another engine either."""
    folder = write_tree(tmp_path / "shop", SHOP)
    assert run("export", "--to", "cedar", "--org", "shop", "--path", folder, cwd=tmp_path).returncode == 0
    change_line(folder / "org.yaml", "    subordinates: [dev, ops]", "    subordinates: [dev, ops, nobody]")
    done = run("export", "--to", "cedar", "--org", "shop", "--path", folder, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has 1 error" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file in the way is an error with exit 2, not a trace."""
    (tmp_path / "out").write_text("")
    done = run("export", "--to", "cedar", "--org", "blank", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: `out` cannot be written: file exists" in done.stderr


def test_names_are_escaped_as_cedar_reads_them(tmp_path: Path) -> None:
    """An account with quotes, backslashes and line ends is a text in the policy and nothing else."""
    files = {
        **SHOP,
        "policies.json": json.dumps({
            "_schema": "orgkernel:access_policies",
            "policies": {"odd": {
                "effect": "allow", "permissions": {"tools": ["mail_*"]},
                "match": {"conditions": [{"account": 'a"\\ || true //\n\té*'}]},
            }},
        }),
        "tools.yaml": "_schema: orgkernel:tool_catalog\ntools: {mail_read: {type: browser}, mailbox: {type: browser}}\n",
    }  # fmt: skip
    folder = write_tree(tmp_path / "shop", files)
    said = json.loads(run("export", "--to", "cedar", "--org", "shop", "--path", folder, cwd=tmp_path).stdout)[
        "files"
    ]

    def ask(tool: str, account: str) -> bool:
        request = {
            "principal": 'OrgKernel::Person::"user"', "action": 'OrgKernel::Action::"use"',
            "resource": f'OrgKernel::ToolAction::"{tool}/use"', "context": {"account": account},
        }  # fmt: skip
        return bool(cedarpy.is_authorized(request, said[FILES[1]], said[FILES[2]], said[FILES[0]]).allowed)

    assert ask("mail_read", 'a"\\ || true //\n\té*')
    assert not ask("mailbox", 'a"\\ || true //\n\té*')
    assert not ask("mail_read", "b")
