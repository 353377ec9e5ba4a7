"""Python functions as tools: what they return, how they fail, and what stops them."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.errors import BadToolbox, UsageError
from orgkernel.toolbox import PythonFunction, ToolContext
from tests.state.opening import opened, sqlite_at
from tests.support.patience import PATIENCE
from tests.support.trees import write_tree
from tests.toolbox.crew import organization, toolbox


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return organization(tmp_path)


def ann(kernel: Kernel, timeout: float = 10.0, **functions: Any) -> ToolContext:
    served = {name: PythonFunction(function) for name, function in functions.items()}
    return toolbox(kernel, timeout=timeout, **served).context("post", "agent:ann")


def test_a_function_gets_the_input_as_arguments(kernel: Kernel) -> None:
    """And its value is the output."""
    result = ann(kernel, look=lambda where, deep=False: [where, deep]).invoke_blocking("look", {"where": "x"})
    assert (result.ok, result.outcome, result.output, result.by) == (True, "done", ["x", False], "tool:look")
    assert (result.error, result.code, result.action) == ("", "", "use")
    assert result.seconds > 0
    assert [step.outcome for step in result.steps] == ["done"]


async def _later(where: str) -> str:
    await asyncio.sleep(0)
    return where


def test_an_async_function_is_awaited(kernel: Kernel) -> None:
    """In the caller's event loop; also one hidden in a plain function."""

    def hidden(where: str) -> Any:
        return _later(where)

    context = ann(kernel, look=_later, guess=hidden)

    async def both() -> list[Any]:
        return [(await context.invoke(tool, {"where": tool})).output for tool in ("look", "guess")]

    assert asyncio.run(both()) == ["look", "guess"]


def test_a_function_sees_the_variables_of_its_caller(kernel: Kernel) -> None:
    """Though it runs in a thread of its own."""
    who = contextvars.ContextVar("who", default="nobody")
    who.set("ann")
    assert ann(kernel, look=who.get).invoke_blocking("look").output == "ann"


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such place"), "ValueError: no such place"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (StopIteration(), "RuntimeError: the function raised StopIteration()"),
        (asyncio.CancelledError(), "the tool was cancelled"),
        (ExceptionGroup("two", [ValueError("one")]), "ExceptionGroup: two (1 sub-exception)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_a_function_raises_is_a_result(error: BaseException, said: str, kernel: Kernel) -> None:
    """From a sync one and from an async one; another tool is not tried, because this one has answered."""

    async def later() -> Any:
        raise error

    for function in (lambda: _raise(error), later):
        if isinstance(error, StopIteration) and function is later:
            continue  # Python itself makes another error of it
        result = ann(kernel, look=function, ask_around=lambda: "never").invoke_blocking("look")
        assert (result.outcome, result.code, result.error) == ("failed", "TOOL_FAILED", said)
        assert len(result.steps) == 1


def test_arguments_that_do_not_fit_are_a_result(kernel: Kernel) -> None:
    """The function is not called."""
    called: list[str] = []

    def look(where: str) -> None:
        called.append(where)

    context = ann(kernel, look=look)
    for given in ({}, {"where": "x", "more": 1}):
        result = context.invoke_blocking("look", given)
        assert (result.outcome, result.code) == ("failed", "TOOL_FAILED")
        assert "does not fit" in result.error
    assert called == []


def test_an_input_that_is_no_json_is_a_result(kernel: Kernel) -> None:
    """Nothing is decided about what cannot be checked."""
    endless: dict[str, Any] = {}
    endless["itself"] = endless
    for given in ({"a": object()}, {"a": float("nan")}, {"a": {1, 2}}, endless, {("a",): 1}):
        result = ann(kernel, look=lambda **_: 1).invoke_blocking("look", given)
        assert (result.outcome, result.code) == ("failed", "INPUT_INVALID"), given


@pytest.mark.parametrize("kind", ["sync", "async", "stubborn"])
def test_what_takes_too_long_is_a_result(kind: str, kernel: Kernel) -> None:
    """Also what does not let itself be stopped; the caller goes on."""
    stop = threading.Event()

    async def patient() -> None:
        await asyncio.sleep(10 * PATIENCE)

    async def stubborn() -> None:
        while not stop.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)

    function = {"sync": lambda: stop.wait(10 * PATIENCE), "async": patient, "stubborn": stubborn}[kind]
    context = ann(kernel, look=function)

    async def invoke() -> Any:
        try:
            return await asyncio.wait_for(context.invoke("look", timeout=0.1, fallback=False), PATIENCE)
        finally:
            stop.set()

    result = asyncio.run(invoke())
    assert (result.outcome, result.code) == ("timeout", "TIMEOUT")
    assert result.error == "it took longer than 0.1 seconds"


