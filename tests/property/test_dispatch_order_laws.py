"""The law of the order of dispatch: what rules read from its table is what dispatch answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings

from orgkernel.decisions.dispatch import decide_dispatch, explain_loss
from orgkernel.decisions.dispatch_order import find_tied, rank_handlers
from orgkernel.graph.assemble import assemble
from tests.reference.organizations import build_tree, build_views, trees


@settings(max_examples=100)
@given(trees())
def test_the_handlers_of_a_domain_rank_as_dispatch_says(documents: Mapping[str, Any]) -> None:
    """Who comes first for a domain, who ties with it and why the others lose is what dispatch says."""
    for records in assemble(build_tree(documents)).organizations:
        for view in build_views(records):
            for domain, ranked in rank_handlers(view):
                decision = decide_dispatch(view, domain, all_considered=True)
                first, *tied = find_tied(ranked)
                assert decision.role_id == first.role_id
                assert [each.role_id for each in tied] == [
                    each.role_id for each in decision.considered if each.code == "DECLARED_FIRST"
                ]
                losses = {each.role_id: each for each in decision.considered}
                for other in ranked[1:]:
                    assert explain_loss(view, first, other) == losses[other.role_id]
