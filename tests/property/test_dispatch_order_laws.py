"""Laws of the order of dispatch: what rules read of it is what an answer says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings

from orgkernel.decisions.dispatch.by_domain import decide_dispatch, explain_loss
from orgkernel.decisions.dispatch.order import find_tied, rank_handlers
from orgkernel.graph.assemble import assemble
from tests.reference.organizations import build_tree, build_views, trees


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
                assert {each.role_id for each in ranked} == {
                    edge.source for edge in view.list_handlers(domain)
                }
