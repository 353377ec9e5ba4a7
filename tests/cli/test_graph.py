"""`orgkernel graph`: the org chart for a terminal, for documents and for programs."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import change_line, copy_template, write_tree

FORMATS = ("tree", "mermaid", "dot", "json")
ROLE = "_schema: orgkernel:role_profile\nrole_id: {}\ndescription: x\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def test_folders_without_an_option(tmp_path: Path, shop: Path) -> None:
    """`graph DIR` reads what `graph --path DIR` reads, in any format; a folder that does not exist is an error."""
    write_tree(
        tmp_path / "mono",
        {
            f"{part}/.claude/agents/{part}-dev.md": f"---\nname: {part}-dev\ndescription: Builds {part}.\n---\nBuild.\n"
            for part in ("api", "web")
        },
    )
    assert run("graph", "mono", cwd=tmp_path).stdout.splitlines()[1:] == [
        "├── api-dev  api-dev",
        "└── web-dev  web-dev",
    ]
    assert (
        run("graph", str(shop), cwd=tmp_path).stdout == run("graph", "--path", str(shop), cwd=tmp_path).stdout
    )
    assert run("graph", "nowhere", cwd=tmp_path).returncode == 2


def test_the_tree_of_a_template(tmp_path: Path) -> None:
    """The exact text: one role a line below its superior, with as many domains as fit."""
    done = run("graph", "--org", "software_dev", cwd=tmp_path)
    assert (
        done.stdout
        == """\
Software Development Organization (software_dev), 8 roles
└── co  Commanding Officer
    ├── engineering_xo  Engineering XO
    │   ├── codegen_specialist  Codegen Specialist: codegen, refactor
    │   ├── bugfix_specialist  Bugfix Specialist: bugfix, log_analysis
    │   └── devops_specialist  DevOps Specialist: docker_ops, git_ops +1
    └── research_xo  Research XO
        ├── analysis_specialist  Analysis Specialist: analysis, data_transform
        └── osint_specialist  OSINT Specialist: osint, api_integration
"""
    )


@pytest.mark.parametrize("template", ["blank", "software_dev", "sigint_alpha"])
def test_every_template_fits_80_columns_and_shows_every_role(tmp_path: Path, template: str) -> None:
    """Readable in a terminal of 80 columns."""
    lines = run("graph", "--org", template, cwd=tmp_path).stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80
    nodes = json.loads(run("graph", "--org", template, "--format", "json", cwd=tmp_path).stdout)["nodes"]
    shown = [re.sub(r"^[ │├└─]+", "", line).split()[0] for line in lines[1:]]
    assert sorted(shown) == sorted(node["id"].removeprefix("role:") for node in nodes if node["kind"] == "role" and node["id"] != "role:user")  # fmt: skip


def test_a_circle_is_drawn_once_and_said(tmp_path: Path) -> None:
    """An organization with errors is still drawn, because its author wants to see what is wrong."""
    folder = copy_template(tmp_path / "mine", "software_dev")
    change_line(
        folder / "org.yaml", "    role_name: Codegen Specialist", "    subordinates: [engineering_xo]"
    )
    change_line(folder / "org.yaml", "      - engineering_xo", "      - osint_specialist")
    done = run("graph", "--org", "software_dev", "--path", "mine", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "note: organization `software_dev` has errors; see `orgkernel check`\n"
    lines = done.stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert sum("(again: its chain of command is a cycle)" in line for line in lines) == 1
    shown = [re.sub(r"^[ │├└─]+", "", line).split()[0] for line in lines[1:] if "again" not in line]
    assert sorted(shown) == sorted({*shown}) == sorted(path.stem for path in (folder / "roles").iterdir())


def test_roles_without_a_profile_or_a_superior_are_drawn(shop: Path) -> None:
    """The chart includes every role, even if its profile or its superior is missing in the documents."""
    write_tree(
        shop,
        {
            "org.yaml": SHOP["org.yaml"].replace("[dev, ops]", "[dev, ghost]"),
            "roles/ops.yaml": SHOP["roles/ops.yaml"] + "chain_of_command: {reports_to: nobody}\n",
        },
    )
    done = run("graph", "--org", "shop", cwd=shop)
    assert (
        done.stdout
        == """\
