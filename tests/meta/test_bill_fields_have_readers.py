"""Every field of a bill changes a finding or an answer about it, or is told to people only (TOLD_ONLY)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.work.bills.filling import fill_bill_roles
from orgkernel.decisions.work.bills.next_steps import decide_next_steps
from tests.decisions.test_bill_corpus import CORPUS, NOW, build_state, instance_of
from tests.support.trees import read, write_tree
from tests.support.yaml_text import read_yaml

FILES = CORPUS["fire"]["files"]
FIRE = read_yaml(FILES["bills/fire.yaml"])
REPAIR = read_yaml(FILES["bills/repair.yaml"])

# Another value for each field.
FIELDS: dict[str, Any] = {
    "fire:slug": "blaze",
    "fire:activation": {},
    "fire:activation.trigger": "alert:YELLOW",
    "repair:activation.authority": "guard",
    "fire:roles": {"lead": {"role": "chief"}, "hands": {}, "watch": {}, "more": {}},
    "fire:roles.lead.role": "mason",
    "fire:roles.hands.department": "watch",
    "fire:roles.watch.min_rank": "junior",
    "repair:roles.hand.qualifications": [],
    "fire:roles.hands.count": 2,
    "fire:steps": FIRE["steps"][:1],
    "fire:steps.4.id": "stand_up",
    "fire:steps.2.action": "receive_message",
    "fire:steps.2.role": "lead",
    "fire:steps.3.roles": ["lead"],
    "repair:steps.1.skill": "plastering",
    "fire:steps.0.tool": "seal",
    "fire:steps.3.tool_action": "look",
    "repair:steps.2.channel": "yard_call",
    "repair:steps.3.sub_bill": "repair",
    "fire:steps.2.inputs": [],
    "fire:steps.2.inputs.0.name": "persons",
    "fire:steps.2.inputs.0.source": "activation.people",
    "fire:steps.0.outputs": [],
    "fire:steps.0.outputs.2.name": "notes",
    "fire:steps.0.outputs.1.type": "text",
    "fire:steps.0.outputs.0.values": ["none"],
    "fire:steps.1.gate": "lead",
    "fire:steps.0.timeout": 5,
    "fire:steps.3.condition": "wet.out",
    "fire:steps.0.gateway": "xor",
    "fire:steps.0.branches": ["stand_down"],
    "fire:steps.0.branches.0.to": "count",
    "fire:steps.0.branches.0.condition": 'sound.size == "none"',
    "fire:steps.1.next": "stand_down",
}


def observe(folder: Path) -> Any:
    """Findings, and what is decided in the cases of the corpus; no texts of manifests."""
    snapshot = read(folder)
    seen: list[Any] = sorted((found.code, found.message) for found in snapshot.diagnostics)
    view = snapshot.organizations["yard"].index
    for case in CORPUS["fire"]["cases"]:
        document = view.records.bills.get(case["bill"])
        if document is not None:
            state = build_state("yard", case.get("given", {}))
            found = decide_next_steps(view, state, document, instance_of(case), AccessContext(now=NOW))
            seen.append(without_digests(found))
            seen.append(without_digests(fill_bill_roles(view, state, document, AccessContext(now=NOW))))
    return seen


def without_digests(answer: Any) -> Any:
    """What every edit changes is left out: digests, lines, and the version that only names the bill."""
    return _plain(msgspec.json.decode(msgspec.json.encode(answer)))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {
            key: _plain(value)
            for key, value in data.items()
            if key not in ("digest", "snapshot", "why", "version")
        }
    return [_plain(each) for each in data] if isinstance(data, list) else data


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return observe(write_tree(tmp_path_factory.mktemp("before"), FILES))


@pytest.mark.parametrize(("field", "value"), [pytest.param(*each, id=each[0]) for each in FIELDS.items()])
def test_another_value_changes_an_answer(field: str, value: Any, tmp_path: Path, before: Any) -> None:
    """A finding, a proposal, or what may happen next."""
    bill, _, route = field.partition(":")
    document = copy.deepcopy({"fire": FIRE, "repair": REPAIR}[bill])
    *above, last = (int(step) if step.isdigit() else step for step in route.split("."))
    inner: Any = document
    for step in above:
        inner = inner[step]
    assert inner.get(last) != value
    inner[last] = value
    texts = {**FILES, f"bills/{bill}.yaml": yaml.safe_dump(document, sort_keys=False)}
    assert observe(write_tree(tmp_path, texts)) != before
