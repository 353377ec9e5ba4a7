"""A permit is valid once, for one call, for a few seconds, and only the decider can create one."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.errors import PermitRefused
from orgkernel.operations.permits import Permit, Permits
from orgkernel.toolbox import PythonFunction
from orgkernel.toolbox.adapters.adapter import Adapter
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.patience import PATIENCE
from tests.toolbox.crew import adapter, call, organization

INPUT = encode_input({"id": "1"})


class Mails:
    """A tool that remembers what was done with it."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __call__(self, id: str = "") -> str:
        self.done.append(id)
        return f"mail {id}"


class Time:
    """A clock set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return organization(tmp_path)


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def permits(kernel: Kernel, clock: Time) -> Permits:
    return Permits(kernel, clock=clock)


@pytest.fixture
def mails() -> Mails:
    return Mails()


@pytest.fixture
def mail(permits: Permits, mails: Mails) -> Adapter:
    return adapter(permits, "mail", PythonFunction(mails))


def permitted(permits: Permits, tool: str = "mail", action: str = "read", tool_input: bytes = INPUT) -> Any:
    ruling = permits.decide("post", AccessRequest("agent:ann", action, f"tool:{tool}"), tool_input)
    assert ruling.decision.outcome == "allow"
    return ruling.permit


def redeem(tool: Adapter, permit: object) -> None:
    tool._redeem(permit, org="post", subject="agent:ann", tool_id="mail", action="read", tool_input=INPUT)


def run(tool: Adapter, permit: object, action: str = "read", tool_input: bytes = INPUT) -> Any:
    return asyncio.run(tool.run(permit, call(action, tool_input)))


def test_a_permit_lets_one_call_through(permits: Permits, mail: Adapter, mails: Mails) -> None:
    """The call it was made for."""
    assert run(mail, permitted(permits)).output == "mail 1"
    assert mails.done == ["1"]


def test_no_permit_is_made_where_the_decision_is_no(permits: Permits) -> None:
    """No permit is created for a level that the role does not have, without a subject, or for an input that the schema
    refuses.
    """
    for subject, action, tool_input in (
        ("agent:ann", "delete", INPUT), ("agent:nobody", "read", INPUT), ("agent:ann", "read", b'{"id": 1}'),
    ):  # fmt: skip
        ruling = permits.decide("post", AccessRequest(subject, action, "tool:mail"), tool_input)
        assert (ruling.decision.outcome, ruling.permit) == ("deny", None)


def test_a_permit_is_used_up(permits: Permits, mail: Adapter, mails: Mails) -> None:
    """The second call with it is refused."""
    permit = permitted(permits)
    run(mail, permit)
    with pytest.raises(PermitRefused, match="there is no permit to call `mail`"):
        run(mail, permit)
    assert mails.done == ["1"]


@pytest.mark.parametrize(
    ("action", "tool_input"),
    [("write", INPUT), ("delete", INPUT), ("read", b'{"id":"2"}'), ("read", b'{ "id":"1"}'), ("", INPUT)],
)
def test_a_permit_is_for_one_action_and_input(
    action: str, tool_input: bytes, permits: Permits, mail: Adapter, mails: Mails
) -> None:
    """Anything else is refused, and the permit is void for what it was made for too."""
    permit = permitted(permits)
    with pytest.raises(PermitRefused, match="not for this call"):
        run(mail, permit, action, tool_input)
    with pytest.raises(PermitRefused):
        run(mail, permit)
    assert mails.done == []


def test_a_permit_is_for_one_tool(permits: Permits, mails: Mails) -> None:
    """That of a harmless tool does not open another, whose actions are called the same."""
    other = adapter(permits, "files", PythonFunction(mails))
    with pytest.raises(PermitRefused, match="not for this call of `files`"):
        run(other, permitted(permits))
    assert mails.done == []


@pytest.mark.parametrize(("org", "subject"), [("yard", "agent:ann"), ("post", "agent:bob"), ("", "")])
def test_a_permit_is_for_one_subject_in_one_organization(
    org: str, subject: str, permits: Permits, mail: Adapter, mails: Mails
) -> None:
    """Two organizations of one kernel share its tools: that of one does not call, with the credentials of the other."""
    permit = permitted(permits)
    with pytest.raises(PermitRefused, match="not for this call"):
        asyncio.run(mail.run(permit, call("read", INPUT, org=org, subject=subject)))
    with pytest.raises(PermitRefused):
        run(mail, permit)
    assert mails.done == []


def test_a_permit_of_another_kernel_is_none(kernel: Kernel, mail: Adapter, mails: Mails) -> None:
    """A permit of another organization, in which everything is allowed, permits nothing here."""
    with pytest.raises(PermitRefused):
        run(mail, permitted(Permits(kernel)))
    assert mails.done == []


def test_a_permit_expires(permits: Permits, clock: Time, mail: Adapter, mails: Mails) -> None:
    """It is good for the seconds it was made for, and not at their end."""
    permit, other = permitted(permits), permitted(permits)
    clock.now += 9.9
    run(mail, permit)
    clock.now += 0.1
    with pytest.raises(PermitRefused, match="has expired"):
        run(mail, other)
    assert mails.done == ["1"]


class LooksTheSame:
    """Claims to be equal to everything."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return self._number


