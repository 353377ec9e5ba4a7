"""The generated part of `docs/architecture.md`: the layers and the other contracts, as `.importlinter` states them."""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = "docs/architecture.md"
_BEGIN, _END = "<!-- layers: generated -->\n", "<!-- layers: end -->\n"


def architecture_page() -> str:
    """The hand-written page with its drawing of the contracts."""
    contracts = read_contracts()
    layers = next(each for each in contracts if each["type"] == "layers")
    text = (REPOSITORY / PAGE).read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    assert rest, f"{PAGE} has no place for the layers"
    return before + _BEGIN + "\n" + _draw(layers["layers"]) + "\n" + _list(contracts) + "\n" + _END + after


def read_contracts() -> list[dict[str, str]]:
    """The contracts of `.importlinter`, in its order."""
    parser = configparser.ConfigParser()
    parser.read(REPOSITORY / ".importlinter", encoding="utf-8")
    return [dict(parser[name]) for name in parser.sections() if name.startswith("importlinter:contract:")]


def _draw(layers: str) -> str:
    """The packages as a table, the highest layer first, each with what it is for."""
    rows = [line.replace("|", ":").split(":") for line in layers.split("\n") if line.strip()]
    lines = ["| | package | what it is for |", "|---|---|---|"]
    for number, row in enumerate(rows, 1):
        for place, package in enumerate(each.strip() for each in row):
            lines.append(f"| {number if place == 0 else ''} | `{package}` | {_summary(package)} |")
    return "\n".join(lines) + "\n"


def _summary(package: str) -> str:
    """The first sentence of a package's docstring."""
    path = REPOSITORY / package.replace(".", "/")
    module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert said, f"{package} does not say what it is for"
    return said.partition("\n\n")[0].replace("\n", " ")


def _list(contracts: list[dict[str, str]]) -> str:
    """The other contracts, by what they say."""
    return "".join(f"- {each['name']}.\n" for each in contracts if each["type"] != "layers")