def test_a_caller_that_is_cancelled_is_cancelled(kernel: Kernel) -> None:
    """That is no failure of the tool, and the tool is stopped too."""
    stopped: list[str] = []

    async def patient() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("stopped")

    context = ann(kernel, look=patient)

    async def impatient() -> None:
        async with asyncio.timeout(0.1):
            await context.invoke("look")

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert stopped == ["stopped"]


def test_calls_run_at_once(kernel: Kernel) -> None:
    """Eight that wait for each other."""
    gate = threading.Barrier(8)
    context = ann(kernel, look=lambda: gate.wait(PATIENCE))

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(context.invoke("look") for _ in range(8)))

    assert sorted(result.output for result in asyncio.run(all_of_them())) == list(range(8))


def test_an_action_runs_under_its_own_name_only(kernel: Kernel) -> None:
    """A tool with several actions has a function for each; otherwise who may read could make it write."""
    wrote: list[str] = []
    for functions in (lambda: wrote.append("x"), {"write": lambda: wrote.append("x")}):
        result = toolbox(kernel, files=PythonFunction(functions)).context("post", "agent:ann")
        asked = result.invoke_blocking("files", action="read", fallback=False)
        assert (asked.outcome, asked.code) == ("unavailable", "TOOL_UNAVAILABLE")
        assert asked.error == "nothing serves the action `read` of `files`"
        refused = result.invoke_blocking("files", action="write", fallback=False)
        assert (refused.outcome, refused.code) == ("denied", "NOT_BOUND_TO_ROLE")
    assert wrote == []


def test_a_tool_with_several_actions_needs_one_named(kernel: Kernel) -> None:
    """The action is never guessed."""
    context = toolbox(kernel, files=PythonFunction({"read": lambda: "text"})).context("post", "agent:ann")
    result = context.invoke_blocking("files")
    assert (result.outcome, result.code) == ("failed", "ACTION_NEEDED")
    assert result.error == "`files` has several actions; choose one of read, write"
    assert context.invoke_blocking("files", action="read").output == "text"


def test_credentials_are_handed_to_who_may_have_them(kernel: Kernel) -> None:
    """By the decider's obligations, not by the input; and what a tool says of them is masked."""

    def read(keys: dict[str, str], id: str = "") -> dict[str, Any]:
        return {"has": sorted(keys), "said": [f"<{value}>" for value in keys.values()]}

    served = PythonFunction({"read": read}, credentials_as="keys")
    box = toolbox(kernel, mail=served, credentials={"mailbox": "s3cr3t-v4lue"}.get)
    worker, guest = (box.context("post", subject) for subject in ("agent:ann", "role:guest"))
    given = {"keys": {"mailbox": "mine"}}
    assert worker.invoke_blocking("mail", given, action="read").output == {
        "has": ["mailbox"],
        "said": ["<***>"],
    }
    assert guest.invoke_blocking("mail", given, action="read").output == {"has": [], "said": []}


def test_a_source_of_credentials_that_fails_has_none(kernel: Kernel) -> None:
    """It is the host's, and no error of the call."""

    def read(keys: dict[str, str]) -> list[str]:
        return list(keys)

    served = PythonFunction({"read": read}, credentials_as="keys")
    box = toolbox(kernel, mail=served, credentials={}.__getitem__)
    assert box.context("post", "agent:ann").invoke_blocking("mail", action="read").output == []