class Child(Permit):
    """A subclass."""


def test_a_forged_permit_is_none(permits: Permits, mail: Adapter, mails: Mails) -> None:
    """Objects that look like a permit are refused, and so is the id of a real permit."""
    real = permitted(permits)
    forged = [
        Permit(), Child(), object.__new__(Permit), LooksTheSame(hash(real)), LooksTheSame(id(real)), id(real), None,
        True, "permit",
    ]  # fmt: skip
    for each in forged:
        with pytest.raises(PermitRefused):
            run(mail, each)
    assert mails.done == []
    run(mail, real)


def test_a_permit_cannot_be_copied(permits: Permits) -> None:
    """Neither stored nor copied."""
    permit = permitted(permits)
    for copying in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied"):
            copying(permit)


def test_a_pickle_made_by_hand_is_no_permit(permits: Permits, mail: Adapter, mails: Mails) -> None:
    """What is unpickled as a permit is another object."""
    permitted(permits)
    made = pickle.loads(b"\x80\x02corgkernel.operations.permits\nPermit\n)\x81.")
    assert type(made) is Permit
    with pytest.raises(PermitRefused):
        run(mail, made)
    assert mails.done == []


def test_a_permit_is_not_good_in_another_process(permits: Permits, mail: Adapter, monkeypatch: Any) -> None:
    """A fork has the same memory, and must not use it a second time."""
    permit = permitted(permits)
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(PermitRefused):
        run(mail, permit)


