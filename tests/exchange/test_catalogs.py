"""AI Catalog, the MCP registry and Backstage: what their own rules accept, and what is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.exchange.ai_catalog import CATALOG_FILE, export_ai_catalog
from orgkernel.exchange.backstage import CATALOG_FILE as CATALOG_INFO
from orgkernel.exchange.backstage import export_backstage, map_names
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import EXPORTS
from orgkernel.exchange.mcp_registry import export_mcp_registry
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.exchange.checkers import Checker, Rejected
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

SHIPPED = ("blank", "household", "omega", "sigint_alpha", "software_dev", "starship")
SHOP = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: shop
hierarchy: {chief: {subordinates: [Clerk, clerk, _odd__one]}, Clerk: {}, clerk: {}, _odd__one: {}}
""",
    **{
        f"roles/{number}.yaml": f'_schema: orgkernel:role_profile\nrole_id: {role}\ndescription: "0o7 \\u2028 on: # {role}"\n'
        for number, role in enumerate(("chief", "Clerk", "clerk", "_odd__one"))
    },
    "tools.yaml": """\
_schema: orgkernel:tool_catalog
tools:
  read_issue: {type: mcp_server, name: Issues, description: Reads issues., provider: "https://mcp.example/issues", names: {mcp_registry: com.example/issues}}
  close_issue: {type: mcp_server, description: Closes issues., provider: "https://mcp.example/issues", names: {mcp_registry: com.example/issues}}
  nameless: {type: mcp_server, description: Has no name., provider: "https://mcp.example/other"}
  nowhere: {type: mcp_server, description: Has no address., names: {mcp_registry: com.example/nowhere}}
  outside: {type: mcp_server, description: Leads out., provider: "https://mcp.example/x", names: {mcp_registry: ../outside}}
  secret: {type: mcp_server, description: Has a password., provider: "https://me:pw@mcp.example/x", names: {mcp_registry: com.example/secret}}
  long: {type: mcp_server, description: LONG, provider: "https://mcp.example/x", names: {mcp_registry: com.example/long}}
  mail: {type: communication, description: Is no server.}
""".replace("LONG", "x" * 101),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> OrgView:
    return Kernel.open(write_tree(tmp_path_factory.mktemp("shop") / "shop", SHOP)).latest("shop").index


def losses_of(export: ConvertedFiles) -> dict[str, int | None]:
    return {loss.what: loss.count for loss in export.lost}


# -- AI Catalog ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("org", SHIPPED)
def test_a_catalog_has_what_its_format_requires(templates: Kernel, sdk: Checker, org: str) -> None:
    """Version, host, and entries with an identifier, a type and either an address or the card itself."""
    catalog = json.loads(export_ai_catalog(templates.organization(org).snapshot.index).files[CATALOG_FILE])
    assert set(catalog) == {"metadata", "specVersion", "host", "entries"}
    assert re.fullmatch(r"\d+\.\d+", catalog["specVersion"])
    assert catalog["host"]["displayName"]
    names = [entry["identifier"] for entry in catalog["entries"]]
    assert len(set(names)) == len(names) > 0
    for entry in catalog["entries"]:
        assert re.fullmatch(r"urn:air:agents\.invalid:a2a:[A-Za-z0-9_:-]+", entry["identifier"])
        assert entry["type"] == "application/a2a-agent-card+json"
        assert ("url" in entry) != ("data" in entry)
        assert entry["version"] == entry["data"]["version"]
        sdk.ask("check", card=entry["data"])


def test_the_catalog_is_said_to_be_experimental(tmp_path: Path) -> None:
    """First of all losses, on the command line."""
    done = run("export", "--to", "ai-catalog", "--org", "blank", "-o", "out", cwd=tmp_path)
    assert done.stderr.splitlines()[3].startswith("  stability: experimental")
    assert run("export", "--to", "ai-catalog", "--org", "blank", "-o", "out", "--check", cwd=tmp_path).returncode == 0  # fmt: skip


# -- MCP registry -------------------------------------------------------------------------------------------------------


def test_a_server_is_what_the_official_schema_allows(shop: OrgView, sdk: Checker) -> None:
    """One file for each server, in a folder of its name."""
    export = export_mcp_registry(shop)
    assert list(export.files) == ["com.example/issues/server.json"]
    server = json.loads(export.files["com.example/issues/server.json"])
    assert sdk.ask("server", document=server) == "valid"
    assert (server["name"], server["title"], server["description"]) == ("com.example/issues", "Issues", "Reads issues.")  # fmt: skip
    assert server["remotes"] == [{"type": "streamable-http", "url": "https://mcp.example/issues"}]
    assert next(iter(server["_meta"].values()))["tools"] == ["read_issue", "close_issue"]
    for change in ({"description": "x" * 101}, {"name": "no slash"}, {"remotes": [{"type": "pigeon", "url": "x"}]}):  # fmt: skip
        with pytest.raises(Rejected):
            sdk.ask("server", document={**server, **change})