def test_a_path_is_what_the_tool_reads(tmp_path: Path) -> None:
    """What is allowed is asked about the path in the input, so that no other one can be stated beside it."""
    kernel = organization(tmp_path)
    with opened(sqlite_at(tmp_path)) as store:
        store.restrictions.issue("role:worker", ["tool:files:/etc/**"], issued_by="person:user")
        served = PythonFunction({"read": lambda path: f"text of {path}"}, path_from="path")
        context = toolbox(kernel, store, files=served).context("post", "agent:ann")
        assert context.invoke_blocking("files", {"path": "/srv/a"}, action="read").output == "text of /srv/a"
        for path in ("/etc/shadow", "/srv/../etc/shadow", "/etc/./x"):
            result = context.invoke_blocking("files", {"path": path}, action="read")
            assert (result.steps[0].outcome, result.code) == ("denied", "RESTRICTED"), path


def scoped(folder: Path, **tool: Any) -> Kernel:
    """An organization whose worker may write in `out` below its root."""
    kernel_folder = folder / "org"
    tools = {
        "files": {"type": "deterministic_function", "actions": {"read": "read", "write": "write"}, **tool}
    }
    profile = {"role_id": "worker", "capabilities": {"tools_primary": ["files"]}, "file_scope": ["out/**"]}
    documents = [
        {"_schema": "orgkernel:organization", "org_id": "post", "hierarchy": {"worker": {}}, "workspace_root": str(folder)},
        {"_schema": "orgkernel:tool_catalog", "tools": tools},
        {"_schema": "orgkernel:role_profile", **profile},
    ]  # fmt: skip
    write_tree(kernel_folder, {f"{number}.json": json.dumps(each) for number, each in enumerate(documents)})
    return Kernel.open(kernel_folder)


def test_a_policy_about_paths_holds_for_calls_and_for_where_links_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is listed with the path that it depends on; a call is decided by its path, and one without is denied."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("s", encoding="utf-8")
    (tmp_path / "link").symlink_to(".env")
    documents = [
        {"_schema": "orgkernel:organization", "org_id": "post", "hierarchy": {"worker": {}}, "workspace_root": str(tmp_path)},
        {"_schema": "orgkernel:tool_catalog", "tools": {"files": {"type": "deterministic_function", "side_effects": "read", "path_arguments": ["path"]}}},
        {"_schema": "orgkernel:role_profile", "role_id": "worker", "capabilities": {"tools_primary": ["files"]}},
        {"_schema": "orgkernel:access_policies", "policies": {
            "no-env": {"effect": "deny", "permissions": {"tools": ["files"], "paths": ["**/.env"]}},
            "ask-keys": {"effect": "ask", "permissions": {"tools": ["files"], "paths": ["keys/**"]}},
        }},
    ]  # fmt: skip
    write_tree(
        tmp_path / "org", {f"{number}.json": json.dumps(each) for number, each in enumerate(documents)}
    )
    served = PythonFunction({"use": lambda path="": "read"})
    context = toolbox(Kernel.open(tmp_path / "org"), files=served).context("post", "role:worker")
    (listed,) = (each for each in context.list() if each.tool == "files")
    assert (listed.level, listed.conditions) == ("read", ("path:keys/**", "path:**/.env"))
    assert context.invoke_blocking("files", {"path": "a"}).output == "read"
    for path, code in (
        (".env", "POLICY_DENY"),
        ("link", "POLICY_DENY"),
        ("a/.ENV", "POLICY_DENY"),
        ("keys/a", "ASK_APPROVAL"),
    ):
        assert context.invoke_blocking("files", {"path": path}).code == code, path
    assert context.invoke_blocking("files", {}).outcome != "done"


