"""Candidates as integers and bits give what sorting them one by one gives."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import yaml

from orgkernel.decisions import dispatch
from orgkernel.decisions.candidates import Candidates, positions
from orgkernel.decisions.dispatch import decide_dispatch
from orgkernel.decisions.preference import routing_order
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import TEMPLATES, write_tree

CORPUS = Path(__file__).parents[2] / "decisions" / "corpus"


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[OrgView]:
    """The organizations of the corpus, and the shipped ones."""
    found = [each.snapshot.index for each in Kernel.open(TEMPLATES).state.served.values()]
    for path in sorted(CORPUS.glob("*.yaml")):
        file = yaml.safe_load(path.read_text(encoding="utf-8"))
        kernel = Kernel.open(write_tree(tmp_path_factory.mktemp(path.stem), file["files"]))
        found.append(kernel.organization(file["org"]).snapshot.index)
    return found


def sorted_one_by_one(
    view: OrgView, domain: str, needs: tuple[str, ...]
) -> list[tuple[str, tuple[str, ...]]]:
    """Roles with what they lack, in the order that the page on dispatch describes."""
    ranked = {}
    for distance, near in enumerate(view.domain_and_broader(domain)):
        preferred = [*routing_order(view, near)]
        for role in view.roles:
            if role in ranked or all(edge.target != near for edge in view.domains_of(role)):
                continue
            has = {edge.target for edge in view.tools_of(role)} | {*view.essential_tools_of(role)}
            lacks = tuple(tool for tool in dict.fromkeys(needs) if tool not in has)
            kind = ["specialist", "executive", "commander"].index(view.records.posts[role].profile.role_type)
            place = preferred.index(role) if role in preferred else len(view.roles)
            ranked[role] = (
                (bool(lacks), distance, kind, place, len(view.domains_of(role)), view.roles.index(role)),
                lacks,
            )
    return [(role, lacks) for role, (_, lacks) in sorted(ranked.items(), key=lambda each: each[1][0])]


def test_order_is_that_of_sorting_one_by_one(views: list[OrgView]) -> None:
    """For every domain, alone and with any one or two tools, one that nobody has among them."""
    asked = 0
    for view in views:
        tools = [
            *dict.fromkeys(edge.target for role in view.roles for edge in view.tools_of(role)),
            "no_such_tool",
        ]
        tools = tools[:5] + tools[-1:] + [tool for tool, _ in view.essential][:2]
        for domain in view.records.domains:
            candidates = Candidates(view, domain, routing_order)
            for needs in [(), *((tool,) for tool in tools), *combinations(tools, 2)]:
                fitting = candidates.equipped_with(view, needs)
                order = [*positions(fitting), *positions(candidates.all ^ fitting)]
                found = [candidates.at(view, number, needs) for number in order]
                assert [(each.edge.source, each.lacks) for each in found] == sorted_one_by_one(
                    view, domain, needs
                )
                asked += bool(found)
    assert asked > 200


def test_remembered_questions_are_bounded(views: list[OrgView], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for, what is remembered stays little, and the answers the same."""
    monkeypatch.setattr(dispatch, "MOST_REMEMBERED", 10)
    view = views[0]
    first = [decide_dispatch(view, f"word_{number}", needs=[f"tool_{number}"]) for number in range(50)]
    assert len(view.remember("dispatch", dict)) <= 10
    assert [
        decide_dispatch(view, f"word_{number}", needs=[f"tool_{number}"]) for number in range(50)
    ] == first


def test_a_list_of_needs_may_be_changed_afterwards(views: list[OrgView]) -> None:
    """What was decided for some needs is not answered for others."""
    view = next(view for view in views if view.org_id == "software_dev")
    needs = ["no_such_tool"]
    assert decide_dispatch(view, "codegen", needs=needs).outcome == "not_applicable"
    needs.clear()
    assert decide_dispatch(view, "codegen", needs=needs).outcome == "role"
