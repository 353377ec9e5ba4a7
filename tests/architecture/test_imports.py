"""What is imported, and when: the package is light until a file has to be read."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.trees import REPOSITORY

HEAVY = (
    "pydantic",
    "yaml",
    "networkx",
    "fastapi",
    "starlette",
    "uvicorn",
    "jsonschema",
    "rich",
    "msgspec",
)
PACKAGE = REPOSITORY / "orgkernel"


def imported_by(program: str, folder: Path, names: tuple[str, ...] = HEAVY) -> set[str]:
    """Which of some modules a fresh process has imported when a program ends."""
    listing = f"import sys\n{program}\nprint('imported', *(name for name in {names!r} if name in sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", listing],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split()[1:])


def command(*arguments: str) -> str:
    return (
        f"from orgkernel.cli import main\nsys.argv = ['orgkernel', *{list(arguments)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
    )


@pytest.mark.parametrize(
    "program",
    ["import orgkernel", "import orgkernel\norgkernel.__version__\ndir(orgkernel)", "import manifest_api",
     "from orgkernel import Severity, Place, Diagnostic, OrgkernelError", command("--help"), command("--version")],
)  # fmt: skip
def test_importing_the_package_and_asking_for_help_is_light(tmp_path: Path, program: str) -> None:
    """None of the libraries that cost time is imported before it is used."""
    assert imported_by(program, tmp_path) == set()


def test_a_command_imports_its_own_module_and_no_other_command(tmp_path: Path) -> None:
    """Also one below a noun, whose siblings lie in modules of their own. Help about all of them imports none."""
    folder = PACKAGE / "cli"
    places = [path.relative_to(folder).with_suffix("") for path in folder.glob("*/[a-z]*.py")]
    modules = tuple("orgkernel.cli." + ".".join(place.parts) for place in places)
    assert imported_by(command("--help"), tmp_path, modules) == set()
    plan = imported_by(command("task", "plan", "--help"), tmp_path, modules)
    assert plan == {"orgkernel.cli.work.task", "orgkernel.cli.work.plan", "orgkernel.cli.work.contract_files"}


def test_a_command_imports_no_web_framework_and_no_graph(tmp_path: Path) -> None:
    """Dispatch and manifest answer from the index; only `serve` needs a server."""
    (tmp_path / "org.yaml").write_text("_schema: orgkernel:organization\norg_id: a\nhierarchy: {co: {}}\n")
    (tmp_path / "co.yaml").write_text("_schema: orgkernel:role_profile\nrole_id: co\nrole_type: commander\n")
    web = ("fastapi", "starlette", "uvicorn", "watchfiles", "manifest_api")
    for arguments in (
        ("check",),
        ("dispatch", "codegen", "--org", "a"),
        ("manifest", "--org", "a"),
        ("schema",),
    ):
        assert imported_by(command(*arguments), tmp_path, web) == set()


def test_only_a_circle_imports_networkx(tmp_path: Path) -> None:
    """A sound organization, which has prerequisites and tools that fall back, is checked without waiting for it."""
    check = command("check", "--no-cache", str(REPOSITORY / "templates" / "software_dev"))
    assert imported_by(check, tmp_path, ("networkx",)) == set()
    circle = "a: {subordinates: [b]}, b: {subordinates: [a]}"
    (tmp_path / "org.yaml").write_text(
        f"_schema: orgkernel:organization\norg_id: a\nhierarchy: {{{circle}}}\n"
    )
    check_here = "from orgkernel import Kernel\nassert Kernel.open('.').check()"
    assert imported_by(check_here, tmp_path, ("networkx",)) == {"networkx"}


@pytest.mark.parametrize(
    "arguments", [("dispatch", "codegen", "--org", "a"), ("manifest", "co", "--org", "a", "--format", "json"), ("check",)]
)  # fmt: skip
def test_a_warm_command_neither_reads_documents_nor_builds_the_graph(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Importing pydantic, yaml or networkx would take longer than the answer (docs/architecture.md)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "org.yaml").write_text("_schema: orgkernel:organization\norg_id: a\nhierarchy: {co: {}}\n")
    (tmp_path / "co.yaml").write_text("_schema: orgkernel:role_profile\nrole_id: co\nrole_type: commander\n")
    heavy = (
        "pydantic", "yaml", "networkx", "jsonschema", "rich", "fastapi", "orgkernel.documents.model.record",
        "orgkernel.documents.shapes", "orgkernel.rules.rule", "sqlalchemy", "kingfisher_sdk", "tempfile", "subprocess",
    )  # fmt: skip
    assert imported_by(command(*arguments), tmp_path, heavy) != set()
    assert imported_by(command(*arguments), tmp_path, heavy) == set()


def test_a_cold_check_imports_only_what_the_documents_need(tmp_path: Path) -> None:
    """An organization without bills, examples, a store and anything like a token needs no decisions and no detector."""
    (tmp_path / "org.yaml").write_text("_schema: orgkernel:organization\norg_id: a\nhierarchy: {co: {}}\n")
    (tmp_path / "co.yaml").write_text("_schema: orgkernel:role_profile\nrole_id: co\nrole_type: commander\n")
    unused = (
        "pydantic", "networkx", "jsonschema", "rich", "sqlalchemy", "kingfisher_sdk", "tree_sitter",
        "orgkernel.decisions.access.layers", "orgkernel.decisions.work.bills.fitness", "orgkernel.runtime.text_index",
    )  # fmt: skip
    check = command("check", "--no-cache")
    assert imported_by(check, tmp_path, (*unused, "yaml", "orgkernel.rules.rule")) == {
        "yaml",
        "orgkernel.rules.rule",
    }


def test_a_host_can_use_the_runtime_without_any_library(tmp_path: Path) -> None:
    """`orgkernel.runtime` imports the standard library and itself, so that it can live inside an agent."""
    modules = sorted(path.stem for path in (PACKAGE / "runtime").glob("[a-z]*.py"))
    program = f"import {', '.join(f'orgkernel.runtime.{name}' for name in modules)}"
    assert (
        imported_by(
            program, tmp_path, (*HEAVY, "click", "orgkernel.diagnostics", "orgkernel.documents.model")
        )
        == set()
    )
    for path in (PACKAGE / "runtime").glob("*.py"):
        for name in imports_of(path):
            top = name.partition(".")[0]
            assert top in sys.stdlib_module_names or name.startswith("orgkernel.runtime"), (
                f"{path.name}: {name}"
            )


def test_the_runtime_works_under_another_name(tmp_path: Path) -> None:
    """A host gets a copy of its own: whatever orgkernel is installed there cannot be mixed up with it."""
    shutil.copytree(PACKAGE / "runtime", tmp_path / "host" / "private_copy")
    for path in (PACKAGE / "runtime").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        absolute = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
        assert not [node.module for node in absolute if (node.module or "").startswith("orgkernel")], (
            path.name
        )
    modules = sorted(path.stem for path in (PACKAGE / "runtime").glob("[a-z]*.py"))
    program = f"import sys; sys.path.insert(0, 'host'); import {', '.join(f'private_copy.{name}' for name in modules)}"
    assert imported_by(program, tmp_path, ("orgkernel",)) == set()


def imports_of(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            within = ".".join(path.relative_to(PACKAGE.parent).parent.parts) if node.level else ""
            names.append(".".join(part for part in (within, node.module) if part))
    return names


# Below the kernel only these touch the outside (docs/architecture.md).
READERS = {
    "loading/cache.py",
    "loading/files.py",
    "loading/shipped.py",
    "loading/skill_files.py",
    "loading/tree.py",
    "runtime/regular_files.py",
    "runtime/report_files.py",
    "shell/catalog.py",
}
BELOW = (
    "decisions",
    "diagnostics",
    "diff",
    "documents",
    "graph",
    "loading",
    "manifest",
    "rules",
    "runtime",
    "shell",
)
OUTSIDE_CALLS = {"open", "print", "input", "exec", "eval", "__import__"}
OUTSIDE_ATTRIBUTES = {
    "os": {"scandir", "listdir", "walk", "stat", "lstat", "open", "remove", "unlink", "rename", "replace", "makedirs",
           "mkdir", "rmdir", "environ", "getenv", "getcwd", "chdir", "system", "popen", "urandom", "fork", "kill"},
    "os.path": {"exists", "lexists", "isfile", "isdir", "islink", "realpath", "getsize", "getmtime", "expanduser"},
}  # fmt: skip
OUTSIDE_MODULES = {
    "io", "pathlib", "shutil", "glob", "tempfile", "subprocess", "socket", "random", "secrets", "time", "datetime",
    "uuid", "logging", "sys", "threading", "asyncio", "urllib.request", "http", "sqlite3", "pickle", "ctypes",
}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=str(path.relative_to(PACKAGE))) for layer in BELOW for path in sorted((PACKAGE / layer).rglob("*.py"))],
)  # fmt: skip
def test_below_the_kernel_nothing_touches_the_outside(path: Path) -> None:
    """No file is opened, no folder listed, no environment read, nothing printed: answers depend on their arguments."""
    name = str(path.relative_to(PACKAGE))
    if name in READERS:
        return
    found = [
        f"import {module}"
        for module in imports_of(path)
        if {module, module.partition(".")[0]} & OUTSIDE_MODULES
    ]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OUTSIDE_CALLS:
            found.append(f"{node.func.id}() in line {node.lineno}")
        if isinstance(node, ast.Attribute) and node.attr in OUTSIDE_ATTRIBUTES.get(
            ast.unparse(node.value), ()
        ):
            found.append(f"{ast.unparse(node)} in line {node.lineno}")
        if isinstance(node, ast.Attribute) and node.attr in {
            "read_text",
            "write_text",
            "read_bytes",
            "write_bytes",
        }:
            found.append(f".{node.attr} in line {node.lineno}")
    assert found == []


def test_the_command_line_has_no_rules_of_its_own() -> None:
    """A surface translates in, calls the kernel and translates out: it never looks into a document's fields."""
    for path in (PACKAGE / "cli").glob("*.py"):
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Attribute)}  # fmt: skip
        assert attributes.isdisjoint(
            {"hierarchy", "bst_domains", "reports_to", "domain_routing", "list_chain_above"}
        ), path
