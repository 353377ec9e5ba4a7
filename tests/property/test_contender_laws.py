"""The law of the table that rules on ties and losses read: it says what dispatch says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings

from orgkernel.decisions.dispatch import decide_dispatch, explain_loss, find_tie
from orgkernel.graph.assemble import assemble
from orgkernel.rules.contenders import contenders, find_handling
from tests.reference.organizations import build_tree, build_views, trees


@settings(max_examples=100)
@given(trees())
def test_contenders_agree_with_dispatch(documents: Mapping[str, Any]) -> None:
    """Who comes first for a domain, who ties with it and why others lose is what dispatch says."""
    for records in assemble(build_tree(documents)).organizations:
        for view in build_views(records):
            for domain, (first, *others) in contenders(view).items():
                decision = decide_dispatch(view, domain, all_considered=True)
                assert decision.role_id == first
                tied = [each.role_id for each in decision.considered if each.code == "DECLARED_FIRST"]
                assert others == tied
                tie = find_tie(view, domain)
                assert (tie is None) == (not others)
                handling = {edge.source: edge for edge in view.handlers_of(domain)}
                for each in decision.considered:
                    if each.role_id in handling:
                        chosen = find_handling(view, first, domain)
                        assert explain_loss(view, chosen, handling[each.role_id]) == each
