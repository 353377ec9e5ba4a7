"""Reads the Python code that assembles a crew: methods that are tools, the process of the crew, and its manager.

No code is run. Only literal uses of `@tool`, `Process.…` and `self.AGENT()` are recognized.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.documents import build_diagnostic
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.crewai.reading import HIERARCHICAL, SEQUENTIAL, TOOL_KIND, build_own_tool
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.marks import LINE_BREAK, Marks, pack_mark
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import BrokenDocument, FileResult

CREW_BASE = "CrewBase"
_FIRST = pack_mark(1, 1)
_MAX_BYTES = 512 * 1024
_Method = ast.FunctionDef | ast.AsyncFunctionDef


def read_python(source: SourceText, root: Root) -> FileResult:
    """The tools and the process of a crew. A file without a crew class is skipped."""
    if source.problem is not None or CREW_BASE not in source.text:
        return FileResult(skipped=True)
    tree = None
    if len(source.text) <= _MAX_BYTES:
        try:
            # Parsing can warn about the code of the user, such as an invalid escape, and that is not about this check.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    if tree is None:
        text = "the Python of the crew cannot be read, so its tools and its process are unknown"
        problem = DocumentProblem(row.UNREAD_PYTHON, _FIRST, text, "correct its syntax")
        broken = BrokenDocument(source.name, source.path, TOOL_KIND, frozenset())
        return FileResult(broken=(broken,), diagnostics=(build_diagnostic(source, problem),))
    reader = _Reader(source.text)
    for each in tree.body:
        if isinstance(each, ast.ClassDef) and CREW_BASE in _list_decorators(each):
            for method in each.body:
                if isinstance(method, _Method):
                    reader.read(method)
    record = ToolCatalog(
        tools={
            tool: build_own_tool(f"The tool that the method {name} makes.")
            for tool, name in reader.tools.items()
        }
    )
    below = {tool: (mark, mark) for tool, mark in reader.tool_marks.items()}
    marks = (_FIRST, {"tools": (_FIRST, (_FIRST, below)), **reader.marks})
    return FileResult((read_as(source, root, TOOL_KIND, record, marks, {"is_crew": ["true"], **reader.raw}),))


class _Reader:
    """Collects facts from the methods of a crew class."""

    def __init__(self, text: str) -> None:
        self._lines = LINE_BREAK.split(text)
        self.tools: dict[str, str] = {}
        self.tool_marks: dict[str, int] = {}
        self.raw: dict[str, Any] = {}
        self.marks: dict[str, tuple[int, Marks]] = {}

    def read(self, method: _Method) -> None:
        """Read one method, according to its decorators."""
        decorators = _list_decorators(method)
        if "tool" in decorators and len(tool := convert_to_id(method.name)) <= MAX_NAME_LENGTH:
            self.tools[tool] = method.name
            self.tool_marks[tool] = self._mark(
                method, len("async def ") if isinstance(method, ast.AsyncFunctionDef) else len("def ")
            )
        elif "agent" in decorators:
            for call in _find_calls(method, "Agent"):
                self._read_agent(method, call)
        elif "crew" in decorators:
            for call in _find_calls(method, "Crew"):
                for keyword in call.keywords:
                    self._read_crew(keyword)

    def _read_agent(self, method: _Method, call: ast.Call) -> None:
        """The key of an agent in its file, and the tools that the code gives it."""
        key = _find_config_key(call)
        name = method.name
        if key is not None:
            name = str(key.value)
            self._add("configured", name, self._mark(key))
        for keyword in call.keywords:
            # An empty list says what leaving it out says, so the file of the agent still decides.
            if keyword.arg == "tools" and not _is_empty(keyword.value):
                tools = _list_tools(keyword.value)
                # A list that only running the code would give could contain any tool. That is reported, not guessed.
                if tools is None:
                    self._add("agent_tools", name, self._mark(keyword))
                else:
                    self.raw.setdefault("code_tools", {}).setdefault(name, []).extend(tools)

    def _add(self, field: str, word: str, mark: int) -> None:
        """Add a word to a list, with its mark."""
        self.raw.setdefault(field, []).append(word)
        self.marks.setdefault(field, (mark, (mark, [])))[1][1].append(mark)

    def _read_crew(self, keyword: ast.keyword) -> None:
        value, mark = keyword.value, self._mark(keyword)
        if (
            keyword.arg == "process"
            and isinstance(value, ast.Attribute)
            and value.attr in (SEQUENTIAL, HIERARCHICAL)
        ):
            self.raw["process"] = [value.attr]
        elif keyword.arg == "manager_agent" and isinstance(value, ast.Call) and _is_of_self(value.func):
            assert isinstance(value.func, ast.Attribute)
            self.raw["manager"] = [value.func.attr]
        elif keyword.arg not in ("manager_llm", "manager_agent"):
            return
        self.marks[str(keyword.arg)] = (mark, mark)

    def _mark(self, node: ast.AST, further: int = 0) -> int:
        """The mark at which a node begins. Python counts UTF-8 bytes, and marks count characters."""
        line: int = node.lineno  # type: ignore[attr-defined]
        offset: int = node.col_offset  # type: ignore[attr-defined]
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return pack_mark(
            line, len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) + 1 + further
        )


def _list_decorators(node: ast.ClassDef | _Method) -> set[str]:
    decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in decorators
        if isinstance(each, ast.Name | ast.Attribute)
    }


def _find_calls(method: _Method, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Tuple) and not value.elts


def _is_of_self(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"


def _find_config_key(call: ast.Call) -> ast.Constant | None:
    """The key in `config=self.agents_config["KEY"]`."""
    for keyword in call.keywords:
        if keyword.arg == "config" and isinstance(keyword.value, ast.Subscript):
            key = keyword.value.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return key
    return None


def _list_tools(value: ast.expr) -> list[str] | None:
    """The classes and methods that make the tools of a list. None if one of them is made in another way."""
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    names = []
    for each in value.elts:
        function = each.func if isinstance(each, ast.Call) else each
        if isinstance(function, ast.Name):
            names.append(function.id)
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            names.append(function.attr)
        else:
            return None
    return names
