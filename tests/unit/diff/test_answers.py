"""Answers that differ, one edit at a time: what is told, with which sign, and under which edit."""

from __future__ import annotations

from typing import Any

import pytest

from orgkernel.diff.organizations import OrganizationComparison, compare_versions_of
from tests.property.test_diff_answers import DOCUMENTS, edited, read_version

LINES = (
    ("tools.json", ("tools", "deploy", "restricted_to"), None,
     ["+ person:olga and person:user may now use `deploy`"]),
    ("tools.json", ("tools", "shell", "rank_matrix"), {"ensign": "full", "captain": "full"},
     ["+ dev, lead, sre, agent:ada and agent:bob may now use `shell`",
      "+ deployer may now use `shell`, except at `22:00-06:00`"]),
    ("tools.json", ("tools", "approve", "departments"), ["biz"],
     ["- sre and agent:bob may no longer use `approve`"]),
    ("tools.json", ("tools", "mail", "credentials"), ["cluster"],
     ["? lead, person:olga and person:user: to use `mail` now needs to do without the credential `cluster`"]),
    ("tools.json", ("tools", "deploy", "description"), "Deploys.",
     ["~ tool deploy: description is `Deploys.` instead of nothing, for 2 roles"]),
    ("crew.json", ("agents", "ada", "rank"), "captain", ["+ agent:ada may now use `shell`"]),
    ("crew.json", ("agents", "bob", "assignments"), [{"role": "sre"}, {"role": "lead"}],
     ["+ agent:bob may now hand work to `deployer`, `dev` and `sre`",
      "+ agent:bob may now use `call_subordinate` and `mail`",
      "~ lead gains agent bob"]),
    ("crew.json", ("agents", "ada", "assignments"), [{"role": "dev", "watches": ["beta"]}],
     ["? agent `ada`: `assignments` gains `{role: dev, watches: [beta]}` and loses `{role: dev}`"]),
    ("ranks.json", ("ranks",), [{"id": "ensign", "trust_from": 0.0}, {"id": "captain", "trust_from": 0.4}],
     ["+ agent:bob may now use `shell`"]),
    ("ranks.json", ("ranks",), [{"id": "ensign", "trust_from": 0.0}, {"id": "captain", "trust_from": 0.7}],
     ["+ rank `captain`: `trust_from` is `0.7` instead of `0.8`"]),
    ("domains.json", ("aliases", "deploys"), "sales", ["~ domain `deploys` goes to role `lead` instead of no role"]),
    ("roles/lead.json", ("may_grant",), [{"tool": "shell", "level": "full"}],
     ["+ lead gains right to grant shell up to level full"]),
    ("org.json", ("separations",), {"two": {"tools": ["deploy", "mail"]}},
     ["- `separations` is set to `{two: {tools: [deploy, mail]}}`"]),
    ("policies.json", ("policies", "approve_deploy"), None,
     ["+ deployer, sre and agent:bob may now use `deploy` without approval"]),
    ("policies.json", ("policies", "partner_mail", "match", "conditions"), [{"channel": "teams"}],
     ["+ person:carl may now use `mail` with channel `teams`",
      "- person:carl may no longer use `mail` with channel `slack`"]),
    ("policies.json", ("policies", "gamma"), {"match": {"watch": ["gamma"]}, "effect": "ask", "permissions": {"tools": ["mail"]}},
     ["- lead, person:olga and person:user may now use `mail` only with approval with watch `gamma`",
      "- person:carl may now use `mail` only with approval with channel `slack` and watch `gamma`",
            "- person:carl may no longer use `notes` with watch `gamma`, but not in every combination of circumstances",
            "- person:unknown, webhook:ci and every built-in system origin may no longer use `notes` with watch `gamma`"]),
)  # fmt: skip
SIGNS = {"widened": "+", "narrowed": "-", "unclear": "?", "neutral": "~"}


def compare(*edits: tuple[str, tuple[str, ...], Any]) -> OrganizationComparison:
    return compare_versions_of("shop", read_version(DOCUMENTS), read_version(edited(DOCUMENTS, list(edits))))


def list_lines(comparison: OrganizationComparison) -> list[str]:
    """The changes that are no findings, with their signs."""
    return [
        f"{SIGNS[each.classification]} {each.sentence}"
        for each in comparison.changes
        if "findings" not in each.path
    ]


@pytest.mark.parametrize(("file", "route", "value", "lines"), LINES, ids=[f"{'.'.join(each[1])}-{number}" for number, each in enumerate(LINES)])  # fmt: skip
def test_an_edit_tells_what_it_does(file: str, route: tuple[str, ...], value: Any, lines: list[str]) -> None:
    """The lines of one edit: each affected subject once, with the right sign."""
    told = list_lines(compare((file, route, value)))
    assert [line for line in lines if line not in told] == []
    assert [line for line in told if line not in lines and not line.startswith("~")] == []


def test_each_effect_is_under_the_edit_that_causes_it() -> None:
    """Two edits of one catalog each cause what they alone would."""
    first = ("tools.json", ("tools", "deploy", "restricted_to"), None)
    second = ("crew.json", ("agents", "ada", "rank"), "captain")
    comparison = compare(first, second)
    causes = {
        each.sentence: [comparison.edits[number].section for number in each.causes]
        for each in comparison.changes
    }
    assert causes["person:olga and person:user may now use `deploy`"] == ["tools"]
    assert causes["agent:ada may now use `shell`"] == ["agents"]


def test_two_edits_that_are_each_enough_are_both_causes() -> None:
    """Taking back one of them changes nothing, so each is tried alone on the old version."""
    rank = ("crew.json", ("agents", "ada", "rank"), "captain")
    matrix = ("tools.json", ("tools", "shell", "rank_matrix"), {"ensign": "full", "captain": "full"})
    comparison = compare(rank, matrix)
    sections = {
        tuple(sorted(comparison.edits[number].section for number in each.causes))
        for each in comparison.changes
        if "agent:ada" in each.subjects
    }
    assert sections == {("agents", "tools")}


def test_edits_that_work_only_together_are_both_causes() -> None:
    """A role that gets a tool, and the tool that is opened to it."""
    tool = ("roles/dev.json", ("capabilities", "tools"), [{"tool": "deploy", "level": "full"}])
    opened = ("tools.json", ("tools", "deploy", "restricted_to"), ["deployer", "sre", "dev"])
    comparison = compare(tool, opened)
    (change,) = [
        each
        for each in comparison.changes
        if each.subjects == ("agent:ada",) and "tool:deploy" in each.resources
    ]
    assert {comparison.edits[number].section for number in change.causes} == {"posts", "tools"}
