"""No reason code is declared that nothing can be answered with: each is answered by a corpus, or here.

The corpora of access, dispatch and hand-offs compare all codes of an answer with those of the case, so a code that a case expects
is one that is answered. Every other code is evoked by `ELSEWHERE`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from orgkernel.decisions.access.decide import EVALUATION_ERROR, decide_access
from orgkernel.decisions.access.layers import ORDER
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.crew.commissioning import decide_commission
from orgkernel.decisions.dispatch.reason_codes import DISPATCH_CODES
from orgkernel.decisions.dispatch.task_state import PreviousTask
from orgkernel.decisions.evidence.state_view import AgentState, StateView
from orgkernel.decisions.work.batches.answer import plan_text
from orgkernel.decisions.work.batches.assignment import BatchAssigner
from orgkernel.decisions.work.contracts.command_permission import permit_command
from orgkernel.documents.records import Brief
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.loading.files import decode
from orgkernel.operations.context import Actor
from orgkernel.operations.decisions import DecidedRequest, decide, decide_and_wait
from orgkernel.runtime.observation import Observation
from orgkernel.state.location import parse_location
from tests.decisions.test_agent_corpus import FILE as OF_AGENTS
from tests.decisions.test_batch_corpus import CASES as OF_BATCHES
from tests.decisions.test_batch_corpus import CREW as PHARMACY
from tests.decisions.test_batch_corpus import WORK as SUBTASKS
from tests.decisions.test_bill_corpus import CORPUS as OF_BILLS
from tests.decisions.test_capability_corpus import CORPUS as OF_CAPABILITY
from tests.decisions.test_corpus import CORPUS as OF_DISPATCH
from tests.decisions.test_crew_corpus import FILES as OF_THE_CREW
from tests.decisions.test_handoff_permission_corpus import CORPUS as OF_HANDOFF_PERMISSION
from tests.decisions.test_ownership_corpus import CASES as OF_OWNERSHIP
from tests.support.access_corpus import CORPUS as OF_ACCESS
from tests.support.contracts import SOUND
from tests.support.embedders import LikeEverything
from tests.support.trees import write_tree

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[A-Z]+(_[A-Z]+)+")
# Where reasons of an answer are made. The codes of problems over HTTP and of errors are no reasons.
MADE_IN = ("orgkernel/decisions/**/*.py", "orgkernel/operations/decisions.py")


def codes_in(file: Path) -> Iterator[str]:
    """The words of a module's code that look like reason codes."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and WORD.fullmatch(node.value):
            yield node.value


def declared() -> set[str]:
    # What is in commands of a shell are names of variables and functions.
    made = {
        code
        for files in MADE_IN
        for file in ROOT.glob(files)
        if "shell_commands" not in file.parts
        for code in codes_in(file)
    }
    return made | {*ORDER.codes, *ORDER.additional_reasons, EVALUATION_ERROR}


def of_the_corpora() -> Iterator[str]:
    """The codes that a case expects."""
    for file in OF_ACCESS.values():
        for case in file["cases"]:
            for asked in case.get("access", ()):
                yield from asked.get("because", ())
    for file in OF_CAPABILITY.values():
        for case in file["cases"]:
            answer = case.get("answer", case)
            yield from answer.get("because", ())
            yield from (code for *_, code in answer.get("passed_over", ()))
            yield from (code for _, code in case.get("withheld", ()))
    for file in OF_THE_CREW:
        for case in file["cases"]:
            yield from case.get("standings", {}).values()
    for file in OF_DISPATCH.values():
        for case in file["cases"]:
            yield from case["answer"].get("because", ())
            yield from (code for _, code in case["answer"].get("considered", ()))
    for case in OF_AGENTS["cases"]:
        yield from words_in([case.get("unavailable", {}), case.get("order", []), case.get("because", [])])
    for file in OF_HANDOFF_PERMISSION.values():
        for case in file["cases"]:
            yield from words_in(case["answer"])
    for case in OF_OWNERSHIP:
        yield from (text.partition(" ")[0] for text in words_in(case.values[0].get("findings", [])))
    for case in OF_BATCHES:
        yield from (
            text.partition(" ")[0] for text in words_in([case.get("waiting", {}), case.get("problems", [])])
        )
    for file in OF_BILLS.values():
        for case in (*file["cases"], *file["fills"]):
            yield from words_in(case["answer"])


