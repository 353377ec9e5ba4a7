"""Cases of contracts: texts from sound contracts with changes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.support.yaml_text import read_yaml_file

FOLDER = Path(__file__).parents[1] / "decisions" / "contract_corpus"
SOUND: dict[str, dict[str, Any]] = read_yaml_file(FOLDER / "sound.yaml")


class ContractCase(NamedTuple):
    """A contract, the one it is checked against, and the complete list of findings."""

    code: str
    name: str
    contract: dict[str, Any]
    against: dict[str, Any] | None
    outcome: str
    expect: list[str]
    """Each as `FILE:LINE:COLUMN CODE MESSAGE`."""


def changed(kind: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A sound contract with some values changed; None leaves a value out."""
    contract = copy.deepcopy(SOUND[kind])
    for path, value in changes.items():
        *above, last = path.split(".")
        inner = contract
        for step in above:
            inner = inner.setdefault(step, {})
        if value is None:
            inner.pop(last, None)
        else:
            inner[last] = value
    return contract


def as_text(contract: dict[str, Any]) -> str:
    """The YAML of a contract."""
    return yaml.safe_dump(contract, sort_keys=False, allow_unicode=True, width=10_000)


def read_cases() -> list[ContractCase]:
    """The cases of all codes."""
    cases = read_yaml_file(FOLDER / "cases.yaml")
    answers = read_yaml_file(FOLDER / "answers.yaml")
    return [
        ContractCase(
            code,
            name,
            changed(case["of"], case.get("set", {})),
            changed(case["beside"], case.get("beside_set", {})) if "beside" in case else None,
            answers[code][name]["outcome"],
            answers[code][name].get("findings", []),
        )
        for code, named in cases.items()
        for name, case in named.items()
    ]
