"""axe, which finds what a page keeps from people with disabilities."""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.support.browser import Page
from tests.support.trees import REPOSITORY

_SCRIPT = REPOSITORY / ".venv/page/node_modules/axe-core/axe.min.js"


@cache
def _read_script() -> str:
    if not _SCRIPT.is_file():
        pytest.skip("axe is not installed: run `make .venv/page.stamp`")
    return _SCRIPT.read_text(encoding="utf-8")


def find_violations(page: Page, *rules: str) -> list[str]:
    """The violations, each with its first place: of some rules, or of all."""
    if not page.run("Boolean(window.axe)"):
        page.run(_read_script() + "\n;null")
    found = page.run(
        f"axe.run(document, {{resultTypes: ['violations'], ...({json.dumps(rules)}.length ? {{runOnly: {json.dumps(rules)}}} : {{}})}})"
        ".then(result => result.violations.map(each => `${each.id}: ${each.nodes[0].html.slice(0, 300)} ${each.nodes[0].failureSummary}`))"
    )
    return list(found)
