"""One name, one type: a reader who has seen a name once knows what it means everywhere."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.trees import REPOSITORY

PACKAGES = ("orgkernel", "manifest_api", "extension/host")
GENERATED = ("orgkernel/documents/records.py", "orgkernel/documents/shapes.py")
_VERBS = """
    add answer apply ask assign begin bind build call can change check choose cite clean close collect compare compile complete
    compute connect convert copy count create decide decode delete deny derive describe did dispatch do does draft drop echo encode
    end escape evaluate execute expand explain export extract fill find finish fit fold follow format get group has hold identify
    insert install is issue join keep limit list load locate log make map mark mask match may measure merge move name normalize note
    observe open pack parse permit place plan post prepare print propose put quote rank read record refresh refuse release remove
    rename render renew replace report require resolve restore revoke rotate run save say select send serve set share show sign
    sort split start stop store submit suggest swap take translate try unpack update upgrade verify wait walk watch write
"""
VERBS = frozenset(_VERBS.split())
"""The verbs that begin most names. A rarer one is as good; the share below leaves room for them."""
COMMENTED = ("decisions", "loading", "project/hooks", "kernel", "graph", "runtime")
"""The packages whose code is subtle enough that a reader needs the reasons."""
WORD_LISTS = (
    "runtime/request_words.py",
    "runtime/follow_up_words.py",
    "decisions/work/contracts/preferences.py",
)
"""Modules with lists of the words that users write."""
_PERSONS = re.compile(r"\b(nobody|somebody|whoever)\b", re.IGNORECASE)
_TOOL_NOTE = re.compile(r"#\s*(noqa|type:|pragma|fmt:|!)")
_LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT,
}  # fmt: skip


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


def list_sources(*packages: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each module that is not generated."""
    for package in packages:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if not name.startswith(GENERATED):
                yield name, path.read_text(encoding="utf-8")


def list_function_names(source: str) -> Iterator[str]:
    """The names of the functions in a module, without properties and methods of the language."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            decorators = {getattr(each, "id", getattr(each, "attr", "")) for each in node.decorator_list}
            if not decorators & {"property", "cached_property"}:
                yield node.name


def compute_share_of_verbs(names: Iterable[str]) -> float:
    """The share of names whose first word is a verb."""
    first_words = [name.lstrip("_").split("_")[0] for name in names]
    return sum(word in VERBS for word in first_words) / len(first_words)


def count_comments(source: str) -> tuple[int, int]:
    """The lines of comments and of code in a module. Docstrings and notes for tools are neither."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    comments, code = 0, set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments += not _TOOL_NOTE.match(token.string)
        elif token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return comments, len(code - docstrings)


def test_most_functions_begin_with_a_verb() -> None:
    """At least four of five functions are named by what they do, where seven of ten are the aim."""
    names = [name for _, source in list_sources(*PACKAGES) for name in list_function_names(source)]
    assert len(names) > 5000
    assert compute_share_of_verbs(names) >= 0.8


def test_a_function_named_by_a_participle_would_lower_the_share() -> None:
    """A property and a method of the language are not counted; a participle and an `x_of` are no verbs."""
    source = (
        "class A:\n    def __len__(self): ...\n    @property\n    def size(self): ...\n    def told(self): ...\n"
        "def name_of(): ...\ndef _find(): ...\n"
    )
    assert sorted(list_function_names(source)) == ["_find", "name_of", "told"]
    assert compute_share_of_verbs(["_find", "told", "origin_of", "is_new"]) == 0.5


def test_subtle_packages_say_why() -> None:
    """In each of the packages, about two of a hundred lines are comments, as in the projects that we learned from."""
    shares = {}
    for package in COMMENTED:
        counts = [count_comments(source) for _, source in list_sources(f"orgkernel/{package}")]
        shares[package] = sum(each[0] for each in counts) / sum(each[1] for each in counts)
    assert {package: share for package, share in shares.items() if share < 0.018} == {}


def test_docstrings_and_notes_for_tools_are_no_comments() -> None:
    """Only sentences after a number sign are counted, per line of code."""
    assert count_comments('"""Text."""\nX = 1  # noqa: E501\n# Why.\nY = [\n    2,  # because\n]\n') == (2, 4)


def test_code_names_its_actors() -> None:
    """Comments, docstrings and messages name the role, caller or process instead of nobody, somebody or whoever."""
    uses = [
        f"{name}:{source[: match.start()].count(chr(10)) + 1}"
        for name, source in list_sources(*PACKAGES)
        if not name.endswith(WORD_LISTS) and "/documents/model/" not in name
        for match in _PERSONS.finditer(source)
    ]
    assert uses == []
