"""Every public name has an example, and every example is true."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import orgkernel

PUBLIC = [name for name in orgkernel.__all__ if name != "__version__"]
OPTIONS = doctest.REPORT_NDIFF


def failures_of(examples: list[doctest.DocTest]) -> int:
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    return sum(runner.run(example).failed for example in examples)


def examples_of(subject: Any, module: ModuleType) -> list[doctest.DocTest]:
    """Of a name and its methods, with the module's names at hand."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = finder.find(subject, module=module, globs=dict(vars(module)))
    return [test for test in found if test.examples]


def test_the_package_shows_what_it_does() -> None:
    """The example at the top of `orgkernel`."""
    examples = [test for test in examples_of(orgkernel, orgkernel) if test.name == "orgkernel"]
    assert examples
    assert failures_of(examples) == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_is_true(name: str) -> None:
    """On the name itself; those of its methods are run as well."""
    subject = getattr(orgkernel, name)
    examples = examples_of(subject, import_module(subject.__module__))
    assert name in {test.name for test in examples}, f"{name} has no example"
    assert failures_of(examples) == 0


@pytest.mark.parametrize(
    "method", ["open", "check", "dispatch", "manifest", "pace", "report", "crew", "reload", "latest"]
)
def test_every_question_of_the_kernel_has_an_example(method: str) -> None:
    """What a user calls is shown where it is looked up."""
    assert ">>> " in (inspect.getdoc(getattr(orgkernel.Kernel, method)) or "")


@pytest.mark.nightly
def test_every_example_inside_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of modules that are not public are read as often, and were wrong in five places when nothing ran them."""
    monkeypatch.chdir(tmp_path)  # an example must not depend on the files around it
    wrong = []
    for info in walk_packages(orgkernel.__path__, "orgkernel."):
        if info.name.startswith("orgkernel.state.migrations") or info.name.endswith("__main__"):
            continue  # these run when they are imported
        module = import_module(info.name)
        if ">>> " in inspect.getsource(module) and failures_of(examples_of(module, module)):
            wrong.append(info.name)
    assert wrong == []


def test_the_public_names_are_those_that_are_documented() -> None:
    """The names are sorted, each can be imported, and `dir` has no others."""
    assert orgkernel.__all__ == sorted(orgkernel.__all__)
    assert dir(orgkernel) == sorted(orgkernel.__all__)
    assert all(getattr(orgkernel, name) is not None for name in orgkernel.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = orgkernel.nothing
