"""The table of the order gives what comparing candidates one by one gives, and the page lists it."""

from __future__ import annotations

from itertools import combinations

import pytest

from orgkernel.decisions.dispatch import by_domain as dispatch
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.order import ORDER, Candidate, get_routing_order
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import REPOSITORY, TEMPLATES, write_tree
from tests.support.yaml_text import read_yaml_file

PAGE = REPOSITORY / "docs" / "dispatch.md"
CORPUS = REPOSITORY / "tests" / "decisions" / "corpus"


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[OrgView]:
    """The organizations of the corpus, and the shipped ones."""
    found = [each.snapshot.index for each in Kernel.open(TEMPLATES).state.served.values()]
    for path in sorted(CORPUS.glob("*.yaml")):
        file = read_yaml_file(path)
        kernel = Kernel.open(write_tree(tmp_path_factory.mktemp(path.stem), file["files"]))
        found.append(kernel.organization(file["org"]).snapshot.index)
    return found


def sorted_one_by_one(
    view: OrgView, domain: str, needs: tuple[str, ...]
) -> list[tuple[str, tuple[str, ...]]]:
    """Roles with what they lack, in the order that the page on dispatch describes."""
    ranked = {}
    for distance, near in enumerate(view.list_domain_and_broader(domain)):
        preferred = [*get_routing_order(view, near)]
        for role in view.roles:
            if role in ranked or all(edge.target != near for edge in view.list_domains(role)):
                continue
            has = {edge.target for edge in view.list_tools(role)} | {*view.list_essential_tools(role)}
            lacks = tuple(tool for tool in dict.fromkeys(needs) if tool not in has)
            kind = ["specialist", "executive", "commander"].index(view.records.posts[role].profile.role_type)
            place = preferred.index(role) if role in preferred else len(view.roles)
            ranked[role] = (
                (bool(lacks), distance, kind, place, len(view.list_domains(role)), view.roles.index(role)),
                lacks,
            )
    return [(role, lacks) for role, (_, lacks) in sorted(ranked.items(), key=lambda each: each[1][0])]


def test_order_is_that_of_sorting_one_by_one(views: list[OrgView]) -> None:
    """For every domain, alone and with one or two needed tools, one of which no role has."""
    asked = 0
    for view in views:
        tools = [
            *dict.fromkeys(edge.target for role in view.roles for edge in view.list_tools(role)),
            "no_such_tool",
        ]
        tools = tools[:5] + tools[-1:] + [tool for tool, _ in view.essential][:2]
        for domain in view.records.domains:
            for needs in [(), *((tool,) for tool in tools), *combinations(tools, 2)]:
                expected = sorted_one_by_one(view, domain, needs)
                decision = decide_dispatch(view, domain, needs=needs, all_considered=True)
                first = [decision.role_id] if decision.role_id else []
                assert [*first, *(each.role_id for each in decision.considered)] == [
                    role for role, _ in expected
                ]
                lacking = [each.role_id for each in decision.considered if each.code == "LACKS_TOOL"]
                assert lacking == [role for role, lacks in expected if lacks]
                for each in decision.considered:
                    lacks = dict(expected)[each.role_id]
                    assert not lacks or each.text == f"it is not equipped with {listing(lacks)}"
                asked += bool(expected)
    assert asked > 200


def test_every_field_that_tells_candidates_apart_is_a_row() -> None:
    """The table compares every field of a candidate, and its last row is the order of declaration."""
    assert [criterion.field for criterion in ORDER] == [*Candidate.__struct_fields__[2:]]
    assert ORDER[-1].code == "DECLARED_FIRST"


def test_the_page_lists_the_order() -> None:
    """Codes and words of the table, row by row."""
    page = PAGE.read_text(encoding="utf-8")
    rows = [f"| `{criterion.code}` | {criterion.preference} |" for criterion in ORDER]
    assert "\n".join(rows) in page


def test_remembered_questions_are_bounded(views: list[OrgView]) -> None:
    """Whatever is asked for, what is remembered stays little, and the answers the same."""
    view = views[0]
    asked = [(f"word_{number}", [f"tool_{number}"]) for number in range(dispatch.MAX_CACHED + 50)]
    first = [decide_dispatch(view, word, needs=needs) for word, needs in asked]
    assert max(len(memo) for memo in view.memos.values() if isinstance(memo, dict)) <= dispatch.MAX_CACHED
    assert [decide_dispatch(view, word, needs=needs) for word, needs in asked] == first


def test_a_list_of_needs_may_be_changed_afterwards(views: list[OrgView]) -> None:
    """What was decided for some needs is not answered for others."""
    view = next(view for view in views if view.org_id == "software_dev")
    needs = ["no_such_tool"]
    assert decide_dispatch(view, "codegen", needs=needs).outcome == "not_applicable"
    needs.clear()
    assert decide_dispatch(view, "codegen", needs=needs).outcome == "role"
