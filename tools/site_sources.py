"""What the documentation site is built from: `python -m tools.site_sources FOLDER` writes it.

The hand-written pages are copied from `docs/`, and README.md is the front page. The pages that follow from the code are added: one
for each rule, the reference of documents, commands and routes, the tests of the threat model. The navigation of `mkdocs.yml` is filled in with the pages of which there are many.
"""

from __future__ import annotations

import re
import shutil
import sys
from itertools import groupby
from pathlib import Path

from orgkernel.diagnostics import Severity
from orgkernel.project.scaffold import build_schemas
from orgkernel.rules.effects import PLACES, list_effects
from orgkernel.rules.pages import build_all_pages
from tools.reference_pages import reference_pages
from tools.threat_page import PAGE as THREAT_TESTS
from tools.threat_page import threat_page

REPOSITORY = Path(__file__).parents[1]
CONFIG = "mkdocs.yml"
FAMILIES = {
    "0": "reading",
    "1": "shape",
    "2": "chain of command",
    "3": "routing",
    "4": "authority",
    "5": "doctrine and reporting",
    "6": "crew and contracts",
    "7": "hygiene",
    "8": "compatibility",
}


def write_site_sources(folder: Path) -> None:
    """Write `mkdocs.yml` and `docs/` into the folder, whose `docs/` is replaced."""
    shutil.rmtree(folder / "docs", ignore_errors=True)
    shutil.copytree(REPOSITORY / "docs", folder / "docs")
    for name, text in generated_pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / CONFIG).write_text(site_configuration(), encoding="utf-8")


def generated_pages() -> dict[str, str]:
    """The pages that are not in the repository: path below the folder of the site's sources to text."""
    pages = {f"docs/rules/{page.file_name}": _link_codes(page.text) for page in build_all_pages().values()}
    pages["docs/rules/README.md"] = _rule_index()
    pages["docs/index.md"] = _front_page()
    pages[THREAT_TESTS] = threat_page()
    return pages | reference_pages()


def site_configuration() -> str:
    """The hand-written configuration with all rules, kinds of documents and decisions in its navigation."""
    text = (REPOSITORY / CONFIG).read_text(encoding="utf-8")
    rules = []
    for digit, pages in groupby(build_all_pages().values(), key=lambda page: page.code[3]):
        rules.append(f"- {FAMILIES[digit].capitalize()}:")
        rules += [f"    - rules/{page.file_name}" for page in pages]
    kinds = [f"- reference/documents/{kind}.md" for kind in build_schemas()]
    decisions = [f"- adr/{path.name}" for path in sorted((REPOSITORY / "docs/adr").glob("*.md"))]
    for name, entries in (("rules", rules), ("kinds", kinds), ("decisions", decisions)):
        place = re.search(rf"^( *)# {name}: generated\n", text, flags=re.MULTILINE)
        assert place, f"{CONFIG} has no place for {name}"
        lines = "".join(f"{place[1]}{entry}\n" for entry in entries)
        text = text[: place.start()] + lines + text[place.end() :]
    return text


def _front_page() -> str:
    """README.md with links from the site's front page: a link out of `docs/` leads nowhere there, so its text remains."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(
        r"\[([^\]]+)\]\((?!https?:)([^)#]+)\)", lambda link: link[0] if _is_page(link[2]) else link[1], text
    )


def _is_page(target: str) -> bool:
    return (REPOSITORY / "docs" / target).is_file()


def _rule_index() -> str:
    used = {page.code[3] for page in build_all_pages().values()}
    families = ", ".join(f"{digit} {name}" for digit, name in FAMILIES.items() if digit in used)
    lines = [
        "# Rules",
        "",
        f"Families by the first digit: {families}.",
        "",
        "| code | name | default | what it says |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| [{page.code}]({page.file_name}) | {page.name} | {page.severity.value} | {page.summary} |"
        for page in build_all_pages().values()
    ]
    lines += [
        "",
        "## What each error takes out of service",
        "",
        "Warnings and information take nothing out of service. An error about another role than that of its file takes the organization",
        "out of service. Without a skill, a list of tools or a task in another format, agents are only less able, so the organization",
        "answers.",
        "",
        f"| code | {' | '.join(PLACES.values())} |",
        f"|---|{'---|' * len(PLACES)}",
    ]
    lines += [
        f"| [{page.code}]({page.file_name}) | {' | '.join(list_effects(page.code, page.severity).values())} |"
        for page in build_all_pages().values()
        if page.severity is Severity.ERROR
    ]
    return "\n".join(lines) + "\n"


def _link_codes(text: str) -> str:
    """A rule's page with links to the other rules it names; examples and headings stay as they are."""
    pages = build_all_pages()
    parts = re.split(r"(^```.*?^```$|^#[^\n]*$|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(
            r"\bORG\d{3}\b",
            lambda code: f"[{code[0]}]({pages[code[0]].file_name})" if code[0] in pages else code[0],
            parts[place],
        )
    return "".join(parts)


if __name__ == "__main__":
    write_site_sources(Path(sys.argv[1]))
