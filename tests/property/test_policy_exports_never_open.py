"""The law of exports to policy engines: whatever circumstances a question states or leaves out, what orgkernel does not allow is
not allowed by the engine, and what is only `conditional` here is not either.

OPA gives the same outcome for the same reasons. Cedar allows the same if every circumstance is stated. Where one is left out it may refuse what
orgkernel allows: a fallback can be silenced by a policy about the circumstance, while another policy about it allows the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from benchmarks import cedar, opa
from benchmarks.differential import _state
from benchmarks.worlds import ORG, World
from orgkernel.decisions.access.circumstances import CIRCUMSTANCES, read_circumstances
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.documents.records import DATA_TIERS
from orgkernel.exchange.cedar.export import export_cedar
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.opa.export import export_opa
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.exchange.organizations import ALL_TEMPLATES, template_view
from tests.support.access_corpus import CORPUS, Organization
from tests.support.depth import DEPTH

TEMPLATE_QUESTIONS = 30 * DEPTH
WORLDS, WORLD_QUESTIONS = 2 * DEPTH, 40
# Regorus takes a millisecond for an answer that Cedar gives in 50 µs.
OPA_EVERY = 6
Question = tuple[AccessRequest, bool]


def generate_questions(view: OrgView, random: Random, number: int) -> Iterator[Question]:
    """Questions about every kind of subject and resource, with values of the organization, other values, and none."""
    records = view.records
    outside = [
        *(f"person:{each}" for each in (*records.people, "user", "unknown")),
        *(f"system:{each}" for each in ("cron", *records.system_origins)),
        *(f"webhook:{each}" for each in records.webhooks),
    ]
    crew = [*(f"role:{each}" for each in view.roles), *(f"agent:{each}" for each in records.agents)]
    credentials = sorted({each for post in records.posts.values() for each in post.profile.credentials})
    others = [*(f"credential:{each}" for each in credentials), *(f"data:{each}" for each in DATA_TIERS)]
    values = {name: [None, None, "", *_list_values(view, name)] for name in CIRCUMSTANCES}
    for _ in range(number):
        subject = random.choice(random.choice((outside, crew)))
        if random.random() < 0.75 and records.tools:
            tool = random.choice(list(records.tools))
            action = random.choice([*records.tools[tool].record.required_levels, "use", "run"])
            resource = f"tool:{tool}"
        else:
            resource = random.choice(others)
            action = "read" if resource.startswith("data:") else "use"
        if random.random() < 0.1:
            kind = random.choice(("tool", "credential", "data"))
            subject, action, resource = random.choice(
                [("role:undeclared", action, resource), (subject, "undeclared", resource), (subject, action, f"{kind}:undeclared")]
            )  # fmt: skip
        stated = {name: random.choice(values[name]) for name in CIRCUMSTANCES}
        context = AccessContext(now=float(random.randrange(14 * 86_400)), **stated)
        yield AccessRequest(subject, action, resource, context), False


def _list_values(view: OrgView, name: str) -> list[str]:
    other = {"peer_kind": "group"}.get(name, "other")
    policies = (each.record.match for each in view.records.policies.values())
    named = {getattr(each, name) for match in policies for each in read_circumstances(match)}
    return sorted({other, *named} - {None})


def vary(question: Question) -> Iterator[Question]:
    """A question, and the same with each of its circumstances left out alone and with none of them."""
    request, holds_lock = question
    context = request.context
    missing = [{name: None} for name in CIRCUMSTANCES if getattr(context, name) is not None]
    for left_out in ({}, *missing, dict.fromkeys(CIRCUMSTANCES)):
        yield structs.replace(request, context=structs.replace(context, **left_out)), holds_lock


def check_never_opens(view: OrgView, questions: list[Question], counts: Counter[str]) -> None:
    """Both engines allow nothing else than orgkernel does, and Cedar allows nothing more without the time."""
    varied = [each for question in questions for each in vary(question)]
    decisions = [decide_access(view, request, _state(request, lock)) for request, lock in varied]
    ours = [each.outcome for each in decisions]
    counts.update(ours)
    engine = cedar.Cedar(export_cedar(view))
    stated = [cedar.translate(request, lock) for request, lock in varied]
    timeless = [
        {**each, "context": {k: v for k, v in each["context"].items() if k not in ("minute", "weekend")}}
        for each in stated
    ]
    for question, outcome, allows, allows_timeless in zip(
        varied, ours, engine.allow_all(stated), engine.allow_all(timeless), strict=True
    ):
        assert outcome == "allow" or not allows, ("cedar", question, outcome)
        assert allows or outcome != "allow" or _leaves_out(question), ("cedar", question, outcome)
        counts["refused by Cedar alone"] += outcome == "allow" and not allows
        assert allows or not allows_timeless, ("cedar without the time", question, outcome)
    rego = opa.Opa(export_opa(view))
    for question, decision in list(zip(varied, decisions, strict=True))[::OPA_EVERY]:
        answer = rego.decide(opa.translate(*question))
        assert answer["allow"] == (decision.outcome == "allow"), ("opa", question)
        # What is left of a limit is stored, so it is not in an export: its tools are denied there.
        if "LIMIT_REACHED" not in answer["codes"]:
            assert answer["outcome"] == decision.outcome, ("opa", question, answer)
            assert answer["codes"] == sorted(decision.codes), ("opa", question, decision.codes)


def _leaves_out(question: Question) -> bool:
    return any(getattr(question[0].context, name) is None for name in CIRCUMSTANCES)


@pytest.mark.deep
def test_exports_of_templates_never_open() -> None:
    """Of every template, with the values that its policies name; some answers are conditional, or little would be shown."""
    counts: Counter[str] = Counter()
    for name in ALL_TEMPLATES:
        view = template_view(name)
        random = Random(name) if DEPTH == 1 else Random()
        questions = list(generate_questions(view, random, TEMPLATE_QUESTIONS))
        check_never_opens(view, questions, counts)
    assert min(counts[outcome] for outcome in ("allow", "deny", "conditional")) > 10
    assert counts["refused by Cedar alone"] == 0


@pytest.mark.deep
def test_exports_of_generated_organizations_never_open(tmp_path: Path) -> None:
    """Every layer of access decides some, and every effect of a policy depends on circumstances."""
    counts: Counter[str] = Counter()
    first = 0 if DEPTH == 1 else Random().randrange(10**9)
    for number in range(first, first + WORLDS):
        world = World(number)
        world.write(tmp_path / str(number) / "world")
        view = Kernel.open(tmp_path / str(number)).latest(ORG).index
        check_never_opens(view, [world.ask() for _ in range(WORLD_QUESTIONS)], counts)
    assert min(counts[outcome] for outcome in ("allow", "ask", "deny", "conditional")) > 3
    assert counts["refused by Cedar alone"] < counts["allow"] / 20


@pytest.mark.nightly
@pytest.mark.parametrize("name", CORPUS)
def test_exports_of_the_corpus_never_open(name: str, tmp_path: Path) -> None:
    """Of each organization of the cases of access, with limits, alerts, and policies about parts of tools."""
    view = Organization(tmp_path, CORPUS[name]).snapshot.index
    counts: Counter[str] = Counter()
    check_never_opens(view, list(generate_questions(view, Random(name), 60)), counts)
    assert counts["deny"]


def test_an_export_that_opens_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the policies about missing circumstances, Cedar allows what is conditional here."""
    export_closed = export_cedar

    def open_export(view: OrgView) -> ConvertedFiles:
        export = export_closed(view)
        kept = "\n".join(
            text
            for name, text in cedar.split(export.files["policies.cedar"])
            if not name.startswith("CONTEXT_MISSING")
        )
        return ConvertedFiles({**export.files, "policies.cedar": kept}, (), ())

    monkeypatch.setitem(globals(), "export_cedar", open_export)
    view = template_view("household")
    with pytest.raises(AssertionError, match="conditional"):
        check_never_opens(view, list(generate_questions(view, Random(1), 60)), Counter())
