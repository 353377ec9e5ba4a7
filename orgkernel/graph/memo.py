"""Answers that a module works out once for each view: typed, owned by that module, and gone with the view.

They are kept beside the view and not in a table of weak keys here: an answer may refer to its view, as the tables of
access do, and would then keep it alive in such a table forever.
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
    """A function of a view that is called once for each view. Use as a decorator."""

    def __init__(self, function: Callable[[OrgView], T]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, view: OrgView) -> T:
        """What the function returned for this view."""
        answer: T
        try:
            answer = view.memos[self]
        except KeyError:
            # Two threads may both work it out; both then use the answer that was kept first.
            answer = view.memos.setdefault(self, self._function(view))
        return answer


class PerViewAndKey(Generic[K, T]):
    """A function of a view and a key that is called once for each pair of them, while a view has at most `most` keys.

    Past that the view starts over, so that a caller with ever new keys cannot fill the memory.
    """

    def __init__(self, function: Callable[[OrgView, K], T], most: int) -> None:
        self._function = function
        self._most = most
        self._answers: PerView[dict[K, T]] = PerView(lambda view: {})
        update_wrapper(self, function)

    def __call__(self, view: OrgView, key: K) -> T:
        """What the function returned for this view and key."""
        answer: T
        try:
            # What is asked a million times: `self._answers(view)` without the call.
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
