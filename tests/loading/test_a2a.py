"""Agent cards are roles: of both versions, with what each must have, and with nothing that a card does not say."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.snapshots.roots import resolve_paths
from tests.support.format_trees import cards, new_card, old_card
from tests.support.in_process import run_here
from tests.support.trees import write_tree

NOTE = "note: read as A2A: 3 agents; `--from` chooses another format\n"


@pytest.fixture(scope="module")
def agency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of cards; no test changes it."""
    return cards(tmp_path_factory.mktemp("cards") / "agency")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("graph", ["agency (agency), 3 roles", "Recipe_20_Agent  Recipe Agent"]),
        ("manifest Route_20_Planner", ["Plans trips by bicycle and train", "Route_20_Planner_2f_plan-route", "routes.json:17"]),
        ("dispatch --text 'the fastest way by bicycle'", ["→ Route_20_Planner", "routes.json:19"]),
        ("dispatch --text 'recipes for the fridge'", ["→ Recipe_20_Agent"]),
    ],
)  # fmt: skip
def test_the_questions_work(agency: Path, words: str, said: list[str]) -> None:
    """With the line of the card that says so."""
    done = run_here(*shlex.split(words), "--path", "agency", cwd=agency.parent)
    assert done.returncode == 0, done.stderr
    assert [each for each in said if each not in done.stdout] == [], done.stdout
    assert done.stderr == NOTE


def test_cards_of_both_versions_have_no_finding(agency: Path) -> None:
    """Among them one with the fields of both, as the SDK writes it; a JSON file that is no card is passed over."""
    done = run_here("check", "agency", cwd=agency.parent)
    assert (done.returncode, done.stdout) == (0, "")
    counted = "no findings in 1 organization, 3 roles, 3 files; 1 file skipped: not orgkernel documents\n"
    assert done.stderr == NOTE + counted


def put(folder: Path, card: dict[str, Any], name: str = "agent-card.json") -> Path:
    """One card in a folder."""
    return write_tree(folder, {name: json.dumps(card, indent=1)})


@pytest.mark.parametrize(
    ("make", "field"),
    [
        *((new_card, each) for each in (
            "name", "description", "version", "supportedInterfaces", "capabilities", "defaultInputModes", "defaultOutputModes",
            "skills",
        )),
        *((old_card, each) for each in (
            "name", "description", "version", "url", "capabilities", "defaultInputModes", "defaultOutputModes", "skills",
        )),
    ],
)  # fmt: skip
def test_what_a_card_must_have(tmp_path: Path, make: Any, field: str) -> None:
    """Each field that the protocol demands, told with the version."""
    card = make("Seller", "Sells lamps")
    del card[field]
    version = "1.0" if make is new_card else "0.3"
    found = Kernel.open(put(tmp_path, card)).check()
    assert [each.code for each in found] == ["ORG101"]
    assert found[0].message.endswith(f"has no `{field}`, which A2A {version} requires")


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"skills": []}, ["ORG101"]),
        ({"defaultInputModes": []}, ["ORG101"]),
        ({"supportedInterfaces": [{"url": "x", "protocolBinding": "GRPC"}]}, ["ORG101"]),
        ({"skills": [{"id": "a", "name": "A", "description": "D"}]}, ["ORG101"]),
        ({"skills": [{"id": "a", "name": "A", "description": "D", "tags": []}]}, ["ORG101"]),
        ({"skills": [{"id": "a", "name": "A", "description": "D", "tags": ["t"]}] * 2}, ["ORG006"]),
        ({"skills": ["a"]}, ["ORG103"]),
        ({"name": 3}, ["ORG103"]),
        ({"name": "x" * 101}, ["ORG105"]),
        ({"metadata": {}, "x-rank": 3}, ["ORG102", "ORG102"]),
        ({"url": "x", "protocolVersion": "0.3"}, []),
        ({"signatures": [{"protected": "a", "signature": "b"}]}, ["ORG774"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_card(tmp_path: Path, change: dict[str, Any], codes: list[str]) -> None:
    """Errors are what the protocol forbids; a field that it does not know is a warning."""
    found = Kernel.open(put(tmp_path, new_card("Seller", "Sells lamps") | change)).check()
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(
    "at",
    [
        ".well-known/agent-card.json",
        ".well-known/agent.json",
        "agent-card.json",
        "shop/agent-card.json",
        "x.json",
    ],
)
def test_where_cards_lie(tmp_path: Path, at: str) -> None:
    """The well-known place, its older name, and folders of cards; a card by its own path is the same."""
    site = put(tmp_path / "site", old_card("Seller", "Sells lamps"), at)
    for path in (".", at):
        request = resolve_paths([path], str(site))
        assert request.detected
        (organization,) = Kernel.open(site / path).state.served
        assert organization == ("shop" if path.startswith("shop") else "site")


def test_a_folder_of_cards_in_a_site(tmp_path: Path) -> None:
    """Cards that lie together below the folder that is asked for are found."""
    for name in ("Seller", "Buyer"):
        put(tmp_path / "site", new_card(name, "Trades lamps"), f"cards/{name}.json")
    kernel = Kernel.open(tmp_path / "site")
    assert set(kernel.organization("site").snapshot.index.roles) == {"Seller", "Buyer"}


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"name": "x", "version": "1", "description": "d", "url": "u", "skills": []}'},
        {"openapi.json": '{"openapi": "3.1", "url": "x", "capabilities": {}}', "agent.json": '{"name": "x"}'},
        {".well-known/openid-configuration.json": '{"issuer": "x"}', ".well-known/assetlinks.json": "[]"},
        {"manifest.json": '{"capabilities": {}, "defaultInputModes": [], "skills": []}'},
    ],
)
def test_other_json_is_not_claimed(tmp_path: Path, files: dict[str, str]) -> None:
    """A card has skills, an address and what it reads and writes."""
    assert not resolve_paths(["."], str(write_tree(tmp_path, files))).detected
