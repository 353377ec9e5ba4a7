"""Ours and OPA's answers from an export made of documents alone: the same, or `undecided`, which is never an allowance."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from benchmarks.differential import _state
from benchmarks.opa import Opa, translate
from benchmarks.worlds import ORG, World
from orgkernel.decisions.access.circumstances import CIRCUMSTANCES
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.opa.export import DATA_FILE, POLICY_FILE, export_opa
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import build_request, build_state
from tests.support.access_corpus import CORPUS, Organization
from tests.support.in_process import run_here as run

WORLDS, CASES = 5, 100
# Every code that a layer stops, asks or gives by.
_CODES = {
    "BOUND_TO_ROLE", "ESSENTIAL_TOOL", "POLICY_ALLOW", "TOOL_DISABLED", "NOT_VISIBLE", "NOT_IN_RESTRICTED_TO", "RANK_TOO_LOW",
    "QUALIFICATION_MISSING", "POSITION_CAP", "WRITE_OUT_OF_FILE_SCOPE", "LOCKED", "POLICY_DENY", "POLICY_CEILING", "ASK_APPROVAL",
    "CONTEXT_MISSING", "NOT_BOUND_TO_ROLE", "NO_POLICY_MATCH",
}  # fmt: skip


def exported(folder: Path) -> ConvertedFiles:
    return export_opa(Kernel.open(folder).latest(ORG).index)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Opa:
    folder = tmp_path_factory.mktemp("world")
    World(3).write(folder / "world")
    return Opa(exported(folder))


def test_opa_decides_as_we_do(tmp_path: Path) -> None:
    """Outcome and codes of every case, with circumstances stated and left out; and every layer decides some."""
    random = Random(17)
    outcomes: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for number in range(WORLDS):
        made = World(900 + number)
        made.write(tmp_path / str(number) / "world")
        view = Kernel.open(tmp_path / str(number)).latest(ORG).index
        opa = Opa(export_opa(view))
        for each in range(CASES):
            asked, holds_lock = made.ask()
            if each % 2:
                unstated = {name: None for name in CIRCUMSTANCES if random.random() < 0.5}
                asked = msgspec.structs.replace(
                    asked, context=msgspec.structs.replace(asked.context, **unstated)
                )
            ours = decide_access(view, asked, _state(asked, holds_lock))
            theirs = opa.decide(translate(asked, holds_lock))
            assert (theirs["outcome"], theirs["allow"]) == (ours.outcome, ours.outcome == "allow"), (
                asked,
                ours,
                theirs,
            )
            outcomes[ours.outcome] += 1
            codes.update(theirs["codes"])
            assert theirs["codes"] == sorted(ours.codes), (asked, ours, theirs)
            if ours.outcome == "conditional":
                assert [f"state:{name}" for name in theirs["state"]] == sorted(ours.obligations)
    assert min(outcomes[outcome] for outcome in ("allow", "ask", "deny", "conditional")) > 10
    assert _CODES - set(codes) == set()


def test_a_wrong_policy_is_found(tmp_path: Path) -> None:
    """A policy that forgets a layer disagrees."""
    made = World(4)
    made.write(tmp_path / "world")
    view = Kernel.open(tmp_path).latest(ORG).index
    files = dict(export_opa(view).files)
    files[POLICY_FILE] = files[POLICY_FILE].replace("\tresource.restricted_to\n", "\tfalse\n", 1)
    opa = Opa(ConvertedFiles(files, (), ()))
    found = 0
    for _ in range(60):
        asked, holds_lock = made.ask()
        ours = decide_access(view, asked, _state(asked, holds_lock))
        found += (
            "NOT_IN_RESTRICTED_TO" in ours.codes
            and "NOT_IN_RESTRICTED_TO" not in opa.decide(translate(asked, holds_lock))["codes"]
        )
    assert found


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


@pytest.mark.parametrize("name", CORPUS)
def test_the_cases_of_access(organizations: dict[str, Organization], name: str) -> None:
    """Of every case without stored state the same, or `undecided` where the question says more than the export knows."""
    organization = organizations[name]
    opa = Opa(export_opa(organization.snapshot.index))
    for number in range(len(CORPUS[name]["cases"])):
        case = organization.case(number)
        if case.given or case.org != organization.snapshot.id:
            continue
        state = build_state(case.given, case.org)
        for expected in case.access:
            request = build_request(expected.ask)
            ours = decide_access(organization.snapshot.index, request, state)
            theirs = opa.decide(question_of(request))
            if theirs["outcome"] == "undecided":
                assert theirs["not_understood"]
                assert not theirs["allow"]
            else:
                assert theirs["outcome"] == ours.outcome, (request, ours, theirs)


def question_of(request: AccessRequest) -> dict[str, Any]:
    """Everything that a request says, in the words of the export or not."""
    said = msgspec.to_builtins(request)
    context = {"now": request.context.now, **msgspec.to_builtins(request.context)}
    return {**said, "context": context}


GOOD = {"subject": "role:r1", "action": "use", "resource": "tool:plain_0", "context": {"now": 0}}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"on_behalf_of": "person:p0"}, "on_behalf_of"),
        ({"via": ["role:r0"]}, "via"),
        ({"envelope": {}}, "envelope"),
        ({"context": {}}, "context.now"),
        ({"context": {"now": "0"}}, "context.now"),
        ({"context": None}, "context"),
        ({"context": []}, "context"),
        ({"context": {"now": 0, "pace": "emergency"}}, "context.pace"),
        ({"context": {"now": 0, "input": {}}}, "context.input"),
        ({"context": {"now": 0, "channel": 1}}, "context.channel"),
        ({"context": {"now": 0, "in_file_scope": "yes"}}, "context.in_file_scope"),
        ({"context": {"now": 0, "utc_offset": "+1"}}, "context.utc_offset"),
        ({"resource": "tool:bound_0:src/a"}, "resource"),
        ({"resource": "role:r0", "action": "handoff"}, "resource"),
        ({"resource": "tool"}, "resource"),
        ({"resource": 1}, "resource"),
        ({"subject": "sender:slack/T1/U1"}, "subject"),
        ({"subject": ["role:r1"]}, "subject"),
        ({"action": None}, "action"),
    ],
)
def test_what_is_not_understood_is_undecided(world: Opa, change: dict[str, Any], part: str) -> None:
    """Never an allowance, and it is said what is not understood."""
    assert world.decide(GOOD)["outcome"] != "undecided"
    said = world.decide({**GOOD, **change})
    assert (said["allow"], said["outcome"], said["codes"]) == (False, "undecided", [])
    assert part in said["not_understood"]


@pytest.mark.parametrize("question", [{}, [], "role:r1", None, 1, {"subject": {}}])
def test_no_question_at_all_allows_nothing(world: Opa, question: Any) -> None:
    """Whatever OPA is sent."""
    assert world.decide(question)["allow"] is False


def test_null_is_not_stated(world: Opa) -> None:
    """As in our own requests."""
    context = {"now": 0, **dict.fromkeys(CIRCUMSTANCES)}
    assert world.decide({**GOOD, "context": context}) == world.decide(GOOD)


def test_the_time_before_1970_has_a_weekday_too(tmp_path: Path) -> None:
    """Local time may begin before the clock does."""
    made = World(11)
    made.write(tmp_path / "world")
    view = Kernel.open(tmp_path).latest(ORG).index
    opa = Opa(export_opa(view))
    for number in range(40):
        asked, _ = made.ask()
        context = AccessContext(
            **{name: getattr(asked.context, name) for name in CIRCUMSTANCES},
            now=number * 3_600.5,
            utc_offset=-43_200 * (number % 3),
        )
        asked = msgspec.structs.replace(asked, context=context)
        assert (
            opa.decide(translate(asked))["outcome"]
            == decide_access(view, asked, _state(asked, False)).outcome
        )


def test_the_files_alone_decide(tmp_path: Path) -> None:
    """The files are sufficient for a user who has OPA and no orgkernel, and they name the program that made them."""
    done = run("export", "--to", "opa", "--org", "software_dev", "-o", "out", cwd=tmp_path)
    assert done.stdout.split() == [f"out/{POLICY_FILE}", f"out/{DATA_FILE}"]
    assert "a question about a role is `undecided`" in done.stderr
    files = {name: (tmp_path / "out" / name).read_text(encoding="utf-8") for name in (POLICY_FILE, DATA_FILE)}
    assert "Made by orgkernel from organization software_dev for opa" in files[POLICY_FILE]
    assert list(json.loads(files[DATA_FILE])) == ["$comment", "organization"]
    opa = Opa(ConvertedFiles(files, (), ()))
    for role, allowed in (("codegen_specialist", True), ("research_xo", False)):
        question = {
            "subject": f"role:{role}",
            "action": "terminal",
            "resource": "tool:code_execution_tool",
            "context": {"now": 0},
        }
        assert opa.decide(question)["allow"] is allowed
    assert (
        run("export", "--to", "opa", "--org", "software_dev", "-o", "out", "--check", cwd=tmp_path).returncode
        == 0
    )
