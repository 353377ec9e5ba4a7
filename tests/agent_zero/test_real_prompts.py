"""The prompts of real checkouts, read by their own loader: the goals, the table of the documentation, and the doubles.

`A0_ROOT` names the checkouts, each in a folder with the name of its version. Without it, these tests are not there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from extension.host.tool_texts import list_served_tools
from orgkernel.exchange.agent_zero.host import find_generation, open_host
from orgkernel.runtime.bundle import read_bundle
from tests.agent_zero.double_prompts import STOCK_TOOLS
from tests.support.trees import REPOSITORY
from tools.host_figures import BUNDLES, measure_roles, read_host_prompts, render_rows

ROOTS = [root for root in os.environ.get("A0_ROOT", "").split(os.pathsep) if root]
OF_CATALOGS = frozenset(tool for tools, _, _ in STOCK_TOOLS.values() for tool in tools)

# The tokenizer reads its tables in a way that Python calls outdated.
pytestmark = [pytest.mark.real_host, pytest.mark.filterwarnings("ignore:open_binary:DeprecationWarning")]


@pytest.fixture(scope="module", params=ROOTS or ["none"])
def host(request) -> tuple[str, dict]:
    """A checkout and its prompts."""
    return request.param, read_host_prompts(request.param)


@pytest.mark.parametrize("org_id", ["software_dev", "sigint_alpha"])
def test_each_specialist_is_spared_most_of_the_prompt(host, org_id):
    """At least 60 % of the tool section and 45 % of the whole prompt, with the brief, in every version."""
    bundle = read_bundle(json.loads((BUNDLES / f"{org_id}.json").read_text(encoding="utf-8")))
    for figures in measure_roles(host[1], bundle):
        if bundle.roles[figures.role].role_type == "specialist":
            assert figures.tools_after <= 0.4 * figures.tools_before, figures
            assert figures.prompt_after <= 0.55 * figures.prompt_before, figures


def test_the_table_of_the_documentation_is_that_of_the_host(host):
    """`python -m tools.host_figures` prints it. A version that the page does not show is not compared."""
    root, prompts = host
    version = Path(root).name.removeprefix("v")
    lines = (REPOSITORY / "docs/agent-zero.md").read_text(encoding="utf-8").splitlines()
    heads = next(line for line in lines if line.startswith("| role | 0.9.7: tools"))
    columns = [each.strip() for each in heads.split("|")]
    if f"{version}: tools" not in columns:
        pytest.skip(f"the page has no column for {version}")
    at = columns.index(f"{version}: tools")
    for name, cells in render_rows([prompts], ("sigint_alpha", "software_dev")).items():
        row = next(line for line in lines if line.startswith(f"| {name} |"))
        assert [each.strip() for each in row.split("|")][at : at + 2] == cells[:2]


def test_the_doubles_have_the_files_of_the_host(host):
    """The same tools in each file, and from 0.9.8 on, the same length. A list of profiles belongs to the installation."""
    root, prompts = host
    names = {f"agent.system.tool.{name}.md": name for name in STOCK_TOOLS}
    texts = {names[file]: (file, text) for file, text in prompts["files"].items() if file in names}
    for name, (file, text) in texts.items():
        assert list_served_tools(file, text, OF_CATALOGS) == set(STOCK_TOOLS[name][0])
    if find_generation(open_host(root)).name == "G1":
        return
    lengths = {name: len(text) for name, (_, text) in texts.items() if name != "call_sub"}
    columns = [
        {name: STOCK_TOOLS[name][column] or length for name, length in lengths.items()} for column in (1, 2)
    ]
    assert lengths in columns
