"""Every engine answers rightly before it is timed: ours, Cedar on our export, regorus, casbin."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import decisions, peers
from benchmarks.generate import generate
from benchmarks.governed import expected, governed, questions
from benchmarks.measure import find_measurement
from benchmarks.rows import ROWS
from orgkernel.kernel.kernel import Kernel

ENGINES = (
    "access_check", "access_list", "access_who", "access_explain", "access_cedar", "access_regorus", "access_casbin",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated organization, beside which the governed one is written."""
    folder = tmp_path_factory.mktemp("access") / "measured"
    generate(folder, 230)
    return folder


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is asked once and not timed."""

    def microseconds(ask, repeat=1, warm=1):
        ask(0)
        return {"median": 1.0, "p99": 1.0}

    for module in (decisions, peers):
        monkeypatch.setattr(module, "microseconds", microseconds)
        monkeypatch.setattr(module, "QUESTIONS", 150)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("once")
def test_an_engine_answers_as_expected(engine: str, folder: Path) -> None:
    """The measurement compares thousands of answers with what follows from the numbers; every figure a row names is there."""
    measurement = find_measurement(engine)
    assert measurement is not None
    figures = measurement(folder)
    named = {
        source[1] for row in ROWS for source in (row.value, row.against) if source and source[0] == engine
    }
    assert {name.partition(".")[0] for name in named} <= set(figures) | {"median", "p99"}


@pytest.mark.parametrize("engine", ["access_check", "access_cedar", "access_regorus", "access_casbin"])
@pytest.mark.usefixtures("once")
def test_a_wrong_answer_is_not_timed(engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an engine says, if it is not what is expected there is no figure."""
    asked = questions(230, 150)
    monkeypatch.setattr(decisions, "questions", lambda *_: {"allow": asked["deny"], "deny": asked["allow"]})
    monkeypatch.setattr(peers, "questions", lambda *_: {"allow": asked["deny"], "deny": asked["allow"]})
    for module in (decisions, peers):
        monkeypatch.setattr(module, "expected", lambda question: ("allow", ("BOUND_TO_ROLE",)))
    measurement = find_measurement(engine)
    assert measurement is not None
    with pytest.raises(AssertionError):
        measurement(folder)


def test_the_governed_organization_is_served_without_a_finding(folder: Path) -> None:
    """What is measured is an organization as it should be."""
    kernel = Kernel.open(governed(folder))
    assert kernel.check() == ()
    assert len(kernel.organization("governed").snapshot.index.roles) == 230


def test_questions_are_decided_by_every_layer() -> None:
    """Half are allowed; of the others every reason there is decides some, alone or with others."""
    asked = questions(1_000, 1_500)
    assert [len(those) for those in asked.values()] == [1_500, 1_500]
    codes = Counter(code for each in asked["deny"] for code in expected(each)[1])
    assert set(codes) == {
        "NOT_VISIBLE", "NOT_BOUND_TO_ROLE", "RANK_TOO_LOW", "QUALIFICATION_MISSING", "POLICY_DENY", "ASK_APPROVAL",
    }  # fmt: skip
    assert min(codes.values()) >= 5