def test_a_policy_about_commands_holds_for_calls(tmp_path: Path) -> None:
    """The tool is listed with the commands that it depends on; a call is decided by its command, and one without is denied."""
    documents = [
        {"_schema": "orgkernel:organization", "org_id": "post", "hierarchy": {"worker": {}}},
        {"_schema": "orgkernel:tool_catalog", "tools": {"shell": {"type": "computer_use", "side_effects": "destructive", "command_arguments": ["command"]}}},
        {"_schema": "orgkernel:role_profile", "role_id": "worker", "capabilities": {"tools_primary": ["shell"]}},
        {"_schema": "orgkernel:access_policies", "policies": {
            "no-rm": {"effect": "deny", "permissions": {"tools": ["shell"], "commands": ["rm"]}},
            "ask-push": {"effect": "ask", "permissions": {"tools": ["shell"], "commands": ["git push"]}},
        }},
    ]  # fmt: skip
    write_tree(
        tmp_path / "org", {f"{number}.json": json.dumps(each) for number, each in enumerate(documents)}
    )
    served = PythonFunction({"use": lambda command="": "run"})
    context = toolbox(Kernel.open(tmp_path / "org"), shell=served).context("post", "role:worker")
    (listed,) = (each for each in context.list() if each.tool == "shell")
    assert (listed.level, listed.conditions) == ("full", ("command:git push", "command:rm"))
    assert context.invoke_blocking("shell", {"command": "ls -la"}).output == "run"
    for command, code in (
        ("rm x", "POLICY_DENY"),
        ("ls; /bin/rm x", "POLICY_DENY"),
        ("$x", "POLICY_DENY"),
        ("git push -f", "ASK_APPROVAL"),
    ):
        assert context.invoke_blocking("shell", {"command": command}).code == code, command
    assert context.invoke_blocking("shell", {}).outcome != "done"


@pytest.mark.parametrize("way", ["declared", "stated by the provider"])
def test_a_scope_holds_for_calls_and_links_lead_out_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The catalog or the provider says which argument holds the path; where the path leads is what counts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (tmp_path / "out" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "out" / "folder").symlink_to("/etc")
    declared = way == "declared"
    kernel = scoped(tmp_path, **({"path_arguments": ["path"]} if declared else {}))
    served = PythonFunction(
        {"read": lambda path: "read", "write": lambda path: "written"}, path_from=None if declared else "path"
    )
    context = toolbox(kernel, files=served).context("post", "role:worker")
    (listed,) = (each for each in context.list() if each.tool == "files")
    assert (listed.level, listed.actions, listed.conditions) == ("full", ("read", "write"), ("path:out/**",))
    for path in ("out/a", f"{tmp_path}/out/a", "out/../out/a"):
        assert context.invoke_blocking("files", {"path": path}, action="write").output == "written", path
    for path in ("secret", "out/link", "out/folder/passwd", "/etc/passwd", "out/../secret", "OUT/a", ""):
        result = context.invoke_blocking("files", {"path": path}, action="write")
        assert (result.steps[0].outcome, result.code) == ("denied", "WRITE_OUT_OF_FILE_SCOPE"), path
    assert context.invoke_blocking("files", {"path": "secret"}, action="read").output == "read"
    monkeypatch.chdir("/")
    result = context.invoke_blocking("files", {"path": "out/a"}, action="write")
    assert result.code == "WRITE_OUT_OF_FILE_SCOPE", (
        "the function would open another file than the one decided about"
    )


def test_blocking_is_refused_inside_an_event_loop(kernel: Kernel) -> None:
    """It would hold up everything else."""
    context = ann(kernel, look=lambda: 1)

    async def wrong() -> None:
        context.invoke_blocking("look")

    with pytest.raises(UsageError, match="an event loop is running in this thread"):
        asyncio.run(wrong())


def test_what_is_no_function_is_refused_at_once(kernel: Kernel) -> None:
    """When the toolbox is made, not at the first call."""
    for provider in (PythonFunction({"use": 3}), PythonFunction(3), "my_tools:look", None):  # type: ignore[dict-item,arg-type]
        with pytest.raises(BadToolbox):
            toolbox(kernel, look=provider)
