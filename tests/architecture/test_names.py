"""One name, one type: a reader who has seen a name once knows what it means everywhere."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.support.trees import REPOSITORY

PACKAGES = ("orgkernel", "manifest_api", "extension/host")
GENERATED = ("orgkernel/documents/records.py", "orgkernel/documents/shapes.py")


def public_types(path: Path) -> list[str]:
    """The public classes of a module, and its names for types (`Name = Literal[...]`, `Name = A | B`)."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            found += [each.id for each in node.targets if isinstance(each, ast.Name)]
    return [name for name in found if not name.startswith("_") and not name.isupper()]


def test_no_two_types_have_one_name() -> None:
    """Except a record or a shape and the model it is generated from, which say the same."""
    homes = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if not name.startswith(GENERATED):
                for each in public_types(path):
                    homes[each].append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_a_second_type_would_be_seen(tmp_path: Path) -> None:
    """Both forms are types; a constant and a private name are not."""
    module = tmp_path / "one.py"
    module.write_text(
        "class Ada: ...\nBob = Literal['x']\nCy = int | str\n_Dan = int | str\nEve = 3\nF_G = x[0]\n"
    )
    assert public_types(module) == ["Ada", "Bob", "Cy"]


def test_values_are_called_by_nouns() -> None:
    """No variable or parameter is called by what was done to it: `found`, `said`, `asked` and `told` name nothing."""
    participles = {"asked", "found", "said", "told"}
    wrong = []
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            module = ast.parse(path.read_text(encoding="utf-8"))
            fields = {
                each.target for node in ast.walk(module) if isinstance(node, ast.ClassDef)
                for each in node.body if isinstance(each, ast.AnnAssign)
            }  # fmt: skip
            for node in ast.walk(module):
                is_variable = (
                    isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields
                )
                name = node.id if is_variable else node.arg if isinstance(node, ast.arg) else ""
                if name in participles:
                    wrong.append(f"{path.relative_to(REPOSITORY)}:{node.lineno} {name}")
    assert wrong == []
