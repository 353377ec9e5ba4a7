"""`orgkernel policy`: what a policy changes, compared with documents in which it is not enabled."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.decisions.access.policy_effect import PolicyAnswer
from tests.support.in_process import run_here
from tests.support.trees import copy_template, write_tree

KINDS = ("tool", "credential", "data", "role")
HOUSEHOLD = sorted(Kernel.open().access("household").view.records.policies)
SHOP = """
_schema: orgkernel:organization
org_id: shop
hierarchy: {clerk: {}}
---
_schema: orgkernel:tool_catalog
tools:
  pay: {type: infra_service, side_effects: write}
  mail: {type: communication, side_effects: write}
---
_schema: orgkernel:role_profile
role_id: clerk
description: Buys what the shop needs.
capabilities: {tools_primary: [pay, mail]}
---
_schema: orgkernel:access_policies
policies:
  small-payments: {effect: ask, permissions: {tools: [pay], input: {amount: {more_than: 500}}}}
  no-mail: {effect: deny, match: {principal: {role: clerk}}, permissions: {tools: [mail]}}
  later: {effect: deny, enabled: false, permissions: {tools: [mail]}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path, {"shop/org.yaml": SHOP})


Answer = tuple[str, tuple[str, ...]]
"""An outcome with the conditions that could change it."""


def read_outcome(answer: PolicyAnswer) -> Answer:
    return answer.outcome, answer.conditions


def read_answers(kernel: Kernel, subject: str) -> dict[tuple[str, str], Answer]:
    rows = kernel.what_can("household", subject, kinds=KINDS)
    return {(row.resource, action): (row.outcome, row.conditions) for row in rows for action in row.actions}


@pytest.mark.parametrize("policy", HOUSEHOLD)
def test_the_changes_are_those_of_removing_the_policy(tmp_path: Path, policy: str) -> None:
    """Each answer of a matched subject differs exactly as the explanation states, and no answer of another subject differs."""
    now, without = (
        copy_template(tmp_path / "now", "household"),
        copy_template(tmp_path / "without", "household"),
    )
    path = without / "policies.yaml"
    text = path.read_text(encoding="utf-8")
    edited = re.sub(rf"^  {policy}:\n", f"  {policy}:\n    enabled: false\n", text, flags=re.MULTILINE)
    assert edited != text
    path.write_text(edited, encoding="utf-8")

    kernel, other = Kernel.open(now), Kernel.open(without)
    explanation = kernel.explain_policy("household", policy)
    changes = {
        (subject, change.resource, action): (without_policy, with_policy)
        for change in explanation.changes
        for without_policy, with_policy in [tuple(map(read_outcome, (change.without, change.now)))]
        if without_policy != with_policy
        for subject, action in product(change.subjects, change.actions)
    }
    tables = kernel.access("household").view.records
    others = [f"role:{each}" for each in kernel.access("household").view.roles]
    others += [f"person:{each}" for each in tables.people]
    denied = ("deny", ())
    expected = {}
    for subject in dict.fromkeys((*explanation.subjects, *others)):
        before, after = read_answers(other, subject), read_answers(kernel, subject)
        for key in before.keys() | after.keys():
            pair = before.get(key, denied), after.get(key, denied)
            if pair[0] != pair[1]:
                expected[subject, *key] = pair
    assert changes == expected
    affected = {subject for change in explanation.changes for subject in change.subjects}
    assert affected >= {subject for subject, *_ in expected}
    assert {*explanation.unaffected} == {*explanation.subjects} - affected


def test_an_explanation_names_subjects_answers_and_lines(shop: Path) -> None:
    """The text names both answers, with the condition that the policy adds."""
    lines = run_here("policy", "explain", "small-payments", cwd=shop).stdout.splitlines()
    assert lines[:2] == ["small-payments: ask", "      shop/org.yaml:18"]
    assert lines[2].startswith("  matches role:clerk, person:user")
    assert lines[3:5] == [
        "  role:clerk: tool:pay",
        "      ask, depends on input:`amount` is more than 500 (without the policy: allow)",
    ]
    assert lines[5].startswith("  changes no answer for person:user")


