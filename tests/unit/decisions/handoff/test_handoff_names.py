"""How a hand-off names a receiver that nothing declares."""

from __future__ import annotations

from orgkernel import HandoffQuestion, Kernel
from tests.support.trees import TEMPLATES


def test_an_undeclared_receiver_is_quoted_whole() -> None:
    """A receiver of another kind is quoted with what stands before its colon, so the mask sees all of a secret in it."""
    kernel = Kernel.open(TEMPLATES / "omega")
    answer = kernel.handoff_permission("omega", HandoffQuestion(sender="L3", receiver="agent:L5"))
    assert [each.text for each in answer.findings if each.code == "ROLE_UNKNOWN"] == [
        "role or layer `agent:L5` is not declared"
    ]
