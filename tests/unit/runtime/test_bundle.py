"""Reading a bundle: what is believed, and that nothing else gets past with anything but a `BundleError`."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.runtime.bundle import BundleError, compute_checksum_of, find_role, read_bundle
from tests.support.depth import DEPTH

KERNEL = Kernel.open()
BUNDLE = compile_bundle(KERNEL.organization("blank").snapshot.index, "orgkernel test")
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    [None],
    {},
    {"a": 1},
    [[1]],
)


def sealed(bundle: dict[str, Any]) -> dict[str, Any]:
    """With the checksum of what it holds now."""
    return {**bundle, "checksum": compute_checksum_of(bundle)}


def changed(route: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The bundle with one value replaced."""
    bundle = copy.deepcopy(BUNDLE)
    inner: Any = bundle
    for step in route[:-1]:
        inner = inner[step]
    inner[route[-1]] = value
    return sealed(bundle)


def routes(value: Any, route: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every value inside; of long lists and of equal entries the first."""
    if route:
        yield route
    steps: list[Any] = []
    if isinstance(value, dict):
        steps = list(value)[:8] if route[:1] in (("domains",), ("aliases",), ("tools",)) else list(value)
    elif isinstance(value, list):
        steps = list(range(min(len(value), 2)))
    for step in steps:
        yield from routes(value[step], (*route, step))


@pytest.mark.deep
def test_any_other_value_anywhere_is_read_or_refused() -> None:
    """One value replaced by something odd, every night each by each: a bundle that can be asked, or a `BundleError`."""
    refused = []
    for number, route in enumerate(routes(BUNDLE)):
        if route == ("checksum",) or (DEPTH == 1 and number % 3):
            continue
        for odd in ODD if DEPTH > 1 else (ODD[number % len(ODD)],):
            try:
                bundle = read_bundle(changed(route, odd))
            except BundleError as error:
                refused.append(error)
                continue
            for word in ("codegen", "coding", "nothing"):
                assert find_role(bundle, word).reason
    assert len(refused) > 100
    assert {error.code for error in refused} == {"NOT_A_BUNDLE", "BUNDLE_MALFORMED"}
    assert all(error.text for error in refused)


@pytest.mark.parametrize(
    "odd", [*ODD, {"_schema": "orgkernel:organization"}, {"_schema": ["orgkernel:agent_zero_bundle"]}]
)
def test_something_else_is_no_bundle(odd: Any) -> None:
    """Whatever was decoded."""
    with pytest.raises(BundleError) as refused:
        read_bundle(odd)
    assert refused.value.code == "NOT_A_BUNDLE"


@pytest.mark.parametrize(
    ("route", "value", "code", "where", "text"),
    [
        (("_version",), "2.0", "BUNDLE_TOO_NEW", "_version", "this runtime reads version 1.0, not 2.0; compile again, or upgrade the extension"),
        (("_version",), "one", "BUNDLE_MALFORMED", "_version", "`one` is not a version such as 1.0"),
        (("dispatch", "codegen"), "nobody", "BUNDLE_MALFORMED", "dispatch/codegen", "names role `nobody`, which is not among `roles`"),
        (("roles", "co", "role_id"), "xo", "BUNDLE_MALFORMED", "roles/co/role_id", "differs from its key `co`"),
        (("roles", "co", "essential"), ["rocket"], "BUNDLE_MALFORMED", "roles/co/essential", "names a tool that is not among `host_tools`"),
        (("roles", "co", "max_turns"), True, "BUNDLE_MALFORMED", "roles/co/max_turns", "is not a whole number above zero"),
        (("roles", "co", "pace"), {"fifth": {}}, "BUNDLE_MALFORMED", "roles/co/pace/fifth", "`fifth` is not a PACE tier"),
        (("tools", "input", "roles"), ["ghost"], "BUNDLE_MALFORMED", "tools/input/roles", "names role `ghost`, which is not among `roles`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    route: tuple[str, ...], value: Any, code: str, where: str, text: str
) -> None:
    """A code, the route to the value, and a sentence."""
    with pytest.raises(BundleError) as refused:
        read_bundle(changed(route, value))
    assert (refused.value.code, refused.value.where, refused.value.text) == (code, where, text)
    assert str(refused.value) == f"{where}: {text}"


def test_a_trigger_that_is_no_tree_is_refused() -> None:
    """Before anything evaluates it."""
    tier = {"action": "", "description": "", "text": "x", "escalate_to": None, "trigger": ["system", "rm"]}
    with pytest.raises(BundleError) as refused:
        read_bundle(changed(("roles", "co", "pace"), {"alternate": tier}))
    assert refused.value.where == "roles/co/pace/alternate/trigger"


def test_a_changed_bundle_is_refused() -> None:
    """Who gives a role another tool without compiling is found out."""
    bundle = copy.deepcopy(BUNDLE)
    bundle["roles"]["co"]["host_tools"].append("rocket")
    with pytest.raises(BundleError) as refused:
        read_bundle(bundle)
    assert (refused.value.code, refused.value.where) == ("BUNDLE_CHANGED", "checksum")


def test_formatting_and_newer_fields_do_not_matter() -> None:
    """Written in another order, indented in another way, with fields of a newer minor version."""
    backwards = json.loads(json.dumps(BUNDLE, sort_keys=True, indent=7))
    assert read_bundle(backwards).checksum == BUNDLE["checksum"]
    newer = sealed({**BUNDLE, "_version": "1.7", "later": {"a": [1]}})
    assert read_bundle(newer).roles == read_bundle(BUNDLE).roles


def test_what_json_cannot_hold_is_refused() -> None:
    """Values of other callers: keys that are no text, values without end."""
    endless: dict[str, Any] = dict(BUNDLE)
    endless["signals"] = {"again": endless}
    for odd in ({**BUNDLE, "signals": {1: 2, "a": 3}}, {**BUNDLE, "signals": {"x": object()}}, endless):
        with pytest.raises(BundleError) as refused:
            read_bundle(odd)
        assert refused.value.code in ("BUNDLE_MALFORMED", "BUNDLE_CHANGED")


@pytest.mark.parametrize(
    ("word", "domain", "reason"),
    [
        ("codegen", "codegen", "role `co` takes domain `codegen`"),
        ("coding", "codegen", "`coding` means domain `codegen`, and role `co` takes domain `codegen`"),
        ("osint", "osint", "no role handles domain `osint`"),
        ("philosophical", None, "`philosophical` is an alias that means no domain here"),
        ("juggling", None, "no catalog declares domain `juggling`"),
    ],
)
def test_a_choice_says_why(word: str, domain: str | None, reason: str) -> None:
    """The domain that the word means, and the role that takes it or the reason why none does."""
    choice = find_role(read_bundle(BUNDLE), word)
    assert (choice.domain, choice.reason) == (domain, reason)
    assert (choice.role is not None) == reason.endswith("takes domain `codegen`")