def test_two_calls_at_once_with_one_permit_are_one_call(permits: Permits, mails: Mails) -> None:
    """The first of thirty-two threads uses the permit, fifty times."""
    tool = adapter(permits, "mail", PythonFunction(mails))
    for number in range(50):
        permit, gate, refused = permitted(permits), threading.Barrier(32), []

        def use(permit: object = permit, gate: Any = gate, refused: list[int] = refused) -> None:
            gate.wait()
            try:
                redeem(tool, permit)
            except PermitRefused:
                refused.append(1)

        threads = [threading.Thread(target=use) for _ in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 31, number


def test_a_permit_is_used_once_by_a_thousand_in_threads_and_processes(permits: Permits, mails: Mails) -> None:
    """Forked processes have the memory of the permit, and use it not once; the threads of its own process use it once."""
    tool, permit = adapter(permits, "mail", PythonFunction(mails)), permitted(permits)
    children = [fork(lambda: count_uses(tool, permit, 50)) for _ in range(8)]
    used = count_uses(tool, permit, 600)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
    assert used == 1


def fork(work: Callable[[], int]) -> int:
    """The id of a process that does the work, and ends with its result."""
    child = os.fork()
    if child == 0:
        code = 99
        with contextlib.suppress(BaseException):
            code = work()
        os._exit(code)
    return child


def count_uses(tool: Adapter, permit: object, number: int) -> int:
    """How many of so many threads could use a permit."""
    gate, used = threading.Barrier(number), []

    def use() -> None:
        gate.wait(PATIENCE)
        with contextlib.suppress(PermitRefused):
            redeem(tool, permit)
            used.append(1)

    threads = [threading.Thread(target=use) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(used)


CALLER = """
import sys
from orgkernel import AccessRequest, Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.permits import Permits
from orgkernel.state.location import parse_location
with open_store(parse_location(sys.argv[2], "/")) as store:
    permits = Permits(Kernel.open(sys.argv[1]).with_store(store), store)
    print("ready", flush=True)
    sys.stdin.readline()
    asked = AccessRequest("agent:ann", "use", "tool:vault")
    print(sum(permits.decide("post", asked, b"{}").permit is not None for _ in range(250)))
"""


def test_a_grant_of_one_use_is_one_permit_of_a_thousand_in_processes(kernel: Kernel, tmp_path: Path) -> None:
    """Four processes ask 250 times each: one is permitted, once."""
    place = sqlite_at(tmp_path)
    with opened(place, Clock(time.time())) as store:
        store.grants.issue("agent:ann", ["tool:vault"], issued_by="person:user", uses=1)
    command = [sys.executable, "-c", CALLER, str(tmp_path / "post"), str(place.path)]
    callers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for each in callers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    permitted_calls = [each.communicate("now\n", timeout=PATIENCE)[0] for each in callers]
    assert sorted(map(int, permitted_calls)) == [0] * 3 + [1]


def test_what_expired_is_forgotten(permits: Permits, clock: Time) -> None:
    """Unused permits do not accumulate."""
    for _ in range(100):
        permitted(permits)
        clock.now += 1
    assert len(permits._book) <= 10
    assert len(permits._order) <= 10


def test_an_input_changed_after_the_check_is_not_what_runs(permits: Permits, mails: Mails) -> None:
    """The tool gets the bytes that were decided about."""
    given = {"id": "1"}
    tool_input = encode_input(given)
    permit = permitted(permits, tool_input=tool_input)
    given["id"] = "2"
    run(adapter(permits, "mail", PythonFunction(mails)), permit, "read", tool_input)
    assert mails.done == ["1"]


def test_what_is_permitted_is_written_down_first(kernel: Kernel, tmp_path: Path) -> None:
    """A grant for one use is used by the permit; the next call is denied, and both are in the audit."""
    with opened(sqlite_at(tmp_path)) as store:
        served = kernel.with_store(store)
        store.grants.issue("agent:ann", ["tool:vault"], issued_by="person:user", uses=1)
        permits = Permits(served, store)
        asked = AccessRequest("agent:ann", "use", "tool:vault")
        first, second = (permits.decide("post", asked, b"{}") for _ in range(2))
        assert first.permit is not None
        assert (second.decision.code, second.permit) == ("NOT_BOUND_TO_ROLE", None)
        assert first.audit_id
        assert second.audit_id not in ("", first.audit_id)
        (grant,) = store.grants.list("agent:ann")
        assert grant.uses_left == 0
        assert [use.audit_id for use in store.grants.uses(grant.grant_id)] == [first.audit_id]


def test_a_grant_used_up_between_decision_and_permit_permits_nothing(kernel: Kernel, tmp_path: Path) -> None:
    """Sixteen callers at once, one use: one permit."""
    with opened(sqlite_at(tmp_path)) as store:
        served = kernel.with_store(store)
        store.grants.issue("agent:ann", ["tool:vault"], issued_by="person:user", uses=1)
        permits = Permits(served, store)
        gate, rulings = threading.Barrier(16), []

        def ask() -> None:
            gate.wait()
            rulings.append(permits.decide("post", AccessRequest("agent:ann", "use", "tool:vault"), b"{}"))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(ruling.decision.outcome for ruling in rulings) == ["allow"] + ["deny"] * 15
        assert sum(ruling.permit is not None for ruling in rulings) == 1
