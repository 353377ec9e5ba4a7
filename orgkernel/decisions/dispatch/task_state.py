"""The state of a task between two messages, as callers keep it and pass it back."""

from __future__ import annotations

from typing import Annotated

import msgspec

from orgkernel.runtime.task_states import MAX_TEXTS, TaskState

TaskText = Annotated[str, msgspec.Meta(max_length=4_000)]


class PreviousTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The task that a message may belong to. After the first message, `role_id` and `texts` are enough; each answer
    then has the `task` for the next question.

    >>> PreviousTask(role_id="bugfix_specialist", texts=("Fix the login page",)).state
    'open'
    """

    role_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    texts: Annotated[tuple[TaskText, ...], msgspec.Meta(min_length=1, max_length=MAX_TEXTS)]
    """The message that began the task, then the latest ones."""
    domain: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    state: TaskState = "open"
    started: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    """When the task began, RFC 3339. Reasons name it."""
    last: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    """When the latest message came. Without it, silence does not end the task."""


class DispatchContext(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came before a sentence."""

    previous: PreviousTask | None = None