def test_servers_that_lack_something_are_lost(shop: OrgView) -> None:
    """Nothing is made up for them, and no name leads out of the folder."""
    losses = losses_of(export_mcp_registry(shop))
    lacking = "MCP servers without what the registry needs: nameless, nowhere, outside, secret, long"
    assert losses[lacking] == 5
    assert losses["servers whose tools differ"] == 1
    assert losses["roles"] == 4


def test_no_server_is_no_file(templates: Kernel) -> None:
    """The shipped organizations name no registry."""
    export = export_mcp_registry(templates.organization("household").snapshot.index)
    assert export.files == {}
    assert losses_of(export)["MCP servers without what the registry needs: github, jira"] == 2


# -- Backstage ----------------------------------------------------------------------------------------------------------


def entities_of(view: OrgView) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(export_backstage(view).files[CATALOG_INFO]))


@pytest.mark.parametrize("org", SHIPPED)
def test_entities_have_what_backstage_requires(templates: Kernel, org: str) -> None:
    """Names, the fields of each kind, and references that lead to entities; `.ci/backstage` asks Backstage itself."""
    entities = entities_of(templates.organization(org).snapshot.index)
    required = {"System": {"owner"}, "Group": {"type", "children"}, "AiResource": {"type", "lifecycle", "owner"}, "API": {"type", "remotes"}}  # fmt: skip
    names = [(each["kind"], each["metadata"]["name"].lower()) for each in entities]
    assert len(set(names)) == len(names)
    groups = {name for kind, name in names if kind == "Group"}
    for each in entities:
        assert each["apiVersion"] == "backstage.io/v1alpha1"
        assert set(each["spec"]) >= required[each["kind"]]
        assert re.fullmatch(r"[A-Za-z0-9]+([-_.][A-Za-z0-9]+)*", each["metadata"]["name"])
        assert len(each["metadata"]["name"]) <= 63
        spec = each["spec"]
        assert {spec.get("owner", "group:x").removeprefix("group:")} <= groups | {"x"}
        assert {each.lower() for each in (*spec.get("children", ()), *([spec["parent"]] if "parent" in spec else []))} <= groups  # fmt: skip


def test_names_and_texts_stay_what_they_are(shop: OrgView) -> None:
    """An id that is not a valid name is replaced by a unique one; a string is a string in every version of YAML."""
    entities = entities_of(shop)
    groups = {each["metadata"]["annotations"]["orgkernel/id"]: each for each in entities if each["kind"] == "Group"}  # fmt: skip
    assert list(groups) == ["chief", "Clerk", "clerk", "_odd__one"]
    names = [each["metadata"]["name"] for each in groups.values()]
    assert names[:2] == ["chief", "Clerk"]
    assert len({name.lower() for name in names}) == 4
    assert groups["chief"]["spec"]["children"] == names[1:]
    assert groups["clerk"]["metadata"]["description"] == "0o7 \u2028 on: # clerk"
    apis = [each["metadata"]["name"] for each in entities if each["kind"] == "API"]
    assert apis == ["read_issue", "close_issue", "nameless", "outside", "long"], "an address with a password is none"  # fmt: skip
    assert losses_of(export_backstage(shop))["role ids that are not valid names in Backstage"] == 2


def test_a_long_id_keeps_within_the_limit() -> None:
    """And stays apart from one that begins alike."""
    ids = ["a" * 99 + "x", "a" * 99 + "y", "_", "_-_"]
    names = list(map_names(ids).values())
    assert len(set(names)) == 4
    assert all(0 < len(name) <= 63 for name in names)


@pytest.mark.parametrize("target", EXPORTS)
def test_an_export_is_kept_in_step(tmp_path: Path, target: str) -> None:
    """It is written, is in step, is found to have drifted after an edit, and is written again without `--force`."""
    chief = f"{SHOP['roles/0.yaml']}role_type: commander\ncapabilities: {{intents: [sell]}}\n"
    greet = "---\nname: greet\ndescription: Greets a customer. Use when one enters.\n---\nSay hello.\n"
    folder = write_tree(tmp_path / "shop", {**SHOP, "roles/0.yaml": chief, "skills/greet/SKILL.md": greet})

    def export(*options: str) -> int:
        return run(
            "export",
            "--to",
            target,
            "--org",
            "shop",
            "--path",
            folder,
            "-o",
            "out",
            "--accept-losses",
            *options,
            cwd=tmp_path,
        ).returncode

    assert (export(), export("--check")) == (0, 0)
    role, tools, skill = folder / "roles" / "0.yaml", folder / "tools.yaml", folder / "skills/greet/SKILL.md"
    role.write_text(chief.replace("# chief", "# boss") + "position: worker\n", encoding="utf-8")
    tools.write_text(SHOP["tools.yaml"].replace("Reads issues.", "Shows issues."), encoding="utf-8")
    skill.write_text(greet.replace("hello", "good day"), encoding="utf-8")
    assert export("--check") == 1
    assert (export(), export("--check")) == (0, 0)
