"""Contracts with complete lists of findings, the same through the function, the command line and HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.contracts.check import PAIR_RULES, RULES, check_contract
from orgkernel.decisions.work.contracts.reading import (
    CONTRACT_KINDS,
    MAX_CONTRACT_BYTES,
    CheckedContract,
    check_read_contract,
    read_contract,
)
from orgkernel.decisions.work.contracts.times import MAX_CLOCK_SKEW
from orgkernel.diagnostics.contract_rows import CONTRACT_ROWS
from orgkernel.documents.model.json_schema import build_json_schema
from orgkernel.documents.records import Blocker, Brief, Result
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import decode
from orgkernel.rules.pages import build_all_pages
from orgkernel.runtime.utc import as_seconds
from orgkernel.shell.verification import why_trivial
from tests.support.contracts import FOLDER, SOUND, ContractCase, as_text, changed, read_cases
from tests.support.in_process import run_here
from tests.support.trees import TEMPLATES
from tests.support.yaml_text import read_yaml_file

CASES = read_cases()
EXIT_CODES = {"sound": 0, "unsound": 1, "cannot_tell": 2}
COMMANDS = read_yaml_file(FOLDER / "verify_commands.yaml")


def check(case: ContractCase) -> CheckedContract:
    """The answer of the functions."""
    against = (
        None
        if case.against is None
        else read_contract(decode("against", "against", as_text(case.against).encode()))
    )
    return check_read_contract(
        read_contract(decode("contract", "contract", as_text(case.contract).encode())), against
    )


def shorten(findings: list[dict[str, Any]]) -> list[str]:
    """Findings as the answers write them."""
    return [
        f"{each['file']}:{each['line']}:{each['column']} {each['code']} {each['message']}"
        for each in findings
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.name}")
def test_complete_answer(case: ContractCase) -> None:
    """Every finding with its place, and the outcome."""
    checked = check(case)
    assert [f"{each.place} {each.code} {each.message}" for each in checked.diagnostics] == case.expect
    assert checked.outcome == case.outcome


@pytest.mark.parametrize("code", sorted(CONTRACT_ROWS))
def test_a_code_has_a_page_and_the_cases_every_code_needs(code: str) -> None:
    """What is bad is found under its code; what is good, and what only looks bad, is sound without any finding."""
    named = {case.name: case for case in CASES if case.code == code}
    assert {name.partition("_")[0] for name in named} == {"bad", "good", "near"}
    for name, case in named.items():
        if name.startswith("bad_"):
            assert any(f" {code} " in found for found in case.expect), name
        else:
            assert (case.outcome, case.expect) == ("sound", []), name
    row = CONTRACT_ROWS[code]
    assert build_all_pages()[code].name == row.name
    for text in (row.what, row.why, row.instead):
        assert re.fullmatch(r"[A-Z`].*[.`]", text), text
    assert re.fullmatch(r"ORG630|ORG738|ORG6[5-8]\d|ORG79[16-9]", code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", row.name)


def test_every_kind_and_every_pair_of_kinds_is_in_a_case() -> None:
    """Also pairs of the same kind."""
    kinds = {str(case.contract["_schema"]).partition(":")[2] for case in CASES}
    pairs = {
        (str(case.contract["_schema"]).partition(":")[2], str(case.against["_schema"]).partition(":")[2])
        for case in CASES
        if case.against is not None
    }
    assert {*SOUND} == {*RULES} == {*CONTRACT_KINDS} <= kinds
    missing = {*PAIR_RULES} - pairs
    assert missing == {("correction", "brief"), ("correction", "mission_close"), ("mission_close", "blocker")}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A server, which answers about contracts whatever organizations it holds."""
    app = create_app(Kernel.open(TEMPLATES / "software_dev"), rate=100_000)
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as asking:
        yield asking


def test_same_answers_over_http(client: TestClient) -> None:
    """A text has the same places as a file. An object has the same findings, with places in its own JSON."""
    for case in CASES:
        body: dict[str, Any] = {"contract": as_text(case.contract)} | (
            {"against": as_text(case.against)} if case.against else {}
        )
        answer = client.post("/v1/orgs/active/contracts/check", json=body).json()
        assert (answer["outcome"], shorten(answer["findings"])) == (case.outcome, case.expect), case.name
        body = {"contract": case.contract} | ({"against": case.against} if case.against else {})
        of_object = client.post("/v1/orgs/active/contracts/check", json=body).json()
        assert of_object["outcome"] == case.outcome
        assert sorted(each["message"] for each in of_object["findings"]) == sorted(
            each["message"] for each in answer["findings"]
        ), case.name


