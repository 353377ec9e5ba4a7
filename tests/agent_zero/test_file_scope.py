"""The gate inside a host holds a role to its file scope, from the bundle alone."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from extension.host import gate
from orgkernel import Kernel
from orgkernel.exchange.agent_zero.compiling import compile_bundle, find_remarks
from orgkernel.runtime.bundle import read_bundle
from tests.support.trees import write_tree


@pytest.fixture
def compiled(tmp_path: Path) -> Any:
    """A bundle in which `coder` may write in `src` only, and `free` anywhere."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "link").symlink_to("/etc")
    documents = [
        {"_schema": "orgkernel:organization", "org_id": "o", "hierarchy": {"lead": {"subordinates": ["coder", "free"]}}, "workspace_root": str(tmp_path)},
        {"_schema": "orgkernel:role_profile", "role_id": "lead", "role_type": "executive"},
        {"_schema": "orgkernel:role_profile", "role_id": "coder", "file_scope": ["src/**"],
         "capabilities": {"tools_primary": ["text_editor", "code_execution_tool", "memory_save"]}},
        {"_schema": "orgkernel:role_profile", "role_id": "free", "capabilities": {"tools_primary": ["text_editor"]}},
    ]  # fmt: skip
    write_tree(
        tmp_path / "org", {f"{number}.json": json.dumps(each) for number, each in enumerate(documents)}
    )
    view = Kernel.open(tmp_path / "org").organization("o").snapshot.index
    return view, compile_bundle(view, "tests")


def judge(bundle: Any, role: str, tool: str, action: str | None, arguments: dict[str, Any]) -> str | None:
    read = read_bundle(bundle)
    active: Any = SimpleNamespace(bundle=read, settings=SimpleNamespace(unlisted_tools="allow"))
    return gate.judge(active, read.roles[role], tool, action, (), lambda _: None, arguments)


def test_a_role_writes_in_its_scope_only(compiled: Any, tmp_path: Path) -> None:
    """However the path is written, and wherever a link leads."""
    _, bundle = compiled
    for path in ("src/a.py", f"{tmp_path}/src/a.py", "src/../src/a.py"):
        assert judge(bundle, "coder", "text_editor", "write", {"path": path}) is None, path
    for path in (
        "a.py",
        "/etc/passwd",
        "src/../a.py",
        "src/link/passwd",
        "SRC/a.py",
        "~/a",
        "",
        3,
        ["src/a", "b"],
    ):
        refused = judge(bundle, "coder", "text_editor", "write", {"path": path})
        assert refused is not None, path
        assert "may write only in `src/**`" in refused
    assert "names no path" in str(judge(bundle, "coder", "text_editor", "patch", {"text": "x"}))
    assert judge(bundle, "coder", "text_editor", "erase", {"path": "a.py"}) is not None
    assert judge(bundle, "coder", "text_editor", None, {"path": "a.py"}) is not None
    assert judge(bundle, "coder", "text_editor", "read", {"path": "/etc/passwd"}) is None
    assert judge(bundle, "free", "text_editor", "write", {"path": "/etc/passwd"}) is None


def test_what_does_not_say_where_it_writes_is_refused(compiled: Any) -> None:
    """A shell, but not what opens no files; and the remark about the bundle does not call a scope unknown to the host."""
    view, bundle = compiled
    assert judge(bundle, "coder", "code_execution_tool", "terminal", {"code": "rm -r /"}) is not None
    assert judge(bundle, "coder", "code_execution_tool", "output", {}) is None
    assert judge(bundle, "coder", "memory_save", None, {"text": "x"}) is None
    assert not [text for text in find_remarks(bundle, view) if "path" in text]


def test_a_bundle_from_before_refuses_no_less(compiled: Any) -> None:
    """The actions that a scope bounds are not among those that are allowed, so that an older host refuses them all."""
    _, bundle = compiled
    grant = bundle["roles"]["coder"]["tools"]["text_editor"]
    assert grant["actions"] == {"read": True, "write": False, "patch": False}
    assert grant["scoped"] == ["write", "patch"]
