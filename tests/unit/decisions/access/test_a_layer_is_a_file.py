"""A layer is added by its file and its row in the order: codes, trace, reasons, remedies and lists follow."""

from __future__ import annotations

import gc
import weakref

import pytest

from orgkernel.decisions.access import tables
from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.layer import AccessLayer, LayerOrder, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers import LAYERS
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.graph.questions import OrgView
from tests.support.trees import TEMPLATES, read

ROLE, TOOL = "codegen_specialist", "tool:code_execution_tool"
ASKED = AccessRequest(f"role:{ROLE}", "terminal", TOOL)
# -- the whole file of a layer: whoever is named does not run code -----------------------------------------------------


def _compile(target: Target) -> LayerStep | None:
    return _cap if target.resource.resource == TOOL and target.is_crew else None


def _cap(evaluation: Evaluation) -> None:
    if evaluation.subject.subject == f"role:{ROLE}":
        evaluation.ceiling = 0
        evaluation.failing |= ON_LEAVE.bit


def _on_leave(evaluation: Evaluation) -> Sentence:
    return f"{evaluation.who} is on leave", ()


ON_LEAVE = ReasonCode("ON_LEAVE", _on_leave, remedies=("role",))
LEAVE = AccessLayer("leave", (ON_LEAVE,), _compile)
# -- its row in the order ----------------------------------------------------------------------------------------------
BEFORE, AFTER = LAYERS[8], LAYERS[9]
ORDER = LayerOrder((*LAYERS[:9], LEAVE, *LAYERS[9:]))


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> OrgView:
    """An organization that was not asked about yet, under the longer order."""
    monkeypatch.setattr(tables, "ORDER", ORDER)
    return read(TEMPLATES / "software_dev").organizations["software_dev"].index


def test_it_decides_with_its_code(view: OrgView) -> None:
    """The decision carries the code, in the order of the layers."""
    decision = decide_access(view, ASKED)
    assert (decision.outcome, decision.codes, decision.level_effective) == ("deny", ("ON_LEAVE",), "none")
    codes = [code.name for code in ORDER.failures]
    assert codes.index(BEFORE.codes[0].name) < codes.index("ON_LEAVE") < codes.index(AFTER.codes[0].name)


def test_it_is_told(view: OrgView) -> None:
    """The reason is its sentence, and the trace has its line at its place."""
    explanation = explain_access(view, ASKED)
    assert [reason.text for reason in explanation.reasons] == [f"role `{ROLE}` is on leave"]
    assert explanation.reasons == decide_with_reasons(view, ASKED)[1]
    layers = [line.access_layer for line in explanation.trace]
    assert layers[layers.index("leave") - 1 :][:3] == [BEFORE.name, "leave", AFTER.name]
    (line,) = (line for line in explanation.trace if line.access_layer == "leave")
    assert (line.statement, line.value, line.before, line.after) == (
        f"role `{ROLE}` is on leave",
        "ceiling",
        "full",
        "none",
    )


def test_it_is_searched_for_remedies(view: OrgView) -> None:
    """Only the kinds of changes it names are tried, and what does not help is not told."""
    assert explain_access(view, ASKED).remedies == ()


def test_lists_follow(view: OrgView) -> None:
    """Forward and reverse, although lists have a fast way that does not know the layer."""
    assert TOOL not in {row.resource for row in what_can(view, ASKED.subject)}
    subjects = {row.subject for row in who_can(view, "terminal", TOOL)}
    assert subjects
    assert ASKED.subject not in subjects


def test_tables_die_with_their_organization() -> None:
    """Nothing that access keeps about an organization keeps it alive."""
    view = read(TEMPLATES / "software_dev").organizations["software_dev"].index
    explain_access(view, ASKED)
    explain_access(view, AccessRequest("role:research_xo", "terminal", TOOL))
    what_can(view, ASKED.subject, kinds=("tool", "role", "credential", "data"))
    assert tables.get_access_tables in view.memos
    gone = weakref.ref(view)
    del view
    gc.collect()
    assert gone() is None
