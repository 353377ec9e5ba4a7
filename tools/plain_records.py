"""The structs of `orgkernel/documents/records.py` and `shapes.py`, written from the pydantic models.

Each model of `orgkernel/documents/model/` becomes a frozen struct with the same fields and defaults in both. A **record** has the properties of its model too and states no constraints, because it is made of values that
have been validated. A **shape** states the constraints, so that a document that fits its model is read without pydantic.
What a shape cannot state – another word for a value or a field, unknown fields – it rejects, and the model decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

REPOSITORY = Path(__file__).parents[1]
MODELS, RECORDS, SHAPES = (
    "orgkernel.documents.model",
    "orgkernel.documents.records",
    "orgkernel.documents.shapes",
)
SOURCE = MODELS.replace(".", "/")
# What documents are read with, and not what they are.
_LEFT_OUT = ("__init__", "json_schema", "kinds")
_ROOT = "Record"
# What a model may say about a value besides its type. Only `BeforeValidator` is lost: the model then takes other words
# for a value than its shape. A shape runs no validators of fields or models; what they would check is a rule.
_SAID = frozenset({"Field", "StringConstraints", "Discriminator", "Tag", "BeforeValidator"})
_OPTIONS = "frozen=True, kw_only=True"
_ROOT_OPTIONS = f"{_OPTIONS}, omit_defaults=True, gc=False"
# Keywords of `Field` and `StringConstraints` that a shape states.
_CONSTRAINTS = frozenset({"ge", "gt", "le", "lt", "min_length", "max_length", "pattern", "strip_whitespace"})
# Only the JSON Schema states it: a rule reports it with its own code.
_IN_SCHEMA = "json_schema_extra"
# Those that constrain no value.
_OF_FIELDS = frozenset({"default", "default_factory", "alias", "validation_alias", "deprecated"})
# A text that `strip_whitespace` leaves as it is. Python's `\s` would also match four control characters.
_NO_SPACE = r"[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_STRIPPED = rf"(?s)^{_NO_SPACE}(.*{_NO_SPACE})?\Z"


def plain_record_modules() -> dict[str, str]:
    """Path below the repository to the text of both generated modules."""
    return {_path(target): _mirror(target) for target in (RECORDS, SHAPES)}


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"


_SUMMARIES = {
    RECORDS: "Documents as everything above loading sees them: a frozen struct for each model.",
    SHAPES: "The shapes of documents: a frozen struct with its constraints for each model.",
}


def _mirror(target: str) -> str:
    trees = _sorted_by_import(
        {
            path.stem: ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted((REPOSITORY / SOURCE).glob("*.py"))
            if path.stem not in _LEFT_OUT
        }
    )
    plain = _Plain(target)
    nodes = [each for tree in trees for node in tree.body[1:] if (each := plain.visit(node)) is not None]
    _refuse_repeated_names(nodes)
    kept = _without_unused(nodes)
    body = [node for node in kept if not isinstance(node, ast.Import | ast.ImportFrom)]
    parts = [_imports(kept)]
    for node in body:
        space = "\n\n" if isinstance(node, ast.ClassDef | ast.FunctionDef) else ""
        parts.append(space + ast.unparse(node))
    if target == RECORDS:
        parts.append(_kinds())
    return (
        f'"""{_SUMMARIES[target]}\n\nGenerated from `{SOURCE}` by `make regenerate`: do not edit.\n"""\n\n'
        + "\n".join(parts).rstrip()
        + "\n"
    )


def _sorted_by_import(trees: dict[str, ast.Module]) -> list[ast.Module]:
    """Modules after the ones that they import."""
    graph = {
        name: {
            node.module.removeprefix(f"{MODELS}.")
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{MODELS}.")
        }
        for name, tree in trees.items()
    }
    return [trees[name] for name in TopologicalSorter(graph).static_order()]


def _refuse_repeated_names(nodes: list[ast.stmt]) -> None:
    """All models share one module, so a name that two of them define would hide one."""
    defined: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        else:
            continue
        text = ast.unparse(node)
        assert defined.setdefault(name, text) == text, f"two models define {name}"


def _imports(nodes: list[ast.stmt]) -> str:
    """The imports of all models, each once."""
    names: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names.setdefault(node.module, set()).update(each.name for each in node.names)
    plain = {ast.unparse(node) for node in nodes if isinstance(node, ast.Import)} | {"import msgspec"}
    lines = [f"from {module} import {', '.join(sorted(each))}" for module, each in names.items()] + list(
        plain
    )
    return "\n".join(sorted(lines, key=_import_order))


def _import_order(line: str) -> tuple[int, str]:
    is_ours = line.startswith("from orgkernel")
    return (0 if "__future__" in line else 3 if is_ours else 2 if line == "import msgspec" else 1), line


class _Plain(ast.NodeTransformer):
    """Models to structs: to shapes with constrained types, or to records with bare ones."""

    def __init__(self, target: str) -> None:
        self._is_shape = target == SHAPES

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        if node.module and node.module.split(".")[0] in ("pydantic", "annotated_types"):
            return None
        if node.module and node.module.startswith(f"{MODELS}."):
            return None
        # Annotations that are texts would be compiled one by one when a document is first decoded. They need not be texts,
        # because each struct stands behind those that it names.
        return None if node.module == "__future__" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated":
            assert isinstance(node.slice, ast.Tuple)
            kind, *said = node.slice.elts
            return _annotated(self.visit(kind), said) if self._is_shape else self.visit(kind)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`Part.model_construct()`, which builds no validator, is `Part()` for a record."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "model_construct":
            node.func = node.func.value
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        is_model = any(isinstance(base, ast.Name) and base.id != "TypedDict" for base in node.bases)
        if not is_model:
            return node
        is_root = node.name == _ROOT
        options = _ROOT_OPTIONS if is_root else _OPTIONS
        if is_root and self._is_shape:
            options += ", forbid_unknown_fields=True"
        call = ast.parse(f"f({options})", mode="eval").body
        assert isinstance(call, ast.Call)
        node.keywords = call.keywords
        if is_root:
            node.bases = [ast.parse("msgspec.Struct", mode="eval").body]
        said, *parts = node.body  # its docstring comes first
        node.body = [said, *(each for part in parts if (each := self._part(part)) is not None)]
        return node

    def _part(self, part: ast.stmt) -> ast.stmt | None:
        if isinstance(part, ast.AnnAssign):
            part.annotation = self.visit(part.annotation)
            part.value = _default(self.visit(part.value)) if part.value is not None else None
            part.annotation = _keep_apart_from_default(part.annotation)
        elif isinstance(part, ast.FunctionDef):
            decorators = [ast.unparse(each) for each in part.decorator_list]
            assert decorators == ["property"], f"a shape cannot run {part.name}"
            if self._is_shape:
                return None
        elif isinstance(part, ast.Assign | ast.Expr):
            return None  # `model_config`, and what a field is for: that is in the schema
        return part


def _keep_apart_from_default(annotation: ast.expr) -> ast.expr:
    """A literal such as `'orgkernel:brief'` as text, so that its string is never the object that is the default.

    `omit_defaults` omits what is the default object itself. Python makes one object of equal identifiers only, and `typing` keeps one
    `Literal` for all modules: whether another string was omitted would depend on the module that was imported first.
    """
    is_literal = isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal"
    strings = [each.value for each in ast.walk(annotation) if isinstance(each, ast.Constant)]
    if is_literal and any(isinstance(each, str) and not each.isidentifier() for each in strings):
        return ast.Constant(ast.unparse(annotation))
    return annotation


def _annotated(kind: ast.expr, said: list[ast.expr]) -> ast.expr:
    """A type with the constraints that its `Field` and `StringConstraints` state, in the words of msgspec."""
    calls = [each for each in said if isinstance(each, ast.Call)]
    assert all(ast.unparse(each.func) in _SAID for each in calls), f"a shape cannot state {ast.unparse(kind)}"
    constraints = {
        keyword.arg: keyword.value
        for each in calls
        if ast.unparse(each.func) in ("Field", "StringConstraints")
        for keyword in each.keywords
        if keyword.arg and keyword.arg != _IN_SCHEMA
    }
    assert constraints.keys() <= _CONSTRAINTS, f"a shape cannot state {', '.join(constraints)}"
    if "pattern" in constraints:
        constraints["pattern"] = ast.Constant(_pattern(ast.literal_eval(constraints["pattern"])))
    if constraints.pop("strip_whitespace", None):
        constraints["pattern"] = ast.Constant(_STRIPPED)
    if not constraints:
        return kind
    meta = ", ".join(f"{name}={ast.unparse(value)}" for name, value in constraints.items())
    return ast.parse(f"Annotated[{ast.unparse(kind)}, msgspec.Meta({meta})]", mode="eval").body


def _pattern(text: str) -> str:
    """The same pattern for Python, where `$` would also accept a line break at the end."""
    assert "$" not in text[:-1], f"`$` stands before the end of {text}"
    assert not re.search(r"\\[a-zA-Z]", text), (
        f"pydantic and Python read a class of characters in {text} differently"
    )
    return text[:-1] + r"\Z" if text.endswith("$") else text


def _default(value: ast.expr) -> ast.expr | None:
    """`Field(…)` without what only pydantic reads."""
    is_field = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Field"
    if not is_field:
        return value
    assert isinstance(value, ast.Call)
    given = {each.arg: each.value for each in value.keywords if each.arg}
    assert given.keys() <= _OF_FIELDS, f"write in `Annotated` what {ast.unparse(value)} constrains"
    if value.args:
        given["default"] = value.args[0]
    kept = {
        "default": given.get("default"),
        "default_factory": given.get("default_factory"),
        "name": given.get("alias"),
    }
    written = {name: ast.unparse(each) for name, each in kept.items() if each is not None}
    if not written:
        return None
    if list(written) == ["default"]:
        return given["default"]
    arguments = ", ".join(f"{name}={text}" for name, text in written.items())
    return ast.parse(f"msgspec.field({arguments})", mode="eval").body


def _without_unused(nodes: list[ast.stmt]) -> list[ast.stmt]:
    """Without private functions and constants that only the validation used, and imports nothing needs any more."""
    while True:
        used = {
            name.id
            for node in nodes
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
        }
        kept = [each for node in nodes if (each := _pruned(node, used)) is not None]
        if [ast.dump(node) for node in kept] == [ast.dump(node) for node in nodes]:
            return kept
        nodes = kept


def _pruned(node: ast.stmt, used: set[str]) -> ast.stmt | None:
    if isinstance(node, ast.FunctionDef):
        return node if node.name in used or not node.name.startswith("_") else None
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        names = [each for each in node.names if (each.asname or each.name) in used]
        return ast.ImportFrom(node.module, names, node.level) if names else None
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        return node if name in used or not name.startswith("_") else None
    return None if isinstance(node, ast.Expr) else node


def _kinds() -> str:
    from orgkernel.documents.model.kinds import KINDS, MARKDOWN_KINDS

    kinds = {**KINDS, **MARKDOWN_KINDS}
    rows = "".join(f'    "{kind}": {model.__name__},\n' for kind, model in kinds.items())
    deprecated = {kind: found for kind, model in kinds.items() if (found := _deprecated(model))}
    return (
        f"\n\n# Each kind of document with its record.\nRECORDS: dict[str, type[Document]] = {{\n{rows}}}\n"
        "\n# In a route, every item of a list or a mapping.\nEACH = None\n"
        "# The route of each deprecated field, and what to write instead.\n"
        f"DEPRECATED: dict[str, tuple[tuple[tuple[str | None, ...], str], ...]] = {deprecated!r}"
    )


def _deprecated(model: type[BaseModel]) -> tuple[tuple[tuple[str | None, ...], str], ...]:
    """The routes of the deprecated fields below a model, None for every item, and what to write instead."""
    found: list[tuple[tuple[str | None, ...], str]] = []
    for name, field in model.model_fields.items():
        written = field.alias or name
        if field.deprecated:
            found.append(((written,), str(field.deprecation_message or "")))
        for steps, part in _models_in(field.annotation):
            found += [((written, *steps, *route), advice) for route, advice in _deprecated(part)]
    return tuple(found)


def _models_in(annotation: Any) -> Iterator[tuple[tuple[str | None, ...], type[BaseModel]]]:
    if isinstance(annotation, type):
        if hasattr(annotation, "model_fields"):
            yield (), annotation
        return
    steps = (None,) if getattr(annotation, "__origin__", None) in (tuple, list, dict) else ()
    for part in get_args(annotation):
        for below, model in _models_in(part):
            yield (*steps, *below), model


if __name__ == "__main__":  # by itself and first: without its records the package cannot be imported
    for path, text in plain_record_modules().items():
        (REPOSITORY / path).write_text(text, encoding="utf-8")
