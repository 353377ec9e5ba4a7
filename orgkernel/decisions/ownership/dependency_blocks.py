"""The parts of package manifests that say what is installed, so that the rest of a manifest may change freely.

Fails closed: what cannot be read has changed, and every manifest of another kind is held as a whole.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgkernel.decisions.ownership.paths import Key
from orgkernel.runtime.lazy_patterns import lazy_pattern

_NPM: Final = (
    "dependencies", "devDependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies",
    "dependenciesMeta", "bundledDependencies", "bundleDependencies", "overrides", "resolutions", "catalog", "catalogs",
    "workspaces", "pnpm", "packageManager",
)  # fmt: skip
_POETRY: Final = ("dependencies", "dev-dependencies", "group", "extras", "source", "requires-plugins")
_CARGO: Final = (
    "dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies",
)  # fmt: skip
_CARGO_ROOT: Final = ("patch", "replace")
_GO_BLOCKS: Final = frozenset(["require", "replace", "exclude", "toolchain", "tool"])
_GO_OTHERS: Final = frozenset(["module", "go", "godebug", "retract", "ignore"])
_GO_LINE: Final = lazy_pattern(r'(?P<word>[a-z]+)\s*(?P<rest>\(|[\s"`].*)')
# A text in double quotes or backticks may hold `//`, which otherwise begins a comment.
_GO_COMMENT: Final = lazy_pattern(r"""((?:[^"`/]|"[^"]*"|`[^`]*`|/(?!/))*)(?://.*)?""")


class _UnreadableManifest(Exception):
    pass


def has_dependency_block(key: Key) -> bool:
    """Whether the dependencies of a manifest can be told from the rest of it.

    >>> has_dependency_block(("web", "package.json")), has_dependency_block(("package-lock.json",))
    (True, False)
    """
    return key[-1] in _READERS


def dependencies_changed(key: Key, before: str | None, after: str | None) -> bool:
    """Whether the dependencies of a manifest are not the same, or cannot be read. None: there is no such file.

    >>> dependencies_changed(("package.json",), '{"version": "1"}', '{"version": "2", "scripts": {"test": "x"}}')
    False
    >>> dependencies_changed(("package.json",), "{}", '{"dependencies": {"left-pad": "1"}}')
    True
    """
    read = _READERS[key[-1]]
    try:
        return _comparable(read, before) != _comparable(read, after)
    except (_UnreadableManifest, ValueError, RecursionError):
        return True


def _comparable(read: Callable[[str], Mapping[str, Any]], text: str | None) -> str:
    """A form in which what is equal is the same text: `1` is not `true`."""
    if text is None:
        return "{}"
    text.encode()  # bytes that are no text cannot be read
    found = {name: value for name, value in read(text).items() if value not in ({}, [], None)}
    return json.dumps(found, sort_keys=True, default=str)


def _read_npm(text: str) -> Mapping[str, Any]:
    return _picked(_table(json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_without_repeats)), _NPM)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object. Of two with one name, one program takes the first and another the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _UnreadableManifest
    return found


def _read_pyproject(text: str) -> Mapping[str, Any]:
    document = tomllib.loads(text)
    project, tool = _table(document.get("project", {})), _table(document.get("tool", {}))
    found: dict[str, Any] = {
        f"project.{name}": project[name]
        for name in ("dependencies", "optional-dependencies")
        if name in project
    }
    dynamic = project.get("dynamic", [])
    if not isinstance(dynamic, list):
        raise _UnreadableManifest
    found["project.dynamic"] = sorted(str(each) for each in dynamic if "dependencies" in str(each))
    found |= _picked(document, ("build-system", "dependency-groups"))
    for name, table in tool.items():
        if name == "uv":
            found["tool.uv"] = table
        elif name == "poetry":
            found["tool.poetry"] = _picked(_table(table), _POETRY)
        else:
            found |= {f"tool.{name}.{place}": value for place, value in _named_dependencies(table)}
    return found


def _named_dependencies(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Everything below a table of another tool whose name speaks of dependencies, or of where they come from."""
    if isinstance(value, dict):
        for name, inner in value.items():
            at = f"{place}.{name}" if place else name
            if "dependenc" in name.lower() or name.lower() in ("source", "sources", "overrides", "requires"):
                yield at, inner
            else:
                yield from _named_dependencies(inner, at)


def _read_cargo(text: str) -> Mapping[str, Any]:
    document = tomllib.loads(text)
    found = dict(_picked(document, (*_CARGO, *_CARGO_ROOT)))
    workspace = _picked(_table(document.get("workspace", {})), _CARGO)
    targets = {
        name: _picked(_table(each), _CARGO) for name, each in _table(document.get("target", {})).items()
    }
    found["workspace"] = workspace
    found["target"] = {name: each for name, each in targets.items() if each}
    return found


def _read_go(text: str) -> Mapping[str, Any]:
    """The directives that name other modules, each as its words. Comments, such as `// indirect`, mean nothing."""
    found: dict[str, list[list[str]]] = {}
    block: str | None = None
    for line in text.splitlines():
        said = _GO_COMMENT.fullmatch(line)
        if said is None:
            raise _UnreadableManifest
        words = said[1].strip()
        if not words:
            continue
        if block is not None:
            if words == ")":
                block = None
            else:
                found.setdefault(block, []).append(words.split())
            continue
        directive = _GO_LINE.fullmatch(words)
        if directive is None or directive["word"] not in _GO_BLOCKS | _GO_OTHERS:
            raise _UnreadableManifest
        rest = directive["rest"].strip()
        if rest == "(":
            block = directive["word"]
        else:
            found.setdefault(directive["word"], []).append(rest.split())
    if block is not None:
        raise _UnreadableManifest
    return {name: sorted(lines) for name, lines in found.items() if name in _GO_BLOCKS}


def _picked(table: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _UnreadableManifest
    return value


_READERS: Final[dict[str, Callable[[str], Mapping[str, Any]]]] = {
    "package.json": _read_npm,
    "pyproject.toml": _read_pyproject,
    "cargo.toml": _read_cargo,
    "go.mod": _read_go,
}