def test_same_answers_on_the_command_line(tmp_path: Path) -> None:
    """The exit code follows from the outcome."""
    for case in CASES:
        (tmp_path / "contract").write_text(as_text(case.contract), encoding="utf-8")
        beside: tuple[str, ...] = ()
        if case.against is not None:
            (tmp_path / "against").write_text(as_text(case.against), encoding="utf-8")
            beside = ("--against", "against")
        ran = run_here("task", "check", "contract", *beside, "--format", "json", cwd=tmp_path)
        assert shorten(json.loads(ran.stdout)) == case.expect, case.name
        assert ran.returncode == EXIT_CODES[case.outcome], case.name


def test_what_cannot_be_read_is_not_called_sound(tmp_path: Path, client: TestClient) -> None:
    """No file, no document, two documents, a list, broken YAML and JSON: exit code 2, and `cannot_tell` over HTTP."""
    brief = as_text(SOUND["brief"])
    for text in (
        "",
        "---\n",
        f"{brief}---\n{brief}",
        "- a\n",
        "a: [",
        '{"_schema": ',
        "mission: x\n",
        "\x00",
    ):
        (tmp_path / "contract").write_text(text, encoding="utf-8")
        ran = run_here("task", "check", "contract", cwd=tmp_path)
        assert ran.returncode == 2, text
        assert (
            client.post("/v1/orgs/active/contracts/check", json={"contract": text}).json()["outcome"]
            == "cannot_tell"
        ), text
    assert run_here("task", "check", "missing.yaml", cwd=tmp_path).returncode == 2
    assert (
        client.post("/v1/orgs/active/contracts/check", json={"contract": ["a"]}).json()["outcome"]
        == "cannot_tell"
    )
    assert client.post("/v1/orgs/active/contracts/check", json={}).status_code == 422


@pytest.mark.parametrize("kind", [*SOUND])
def test_schema_accepts_what_is_sound(kind: str) -> None:
    """A sound contract fits the JSON Schema of its kind, and no contract without a field that the schema requires."""
    schema = build_json_schema(kind)
    validator = jsonschema.Draft202012Validator(schema)
    sound = changed(kind, {"classification": "medium"} if kind == "decision_entry" else {})
    assert [*validator.iter_errors(sound)] == []
    for name in set(schema["required"]) - {"_schema"}:
        assert not validator.is_valid({key: value for key, value in sound.items() if key != name}), name
        assert check(ContractCase("", "", changed(kind, {name: None}), None, "", [])).outcome == "unsound", (
            name
        )


def test_commands_that_verify_and_commands_that_do_not() -> None:
    """A command is trivial if it can end with one exit code only."""
    assert [each for each in COMMANDS["trivial"] if not why_trivial(each)] == []
    assert [each for each in COMMANDS["verifying"] if why_trivial(each)] == []


def test_a_brief_is_a_plain_record_with_its_scope() -> None:
    """What decides about hand-offs reads the brief without its nesting."""
    brief = msgspec.convert(SOUND["brief"], Brief)
    assert (brief.files_owned, brief.destructive) == (
        ("src/checkout.py", "tests/checkout/*.py"),
        ("drop_table",),
    )
    assert (brief.allow_billing, brief.allow_dependency_change) == (False, False)
    assert check_contract(brief) == ()
    result = msgspec.convert(SOUND["result"], Result)
    assert check_contract(result, brief) == ()
    with pytest.raises(ValueError, match="against `brief`, not against `result`"):
        check_contract(brief, result)


def test_a_time_in_the_future_is_refused_beyond_the_difference_of_clocks() -> None:
    """Five minutes are allowed. Without the present time, the times are only compared with one another."""
    blocker = msgspec.convert(SOUND["blocker"], Blocker)
    at = as_seconds(blocker.blocked_at or "") or 0.0
    assert check_contract(blocker, now=at - MAX_CLOCK_SKEW) == check_contract(blocker) == ()
    (finding,) = check_contract(blocker, now=at - MAX_CLOCK_SKEW - 1)
    assert (finding.reason, finding.route) == ("CONTRACT_TIME_WRONG", ("blocked_at",))


def test_a_contract_has_one_largest_size_on_all_surfaces(tmp_path: Path, client: TestClient) -> None:
    """The largest contract passes as a file and as the body of a request; one byte more is refused by both."""
    empty = len(as_text(changed("result", {"evidence.verify_stdout": "x"})).encode()) - 1
    for spare, outcome in ((0, "sound"), (-1, "cannot_tell")):
        output = "x" * (MAX_CONTRACT_BYTES - empty - spare)
        text = as_text(changed("result", {"evidence.verify_stdout": output}))
        (tmp_path / "contract").write_text(text, encoding="utf-8")
        ran = run_here("task", "check", "contract", cwd=tmp_path)
        answer = client.post("/v1/orgs/active/contracts/check", json={"contract": text}).json()
        assert (ran.returncode, answer["outcome"]) == (EXIT_CODES[outcome], outcome)
        assert [each["code"] for each in answer["findings"]] == ([] if outcome == "sound" else ["ORG003"])
