"""The reference of the Python API: every public name, from the code, and which of them are stable."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, get_origin

import msgspec

from orgkernel.errors import OrgkernelError

PAGE = "docs/reference/python.md"
MODULES = ("orgkernel", "orgkernel.client", "orgkernel.toolbox")
"""The modules whose `__all__` is public."""
_RECORDS = (msgspec.Struct, tuple)
_QUOTED, _FIRST = re.compile(r"(?<=: )'([^']*)'"), r"\1"
_WIDTH = 100
_INTRODUCTION = """\
# Python

Look up every public name of the Python API, from the code. [Use orgkernel from Python](../how-to/python.md) shows how they are used.

## What is stable

Public are the names in `orgkernel`, `orgkernel.client` and `orgkernel.toolbox` that this page lists, their public methods and
fields, and the codes of errors and reasons. Everything else in the package is internal and can change in any version.

- A *stable* name keeps its name, its parameters and its fields. A version can add names, fields, and parameters with a default. From
  1.0, something stable is removed or renamed in a major version only. Until then, the changelog names what to write instead.
- A *provisional* method is public, and its answer or a required argument has a type that is not on this page. It can change in any
  version. So can an optional parameter with such a type.
- Create records with keyword arguments, and compare codes. Sentences such as `Reason.text` are for people and can change.
- An import is as light as what is used: `import orgkernel` loads nothing else, and a name loads its module when it is first used.
"""


def python_page() -> str:
    """The page."""
    return "\n".join([_INTRODUCTION, *_build_index(), *_build_names(), "## Errors", "", *_build_errors()])


def list_public_names() -> dict[str, tuple[str, Any]]:
    """Each public name with the first module that has it, and the object."""
    names: dict[str, tuple[str, Any]] = {}
    for module in MODULES:
        exported = import_module(module)
        for name in exported.__all__:
            if name != "__version__":
                names.setdefault(name, (module, getattr(exported, name)))
    return names


def list_provisional_methods(kind: type[Any]) -> set[str]:
    """The public methods with an annotation that names a type of orgkernel which is not public."""
    public = list_public_names()
    module = import_module(kind.__module__)
    return {
        name
        for name, method in _list_methods(kind)
        if any(
            word not in public
            for annotation in _list_annotations(method)
            for word in re.findall(r"\b[A-Z]\w+", annotation)
            if _is_internal_type(module, word)
        )
    }


def _is_internal_type(module: ModuleType, word: str) -> bool:
    """Whether a module imports a name from orgkernel, also where only the checker of types does."""
    source = ast.parse(inspect.getsource(module))
    homes = {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    home = homes.get(word, "")
    if not home.startswith("orgkernel"):
        return False
    # A choice of words, such as `Approval`, is written out by the caller.
    return get_origin(getattr(import_module(home), word)) is not Literal


def _list_annotations(method: Any) -> list[str]:
    """The annotations of the required parameters and of the answer."""
    signature = inspect.signature(method)
    empty = inspect.Parameter.empty
    required = [each.annotation for each in signature.parameters.values() if each.default is empty]
    return [str(each) for each in (*required, signature.return_annotation) if each is not empty]


def _list_methods(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """The public methods and properties in the order of the code, those of the base classes last."""
    seen: set[str] = set()
    for owner in kind.__mro__:
        if not owner.__module__.startswith("orgkernel"):
            continue
        for name, member in vars(owner).items():
            function = _find_function(member)
            if not name.startswith("_") and function is not None and name not in seen:
                seen.add(name)
                yield name, function


def _find_function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member if inspect.isfunction(member) else None


def _build_index() -> Iterator[str]:
    yield from ("## Names", "", "| name | is | module |", "|---|---|---|")
    for name, (module, value) in sorted(list_public_names().items()):
        yield f"| [`{name}`](#{name.lower()}) | {_first_sentence(value)} | `{module}` |"
    yield ""


def _build_names() -> Iterator[str]:
    for name, (module, value) in sorted(list_public_names().items()):
        yield from (f"## {name}", "", f"`from {module} import {name}`", "", *_describe(value), "")
        if not inspect.isclass(value):
            continue
        if issubclass(value, _RECORDS) and not issubclass(value, OrgkernelError):
            yield from _build_fields(value)
        provisional = list_provisional_methods(value)
        for method, function in _list_methods(value):
            mark = " (provisional)" if method in provisional else ""
            is_property = isinstance(inspect.getattr_static(value, method), property)
            signature = _write_signature(method, function, is_property=is_property)
            yield from (
                f"### {name}.{method}{mark}",
                "",
                "```python",
                signature,
                "```",
                "",
                *_describe(function),
                "",
            )


def _write_signature(name: str, function: Any, *, is_property: bool) -> str:
    signature = inspect.signature(function)
    answer = signature.return_annotation
    if is_property:
        return f"{name}: {answer}"
    own = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    start = "async def" if inspect.iscoroutinefunction(function) else "def"
    # Annotations are strings, and a signature shows them in quotes.
    line = f"{start} {name}{_QUOTED.sub(_FIRST, str(inspect.Signature(own)))} -> {answer}"
    if len(line) <= _WIDTH:
        return line
    written = [f"    {_QUOTED.sub(_FIRST, str(each))}," for each in own]
    place = next((i for i, each in enumerate(own) if each.kind is inspect.Parameter.KEYWORD_ONLY), None)
    if place is not None and all(each.kind is not inspect.Parameter.VAR_POSITIONAL for each in own):
        written.insert(place, "    *,")
    return "\n".join([f"{start} {name}(", *written, f") -> {answer}"])


def _build_fields(record: type[Any]) -> Iterator[str]:
    """A table of the fields of a record."""
    fields = dict(_list_fields(record))
    if not fields:
        return
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name, (annotation, meaning) in fields.items():
        yield f"| `{name}` | `{_escape(annotation)}` | {_escape(meaning)} |"
    yield ""


def _list_fields(record: type[Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The fields with their types and the texts below them, those of the base classes first."""
    for owner in reversed(record.__mro__):
        if not owner.__module__.startswith("orgkernel"):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(body, ast.ClassDef)
        following = [*body.body[1:], None]
        for statement, after in zip(body.body, following, strict=True):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                meaning = ""
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    meaning = " ".join(str(after.value.value).split())
                yield statement.target.id, (ast.unparse(statement.annotation), meaning)


def _build_errors() -> Iterator[str]:
    """The tree of errors, from the top of their module."""
    tree = inspect.getdoc(import_module(OrgkernelError.__module__)) or ""
    yield from ("```", tree.partition("\n\n")[2].strip(), "```", "")


def _describe(value: Any) -> Iterator[str]:
    """The docstring; its examples become blocks of code."""
    text = inspect.getdoc(value) or ""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(">>>"):
            yield from ("```pycon", paragraph, "```", "")
        elif paragraph:
            yield from (paragraph, "")


def _first_sentence(value: Any) -> str:
    text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    return _escape(text)


def _escape(text: str) -> str:
    return text.replace("|", "\\|")
