"""Servers of the page and a browser that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.keys import location_of, new_key
from tests.api.running import Server, running
from tests.page.seeding import seed_everything
from tests.support.browser import Page, browsing
from tests.support.trees import TEMPLATES, copy_template, write_tree

MARKUP = (
    "<img src=x onerror=\"window.ran='yes'\"><script>window.ran='yes'</script><b>bold</b> &lt;i&gt; {{7*7}}"
)
RIGHT_TO_LEFT = "\u05de\u05e4\u05e7\u05d3 \u202egnitset\u202c \u0627\u0644\u0642\u0627\u0626\u062f"
LONG = "Endless" * 1_500


def write_hostile(folder: Path) -> Path:
    """An organization whose texts are markup, run from right to left, or are endless."""
    roles = {
        "boss": (MARKUP, "null", 3),
        "backward": (RIGHT_TO_LEFT, "boss", 1),
        "endless": (LONG, "boss", 1),
    }
    files = {
        "org.yaml": (
            f"_schema: orgkernel:organization\norg_id: hostile\norg_name: {json.dumps(MARKUP)}\ndescription: {json.dumps(LONG)}\n"
            "hierarchy:\n  boss: {subordinates: [backward, endless]}\n  backward: {}\n  endless: {}\n"
        ),
        "crew.yaml": (
            "_schema: orgkernel:crew_roster\norg: hostile\nagents:\n"
            f"  first: {{callsign: {json.dumps(MARKUP)}, assignments: [{{role: boss}}]}}\n  idle: {{callsign: Idle}}\n"
        ),
    }
    for role, (name, superior, level) in roles.items():
        files[f"roles/{role}.yaml"] = (
            f"_schema: orgkernel:role_profile\nrole_id: {role}\nrole_name: {json.dumps(name)}\n"
            f"role_type: {'commander' if level == 3 else 'specialist'}\ndescription: {json.dumps(name)}\n"
            f"chain_of_command: {{reports_to: {superior}, authority_level: {level}}}\n"
            f"capabilities: {{bst_domains: [{'codegen' if level == 1 else ''}], tools_primary: [text_editor]}}\n"
            f"does_not_have: [{json.dumps(MARKUP)}]\nexamples: [{json.dumps(MARKUP)}]\n"
        )
    write_tree(folder / "hostile", files)
    return folder / "hostile"


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser with one page, whose console is watched. It starts once, and each test opens its own address."""
    with browsing(tmp_path_factory.mktemp("browser")) as page:
        page.watch()
        yield page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of three organizations: one with a crew, one without, and a hostile one."""
    folder = tmp_path_factory.mktemp("page")
    paths = [TEMPLATES / "software_dev", TEMPLATES / "starship", write_hostile(folder)]
    with running(folder, *paths) as server:
        yield server


@pytest.fixture(scope="session")
def stored_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the starship with a store that has something in every view. `key` opens everything."""
    folder = tmp_path_factory.mktemp("stored")
    store = folder / "state.db"
    key = new_key(location_of(store), ["admin"])
    with running(folder, copy_template(folder / "starship", "starship"), store=store) as server:
        server.key = key
        seed_everything(server, key, new_key(location_of(store), ["request"]))
        yield server
