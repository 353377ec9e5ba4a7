"""Answers that are worked out once for each view."""

from __future__ import annotations

import gc
import weakref

from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.questions import OrgView
from tests.support.trees import TEMPLATES, read

asked: list[object] = []


@PerView
def itself(view: OrgView) -> OrgView:
    """The view."""
    asked.append(view.org_id)
    return view


@per_view_and_key(most=2)
def word(view: OrgView, key: str) -> str:
    """The organization with a key."""
    asked.append(key)
    return f"{view.org_id}/{key}"


def fresh_view() -> OrgIndex:
    """A view without other references."""
    organization = read(TEMPLATES / "blank").organizations["blank"]
    return OrgIndex(organization.records, organization.columns)


def test_each_view_is_asked_once() -> None:
    """One answer is kept for each view."""
    asked.clear()
    views = fresh_view(), fresh_view()
    assert [itself(each) for each in (*views, *views)] == [*views, *views]
    assert asked == ["blank", "blank"]


def test_an_answer_that_refers_to_its_view_goes_with_it() -> None:
    """A view that is replaced by a reload is freed although an answer about it holds it."""
    view = fresh_view()
    itself(view)
    gone = weakref.ref(view)
    del view
    gc.collect()
    assert gone() is None


def test_a_view_keeps_no_more_keys_than_agreed() -> None:
    """The third key makes a view with room for two start over; the answers stay right."""
    asked.clear()
    view = fresh_view()
    assert [word(view, key) for key in "aabbca"] == [f"blank/{key}" for key in "aabbca"]
    assert asked == ["a", "b", "c", "a"]
