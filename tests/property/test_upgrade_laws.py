"""Laws of the upgrade, over role profiles written in many ways with any published words in their triggers."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.loading.files import decode
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.project.upgrade import plan_upgrades, upgrade_source, write_upgrades
from orgkernel.runtime.trigger_names import ALIASES, NAMES
from orgkernel.snapshots.roots import resolve_paths
from tests.support.trees import read

ORG = """\
_schema: orgkernel:organization
_version: "1.0"
org_id: small
hierarchy: {co: {subordinates: [dev]}, dev: {}}
"""
CO = '_schema: orgkernel:role_profile\n_version: "1.0"\nrole_id: co\nrole_type: commander\n'
TIERS = ("alternate", "contingent", "emergency")
VERSIONS = {"missing": "", "number": "1.0", "text": '"1.0"'}

Trigger = tuple[str, str]
"""As it is written, and as the names of the trigger language write it."""


@st.composite
def triggers(draw: st.DrawFn) -> Trigger:
    """Conditions joined by AND and OR, with any spacing."""
    space = st.sampled_from(("", " ", "   "))
    old, new = "", ""
    for number in range(draw(st.integers(1, 4))):
        if number:
            joint = draw(st.sampled_from((" AND ", " or  ")))
            old, new = old + joint, new + joint
        word = draw(st.sampled_from(sorted(ALIASES) + sorted(NAMES)))
        name = ALIASES.get(word, word)
        rest = ""
        if NAMES[name].kind == "number":
            sign = draw(st.sampled_from((">=", ">", "<", "!=")))
            rest = f"{draw(space)}{sign}{draw(space)}{draw(st.sampled_from(('1', '3', '0.5', 'max')))}"
        old, new = old + word + rest, new + name + rest
    return old, new


@st.composite
def profiles(draw: st.DrawFn) -> tuple[str, str, str]:
    """File name, text of an old profile and what it has to become."""
    version = draw(st.sampled_from(sorted(VERSIONS)))
    plan = draw(st.dictionaries(st.sampled_from(TIERS), triggers(), max_size=3))
    end = draw(st.sampled_from(("\n", "\r\n")))
    form = draw(st.sampled_from(("block", "flow", "json", "compact")))
    old, new = (_write(form, version, {tier: each[at] for tier, each in plan.items()}, draw_style, at == 1)
                for draw_style in [draw(st.sampled_from(("", "'", '"')))] for at in (0, 1))  # fmt: skip
    mark = draw(st.sampled_from(("", "\ufeff")))
    name = "roles/dev.json" if form in ("json", "compact") else "roles/dev.yaml"
    return name, mark + old.replace("\n", end), mark + new.replace("\n", end)


def _write(form: str, version: str, plan: dict[str, str], style: str, is_new: bool) -> str:
    written = '"1.0"' if is_new else VERSIONS[version]
    if form in ("json", "compact"):
        value: dict[str, Any] = {"_schema": "orgkernel:role_profile", "role_id": "dev"}
        if written:
            value = {"_schema": value["_schema"], "_version": json.loads(written), "role_id": "dev"}
        value["pace_plan"] = {
            tier: {"action": "narrow_scope", "trigger": each} for tier, each in plan.items()
        }
        return json.dumps(value, indent=2) if form == "json" else json.dumps(value, separators=(",", ":"))
    if form == "flow":
        tiers = ", ".join(
            f"{tier}: {{trigger: {style}{each}{style}, action: narrow_scope}}" for tier, each in plan.items()
        )
        middle = f" _version: {written}," if written else ""
        return (
            f"# ünicode\n{{_schema: orgkernel:role_profile,{middle} role_id: dev, pace_plan: {{{tiers}}}}}\n"
        )
    lines = ["---", "_schema:   orgkernel:role_profile  # what", "role_id: dev # 🚀", "", "pace_plan:"]
    if written:
        lines.insert(2, f"_version: {written}")
    for tier, each in plan.items():
        lines += [
            f"    {tier}:   # failures >= 1, not a trigger",
            f"      trigger:  {style}{each}{style}  # ö",
            "      action: narrow_scope",
        ]
    return "\n".join(lines) + ("\n" if style else "")


def _said(folder: Path) -> Any:
    """The manifests without triggers, places and versions; findings by their codes, in no order."""
    found = read(folder)

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {name: stripped(each) for name, each in value.items() if name not in _LEFT_OUT}
            if "findings" in value:
                kept["findings"] = sorted(each["id"] for each in value["findings"] if each["id"] != "ORG503")
            return kept
        return [stripped(each) for each in value] if isinstance(value, list) else value

    organization = found.organizations["small"]
    manifest = build_organization_manifest(
        organization.index, organization.index.roles, organization.diagnostics
    )
    return stripped(msgspec.json.decode(msgspec.json.encode(manifest))), [
        each.code for each in found.diagnostics
    ]


_LEFT_OUT = {"trigger", "snapshot", "line", "column"}


@settings(max_examples=24)
@given(profiles())
def test_an_upgrade_changes_the_words_and_nothing_else(profile: tuple[str, str, str]) -> None:
    """Every other byte stays, the manifest says the same, ORG503 is gone, and a second run changes nothing."""
    name, old, new = profile
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "roles").mkdir()
        (folder / "org.yaml").write_text(ORG, encoding="utf-8")
        (folder / "roles/co.yaml").write_text(CO, encoding="utf-8")
        (folder / name).write_bytes(old.encode())
        before, _ = _said(folder)
        request = resolve_paths([made], made)
        assert [each.source.name for each in write_upgrades(plan_upgrades(request, made))] == [name] * (
            old != new
        )
        assert (folder / name).read_bytes() == new.encode()
        after, codes = _said(folder)
        assert after == before
        assert "ORG503" not in codes
        assert not any(each.is_changed or each.refusal for each in plan_upgrades(request, made))


@settings(max_examples=120)
@given(profiles(), st.lists(st.tuples(st.integers(0, 400), st.sampled_from(tuple("\n\r \t'\"{}[],:&*#|>-\\x"))), max_size=3))  # fmt: skip
def test_whatever_a_file_holds_the_upgrade_ends_and_is_stable(
    profile: tuple[str, str, str], damage: list[tuple[int, str]]
) -> None:
    """A text that was damaged anywhere is rewritten or left alone, and what was rewritten stays."""
    name, text, _ = profile
    text = text.lstrip("\ufeff")
    for at, character in damage:
        text = text[:at] + character + text[at:]
    once = upgrade_source(decode(name, name, text.encode()), named=True)
    assert once is not None
    again = upgrade_source(decode(name, name, once.text.encode()), named=True)
    assert again is not None
    assert again.text == once.text
    assert [note.before for note in again.left] == [note.after for note in once.left]
