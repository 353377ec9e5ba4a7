"""Laws of batches: every batch is legal, no plan is shorter, and no subtask waits without a reason."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.work.batches.plan import BatchPlan, plan_batches
from orgkernel.decisions.work.batches.rules import build_planned_subtask, check_batch
from orgkernel.decisions.work.batches.search import ALWAYS_EXACT
from orgkernel.documents.records import Subtask, SubtaskPlan
from tests.reference.batch_oracle import fewest_batches, is_legal

FILES = ("a.py", "b.py", "c.py", "lib", "lib/d.py", "lib/e.py", "LIB/d.py", "f/g.py")


@st.composite
def plans(draw: st.DrawFn, most: int = 7) -> SubtaskPlan:
    """Plans in which subtasks depend on earlier ones, or, turned around, on later ones."""
    count = draw(st.integers(1, most))
    kinds = draw(
        st.lists(st.sampled_from(["narrow"] * 5 + ["broad", "terminal"]), min_size=count, max_size=count)
    )
    kinds.sort(key="terminal".__eq__)
    subtasks = []
    for number, kind in enumerate(kinds):
        files = () if kind == "broad" else draw(st.lists(st.sampled_from(FILES), min_size=1, max_size=2))
        needs = draw(st.sets(st.sampled_from(range(number)), max_size=2)) if number else set()
        subtasks.append(
            Subtask(
                id=f"s{number}",
                kind=kind,
                files=tuple(files),
                depends_on=tuple(f"s{n}" for n in sorted(needs)),
            )
        )
    if draw(st.booleans()):
        subtasks.reverse()
    return SubtaskPlan(subtasks=tuple(subtasks), batch_size=draw(st.integers(1, 4)))


def as_plain(plan: SubtaskPlan) -> list[dict[str, Any]]:
    return [
        {"id": each.id, "kind": each.kind, "files": each.files, "depends_on": each.depends_on}
        for each in plan.subtasks
    ]


def assert_legal(plan: SubtaskPlan, found: BatchPlan) -> None:
    """Each subtask is in one batch, and each batch is legal after those before it, for the oracle and for `check_batch`."""
    plain = as_plain(plan)
    by_name = {each["id"]: each for each in plain}
    of_engine = {each.id: build_planned_subtask(each) for each in plan.subtasks}
    done: set[str] = set()
    for batch in found.batches:
        assert is_legal([by_name[name] for name in batch.subtasks], done, plain, plan.batch_size)
        rest = [each for name, each in of_engine.items() if name not in done and name not in batch.subtasks]
        assert check_batch([of_engine[name] for name in batch.subtasks], rest, plan.batch_size) == ()
        assert done.isdisjoint(batch.subtasks)
        done.update(batch.subtasks)
    assert done == set(by_name)


@settings(max_examples=80, deadline=None)
@given(plans())
def test_no_plan_has_fewer_batches(plan: SubtaskPlan) -> None:
    """As many batches as the oracle finds by trying everything, proved, and each of them legal."""
    found = plan_batches(plan)
    assert_legal(plan, found)
    assert found.is_minimal
    assert found.at_least == len(found.batches) == fewest_batches(as_plain(plan), plan.batch_size)


@pytest.mark.parametrize("seed", range(3))
def test_no_plan_of_twelve_has_fewer_batches(seed: int) -> None:
    """The largest plans for which the search always ends, with many conflicts."""
    plan = random_plan(random.Random(seed), ALWAYS_EXACT, 12)
    found = plan_batches(plan)
    assert found.is_minimal
    assert len(found.batches) == fewest_batches(as_plain(plan), plan.batch_size)


@settings(max_examples=60, deadline=None)
@given(plans(5), st.data())
def test_a_batch_that_the_oracle_refuses_is_refused(plan: SubtaskPlan, data: st.DataObject) -> None:
    """`check_batch` says nothing exactly about the batches that are legal."""
    names = [each.id for each in plan.subtasks]
    done = set(data.draw(st.sets(st.sampled_from(names))))
    chosen = [
        each for each in plan.subtasks if each.id in data.draw(st.sets(st.sampled_from(names), min_size=1))
    ]
    chosen = [each for each in chosen if each.id not in done]
    if not chosen:
        return
    rest = [
        build_planned_subtask(each) for each in plan.subtasks if each not in chosen and each.id not in done
    ]
    legal = is_legal([each for each in as_plain(plan) if each["id"] in {c.id for c in chosen}], done, as_plain(plan), plan.batch_size)  # fmt: skip
    assert (
        check_batch([build_planned_subtask(each) for each in chosen], rest, plan.batch_size) == ()
    ) is legal


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(0, 1_000_000))
def test_a_subtask_waits_only_if_it_has_to(plan: SubtaskPlan, seed: int) -> None:
    """Played to its end with subtasks that end in any order: what starts is legal beside what runs, what waits could not
    start too, and it says for whom it waits; the work never stops before it is done.
    """
    choice = random.Random(seed)
    plain = as_plain(plan)
    done: list[str] = []
    running: list[str] = []
    while len(done) < len(plain):
        found = plan_batches(plan, done, running)
        assert found.problems == ()
        together = [*running, *found.start]
        for more in [None, *(each.id for each in found.waiting)]:
            at_work = [each for each in plain if each["id"] in {*together, more}]
            assert is_legal(at_work, {*done}, plain, plan.batch_size) is (more is None) or not at_work
        for each in found.waiting:
            assert each.waits
            assert all(
                {*wait.held_by} <= {s["id"] for s in plain} - {*done} - {each.id} for wait in each.waits
            )
            assert all(wait.held_by for wait in each.waits)
        running = together
        assert running
        ended = choice.choice(running)
        running.remove(ended)
        done.append(ended)


def random_plan(choice: random.Random, count: int, files: int) -> SubtaskPlan:
    subtasks = []
    for number in range(count):
        kind = "broad" if choice.random() < 0.1 else "narrow"
        own = () if kind == "broad" else tuple({f"f{choice.randrange(files)}.py" for _ in range(2)})
        needs = (
            tuple({f"s{choice.randrange(number)}" for _ in range(choice.choice([0, 0, 1, 2]))})
            if number
            else ()
        )
        subtasks.append(Subtask(id=f"s{number}", kind=kind, files=own, depends_on=needs))
    return SubtaskPlan(subtasks=tuple(subtasks), batch_size=choice.choice([2, 3, 4]))


@pytest.mark.parametrize(("count", "files"), [(30, 15), (60, 200), (500, 300)])
def test_large_plans_are_bounded(count: int, files: int) -> None:
    """Beyond what is always exact: legal, with a bound that holds and is explained, in a bounded time."""
    plan = random_plan(random.Random(count), count, files)
    before = time.process_time()
    found = plan_batches(plan)
    assert time.process_time() - before < 5
    assert_legal(plan, found)
    assert found.at_least <= len(found.batches)
    assert found.is_minimal == (found.at_least == len(found.batches))
    assert found.because


def test_it_says_when_it_is_not_sure() -> None:
    """Ten subtasks of which every two share a file of their own, too many to try everything: the plan says so."""
    pairs = {name: [f"f{min(name, other)}_{max(name, other)}.py" for other in range(10) if other != name] for name in range(10)}  # fmt: skip
    subtasks = [Subtask(id=f"s{name}", kind="narrow", files=tuple(files)) for name, files in pairs.items()]
    subtasks += [Subtask(id=f"t{name}", kind="narrow", files=(f"g{name}.py",)) for name in range(10)]
    plan = SubtaskPlan(subtasks=tuple(subtasks), batch_size=4)
    found = plan_batches(plan)
    assert_legal(plan, found)
    assert (found.is_minimal, found.at_least, len(found.batches)) == (False, 5, 10)
    assert found.because == "5 for 20 narrow subtasks, 4 at a time"
