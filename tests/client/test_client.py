"""The client, blocking and awaited, against servers that run in processes of their own."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orgkernel import AccessContext, AccessRequest, Kernel, encode
from orgkernel.client import AsyncClient, CallPermit, Client, NotAllowed
from orgkernel.client import permit as permits
from orgkernel.errors import (
    NoAnswer,
    PermitRefused,
    Refused,
    TooManyRequests,
    UnknownOrganization,
    UnknownRecord,
    UsageError,
)
from orgkernel.runtime.salute import Situation
from tests.api.keys import first_key, location_of, new_key
from tests.api.running import Server, running
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

HOUSEHOLD = TEMPLATES / "household"
ORG = "household"
READ = AccessRequest("agent:clerk", "use", "tool:read_file")
BROWSE = AccessRequest("agent:clerk", "use", "tool:browser_agent", AccessContext(peer_kind="dm"))
QUESTIONS = ("can", "why", "who_can", "what_can", "dispatch", "manifest")


class Awaited:
    """An `AsyncClient` whose calls are run to their end, so that one test asks both clients."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._client = AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            return asyncio.run(getattr(self._client, name)(*arguments, **options))

        return call


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """The household with a store and the key of an administrator."""
    key = first_key(location_of(tmp_path / "state.db"))
    with running(tmp_path, HOUSEHOLD, store=tmp_path / "state.db") as started:
        started.key = key
        yield started


@pytest.fixture(params=[Client, Awaited])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """What makes a client of one of the two kinds, with the time limit of the tests."""
    opened: list[Any] = []

    def open_client(url: str, key: str | None = None, timeout: float = PATIENCE) -> Any:
        opened.append(request.param(url, key, timeout=timeout))
        return opened[-1]

    yield open_client
    for each in opened:
        each.close()


def key_of_clerk(server: Server) -> str:
    """A key of the clerk, who may read, request and report."""
    return new_key(location_of(server.folder / "state.db"), ("read", "request", "report"), agent="clerk")


