"""The rules for the steps around a destructive operation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from orgkernel.decisions.work.contracts.findings import (
    ContractFinding,
    Route,
    is_blank,
    is_same_id,
    is_uuid4,
    say_uncatalogued,
)
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Brief, Preflight
from orgkernel.runtime.utc import as_seconds
from orgkernel.shell.check import check_command
from orgkernel.shell.verdict import CATALOG
from orgkernel.shell.verification import why_trivial


class PreflightStep(NamedTuple):
    """A step: its field, its name, and its required statement."""

    field: str
    name: str
    says: str
    must_succeed: bool = False


STEPS: Final = (
    PreflightStep("dry_run", "the dry run", "command", must_succeed=True),
    PreflightStep("dry_run_output", "the output of the dry run", "text"),
    PreflightStep("blast_radius", "the blast radius", "text"),
    PreflightStep("authorization", "the authorization", "brief"),
    PreflightStep("backup", "the backup", "path"),
    PreflightStep("execution", "the execution", "output"),
    PreflightStep("verification", "the verification", "command"),
)
"""The seven steps in their order."""
BEFORE: Final = STEPS[:5]
"""The steps before the operation."""


def find_missing_steps(preflight: Preflight) -> Iterator[ContractFinding]:
    """PREFLIGHT_STEP_MISSING: a step is missing. If the operation was carried out, it must also be verified."""
    is_run = preflight.execution is not None or preflight.verification is not None
    for step in STEPS if is_run else BEFORE:
        if problem := _explain_missing(preflight, step):
            help = f"write `{step.field}` before the operation" if step in BEFORE else f"write `{step.field}`"
            yield ContractFinding(row.PREFLIGHT_STEP_MISSING, (step.field,), problem, help)
    yield from _find_wrong_order(preflight)


def _explain_missing(preflight: Preflight, step: PreflightStep) -> str:
    """The reason why a step counts as missing; empty if it is complete."""
    done = getattr(preflight, step.field)
    if done is None:
        return f"{step.name} is missing"
    statement = getattr(done, step.says)
    if statement is None or (is_blank(statement) and step.field != "execution"):
        return f"{step.name} has no {quote(step.says)}"
    if hasattr(done, "exit_code"):
        if done.exit_code is None:
            return f"{step.name} has no `exit_code`"
        if step.must_succeed and done.exit_code != 0:
            return f"{step.name} ended with exit code {done.exit_code}, so it proves nothing"
    return _explain_missing_proof(preflight, step, statement)


def _explain_missing_proof(preflight: Preflight, step: PreflightStep, statement: str) -> str:
    if step.field == "authorization" and not is_uuid4(statement):
        return f"{step.name} names the brief {quote(statement)}, which is not a UUID of version 4"
    if step.field == "verification" and (why := why_trivial(statement)):
        return f"the command of {step.name} {why}"
    if step.field == "dry_run":
        if statement.strip() == preflight.command.strip():
            return f"{step.name} is the operation itself"
        if check_command(statement).outcome == "destructive":
            return f"{step.name} would itself destroy something"
    return ""


def _find_wrong_order(preflight: Preflight) -> Iterator[ContractFinding]:
    """Findings for a step whose time is later than that of a following step. CONTRACT_TIME_WRONG is about other times."""
    done = [(step, getattr(preflight, step.field)) for step in STEPS]
    times = [(step, as_seconds(each.at)) for step, each in done if each is not None]
    known = [(step, at) for step, at in times if at is not None]
    for (step, at), (following, then) in pairwise(known):
        if then < at:
            yield ContractFinding(
                row.PREFLIGHT_STEP_MISSING, (following.field, "at"), f"{following.name} was before {step.name}",
                "do the steps in their order", (step.field, "at"), step.name,
            )  # fmt: skip


def find_unknown_operation(preflight: Preflight) -> Iterator[ContractFinding]:
    """DESTRUCTIVE_NOT_AUTHORISED: the operation is not in the catalog, so it cannot be authorized."""
    if preflight.operation not in CATALOG:
        message = say_uncatalogued(preflight.operation)
        help = f"the catalog lists {listing(tuple(CATALOG), len(CATALOG))}"
        yield ContractFinding(row.DESTRUCTIVE_NOT_AUTHORISED, ("operation",), message, help)


def find_unlisted_operation(preflight: Preflight, brief: Brief) -> Iterator[ContractFinding]:
    """DESTRUCTIVE_NOT_AUTHORISED, with the brief: it does not list the operation, or the authorization names another brief."""
    done = preflight.authorization
    if done is not None and done.brief is not None and not is_same_id(done.brief, brief.id):
        message = f"the authorization names the brief {quote(done.brief)}, not {quote(brief.id or 'none')}"
        route: Route = ("authorization", "brief")
        yield ContractFinding(row.DESTRUCTIVE_NOT_AUTHORISED, route, message, "", ("id",), "the brief")
    if preflight.operation not in brief.destructive:
        message = f"the brief does not authorize {quote(preflight.operation)}"
        yield ContractFinding(
            row.DESTRUCTIVE_NOT_AUTHORISED, ("operation",), message, "report it as pending, or ask with a blocker",
            ("spec", "scope", "destructive"), "the operations that the brief authorizes",
        )  # fmt: skip
