"""The built page is what its sources give, and the sources fit the API."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.page import PACKAGES, PAGE, REPOSITORY, ROUTES, build_page, check_types, is_current, list_built

LOCK = REPOSITORY / "requirements/page/package-lock.json"


@pytest.fixture(autouse=True)
def _packages() -> None:
    if not PACKAGES.is_dir():
        pytest.skip("the packages that build the page are not installed: run `make .venv/page.stamp`")


def test_the_built_page_is_what_its_sources_give(tmp_path: Path) -> None:
    """Built again, every file has the same bytes, the types of the API too; and a third time, elsewhere."""
    built = build_page(tmp_path)
    parts = {name for name in built if re.fullmatch(r"built/part-\w+-[A-Z0-9]{8}\.js", name)}
    assert sorted(built.keys() - parts) == [
        "built/copy.html",
        "built/copy.js.gz",
        "built/icon.svg",
        "built/index.html",
        "built/licenses.txt",
        "built/page.css",
        "built/page.js",
        "built/signed-in.html",
        "built/signed-in.js",
        "src/api.d.ts",
        "src/commands.ts",
    ]
    assert list_built() == built.keys() - {"src/api.d.ts", "src/commands.ts"}, "run `make page`"
    assert [name for name, content in built.items() if not is_current(name, content)] == [], "run `make page`"


def test_the_sources_have_the_types_of_the_api() -> None:
    """The compiler accepts them, with every strict option, and each route of `ROUTES` is asked."""
    check_types()
    sources = "".join(
        each.read_text(encoding="utf-8") for each in (PAGE / "src").glob("*.ts*") if each.name != "api.d.ts"
    )
    assert {path for path in ROUTES if f'"{path}"' not in sources} == set()


def test_the_sources_turn_no_string_into_markup() -> None:
    """No source uses what the security policy would refuse, keeps something in the browser, or names a host."""
    for each in (PAGE / "src").glob("*.ts*"):
        text = each.read_text(encoding="utf-8")
        for forbidden in (
            "dangerouslySetInnerHTML",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            "new Function",
            "localStorage",
            "sessionStorage",
            "document.cookie",
            "indexedDB",
            "caches.",
        ):
            assert forbidden not in text, (each.name, forbidden)
        assert re.findall(r"https?://", text) == [], each.name


def test_packages_are_pinned_with_hashes() -> None:
    """Each package of the build has a version and a hash; nothing of them runs at installation (`npm ci --ignore-scripts`)."""
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    wanted = packages.pop("")["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    assert [
        name for name, each in packages.items() if not each.get("integrity", "").startswith("sha512-")
    ] == []
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert (
        "npm ci --silent --ignore-scripts"
        in makefile.partition("$(VENV)/page.stamp: $(VENV)/%.stamp")[2].partition("\n\n")[0]
    )
    assert "$(VENV)/page.stamp" in makefile.partition("\nunit:")[2].partition("\n")[0]


def test_the_licenses_of_what_is_inside_are_served() -> None:
    """The built script has parts of these packages, and their licenses go with it."""
    text = (PAGE / "built/licenses.txt").read_text(encoding="utf-8")
    assert re.findall(r"^(\S+) \d+\.\d+\.\d+$", text, re.MULTILINE) == ["d3-hierarchy", "preact"]
    assert text.count("Permission") == 2
