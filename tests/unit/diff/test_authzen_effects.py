"""What AuthZEN words stand for is part of what a change of documents does."""

from __future__ import annotations

from pathlib import Path

from orgkernel.diff.authzen_effects import compare_authzen
from orgkernel.diff.change_words import describe_change
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import REPOSITORY

ORG = REPOSITORY / "tests/api/authzen/records"


def test_every_word_that_stands_for_something_else_is_told(tmp_path: Path) -> None:
    """Gained, lost and changed words, each with its line; the same words are no change."""
    for path in ORG.rglob("*.yaml"):
        copy = tmp_path / path.relative_to(ORG)
        copy.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8")
        text = text.replace("      user: {kind: agent}", "      person_id: {kind: agent}")
        copy.write_text(text.replace("action.soft: true", "action.soft: false"), encoding="utf-8")
    views = [Kernel.open(folder).organization("active").snapshot.index for folder in (ORG, tmp_path)]
    found = [describe_change(change) for change in compare_authzen(*views)]
    assert [(each.kind, each.sentence) for each in found] == [
        (
            "changed",
            'records: authzen.types.actions.delete is `[{"action":"soft_delete","where":{"action.soft":false}}]` '
            'instead of `[{"action":"soft_delete","where":{"action.soft":true}}]`',
        ),
        ("gained", 'records: authzen.types.subjects.person_id is `{"kind":"agent"}` instead of nothing'),
        ("lost", 'records: authzen.types.subjects.user is nothing instead of `{"kind":"agent"}`'),
    ]
    assert {each.classification for each in found} == {"unclear"}
    assert [why.line for each in found for why in (*each.why_before, *each.why_after)] == [20, 20, 14, 14]
    assert [*compare_authzen(views[0], views[0])] == []
