"""Dispatch: the parts of an answer that the corpus does not spell out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.order import find_tied, get_routing_order, rank_handlers
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import REPOSITORY, write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = REPOSITORY / "tests" / "decisions" / "corpus"


@pytest.fixture(scope="session")
def views(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OrgView]:
    """The organizations of the corpus."""
    found = {}
    for path in sorted(CORPUS.glob("*.yaml")):
        file = read_yaml_file(path)
        kernel = Kernel.open(write_tree(tmp_path_factory.mktemp(path.stem), file["files"]))
        found[path.stem] = kernel.organization(file["org"]).snapshot.index
    return found


def places(view: OrgView, word: str, code: str) -> list[tuple[str, int]]:
    (reason,) = (each for each in decide_dispatch(view, word).reasons if each.code == code)
    return [(Path(why.file).name, why.line) for why in reason.why]


@pytest.mark.parametrize(
    ("organization", "word", "code", "lines"),
    [
        ("routing", "a", "DOMAIN_ROUTING", [("org.yaml", 6)]),
        ("routing", "c", "DOMAIN_ROUTING", [("org.yaml", 8)]),
        ("preference", "a", "FEWER_DOMAINS", [("roles.yaml", 14), ("roles.yaml", 8)]),
        ("preference", "b", "ROLE_TYPE", [("roles.yaml", 3), ("roles.yaml", 1)]),
        ("preference", "e", "DECLARED_FIRST", [("org.yaml", 5), ("org.yaml", 5)]),
        ("broader", "child", "EXACT_DOMAIN", [("roles.yaml", 1), ("roles.yaml", 3)]),
        ("broader", "leaf", "BROADER_DOMAIN", [("org.yaml", 12), ("org.yaml", 11)]),
        ("words", "squashing", "ALIAS", [("org.yaml", 7)]),
        ("words", "daydreaming", "DOMAIN_UNMAPPED", [("org.yaml", 8)]),
    ],
)
def test_a_reason_leads_to_the_lines_that_decided(
    views: dict[str, OrgView], organization: str, word: str, code: str, lines: list[tuple[str, int]]
) -> None:
    """Not to the role's domains when something else decided between two roles."""
    assert places(views[organization], word, code) == lines


def test_a_broader_domain_is_explained_by_what_the_nearer_ones_lack(views: dict[str, OrgView]) -> None:
    """A role may take the domain and lack the tool; then it is wrong to say that none takes it."""
    first = decide_dispatch(views["broader"], "twig").reasons[0].text
    assert first == "no role takes `twig` itself, `all` is broader"
    passed_over = decide_dispatch(views["needs"], "narrow", needs=["crane"]).reasons[0].text
    assert passed_over == "no role takes `narrow` itself with the tools needed, `all` is broader"


@pytest.mark.parametrize(
    ("organization", "word", "text"),
    [
        ("words", "debuging", "no catalog declares domain `debuging`; did you mean `debugging`?"),
        ("words", "daydreaming", "`daydreaming` is an alias that means no domain here"),
        ("words", "conversational", "no role handles domain `conversational`"),
    ],
)
def test_a_refusal_gives_the_reason(
    views: dict[str, OrgView], organization: str, word: str, text: str
) -> None:
    """In a sentence a person can act on."""
    assert decide_dispatch(views[organization], word).reasons[-1].text == text


def test_executive_takes_the_article_it_needs(views: dict[str, OrgView]) -> None:
    """Sentences are for people."""
    text = decide_dispatch(views["preference"], "b").reasons[-1].text
    assert text == "role `xo` is preferred to `cmd`: an executive comes before a commander"


def test_a_tie_is_found_only_where_nothing_but_the_order_decides(views: dict[str, OrgView]) -> None:
    """The chosen role and those that could have been chosen as well."""
    tied = {
        domain: [each.role_id for each in find_tied(ranked)]
        for domain, ranked in rank_handlers(views["preference"])
    }
    assert tied["e"] == ["three", "four"]
    assert tied["a"] == ["two"]
    assert dict(rank_handlers(views["routing"]))["a"][0].role_id == "two"
    assert len(find_tied(dict(rank_handlers(views["routing"]))["a"])) == 1


def test_the_routing_of_a_domain_may_be_written_under_an_alias(views: dict[str, OrgView]) -> None:
    """And is empty where there is none."""
    assert get_routing_order(views["routing"], "c") == ("three", "one")
    assert get_routing_order(views["routing"], "e") == ()


@given(word=st.text(max_size=60), needs=st.lists(st.text(max_size=20), max_size=3))
def test_no_word_raises(views: dict[str, OrgView], word: str, needs: list[str]) -> None:
    """Error policy: passes through. Whatever is asked, the answer is `not_applicable` or a role that exists."""
    for view in views.values():
        decision = decide_dispatch(view, word, needs=needs)
        assert decision.asked == word
        assert decision.reasons
        if decision.outcome == "role":
            assert view.is_role(str(decision.role_id))
        else:
            assert (decision.role_id, decision.plans, decision.tools) == (None, (), ())