Corner Shop (shop), 3 roles
├── co
│   ├── dev: codegen
│   └── ghost (no profile)
└── ops: docker_ops
"""
    )


def test_a_long_chain_of_command_stays_readable(tmp_path: Path) -> None:
    """Sixty levels: every role's id is on its line, within 80 columns, with its depth where the indent is cut."""
    ids = [f"level_{number:02}" for number in range(60)]
    below = "".join(f"  {one}: {{subordinates: [{other}]}}\n" for one, other in pairwise(ids))
    write_tree(
        tmp_path,
        {"org.yaml": f"_schema: orgkernel:organization\norg_id: deep\nhierarchy:\n{below}"}
        | {f"roles/{role}.yaml": ROLE.format(role) for role in ids},
    )
    lines = run("graph", "--org", "deep", cwd=tmp_path).stdout.splitlines()
    assert len(lines) == 61
    assert max(map(cell_len, lines)) <= 80
    assert all(role in line for role, line in zip(ids, lines[1:], strict=True))
    assert lines[60].startswith("60 ")


HOSTILE = 'A"];\\n<script>\\e[31m\\u202e\\x9b31m\\r日本語{}`|&#34;</br>%% "\\\\" end'


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Names with quotes, newlines, escape characters and text that means something to each format."""
    organization = SHOP["org.yaml"].replace("org_name: Corner Shop", f"org_name: \"{HOSTILE.replace(chr(34), chr(92) + chr(34))}\"")  # fmt: skip
    named = SHOP["roles/dev.yaml"] + f'role_name: "{HOSTILE.replace(chr(34), chr(92) + chr(34))}"\n'
    long = SHOP["roles/ops.yaml"] + f'role_name: "{"長" * 300}"\n'
    return write_tree(
        tmp_path / "h", SHOP | {"org.yaml": organization, "roles/dev.yaml": named, "roles/ops.yaml": long}
    )


@pytest.mark.parametrize("form", FORMATS)
def test_names_from_a_file_do_not_drive_the_terminal(hostile: Path, form: str) -> None:
    """No control character but the newline leaves raw, in any format."""
    done = run("graph", "--org", "shop", "--format", form, cwd=hostile)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", done.stdout)


def test_wide_names_are_cut_by_columns(hostile: Path) -> None:
    """A character that takes two columns counts as two."""
    lines = run("graph", "--org", "shop", cwd=hostile).stdout.splitlines()
    assert len(lines) == 4
    assert max(map(cell_len, lines)) <= 80
    assert lines[3].endswith("…")


def test_mermaid_has_a_node_a_role_and_an_edge_a_command(hostile: Path) -> None:
    """Labels hold no character that ends one; every line is of a known form."""
    lines = run("graph", "--org", "shop", "--format", "mermaid", cwd=hostile).stdout.splitlines()
    assert lines[0] == "flowchart TD"
    nodes = [line for line in lines[1:] if re.fullmatch(r'  r\d+\["[\w \-.&/()]+(<br/>[\w, ]+)?"\]', line)]
    edges = [line for line in lines[1:] if re.fullmatch(r"  r\d+ --> r\d+", line)]
    assert (len(nodes), len(edges), len(lines)) == (3, 2, 6)


def test_dot_has_a_node_a_role_and_an_edge_a_command(hostile: Path) -> None:
    """Quoted strings hold no quote; every line is of a known form."""
    lines = run("graph", "--org", "shop", "--format", "dot", cwd=hostile).stdout.splitlines()
    assert (lines[0], lines[-1]) == ('digraph "shop" {', "}")
    nodes = [
        line for line in lines if re.fullmatch(r'  "\w+" \[label="[\w \-.&/(),]+(\\n[\w, ]+)?"\];', line)
    ]
    edges = [line for line in lines if re.fullmatch(r'  "\w+" -> "\w+";', line)]
    assert (len(nodes), edges) == (3, ['  "co" -> "dev";', '  "co" -> "ops";'])


def test_json_has_every_edge_with_its_line(shop: Path) -> None:
    """Both ends of an edge are nodes, and its line says what it says."""
    chart = json.loads(run("graph", "--org", "shop", "--format", "json", cwd=shop).stdout)
    ids = {node["id"] for node in chart["nodes"]}
    assert {
        "organization:shop",
        "role:co",
        "role:dev",
        "role:ops",
        "domain:codegen",
        "tool:text_editor",
    } <= ids
    assert chart["org_id"] == "shop"
    for edge in chart["edges"]:
        assert {edge["source"], edge["target"]} <= ids
    (found,) = (edge for edge in chart["edges"] if edge["kind"] == "handles" and edge["source"] == "role:dev")
    assert found == {
        "kind": "handles", "source": "role:dev", "target": "domain:codegen", "attribute": "",
        "file": "roles/dev.yaml", "line": 5,
    }  # fmt: skip


def test_a_role_without_a_name_that_can_be_drawn_is_drawn_by_its_id(shop: Path) -> None:
    """A label is never empty."""
    write_tree(shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"] + 'role_name: "\\"\\""\n'})
    assert '["ops<br/>' in run("graph", "--org", "shop", "--format", "mermaid", cwd=shop).stdout
