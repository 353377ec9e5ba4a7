"""Cases of contracts: texts from sound contracts with changes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FOLDER = Path(__file__).parents[1] / "decisions" / "contract_corpus"
SOUND: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "sound.yaml").read_text(encoding="utf-8"))


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
    cases = yaml.safe_load((FOLDER / "cases.yaml").read_text(encoding="utf-8"))
    answers = yaml.safe_load((FOLDER / "answers.yaml").read_text(encoding="utf-8"))
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
