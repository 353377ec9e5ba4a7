"""Laws of bills: `next_steps` beside a naive interpreter, and what more reports can never change."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.decisions.work.bills.conditions import OutputComparison, evaluate, parse_condition
from orgkernel.decisions.work.bills.instance import BillInstance, NextSteps, StepReport
from orgkernel.decisions.work.bills.next_steps import decide_next_steps
from orgkernel.graph.matching import match_seats
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import SourceText
from tests.reference.bill_oracle import Step, interpret

VIEW = Kernel.open().organization("starship").snapshot.index
CREW = {"one": ("number_one",)}


@st.composite
def bills(draw: st.DrawFn) -> list[Step]:
    """Steps that lead on to later ones only, each with one output, reached or not."""
    count = draw(st.integers(3, 7))
    steps: list[Step] = []
    for number in range(count):
        later = [f"s{each}" for each in range(number + 1, count)]
        before = [f"s{each}" for each in range(number)]
        gateway = draw(st.sampled_from(("sequential", "parallel", "xor", "or"))) if later else "sequential"
        if gateway == "sequential":
            ways: list[Any] = [(target, None) for target in later[:1]]
        else:
            targets = draw(
                st.lists(st.sampled_from(later), min_size=min(2, len(later)), max_size=3, unique=True)
            )
            known = st.tuples(st.sampled_from([*before, f"s{number}"]), st.booleans())
            chooses = gateway in ("xor", "or")
            ways = [(each, draw(known) if chooses and each != targets[-1] else None) for each in targets]
        conditions = st.none() | st.none() | st.tuples(st.sampled_from(before or ["s0"]), st.booleans())
        condition = draw(conditions) if before else None
        steps.append({"id": f"s{number}", "gateway": gateway, "ways": ways, "condition": condition})
    return steps


def write(condition: tuple[str, bool] | None) -> dict[str, str]:
    return {} if condition is None else {"condition": f"{'' if condition[1] else 'NOT '}{condition[0]}.ok"}


def document_of(steps: list[Step]) -> Any:
    """The bill as a document that was read."""
    written = []
    for step in steps:
        entry: dict[str, Any] = {
            "id": step["id"],
            "action": "send_dm",
            "role": "one",
            **write(step["condition"]),
        }
        entry["outputs"] = [{"name": "ok", "type": "boolean"}]
        if step["gateway"] != "sequential":
            entry |= {
                "gateway": step["gateway"],
                "branches": [{"to": target, **write(condition)} for target, condition in step["ways"]],
            }
        written.append(entry)
    bill = {
        "_schema": "orgkernel:bill", "slug": "random", "activation": {"trigger": "event:test"},
        "roles": {"one": {"role": "first_officer"}}, "steps": written,
    }  # fmt: skip
    text = yaml.safe_dump(bill, sort_keys=False)
    (document,) = read_documents(
        SourceText("random.yaml", "random.yaml", text, ""), named=True, has_orgkernel_siblings=True
    ).documents
    return document


def decide(document: Any, reports: dict[str, bool | None]) -> NextSteps:
    told = {
        name: StepReport(
            status="completed", by="agent:number_one", outputs={} if said is None else {"ok": said}
        )
        for name, said in reports.items()
    }
    instance = BillInstance(bill="random", activated_by="event:test", assignments=CREW, steps=told)
    return decide_next_steps(VIEW, EMPTY_STATE, document, instance, AccessContext(now=1.0))


# Most steps are reported: what comes late in a bill is reached only then.
REPORTS = st.lists(
    st.sampled_from((True, False, True, False, None, "no report")), min_size=7, max_size=7
).map(lambda said: {f"s{number}": each for number, each in enumerate(said) if each != "no report"})


@settings(max_examples=80, deadline=None)
@given(bills(), REPORTS)
def test_the_naive_interpreter_agrees(steps: list[Step], reports: dict[str, bool | None]) -> None:
    """Whatever is reported, also about steps that were never reached."""
    reports = {name: said for name, said in reports.items() if any(step["id"] == name for step in steps)}
    found, wanted = decide(document_of(steps), reports), interpret(steps, reports)
    assert set(found.completed) == wanted["completed"]
    assert set(found.skipped) == wanted["skipped"]
    assert {each.step for each in found.may_start} == wanted["may_start"]


@settings(max_examples=60, deadline=None)
@given(bills(), st.data())
def test_a_run_goes_forward_and_ends(steps: list[Step], data: st.DataObject) -> None:
    """What is completed or skipped stays so, a step starts once, and nothing is found fault with."""
    document = document_of(steps)
    reports: dict[str, bool | None] = {}
    found = decide(document, reports)
    while found.may_start:
        chosen = data.draw(st.sampled_from([each.step for each in found.may_start]))
        assert chosen not in reports
        reports[chosen] = data.draw(st.booleans())
        after = decide(document, reports)
        assert set(found.completed) < set(after.completed)
        assert set(found.skipped) <= set(after.skipped)
        assert not after.findings
        found = after
    settled = {*found.completed, *found.skipped}
    assert set(found.completed) == set(reports)
    assert found.state == ("completed" if not found.blocked else "active")
    assert settled <= {step["id"] for step in steps}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(("s0", "s1")), st.booleans()), min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_xor_takes_exactly_one_branch(conditions: list[tuple[str, bool]], first: bool, second: bool) -> None:
    """The first whose condition is true, or else the last."""
    targets = [f"s{number + 2}" for number in range(len(conditions) + 1)]
    ways = [*zip(targets, conditions, strict=False), (targets[-1], None)]
    ends = [
        {"id": each, "gateway": "parallel", "ways": [("end_of_all", None)], "condition": None}
        for each in targets
    ]
    steps = [
        {"id": "s0", "gateway": "sequential", "ways": [("s1", None)], "condition": None},
        {"id": "s1", "gateway": "xor", "ways": ways, "condition": None},
        *ends,
        {"id": "end_of_all", "gateway": "sequential", "ways": [], "condition": None},
    ]
    found = decide(document_of(steps), {"s0": first, "s1": second})
    outputs = {"s0": first, "s1": second}
    wanted = next(
        (target for target, each in zip(targets, conditions, strict=False) if outputs[each[0]] == each[1]),
        targets[-1],
    )
    assert [each.step for each in found.may_start] == [wanted]


CONDITIONS = st.recursive(
    st.sampled_from(["a.x", "a.n > 2", "a.n <= 2.5", 'b.t == "yes"', "b.t != 'no'", "a.x == false"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(("AND", "or")), inner).map(
            lambda each: f"({each[0]}) {each[1]} {each[2]}"
        )
        | inner.map(lambda each: f"NOT ({each})")
    ),
    max_leaves=6,
)
VALUES = {("a", "x"): st.booleans(), ("a", "n"): st.floats(0, 5), ("b", "t"): st.sampled_from(("yes", "no"))}


@settings(max_examples=80, deadline=None)
@given(CONDITIONS, st.fixed_dictionaries({}, optional=VALUES), st.fixed_dictionaries(VALUES))
def test_what_becomes_known_never_changes_an_answer(text: str, known: Any, everything: Any) -> None:
    """A condition that is true or false with some outputs stays so with more, and with all of them it is one of both."""
    condition = parse_condition(text)
    assert isinstance(condition, tuple)
    before = evaluate(condition, known)
    after = evaluate(condition, {**everything, **known})
    assert after is not None
    assert before in (None, after)


@settings(max_examples=40, deadline=None)
@given(st.text("ab.()<>=!'\"0 ANDnot-\u00e9", max_size=30))
def test_any_text_is_a_condition_or_a_problem_with_its_place(text: str) -> None:
    """No text raises."""
    found = parse_condition(text)
    if not isinstance(found, OutputComparison) and hasattr(found, "at"):
        assert 0 <= found.at <= len(text)
        assert found.message


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("pqrs"),
        st.tuples(st.integers(1, 2), st.lists(st.sampled_from("abcd"), unique=True)),
        max_size=4,
    )
)
def test_an_assignment_is_as_large_as_any(bill_roles: dict[str, tuple[int, list[str]]]) -> None:
    """No agent takes two bill roles or one that it cannot take, and no other choice fills more seats."""
    needed = {bill_role: least for bill_role, (least, _) in bill_roles.items()}
    able = {bill_role: agents for bill_role, (_, agents) in bill_roles.items()}
    found = match_seats(needed, able)
    taken = [agent for agents in found.values() for agent in agents]
    assert len(taken) == len(set(taken))
    assert all(
        set(found[bill_role]) <= set(able[bill_role]) and len(found[bill_role]) <= needed[bill_role]
        for bill_role in needed
    )
    seats = [bill_role for bill_role, least in needed.items() for _ in range(least)]
    assert len(taken) == most(seats, able, frozenset())


def most(seats: list[str], able: dict[str, list[str]], taken: frozenset[str]) -> int:
    if not seats:
        return 0
    rest = most(seats[1:], able, taken)
    return max(
        [
            rest,
            *(1 + most(seats[1:], able, taken | {agent}) for agent in able[seats[0]] if agent not in taken),
        ]
    )
