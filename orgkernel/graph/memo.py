"""Cache values for each view. They belong to the module that computes them and live as long as the view.

The values are stored in the view, not in a table with weak keys: a value can refer to its view, as the tables of
access do, and would keep the view alive in such a table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from orgkernel.graph.questions import OrgView

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class PerView(Generic[T]):
    """A decorator for a function that is called once for each view."""

    def __init__(self, function: Callable[[OrgView], T]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, view: OrgView) -> T:
        """The value of the function for this view."""
        answer: T
        try:
            answer = view.memos[self]
        except KeyError:
            # Two threads can both compute it. Both then use the value that was stored first.
            answer = view.memos.setdefault(self, self._function(view))
        return answer


class PerViewAndKey(Generic[K, T]):
    """A function that is called once for each view and key, while a view has at most `most` keys.

    Above that, all values of the view are dropped, so that a caller with many keys cannot fill the memory.
    """

    def __init__(self, function: Callable[[OrgView, K], T], most: int) -> None:
        self._function = function
        self._most = most
        self._answers: PerView[dict[K, T]] = PerView(lambda view: {})
        update_wrapper(self, function)

    def __call__(self, view: OrgView, key: K) -> T:
        """The value of the function for this view and key."""
        answer: T
        try:
            # Inlined `self._answers(view)`, because this is called a million times.
            answer = view.memos[self._answers][key]
            return answer
        except KeyError:
            answers = self._answers(view)
        answer = self._function(view, key)
        if len(answers) >= self._most:
            answers.clear()
        answers[key] = answer
        return answer


def per_view_and_key(most: int) -> Callable[[Callable[[OrgView, K], T]], PerViewAndKey[K, T]]:
    """The decorator for `PerViewAndKey`."""
    return lambda function: PerViewAndKey(function, most)
