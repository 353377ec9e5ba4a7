"""The page about Agent-Zero quotes refusals as the host gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from extension.host import gate
from extension.host.organization import Active, Settings
from orgkernel.runtime.bundle import BundleRole, read_bundle
from tests.support.trees import REPOSITORY

PAGE = REPOSITORY / "docs/agent-zero.md"
BUNDLE = REPOSITORY / "extension/organizations/bundles/software_dev.json"


def nobody(tool: str) -> None:
    """No role takes the work over."""


def refuse(active: Active, role: BundleRole) -> str | None:
    return gate.judge(active, role, "browser_agent", None, (), nobody, {})


def answer_misspelled(active: Active, role: BundleRole) -> str | None:
    return gate.answer_unknown(active, role, "serch_engine", (), nobody)


@pytest.mark.parametrize("answer", [refuse, answer_misspelled])
def test_the_page_quotes_what_the_model_reads(
    answer: Callable[[Active, BundleRole], str | None],
) -> None:
    """Word by word, apart from the line breaks."""
    bundle = read_bundle(json.loads(BUNDLE.read_text(encoding="utf-8")))
    active = Active(Settings(), bundle, None, compiled=True)
    said = answer(active, bundle.roles["bugfix_specialist"])
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert said is not None
    assert re.sub(r"\s+", " ", said) in page