def test_questions_have_the_answers_of_the_kernel(
    tmp_path: Path, connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server answers every question of a client with the record that `Kernel` returns in process."""
    monkeypatch.chdir(tmp_path)  # places of lines are relative to the current folder
    kernel = Kernel.open(HOUSEHOLD)
    with running(tmp_path, HOUSEHOLD) as started:
        client = connect(started.url)
        assert client.can(ORG, BROWSE) == kernel.can(ORG, BROWSE)
        assert client.can(ORG, READ) == kernel.can(ORG, READ)
        assert client.why(ORG, BROWSE) == kernel.why(ORG, BROWSE, counted=5)
        context = AccessContext(peer_kind="dm")
        assert client.who_can(ORG, "use", "tool:read_file") == kernel.who_can(ORG, "use", "tool:read_file")
        assert client.who_can(
            ORG, "use", "tool:send_email", context=context, kinds=["role", "person"]
        ) == kernel.who_can(ORG, "use", "tool:send_email", context=context, kinds=["role", "person"])
        assert client.what_can(ORG, "agent:clerk") == kernel.what_can(ORG, "agent:clerk")
        assert client.dispatch(ORG, "osint") == kernel.dispatch(ORG, "osint")
        assert client.dispatch(ORG, text="Find a plumber") == kernel.dispatch(ORG, text="Find a plumber")
        assert encode(client.manifest(ORG, "steward")) == encode(kernel.manifest(ORG, "steward"))


@pytest.mark.parametrize("method", QUESTIONS)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_questions_have_the_words_of_the_kernel(kind: type[Any], method: str) -> None:
    """A question of a client has the parameters of the same method of `Kernel`, in their order and with their defaults."""
    ours = inspect.signature(getattr(kind, method)).parameters
    theirs = inspect.signature(getattr(Kernel, method)).parameters
    assert list(ours) == [name for name in theirs if name in ours]
    assert all(
        (each.kind, each.default, each.annotation)
        == (theirs[name].kind, theirs[name].default, theirs[name].annotation)
        for name, each in ours.items()
    )


def test_both_clients_have_the_same_words() -> None:
    """Every method of `Client` is a method of `AsyncClient` with the same parameters; only `invoke` has one more there."""
    for name, method in inspect.getmembers(Client, inspect.isfunction):
        if not name.startswith("_"):
            ours = list(inspect.signature(method).parameters)
            theirs = list(inspect.signature(getattr(AsyncClient, name)).parameters)
            assert theirs == ([*ours, "timeout"] if name == "invoke" else ours)


def test_an_approval_ends_the_waiting(server: Server, connect: Callable[..., Any]) -> None:
    """An agent requests a permission, waits, and may use the tool once its request is approved."""
    clerk, admin = connect(server.url, key_of_clerk(server)), connect(server.url, server.key)
    request = AccessRequest("agent:clerk", "use", "tool:weather", AccessContext(peer_kind="dm"))
    assert clerk.can(ORG, request).outcome != "allow"
    asked = clerk.request_permission(ORG, ["tool:weather"], reason="a date")
    assert asked.status == "pending"
    assert asked in admin.list_requests(ORG, status="pending", subject="agent:clerk")
    approver = threading.Timer(0.3, lambda: admin.approve(ORG, asked.request_id, "day", reason="go on"))
    approver.start()
    answered = clerk.wait_for_answer(ORG, asked.request_id, timeout=PATIENCE)
    approver.join()
    assert (answered.status, answered.response) == ("approved", "day")
    assert clerk.can(ORG, request).outcome == "allow"


def test_waiting_has_a_limit(server: Server, connect: Callable[..., Any]) -> None:
    """A request that is not answered in time is returned as it is, and a denial ends the waiting as well."""
    clerk, admin = connect(server.url, key_of_clerk(server)), connect(server.url, server.key)
    asked = clerk.request_permission(ORG, ["tool:github"], reason="to look")
    start = time.monotonic()
    assert clerk.wait_for_answer(ORG, asked.request_id, timeout=0.5).status == "pending"
    assert 0.5 <= time.monotonic() - start < PATIENCE
    assert admin.deny(ORG, asked.request_id, reason="not today").status == "denied"
    assert clerk.wait_for_answer(ORG, asked.request_id, timeout=PATIENCE).response == "deny"
    with pytest.raises(Refused) as error:
        admin.approve(ORG, asked.request_id)
    assert error.value.code == "NOT_PENDING"
    with pytest.raises(TooManyRequests, match=r"denied request .*: not today"):
        clerk.request_permission(ORG, ["tool:github"], reason="to look")
    with pytest.raises(UnknownRecord):
        clerk.wait_for_answer(ORG, "r-0123456789ab", timeout=1.0)


def test_a_report_is_stored_once(server: Server, connect: Callable[..., Any]) -> None:
    """A report that `Kernel.report` builds is stored, and submitting it again changes nothing."""
    situation = Situation(role_id="record_keeper", now=time.time(), tier="primary")
    report = Kernel.open(HOUSEHOLD).report(ORG, situation)
    clerk = connect(server.url, key_of_clerk(server))
    assert clerk.report(ORG, report).outcome == "stored"
    assert clerk.report(ORG, report).outcome == "known"


def test_a_call_is_made_with_a_permit(server: Server, connect: Callable[..., Any]) -> None:
    """A function is called once with the input that was decided about, and not at all if the server does not allow it."""
    clerk = connect(server.url, key_of_clerk(server))
    inputs: list[str] = []

    def read_file(path: str) -> str:
        inputs.append(path)
        return f"the text of {path}"

    assert clerk.invoke(ORG, READ, read_file, {"path": "notes.md"}) == "the text of notes.md"
    with pytest.raises(NotAllowed) as error:
        clerk.invoke(
            ORG, AccessRequest("agent:clerk", "use", "tool:send_email"), read_file, {"path": "notes.md"}
        )
    assert error.value.decision.outcome == "deny"
    assert error.value.code == error.value.decision.code == "NOT_BOUND_TO_ROLE"
    assert inputs == ["notes.md"]
    with pytest.raises(UsageError, match="is not JSON"):
        clerk.invoke(ORG, READ, read_file, {"path": object()})


def test_a_permit_is_for_one_call(
    server: Server, connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A permit that was used, has expired or was changed behind its back calls nothing, and it cannot be copied."""
    clerk = connect(server.url, key_of_clerk(server))
    tool_input = {"path": "notes.md"}
    permit: CallPermit = clerk.permit(ORG, READ, tool_input)
    tool_input["path"] = "/etc/passwd"
    assert permit.call(lambda path: path) == "notes.md"
    with pytest.raises(PermitRefused, match="was used"):
        permit.call(lambda path: path)
    with pytest.raises(TypeError):
        pickle.dumps(permit)
    monkeypatch.setattr(permits, "SECONDS", 0.0)
    with pytest.raises(PermitRefused, match="has expired"):
        clerk.permit(ORG, READ, tool_input).call(lambda path: path)


def test_a_grant_for_one_use_is_used_by_one_permit(server: Server, connect: Callable[..., Any]) -> None:
    """After an approval `once`, one call is permitted and the next one is refused."""
    clerk, admin = connect(server.url, key_of_clerk(server)), connect(server.url, server.key)
    asked = clerk.request_permission(ORG, ["tool:browser_agent"], action="use")
    request, grant = admin.approve(ORG, asked.request_id)
    assert (request.status, grant.resources) == ("approved", ("tool:browser_agent",))
    assert clerk.invoke(ORG, BROWSE, lambda url: url, {"url": "http://example.org"}) == "http://example.org"
    with pytest.raises(NotAllowed):
        clerk.invoke(ORG, BROWSE, lambda url: url, {"url": "http://example.org"})


def test_a_function_can_be_awaited_with_a_limit(server: Server) -> None:
    """`AsyncClient.invoke` awaits the function, and ends it when its time is up."""

    async def read_file(path: str) -> str:
        await asyncio.sleep(0 if path == "short.md" else PATIENCE)
        return path

    async def ask() -> None:
        async with AsyncClient(server.url, key_of_clerk(server), timeout=PATIENCE) as clerk:
            assert (
                await clerk.invoke(ORG, READ, read_file, {"path": "short.md"}, timeout=PATIENCE) == "short.md"
            )
            with pytest.raises(TimeoutError):
                await clerk.invoke(ORG, READ, read_file, {"path": "long.md"}, timeout=0.05)

    asyncio.run(ask())


def test_many_calls_share_one_client(server: Server) -> None:
    """Fifty questions at once through one client get fifty answers, and the event loop goes on meanwhile."""

    async def ask() -> list[str]:
        async with AsyncClient(server.url, server.key, timeout=PATIENCE) as client:
            decisions = await asyncio.gather(*(client.can(ORG, READ) for _ in range(50)))
            return [each.outcome for each in decisions]

    assert asyncio.run(ask()) == ["allow"] * 50


def test_errors_are_those_of_the_kernel(server: Server, connect: Callable[..., Any]) -> None:
    """An unknown organization and a missing scope are exceptions with the code and the help of the server."""
    reader = connect(server.url, new_key(location_of(server.folder / "state.db"), ("read",)))
    with pytest.raises(UnknownOrganization) as unknown:
        reader.dispatch("househould", "osint")
    assert unknown.value.help == "did you mean `household`?"
    with pytest.raises(Refused) as refused:
        reader.request_permission(ORG, ["tool:github"], requester="agent:clerk")
    assert refused.value.code == "SCOPE_MISSING"
    with pytest.raises(Refused) as stranger:
        connect(server.url, "orgk_wrong").dispatch(ORG, "osint")
    assert stranger.value.code == "BAD_CREDENTIAL"
    with pytest.raises(UsageError, match="does not name its kind"):
        reader.can(ORG, msgspec.structs.replace(READ, subject="clerk"))
    with pytest.raises(UsageError, match="at its own time"):
        reader.why(ORG, msgspec.structs.replace(READ, context=AccessContext(now=1.0)))
    with pytest.raises(TypeError, match="exactly one"):
        reader.dispatch(ORG)


def test_a_server_that_does_not_answer_is_told(connect: Callable[..., Any]) -> None:
    """A server that accepts and is silent, and one that does not exist, raise `NoAnswer` within the limit."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(NoAnswer, match=r"did not answer within 0\.2 seconds"):
            connect(url, timeout=0.2).can(ORG, READ)
        assert time.monotonic() - start < PATIENCE
    with pytest.raises(NoAnswer, match="cannot be reached"):
        connect(url).can(ORG, READ)
    with pytest.raises(UsageError, match="is not the URL of a server"):
        connect("127.0.0.1:8000")


def test_a_connection_that_the_server_closed_is_not_used_again(tmp_path: Path) -> None:
    """A client goes on with a server that was restarted at the same address."""
    kept: list[Client] = []
    with running(tmp_path, HOUSEHOLD) as started:
        kept.append(Client(started.url, timeout=PATIENCE))
        assert kept[0].dispatch(ORG, "osint").role_id == "errand_runner"
    with pytest.raises(NoAnswer, match="cannot be reached"):
        kept[0].dispatch(ORG, "osint")
