"""Every item of a manifest says why, down to a line that really says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orgkernel.graph.schema import SCHEMA, EdgeKind, NodeKind
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.organization import build_organization_manifest
from tests.support.trees import write_tree
from tests.unit.manifest.everything import EVERYTHING

ROLES = [
    (org, role) for org, each in Kernel.open().state.served.items() for role in each.snapshot.index.roles
]
# Words of a sentence that name neither of its ends.
GRAMMAR = {word for kind in EdgeKind for word in kind.value.split("_")} | {kind.value for kind in NodeKind}
GRAMMAR |= {"is", "of", "written", "not", "profile", "channel"}
assert set(SCHEMA) == set(EdgeKind)


def items(data: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every item of a list, and every single item that has `why`, with the way to it."""
    if isinstance(data, dict):
        if "why" in data:
            yield path, data
        for key, value in data.items():
            if key != "value":
                yield from items(value, f"{path}.{key}")
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from items(value, f"{path}[{number}]")


def as_data(manifest: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(manifest))


def check_reasons(kernel: Kernel, manifest: Any) -> None:
    lines = {
        name: Path(path).read_text(encoding="utf-8").split("\n")
        for name, path in kernel.state.latest.tree.paths.items()
    }
    seen = 0
    for path, item in items(as_data(manifest)):
        assert item["why"], path
        for why in item["why"]:
            assert 1 <= why["line"] <= len(lines[why["file"]]), (path, why)
            line = lines[why["file"]][why["line"] - 1]
            said = why["text"].endswith("the default applies") or mentions(
                line, item.get("id", ""), why["text"]
            )
            assert said, (path, item.get("id"), why, line)
            seen += 1
    assert seen


def mentions(line: str, item_id: str, sentence: str) -> bool:
    """Whether a line holds the item's id, or the beginning of a text, or the other end of the sentence."""
    if item_id and item_id[:30] in line:
        return True
    words = [word for word in re.findall(r"[\w-]+", sentence) if word not in GRAMMAR]
    return any(re.search(rf"\b{re.escape(word)}\b", line) for word in words)


@pytest.mark.parametrize(("org", "role"), ROLES)
def test_reasons_of_a_role_lead_to_lines_that_say_so(shipped: Kernel, org: str, role: str) -> None:
    """The file exists, the line exists, and it holds the item's id, its setting's name or the other end of the edge."""
    check_reasons(shipped, shipped.manifest(org, role))


@pytest.mark.parametrize("org", ["blank", "sigint_alpha", "software_dev"])
def test_reasons_of_an_organization_lead_to_lines_that_say_so(shipped: Kernel, org: str) -> None:
    """Its own items, and those of all its roles."""
    check_reasons(shipped, shipped.crew(org))


def test_reasons_hold_where_every_field_is_used(whole: Kernel) -> None:
    """Overrides, lists in both styles, catalogs of its own."""
    assert whole.check() == ()
    check_reasons(whole, whole.crew("whole"))


@pytest.mark.parametrize(("org", "role"), ROLES)
def test_every_item_of_a_list_has_an_id_and_a_reason(shipped: Kernel, org: str, role: str) -> None:
    """Nothing is listed bare, but for ids that are explained where they are listed (steps, actions, missing tools)."""
    bare = {".plans.domains", ".plans.steps", ".plans.missing_tools", ".tools.allowed_actions", ".tools.conditional_actions", ".tools.falls_back_to",
            ".tools.capped_by", ".tools.grants", ".tools.gated_by", ".requestable_tools.waives",
            ".cognitive_skills.departments", ".cognitive_skills.intents", ".cognitive_skills.triggers"}  # fmt: skip
    check_lists(
        as_data(shipped.manifest(org, role)),
        bare | {name.replace(".tools", ".essential_tools") for name in bare},
    )


def check_lists(data: Any, bare: set[str], path: str = "") -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in ("why", "value", "input_schema"):
                check_lists(value, bare, f"{path}.{key}")
    elif isinstance(data, list) and path not in bare:
        for item in data:
            assert item["id"], path
            assert item["why"], path
            check_lists(item, bare, path)
    elif isinstance(data, list):
        assert all(isinstance(item, str) for item in data)


def test_a_default_is_reported_as_a_default(whole: Kernel) -> None:
    """A setting that is not set says so, one that is set says where."""
    facts = {fact.id: fact for fact in whole.manifest("whole", "maker").doctrine}
    assert facts["autonomous_retry_limit"].why[0].text == "doctrine.autonomous_retry_limit is set"
    assert (
        facts["report_on_failure"].why[0].text == "doctrine.report_on_failure is not set; the default applies"
    )


def line_of(whole: Kernel, why: Any) -> str:
    path = whole.state.latest.tree.paths[why.file]
    return Path(path).read_text(encoding="utf-8").split("\n")[why.line - 1].strip()


def test_what_the_organization_overrides_is_shown_with_its_line(whole: Kernel) -> None:
    """The value that holds here, and the organization's line, not the profile's."""
    maker = whole.manifest("whole", "maker")
    shown = {
        fact.id: (fact.value, line_of(whole, fact.why[0])) for fact in (*maker.doctrine, *maker.requirements)
    }
    assert shown["salute_interval_turns"] == (3, "salute_interval_turns: 3")
    assert shown["autonomous_retry_limit"] == (1, "autonomous_retry_limit: 1")
    assert shown["preferred_model"] == ("small", "requirements: {preferred_model: small}")
    assert shown["min_context_tokens"] == (4096, "min_context_tokens: 4096")
    tiers = {tier.id: tier for tier in maker.pace.tiers}
    assert tiers["contingent"].trigger == "consecutive_tool_failures >= 2"
    assert tiers["contingent"].why[0].file == "org.yaml" or tiers["contingent"].why[0].file.endswith(
        "/org.yaml"
    )
    assert tiers["emergency"].why[0].file.endswith("roles/maker.yaml")
    assert [(each.tier, each.id) for each in maker.escalation] == [
        ("contingent", "chief"),
        ("emergency", "chief"),
    ]
    assert maker.layer is not None
    assert (maker.layer.id, line_of(whole, maker.layer.why[0])) == ("bottom", "layer: bottom")


def test_a_domain_without_a_role_has_a_reason(tmp_path: Path) -> None:
    """If a domain is undeclared or has no role that takes it, the reason is the role that lists it."""
    text = EVERYTHING["roles/maker.yaml"].replace("    - build\n", "    - build\n    - biuld\n    - coding\n")
    kernel = Kernel.open(write_tree(tmp_path, EVERYTHING | {"roles/maker.yaml": text}))
    latest = kernel.latest("whole")
    crew = build_organization_manifest(latest.index, latest.index.roles, latest.diagnostics)
    reasons = {coverage.id: [why.text for why in coverage.why] for coverage in crew.domains}
    assert reasons["biuld"] == ["role maker handles domain biuld"]
    assert reasons["coding"] == ["role maker handles domain coding"]
