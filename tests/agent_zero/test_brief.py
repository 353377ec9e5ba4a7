"""The brief of a role is in every prompt of it: short, and nothing in it that the prompt shows anyway."""

from __future__ import annotations

from functools import cache

import msgspec
import pytest

from orgkernel import Kernel
from orgkernel.exchange.agent_zero.brief import MAX_TOKENS, render_brief
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.manifest.v1 import RoleManifest
from tests.support.tokens import count_tokens

ORGANIZATIONS = ("software_dev", "sigint_alpha", "blank", "household", "starship", "omega")


@cache
def roles(org: str) -> dict[str, dict]:
    """The compiled roles of an organization that comes with orgkernel."""
    found: dict[str, dict] = compile_bundle(Kernel.open().latest(org).index, "tests")["roles"]
    return found


@cache
def manifest(org: str, role_id: str) -> RoleManifest:
    """The manifest of a role."""
    return Kernel.open().manifest(org, role_id)


@pytest.mark.parametrize("org", ORGANIZATIONS)
def test_a_brief_has_at_most_120_tokens(org):
    """By the tokenizer of a model, for each role."""
    counted = {role_id: count_tokens(role["brief"]) for role_id, role in roles(org).items()}
    assert {role_id: count for role_id, count in counted.items() if count > 120} == {}


@pytest.mark.parametrize("org", ORGANIZATIONS)
def test_a_brief_names_whom_the_role_may_hand_work_to(org):
    """Each of them, or the first ones and how many more."""
    for role in roles(org).values():
        line = next((line for line in role["brief"].splitlines() if line.startswith("Delegate ")), "")
        named = [each for each in role["delegates_to"] if each in line]
        more = int(line.rpartition(" and ")[2].partition(" more")[0]) if " more." in line else 0
        assert len(named) + more == len(role["delegates_to"])
        assert len(named) >= min(len(role["delegates_to"]), 4)


def test_a_brief_does_not_repeat_what_the_prompt_shows():
    """Its tools are in the section before it."""
    for org in ORGANIZATIONS:
        for role in roles(org).values():
            named = {tool for tool in role["host_tools"] if f"`{tool}`" in role["brief"]}
            assert named <= {"response", "call_subordinate"}
            assert "Your tools" not in role["brief"]


@pytest.mark.parametrize(
    "word",
    [
        "Übersetzungsgrundsätze der Abteilung prüfen und freigeben",
        "Отдел проверки безопасности кораблей",
        "安全保障部門の担当者として文書を検査する",
        "قسم مراجعة الوثائق والأمن",
        "ฝ่ายตรวจสอบความปลอดภัย",
        "a_very_long_identifier_of_a_role_9f8e7d6c5b4a_x",
        "🛰️🔭🚀",
        "{{}}[]<>=+*&^%$#@!",
    ],
)
def test_a_brief_is_short_whatever_an_organization_says(word):
    """Long names, many subordinates and any script. It still says who the role is and how to hand on."""
    long = " ".join([word] * 12)
    first = manifest("software_dev", "co")
    above = first.subordinates[0]
    changed = msgspec.structs.replace(
        first,
        role_name=long,
        role_id=long.replace(" ", "_"),
        org_name=long,
        description=long,
        chain_of_command=(msgspec.structs.replace(above, name=long),),
    )
    text = render_brief(changed, [f"{word}_{number}" for number in range(40)])
    assert count_tokens(text) <= MAX_TOKENS
    assert text.startswith(f"You are the {word[:2]}")
    assert "`response`" in text
