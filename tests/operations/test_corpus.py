"""Every write of the corpus comes to the same by every surface: the same refusal, record, rows and audit."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import compile_path

from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from tests.api.test_paths import QUESTIONS, posts
from tests.operations.surfaces import (
    COMMANDS,
    OPERATIONS,
    OPERATOR,
    ROUTES,
    SURFACES,
    Happened,
    World,
    filled,
    place_in,
    prepare,
)
from tests.support.sampling import sample
from tests.support.trees import copy_template, write_tree
from tests.support.yaml_text import read_yaml_file

FILES = {
    path.stem: read_yaml_file(path) for path in sorted((Path(__file__).parent / "corpus").glob("*.yaml"))
}


def cases_of(file: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cases of a file, and each of its acts by every actor that tries it."""
    yield from file.get("cases", ())
    for act in file.get("acts", ()):
        for relation, becomes in act["who"].items():
            case = {name: said for name, said in act.items() if name != "who"}
            yield case | {
                "name": f"{act['name']} by {relation}",
                "by": file["actors"][relation],
                "becomes": becomes,
                "right": None if becomes != "done" else RIGHTS.get(relation.partition("_")[0]),
            }


# What the audit names as the right of those who do something by a right.
RIGHTS = {"owner": "owner", "superior": "superior", "approver": "approver"}
CASES = [
    pytest.param(name, case, id=f"{name}: {case['name']}")
    for name, file in FILES.items()
    for case in cases_of(file)
]

# What holds at night only would make the audit depend on the hour in which the tests run.
_AT_NIGHT = "      conditions:\n        - time: 23:00-08:00\n"


def always_at_night(folder: Path) -> None:
    """The copied policies without their time of day: they match at every hour."""
    path = folder / "policies.yaml"
    if path.exists():
        text = path.read_text(encoding="utf-8")
        assert _AT_NIGHT in text
        path.write_text(text.replace(_AT_NIGHT, ""), encoding="utf-8")


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Kernel]]:
    """The organization of each file, read once."""
    found = {}
    for name, file in FILES.items():
        folder = tmp_path_factory.mktemp(name) / file["organization"]
        if "files" in file:
            write_tree(folder, file["files"])
        else:
            copy_template(folder, file["organization"])
            always_at_night(folder)
        for path, text in file.get("append", {}).items():
            with (folder / path).open("a", encoding="utf-8") as document:
                document.write(text)
        found[name] = folder, Kernel.open(folder)
    return found


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store in which nothing happened yet: each case begins with a copy."""
    folder = tmp_path_factory.mktemp("empty")
    with open_store(place_in(folder)):
        return folder


def kind_of(parameter: Any) -> tuple[str, ...]:
    """What is done and what becomes of it: `make test` runs one case of each kind by every surface."""
    name, case = parameter.values
    if name in ("dishonest_workers", "approvals"):
        return name, case["name"]  # each is an attack of its own
    outcome = case.get("becomes") or case.get("expect", {}).get("code")
    return name, case["do"], str(outcome), str(case.get("right"))


@pytest.mark.parametrize(("name", "case"), sample(CASES, kind_of))
def test_a_write_is_the_same_by_every_surface(
    organizations: dict[str, tuple[Path, Kernel]],
    empty: Path,
    quick_folder: Path,
    name: str,
    case: dict[str, Any],
) -> None:
    """And what the case says it is."""
    folder, kernel = organizations[name]
    found: dict[str, Happened] = {}
    before = quick_folder / "before"
    shutil.copytree(empty, before)
    with open_store(place_in(before)) as store:
        ids = prepare(store, case.get("before", []))
    for surface, run in SURFACES.items():
        place = quick_folder / surface
        shutil.copytree(before, place)
        with open_store(place_in(place)) as store:
            world = World(folder, kernel, place_in(place), store)
            happened = run(world, case.get("by", OPERATOR), case["do"], filled(case["with"], ids))
        if happened is not None:
            found[surface] = happened
    operation = found.pop("operation")
    for surface, happened in found.items():
        code = operation.code if surface == "route" else None  # the command line tells no codes
        assert happened == operation._replace(code=code), surface
    assert found, "no surface has this write"
    if "becomes" in case:
        assert (operation.code or "done") == case["becomes"], operation.message
        assert case["becomes"] == "done" or (operation.rows, operation.audit) == ({}, [])
        assert case.get("message", operation.message) == operation.message
        if "right" not in case:
            return
        rights = {row.get("detail", {}).get("right") for row in operation.audit if row.get("actor") == "WHO"}
        assert rights == (set() if case["becomes"] != "done" else {case["right"]})
        return
    expected = {"code": None, "message": "", "rows": {}, "audit": []} | case["expect"]
    assert {field: getattr(operation, field) for field in expected} == expected


def test_every_operation_is_in_the_corpus_done_and_refused() -> None:
    """And every surface's writes are those of operations."""
    assert ROUTES.keys() | COMMANDS.keys() <= OPERATIONS.keys()
    becomes = [
        (case["do"], case.get("becomes") or case["expect"].get("code", "done"))
        for file in FILES.values()
        for case in cases_of(file)
    ]
    assert {do for do, code in becomes if code == "done"} == OPERATIONS.keys()
    assert {do for do, code in becomes if code != "done"} == OPERATIONS.keys()


def test_every_route_that_writes_is_in_the_corpus() -> None:
    """A `POST` is a question, or an act of the corpus."""
    written = {
        ROUTES[case["do"]](case["with"])[0]
        for file in FILES.values()
        for case in cases_of(file)
        if case["do"] in ROUTES
    }
    patterns = {path: compile_path(path)[0] for path in posts()}
    assert {path for path, form in patterns.items() if not any(map(form.match, written))} == QUESTIONS
