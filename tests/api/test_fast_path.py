"""The fast path to an evaluation says what the framework says, and a body is taken in however it arrives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from starlette.types import Message

from manifest_api.app import create_app
from manifest_api.guards.limits import MAX_BODY, take_body
from manifest_api.problems import RequestRefused
from manifest_api.response_cache import ResponseCache
from orgkernel.engines import EnginesOff
from orgkernel.kernel.kernel import Kernel

KERNEL = Kernel.open()
APP = create_app(KERNEL)
with EnginesOff("fast_path"):
    USUAL = create_app(KERNEL)
for app in (APP, USUAL):
    # Nothing is kept, so every answer is decided anew.
    app.state.evaluator.cache = ResponseCache(0)
WORDS = st.sampled_from(
    ["role", "tool", "person", "codegen_specialist", "text_editor", "use", "terminal", "nobody", "", "ü", "x" * 201]
)  # fmt: skip
ENTITIES = st.fixed_dictionaries({"type": WORDS, "id": WORDS}, optional={"properties": st.just({"a": 1})})
CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        "org": st.sampled_from(["software_dev", "household", "nobody", 7]),
        "channel": st.sampled_from(["slack", 1, None]),
        "pace": st.sampled_from(["emergency", "other"]),
        "depth": st.sampled_from([0, 2.0, 99, -1]),
        "via": st.sampled_from([["role:co"], "role:co"]),
        "on_behalf_of": st.sampled_from(["role:co", "role:nobody"]),
        "unread": st.just(1),
    },
)
QUESTIONS = st.fixed_dictionaries(
    {"subject": ENTITIES, "action": st.fixed_dictionaries({"name": WORDS}), "resource": ENTITIES},
    optional={"context": CONTEXTS},
) | st.just(
    {
        "subject": {"type": "role", "id": "codegen_specialist"},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": "text_editor"},
        "context": {"org": "software_dev"},
    }
)
BODIES = (
    QUESTIONS.map(lambda question: json.dumps(question).encode())
    | st.binary(max_size=20)
    | st.just(b"[" * 9_000)
)
TYPES = st.sampled_from([b"application/json", b"application/json; charset=utf-8", b"text/plain", None])


def receiving(messages: Iterable[Message]) -> Any:
    """What the server gives: these messages, each after a turn of the loop but for the first."""
    left = list(messages)
    begun = False

    async def receive() -> Message:
        nonlocal begun
        if begun:
            await asyncio.sleep(0)
        begun = True
        return left.pop(0) if left else {"type": "http.disconnect"}

    return receive


def ask(app: Any, body: bytes, content_type: bytes | None, query: bytes, pieces: int) -> list[Message]:
    """The messages of an answer."""
    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"%d" % len(body)), (b"x-request-id", b"7")]
    if content_type is not None:
        headers.append((b"content-type", content_type))
    path = "/access/v1/evaluation"
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": query, "root_path": "",
        "headers": headers, "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 8000), "scheme": "http", "http_version": "1.1",
        "state": {},
    }  # fmt: skip
    step = max(1, -(-len(body) // pieces))
    parts = [body[start : start + step] for start in range(0, len(body), step)] or [b""]
    messages = [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    asyncio.run(app(scope, receiving(messages), send))
    return said


@given(body=BODIES, content_type=TYPES, query=st.sampled_from([b"", b"", b"a=b"]), pieces=st.integers(1, 3))
@settings(deadline=None, max_examples=120, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_both_ways_say_the_same(body: bytes, content_type: bytes | None, query: bytes, pieces: int) -> None:
    """Both paths return the same status, the same headers in the same order and the same body, for any body in any
    number of pieces.
    """
    fast = ask(APP, body, content_type, query, pieces)
    usual = ask(USUAL, body, content_type, query, pieces)
    assert (fast[0]["status"], fast[0]["headers"]) == (usual[0]["status"], usual[0]["headers"])
    assert b"".join(each.get("body", b"") for each in fast[1:]) == b"".join(
        each.get("body", b"") for each in usual[1:]
    )


def test_an_allowance_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never meets the framework; so what is compared above are two ways."""

    async def fail(*_: Any) -> None:
        raise AssertionError("the framework was asked")

    monkeypatch.setattr(APP, "framework", fail)
    question = {"subject": {"type": "role", "id": "co"}, "action": {"name": "use"},
                "resource": {"type": "tool", "id": "scheduler"}, "context": {"org": "software_dev"}}  # fmt: skip
    said = ask(APP, json.dumps(question).encode(), b"application/json", b"", 1)
    assert said[0]["status"] == 200
    assert json.loads(said[1]["body"])["decision"] is True


def test_a_fault_of_ours_is_answered_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """500 with the standard headers, and everything in the log."""

    def fail(*_: Any) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(APP.state.auditor, "begin", fail)
    question = {
        "subject": {"type": "a", "id": "b"},
        "action": {"name": "use"},
        "resource": {"type": "c", "id": "d"},
        "context": {"org": "software_dev"},
    }
    said = ask(APP, json.dumps(question).encode(), b"application/json", b"", 1)
    assert said[0]["status"] == 500
    assert (b"x-content-type-options", b"nosniff") in said[0]["headers"]
    assert b"secret" not in said[1]["body"]
    assert "ZeroDivisionError" in caplog.text


def piece(body: bytes, more: bool) -> Message:
    """One message of a body."""
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([piece(b"all", False)], b"all"),
        ([piece(b"a", True), piece(b"", True), piece(b"b", False)], b"ab"),
        ([piece(b"a", True)], None),
        ([], None),
        ([piece(b"x" * MAX_BODY, False)], b"x" * MAX_BODY),
    ],
)
def test_a_body_is_taken_in_whole(messages: list[Message], expected: bytes | None) -> None:
    """At once or in pieces; a client that goes away has none."""
    assert asyncio.run(take_body(receiving(messages))) == expected


@pytest.mark.parametrize("sizes", [[MAX_BODY + 1], [MAX_BODY, 1], [1, MAX_BODY, 5]])
def test_a_body_that_is_too_large_is_refused(sizes: list[int]) -> None:
    """In one piece or in several."""
    messages = [piece(b"x" * size, number < len(sizes) - 1) for number, size in enumerate(sizes)]
    with pytest.raises(RequestRefused) as refused:
        asyncio.run(take_body(receiving(messages)))
    assert refused.value.kind.code == "BODY_TOO_LARGE"


@pytest.mark.parametrize("first", [[], [piece(b"a", True)]])
def test_a_body_that_does_not_arrive_is_refused(first: list[Message]) -> None:
    """From the first message on: what was begun by hand is ended by the timer."""
    left = list(first)
    ended = []

    async def receive() -> Message:
        if left:
            return left.pop(0)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        raise AssertionError

    with pytest.raises(RequestRefused) as refused:
        asyncio.run(take_body(receive, 0.05))
    assert refused.value.kind.code == "SLOW_BODY"
    assert ended == [True]


def test_a_body_that_comes_later_is_waited_for() -> None:
    """What the first look waits for goes to the loop, and its answer comes back."""

    async def receive() -> Message:
        await asyncio.sleep(0.01)
        return piece(b"late", False)

    assert asyncio.run(take_body(receive, 5)) == b"late"
