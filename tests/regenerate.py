"""Everything in the repository that is generated: `python -m tests.regenerate` writes it, `--check` compares it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from manifest_api.openapi import build_openapi
from orgkernel.kernel.schemas import build_schemas, render_schema
from orgkernel.rules.pages import all_pages
from orgkernel.triggers.names import ALIASES, NAMES

REPOSITORY = Path(__file__).parents[1]
TRIGGERS = "docs/triggers.md"
_BEGIN, _END = "<!-- names: generated -->\n", "<!-- names: end -->\n"


def generated_files() -> dict[str, str]:
    """Path below the repository to text."""
    pages = all_pages()
    files = {
        f"ontology/schemas/{kind}.json": render_schema(schema) for kind, schema in build_schemas().items()
    }
    files |= {f"docs/rules/{page.file_name}": page.text for page in pages.values()}
    files["docs/rules/README.md"] = _rule_index()
    files["tests/golden/openapi.json"] = json.dumps(build_openapi(), indent=2, sort_keys=True) + "\n"
    files[TRIGGERS] = _trigger_page()
    return files


def _rule_index() -> str:
    lines = [
        "# Rules",
        "",
        "Families by the first digit: 0 reading, 1 shape, 2 command, 3 routing, 5 doctrine and reporting, 7 hygiene.",
        "",
        "| code | name | default | what it says |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| [{page.code}]({page.file_name}) | {page.name} | {page.severity.value} | {page.summary} |"
        for page in all_pages().values()
    ]
    return "\n".join(lines) + "\n"


def _trigger_page() -> str:
    """The hand-written page with the table of names, which is data of the language."""
    text = (REPOSITORY / TRIGGERS).read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    rows = ["| name | kind | unit | meaning |", "|---|---|---|---|"]
    rows += [
        f"| `{name.name}` | {name.kind} | {name.unit or '–'} | {name.description} |"
        for name in NAMES.values()
    ]
    rows += ["", "| published word | write instead |", "|---|---|"]
    rows += [f"| `{alias}` | `{target}` |" for alias, target in sorted(ALIASES.items())]
    return before + _BEGIN + "\n" + "\n".join(rows) + "\n\n" + _END + after


def stale_files() -> list[str]:
    """What differs from what would be generated, pages of rules that no longer exist included."""
    files = generated_files()
    stale = [name for name, text in files.items() if _read(name) != text]
    kept = {Path(name) for name in files}
    for folder in ("ontology/schemas", "docs/rules"):
        found = (path.relative_to(REPOSITORY) for path in (REPOSITORY / folder).iterdir())
        stale += [str(path) for path in found if path not in kept]
    return sorted(stale)


def _read(name: str) -> str | None:
    path = REPOSITORY / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def main() -> int:
    """Write, or with `--check` compare."""
    if "--check" in sys.argv[1:]:
        stale = stale_files()
        for name in stale:
            sys.stderr.write(f"not up to date: {name}\n")
        if stale:
            sys.stderr.write("run `make regenerate`\n")
        return 1 if stale else 0
    files = generated_files()
    for name in stale_files():
        if name in files:
            (REPOSITORY / name).parent.mkdir(parents=True, exist_ok=True)
            (REPOSITORY / name).write_text(files[name], encoding="utf-8")
        else:
            (REPOSITORY / name).unlink()
        sys.stdout.write(f"wrote {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
