"""Laws of the quick tests that rules begin with: nothing that there is to say is left out for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from orgkernel.decisions.dispatch import decide_dispatch, explain_loss
from orgkernel.decisions.dispatch_order import find_tied, rank_handlers
from orgkernel.diagnostics import Diagnostic
from orgkernel.graph.assemble import assemble
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.rules.catalog import all_rules
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Rule, Scope
from tests.reference.organizations import build_tree, build_views, trees
from tests.rules.test_cases import lay_out, load_cases
from tests.support.trees import read


def findings(rule: Rule, view: OrgView, posts: list[RolePost]) -> list[Diagnostic]:
    """What a rule about single posts says about some of an organization's."""
    asked = (view,) if rule.scope is Scope.POST else ()
    return [found for post in posts for found in rule.run(*asked, post)]


def check_suspects(records: OrgRecords) -> None:
    """Every rule says about its suspects what it says about all posts."""
    for view in build_views(records):
        everybody = list(records.posts.values())
        for rule in all_rules():
            if rule.suspects is not None:
                suspects = list(rule.suspects(Posts(view)))
                assert findings(rule, view, suspects) == findings(rule, view, everybody), rule.code


@settings(max_examples=60)
@given(trees())
def test_suspects_hold_all_findings(documents: Mapping[str, Any]) -> None:
    """For any organization, no rule leaves out a post about which it has something to say."""
    for records in assemble(build_tree(documents)).organizations:
        check_suspects(records)


@pytest.mark.parametrize("code", load_cases())
def test_suspects_hold_all_findings_of_the_cases(code: str, tmp_path: Path) -> None:
    """Neither does one in any case of any rule, where all that rules have to say is said."""
    for name, case in load_cases()[code].items():
        (tmp_path / name).mkdir()
        lay_out(case, tmp_path / name)
        for organization in read(tmp_path / name).organizations.values():
            check_suspects(organization.records)


def test_every_rule_about_single_posts_has_suspects() -> None:
    """None of them is run for each of a hundred thousand posts."""
    single = [rule for rule in all_rules() if rule.scope in (Scope.PROFILE, Scope.POST)]
    assert [rule.code for rule in single if rule.suspects is None] == []


@settings(max_examples=100)
@given(trees())
def test_ranked_handlers_agree_with_dispatch(documents: Mapping[str, Any]) -> None:
    """Who comes first for a domain, who ties with it and why others lose is what dispatch says."""
    for records in assemble(build_tree(documents)).organizations:
        for view in build_views(records):
            for domain, ranked in rank_handlers(view):
                decision = decide_dispatch(view, domain, all_considered=True)
                assert decision.role_id == ranked[0].role_id
                tied = [each.role_id for each in decision.considered if each.code == "DECLARED_FIRST"]
                assert [each.role_id for each in find_tied(ranked)[1:]] == tied
                losses = [explain_loss(view, ranked[0], each) for each in ranked[1:]]
                assert losses == list(decision.considered[: len(losses)])
                assert {each.role_id for each in ranked} == {edge.source for edge in view.handlers_of(domain)}