def words_in(answer: object) -> Iterator[str]:
    """Every text in an expected answer."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, dict | list):
        for each in answer.values() if isinstance(answer, dict) else answer:
            yield from words_in(each)


def of_pace(_: Path) -> Iterator[str]:
    """What is said of tiers."""
    kernel, stuck = Kernel.open(), Observation(unrecoverable_error=True)
    for org, role, seen, previous, is_new in (
        ("software_dev", "co", Observation(), "primary", False),
        ("software_dev", "co", stuck, "primary", False),
        ("software_dev", "co", Observation(), "contingent", False),
        ("software_dev", "co", Observation(), "contingent", True),
        ("software_dev", "co", Observation(turns_without_progress=0), "emergency", False),
        ("household", "steward", stuck, "primary", False),
    ):
        pace = kernel.pace(org, role, seen, previous, new_task=is_new)
        yield from (reason.code for reason in pace.reasons)


def of_faults(_: Path) -> Iterator[str]:
    """What is said where deciding itself goes wrong."""
    view = Kernel.open().organization("software_dev").snapshot.index
    broken = msgspec.structs.replace(AccessContext(), pace="no tier")
    yield decide_access(view, AccessRequest("role:co", "use", "tool:call_subordinate", broken)).code


def of_counted_grants(folder: Path) -> Iterator[str]:
    """The refusals for a caller that cannot use up a grant, and for one that finds it used up by another caller each time."""
    asked = AccessRequest("agent:clerk", "use", "tool:jira", AccessContext(peer_kind="dm"))
    with open_store(parse_location(str(folder / "state.db"), str(folder))) as store:
        store.grants.issue("agent:clerk", ["tool:jira"], issued_by="person:owner", uses=1)
        kernel = Kernel.open().with_store(store)
        for actor in (Actor("reader"), Actor("caller:k", "person:partner", uses_grants=True)):
            yield decide(kernel, None, "household", asked, actor).decision.code
        taken: DecidedRequest = decide(kernel, None, "household", asked, Actor("caller:k", uses_grants=True))
        yield taken.answer_used_up()[0].code
        yield decide_and_wait(kernel, store, "household", asked, Actor("caller:k", uses_grants=True))[0].code


def of_sentences(_: Path) -> Iterator[str]:
    """What is said for candidates."""
    kernel = Kernel.open()
    for text in (
        "Deploy the container",
        "Ship the package",
        "Ask the Bugfix Specialist",
        "Write codegen tests",
    ):
        decision = kernel.dispatch("software_dev", text=text, embedder=LikeEverything())
        yield from (reason.code for each in decision.candidates for reason in each.reasons)
    gone = PreviousTask(role_id="gone", texts=("Deploy the container",))
    yield from (each.code for each in kernel.dispatch("software_dev", text="go on", previous=gone).reasons)


def of_commissions(_: Path) -> Iterator[str]:
    """Why an agent is commissioned in a role, or is not."""
    view = Kernel.open().organization("household").snapshot.index
    for agent, role in (
        ("clerk", "record_keeper"),
        ("clerk", "steward"),
        ("ghost", "steward"),
        ("clerk", "ghost"),
    ):
        yield from (each.code for each in decide_commission(view, agent, role, StateView(), 0.0).reasons)


def of_commands(_: Path) -> Iterator[str]:
    """Why a destructive command may not run."""
    brief = msgspec.convert(SOUND["brief"], Brief)
    for given in (None, brief):
        found = permit_command(SOUND["preflight"]["command"], brief=given)
        yield from (refusal.code for refusal in found.refusals)


def of_assigned_subtasks(folder: Path) -> Iterator[str]:
    """Subtasks of a batch without a role, without a free agent, and without an agent at work."""
    write_tree(folder / "pharmacy", {"org.yaml": PHARMACY})
    plan = decode("plan", "plan", msgspec.json.encode(SUBTASKS))
    view = Kernel.open(folder / "pharmacy").organization("pharmacy").snapshot.index
    for names in ((), view.records.agents):
        away = StateView(agents={name: AgentState(name, lifecycle="suspended") for name in names})
        answer = plan_text(plan, plan_subtasks=BatchAssigner(view, away, AccessContext(now=0)).plan)
        assert answer.plan is not None
        yield from (wait.code for each in answer.plan.waiting for wait in each.waits)


ELSEWHERE: tuple[Callable[[Path], Iterator[str]], ...] = (
    of_pace, of_faults, of_counted_grants, of_sentences, of_commissions, of_commands, of_assigned_subtasks,
)  # fmt: skip


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Every code that something was answered with."""
    folder = tmp_path_factory.mktemp("codes")
    return {*of_the_corpora(), *(code for evoke in ELSEWHERE for code in evoke(folder))}


@pytest.mark.parametrize("code", sorted(declared()))
def test_every_code_is_answered(code: str, answered: set[str]) -> None:
    """A code that no question leads to is dead, or no test tries its clause."""
    assert code in answered


def test_the_docs_tell_the_layers_in_their_order() -> None:
    """The table of `docs/access.md` names every layer once, in the order in which they are evaluated."""
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")
    rows = page.partition("| access layer | effect |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    named = [name for row in rows for name in row.split("|")[1].strip().lower().split(", ")]
    assert named == [layer.name for layer in ORDER.layers]


def test_every_code_of_access_has_a_sentence_and_a_layer() -> None:
    """A code without a sentence could only be answered with an internal error."""
    assert all(callable(code.say) for code in ORDER.codes.values())
    assert set(ORDER.layer_of) == {*ORDER.codes, *ORDER.additional_reasons}
    assert set(ORDER.layer_of.values()) <= {layer.name for layer in ORDER.layers}


def test_the_codes_of_dispatch_are_listed() -> None:
    """A decision case can expect each code that dispatch gives, and no other."""
    modules = ("answer", "by_domain", "by_intent", "by_text", "order")
    used = {
        node.value
        for module in modules
        for node in ast.walk(
            ast.parse((ROOT / f"orgkernel/decisions/dispatch/{module}.py").read_text("utf-8"))
        )
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[A-Z]+(_[A-Z]+)*", node.value)
    }
    assert used == DISPATCH_CODES
