"""The documentation as a site: it builds without a warning, and nothing in it comes from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from tests.support.patience import PATIENCE
from tests.support.yaml_text import read_yaml
from tools.site_sources import site_configuration, write_site_sources


@cache
def read_configuration() -> dict[str, Any]:
    """The configuration of the site, from its template."""
    configuration: dict[str, Any] = read_yaml(site_configuration())
    return configuration


BUILD = (Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean")
# Attributes a browser fetches or follows.
_FETCHED = ("href", "src", "srcset", "action", "poster", "data")


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [value for name in _FETCHED if (value := given.get(name))]
        self.ids |= {value for name in ("id", "name") if (value := given.get(name))}


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(BUILD, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the site is built from, the generated pages included."""
    folder = tmp_path_factory.mktemp("site")
    write_site_sources(folder)
    return folder


@pytest.fixture(scope="module")
def site(sources: Path) -> Path:
    """The site, built strictly."""
    done = build(sources)
    assert done.returncode == 0, done.stdout + done.stderr
    return sources / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def entries(nav: Any) -> list[str]:
    """Every page the navigation names."""
    if isinstance(nav, str):
        return [nav]
    return [entry for each in (nav.values() if isinstance(nav, dict) else nav) for entry in entries(each)]


def test_every_page_is_in_the_navigation_once(sources: Path) -> None:
    """And every entry is a page."""
    docs = sources / "docs"
    assert sorted(entries(read_configuration()["nav"])) == sorted(
        str(path.relative_to(docs)) for path in docs.rglob("*.md")
    )


def test_the_index_of_guides_has_the_groups_of_the_navigation(sources: Path) -> None:
    """With the same pages in the same order."""
    (guides,) = (entry["Guides"] for entry in read_configuration()["nav"] if "Guides" in entry)
    index, *groups = guides
    text = (sources / "docs" / index).read_text(encoding="utf-8")
    listed = {}
    for section in re.split(r"(?m)^## ", text)[1:]:
        links = re.findall(r"(?m)^\| \[[^\]]+\]\(([^)]+)\) \|", section)
        listed[section.partition("\n")[0]] = [os.path.normpath(Path(index).parent / link) for link in links]
    assert list(listed.items()) == [item for group in groups for item in group.items()]


@pytest.mark.nightly
def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    """Otherwise that it passes would say nothing."""
    page = tmp_path / "docs/index.md"
    page.parent.mkdir()
    config = read_configuration() | {"nav": [{"Home": "index.md"}]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for text, succeeds in (("# Home\n", True), ("# Home\n\n[nowhere](nowhere.md)\n", False)):
        page.write_text(text, encoding="utf-8")
        assert (build(tmp_path).returncode == 0) is succeeds


@pytest.mark.nightly
def test_every_page_is_built(site: Path, pages: dict[Path, _Page]) -> None:
    """One HTML page per Markdown page, and the page for what is not found."""
    names = {re.sub(r"README\.md$", "index.md", name) for name in entries(read_configuration()["nav"])}
    built = {str(path.relative_to(site)) for path in pages}
    assert built == {name.removesuffix(".md") + ".html" for name in names} | {"404.html"}


@pytest.mark.nightly
def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, _Page], site: Path) -> None:
    """No page or style sheet names another host: neither fonts nor scripts nor images nor links."""
    for path, page in pages.items():
        assert [link for link in page.links if urlsplit(link).netloc] == [], path
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text), path


@pytest.mark.nightly
def test_nothing_that_is_shown_makes_the_scripts_fetch(site: Path) -> None:
    """The theme's script loads more from a host of its own for diagrams, code to try, galleries and repositories."""
    assert not {"repo_url", "repo_name", "extra_javascript", "plugins"} & read_configuration().keys()
    for path in site.rglob("*.html"):
        assert not re.search(r'class="?(mermaid|pyodide|glightbox)', path.read_text(encoding="utf-8")), path


@pytest.mark.nightly
def test_links_lead_to_a_page_and_a_heading(pages: dict[Path, _Page], site: Path) -> None:
    """Anchors included; the page for what is not found is served from anywhere."""
    lost = []
    files = {os.fspath(path) for path in site.rglob("*") if path.is_file()}
    ids = {os.fspath(path): page.ids for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.links if path.name != "404.html" else ():
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = os.path.normpath(path.parent / unquote(parts.path)) if parts.path else os.fspath(path)
            target = target if target in files else os.path.join(target, "index.html")
            anchor = unquote(parts.fragment)
            known = ids.get(target)
            if target not in files or (anchor and known is not None and anchor not in known | {"__top"}):
                lost.append(f"{path.relative_to(site)}: {link}")
    assert lost == []


def test_it_needs_no_plugin_and_no_web_font() -> None:
    """Another generator of the same family reads the same file."""
    assert read_configuration()["theme"]["font"] is False
    assert "plugins" not in read_configuration()
    assert read_configuration()["site_dir"] == "site"
