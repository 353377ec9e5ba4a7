"""Extract the dependencies from package manifests, so other parts of a manifest can change freely.

Fails closed: an unreadable manifest counts as changed, and a manifest of another kind is protected as a whole.
"""

from __future__ import annotations

import json
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
# A string in double quotes or backticks can contain `//`, which otherwise starts a comment.
_GO_COMMENT: Final = lazy_pattern(r"""((?:[^"`/]|"[^"]*"|`[^`]*`|/(?!/))*)(?://.*)?""")


class _UnreadableManifest(Exception):
    pass


def has_dependency_block(key: Key) -> bool:
    """Whether the dependencies of a manifest can be separated from the rest of it.

    >>> has_dependency_block(("web", "package.json")), has_dependency_block(("package-lock.json",))
    (True, False)
    """
    return key[-1] in _READERS


def did_dependencies_change(key: Key, before: str | None, after: str | None) -> bool:
    """Whether the dependencies of a manifest differ or cannot be read. A missing file has the content None.

    >>> did_dependencies_change(("package.json",), '{"version": "1"}', '{"version": "2", "scripts": {"test": "x"}}')
    False
    >>> did_dependencies_change(("package.json",), "{}", '{"dependencies": {"left-pad": "1"}}')
    True
    """
    read = _READERS[key[-1]]
    try:
        return _make_comparable(read, before) != _make_comparable(read, after)
    except (_UnreadableManifest, ValueError, RecursionError):
        return True


def _make_comparable(read: Callable[[str], Mapping[str, Any]], text: str | None) -> str:
    """A canonical text of a value, equal for equal values. `1` differs from `true`."""
    if text is None:
        return "{}"
    text.encode()  # bytes that are not valid text cannot be parsed
    members = {name: value for name, value in read(text).items() if value not in ({}, [], None)}
    return json.dumps(members, sort_keys=True, default=str)


def _read_npm(text: str) -> Mapping[str, Any]:
    return _pick(_get_table(json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_refuse_repeats)), _NPM)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object. Duplicate keys are refused, because programs differ in which one they take."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _UnreadableManifest
    return members


def _read_pyproject(text: str) -> Mapping[str, Any]:
    from orgkernel.runtime.bounded_toml import parse_bounded_toml

    document = parse_bounded_toml(text)
    project, tool = _get_table(document.get("project", {})), _get_table(document.get("tool", {}))
    blocks: dict[str, Any] = {
        f"project.{name}": project[name]
        for name in ("dependencies", "optional-dependencies")
        if name in project
    }
    dynamic = project.get("dynamic", [])
    if not isinstance(dynamic, list):
        raise _UnreadableManifest
    blocks["project.dynamic"] = sorted(str(each) for each in dynamic if "dependencies" in str(each))
    blocks |= _pick(document, ("build-system", "dependency-groups"))
    for name, table in tool.items():
        if name == "uv":
            blocks["tool.uv"] = table
        elif name == "poetry":
            blocks["tool.poetry"] = _pick(_get_table(table), _POETRY)
        else:
            blocks |= {f"tool.{name}.{place}": value for place, value in _find_named_dependencies(table)}
    return blocks


def _find_named_dependencies(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Tables of other tools whose name mentions dependencies or their sources, with everything below them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            at = f"{place}.{name}" if place else name
            if "dependenc" in name.lower() or name.lower() in ("source", "sources", "overrides", "requires"):
                yield at, inner
            else:
                yield from _find_named_dependencies(inner, at)


def _read_cargo(text: str) -> Mapping[str, Any]:
    from orgkernel.runtime.bounded_toml import parse_bounded_toml

    document = parse_bounded_toml(text)
    blocks = dict(_pick(document, (*_CARGO, *_CARGO_ROOT)))
    workspace = _pick(_get_table(document.get("workspace", {})), _CARGO)
    targets = {
        name: _pick(_get_table(each), _CARGO) for name, each in _get_table(document.get("target", {})).items()
    }
    blocks["workspace"] = workspace
    blocks["target"] = {name: each for name, each in targets.items() if each}
    return blocks


def _read_go(text: str) -> Mapping[str, Any]:
    """The directives that name other modules, as lists of words. Comments such as `// indirect` are ignored."""
    lines_by_directive: dict[str, list[list[str]]] = {}
    block: str | None = None
    for line in text.splitlines():
        match = _GO_COMMENT.fullmatch(line)
        if match is None:
            raise _UnreadableManifest
        words = match[1].strip()
        if not words:
            continue
        if block is not None:
            if words == ")":
                block = None
            else:
                lines_by_directive.setdefault(block, []).append(words.split())
            continue
        directive = _GO_LINE.fullmatch(words)
        if directive is None or directive["word"] not in _GO_BLOCKS | _GO_OTHERS:
            raise _UnreadableManifest
        rest = directive["rest"].strip()
        if rest == "(":
            block = directive["word"]
        else:
            lines_by_directive.setdefault(directive["word"], []).append(rest.split())
    if block is not None:
        raise _UnreadableManifest
    return {name: sorted(lines) for name, lines in lines_by_directive.items() if name in _GO_BLOCKS}


def _pick(table: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _get_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _UnreadableManifest
    return value


_READERS: Final[dict[str, Callable[[str], Mapping[str, Any]]]] = {
    "package.json": _read_npm,
    "pyproject.toml": _read_pyproject,
    "cargo.toml": _read_cargo,
    "go.mod": _read_go,
}
