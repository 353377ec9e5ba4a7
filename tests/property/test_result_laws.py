"""Results of servers that are read without the SDK are those that the SDK accepts."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from mcp_types import methods
from pydantic_core import ValidationError

from orgkernel.toolbox.engine.http_client import require_result

ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.just([]), st.just({}))
BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=3)}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image", "audio", "video"])},
        optional={"text": ANYTHING, "data": ANYTHING, "mimeType": ANYTHING, "annotations": ANYTHING, "_meta": ANYTHING},
    ),
    ANYTHING,
)  # fmt: skip
RESULTS = st.fixed_dictionaries(
    {},
    optional={
        "content": st.one_of(st.lists(BLOCKS, max_size=3), ANYTHING),
        "resultType": st.one_of(st.sampled_from(["complete", "input_required"]), ANYTHING),
        "isError": ANYTHING,
        "is_error": ANYTHING,
        "structuredContent": ANYTHING,
        "_meta": ANYTHING,
        "more": ANYTHING,
    },
)


def is_accepted(result: dict[str, Any]) -> bool:
    """Whether it counts as a result."""
    try:
        require_result(result)
    except ValidationError:
        return False
    return True


def sdk_accepts(result: dict[str, Any]) -> bool:
    """Whether it is one to the SDK."""
    try:
        methods.validate_server_result("tools/call", "2026-07-28", result)
    except ValidationError:
        return False
    return True


@given(RESULTS)
@example(
    {"content": [{"type": "text", "text": "a"}], "resultType": "complete", "isError": False, "_meta": {}}
)
@example({"content": [{"type": "text", "text": "a", "annotations": {"priority": "high"}}], "resultType": "x"})
@example({"content": [{"type": "text", "text": "a"}], "resultType": "complete", "isError": "false"})
def test_both_accept_the_same(result: dict[str, Any]) -> None:
    """Whatever a server answers."""
    assert is_accepted(result) == sdk_accepts(result)