def test_a_rule_about_some_calls_does_not_hide_another_policy(shop: Path) -> None:
    """Without arguments, both answers are a denial; the policy decides about the calls that the other one does not deny."""
    path = shop / "shop" / "org.yaml"
    more = "  ann-pays: {effect: deny, permissions: {tools: [pay], input: {payee: {none_of: [ann]}}}}\n"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    whole = "  every-payment: {effect: ask, permissions: {tools: [pay]}}\n"
    path.write_text(path.read_text(encoding="utf-8") + whole, encoding="utf-8")
    lines = run_here("policy", "explain", "every-payment", cwd=shop).stdout.splitlines()
    assert lines[3:5] == [
        "  role:clerk: tool:pay",
        "      deny, at best ask (without the policy: deny, at best allow)",
    ]


def test_the_stored_state_decides_too(shop: Path) -> None:
    """A policy that denies what a restriction denies anyway changes no answer."""
    before = json.loads(run_here("policy", "explain", "no-mail", "--format", "json", cwd=shop).stdout)
    assert [(each["subjects"], each["resource"]) for each in before["changes"]] == [
        (["role:clerk"], "tool:mail")
    ]
    done = run_here("restriction", "issue", "role:clerk", "tool:mail", "--org", "shop", cwd=shop)
    assert done.returncode == 0, done.stderr
    after = json.loads(run_here("policy", "explain", "no-mail", "--format", "json", cwd=shop).stdout)
    assert (after["changes"], after["unaffected"]) == ([], ["role:clerk"])
    assert after["state_version"] > before["state_version"]


def test_a_policy_that_is_not_enabled_changes_nothing(shop: Path) -> None:
    """Its explanation and the list state that it is not enabled."""
    assert run_here("policy", "explain", "later", cwd=shop).stdout.splitlines() == [
        "later: deny, not enabled",
        "      shop/org.yaml:20",
    ]
    rows = [line.split() for line in run_here("policy", "list", cwd=shop).stdout.splitlines()]
    assert rows[1:] == [
        ["later", "deny", "no", "shop/org.yaml:20"],
        ["no-mail", "deny", "yes", "shop/org.yaml:19"],
        ["small-payments", "ask", "yes", "shop/org.yaml:18"],
    ]


def test_an_unknown_policy_has_a_suggestion(shop: Path) -> None:
    """A misspelled name is not an empty answer."""
    done = run_here("policy", "explain", "no-mial", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert "organization `shop` has no policy `no-mial`" in done.stderr
    assert "did you mean `no-mail`?" in done.stderr


def test_the_arguments_of_a_call_are_one_option(shop: Path) -> None:
    """`--input` is `input` of `--context`, for `can`, `why` and `who-can`."""
    question = ("role:clerk", "use", "tool:pay")
    for amount, code in ((500, 0), (501, 3)):
        stated = json.dumps({"amount": amount})
        answers = [
            run_here(name, *question, *option, "--format", "json", cwd=shop)
            for name in ("can", "why")
            for option in (("--input", stated), ("--context", f'{{"input": {stated}}}'))
        ]
        assert [each.returncode for each in answers] == [code] * 4
        assert answers[0].stdout == answers[1].stdout
        assert answers[2].stdout == answers[3].stdout
        listed = run_here("who-can", *question[1:], "--input", stated, "--format", "json", cwd=shop).stdout
        assert [row["outcome"] for row in json.loads(listed)] == [["allow"], ["ask"]][amount > 500]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--input", "{"), "the input is not JSON"),
        (("--input", "[1]"), "the input is not a JSON object"),
        (("--input", "{}", "--context", '{"input": {}}'), "the input is given twice"),
    ],
)
def test_an_input_that_cannot_be_read_is_refused(shop: Path, options: tuple[str, ...], error: str) -> None:
    """No question is answered as if it stated no input."""
    done = run_here("can", "role:clerk", "use", "tool:pay", *options, cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {error}\n" in done.stderr
