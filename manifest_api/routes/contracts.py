"""Contracts of a hand-off: is a brief, a result or a blocker sound?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, declare_word, read_body, read_body_text
from manifest_api.routes.documented import (
    declare_body,
    declare_change,
    declare_responses,
    declare_store_responses,
)
from manifest_api.shapes import DiagnosticRow
from manifest_api.status import build_finding
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    RowLimit,
    build_json_response,
    operate,
    page_from_store,
    with_store,
    write,
)
from orgkernel.decisions.evidence.state_records import ContractRecord
from orgkernel.decisions.work.contracts.handover import convert_to_document, render_brief
from orgkernel.decisions.work.contracts.markdown import render_decision_log
from orgkernel.decisions.work.contracts.reading import ReadContract, check_read_contract, read_contract
from orgkernel.documents.records import DecisionEntry
from orgkernel.kernel.clock import read_clock
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context
from orgkernel.operations.contracts import (
    draft_next_brief,
    read_decision_log,
    record_contract,
    select_contracts,
)
from orgkernel.operations.reports.submission import resolve_org

router = APIRouter(tags=["contracts"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
BriefId = Annotated[
    str, Path(description="Id of a stored brief.", examples=["0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55"])
]
_NONE = msgspec.Raw(b"null")
_EXAMPLE = {"contract": {"_schema": "orgkernel:brief", "mission": "Let customers pay with saved cards"}}


class ContractQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Is this contract valid, by itself or with the contract it belongs to?"""

    contract: msgspec.Raw
    """The contract: an object, or a string with YAML or JSON. Places in the findings are relative to its start."""
    against: msgspec.Raw = msgspec.field(default_factory=lambda: _NONE)
    """The brief, or the other contract, that this one belongs to, in the same way."""


class ContractAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """All findings about a contract."""

    outcome: Literal["sound", "unsound", "cannot_tell"]
    """`cannot_tell` if the kind of contract is not known, or the other contract cannot be read."""
    kind: str | None
    """Kind of the contract, such as `brief`. It is null if it is not known."""
    findings: tuple[DiagnosticRow, ...]
    """`file` is `contract` or `against`."""


@router.post(
    "/v1/orgs/{org}/contracts/check",
    responses=declare_responses(ContractAnswer, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(ContractQuestion, _EXAMPLE),
)
async def post_contract_check(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Check a brief, a result, a blocker or another contract, and say where each finding is. Nothing is stored.

    The terms of the organization count as well: its modes of checking, and its phrases.
    """
    require_scope(request, "read")
    question = await read_body(request, ContractQuestion, '{"contract": {"_schema": "orgkernel:brief"}}')
    return await answers.respond_once(lambda kernel: _check(kernel, question, org), org)


class ContractDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contract to store."""

    contract: msgspec.Raw
    """The contract: an object, or a string with YAML or JSON."""


class ContractPage(msgspec.Struct, frozen=True, kw_only=True):
    """Stored contracts, oldest first."""

    contracts: tuple[ContractRecord, ...]
    next: str | None
    """Cursor of the next page. It is null on the last page."""


@router.post(
    "/v1/orgs/{org}/contracts", **declare_change(ContractRecord, ContractDraft, _EXAMPLE, creates_record=True)
)
async def post_contract(request: Request, org: Org) -> Response:
    """Store a contract that is valid, by itself and with the stored contracts. It is never changed afterwards.

    A session has exactly one result. The credential of an agent stores contracts of that agent only.
    """

    def store(context: Context, draft: ContractDraft) -> ContractRecord:
        return record_contract(
            context, check_read_contract(read_in_body("contract", draft.contract)), org=org
        )

    return await write(
        request, "report", ContractDraft, '{"contract": {"_schema": "orgkernel:result"}}', store, 201
    )


@router.get("/v1/orgs/{org}/contracts", responses=declare_store_responses(ContractPage, 404, 409))
async def get_contracts(
    request: Request,
    org: Org,
    kind: Annotated[
        str | None, declare_word("Only contracts of this kind, such as `decision_entry`.")
    ] = None,
    session: Annotated[str | None, declare_word("Only contracts of this session.")] = None,
    is_open: Annotated[
        bool, Query(alias="open", description="Only blockers that no decision has answered.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the stored contracts of an organization, oldest first."""
    kernel: Kernel = request.app.state.answers.kernel
    org_id = resolve_org(kernel, org)
    shown, following = await page_from_store(
        request,
        lambda store: select_contracts(store, org_id, kind, session, is_open),
        lambda each: each.record_id,
        cursor,
        limit,
    )
    return build_json_response(ContractPage(contracts=shown, next=following))


class NextBrief(msgspec.Struct, frozen=True, kw_only=True):
    """The draft of a brief below a stored one, from the results and decisions of its mission."""

    brief: dict[str, Any]
    """A contract of kind `brief`. Task, criteria, verify command and files are empty, and the sender fills them in."""
    markdown: str
    """The same draft in the form for its receiver."""


@router.get("/v1/orgs/{org}/contracts/{brief}/next", responses=declare_store_responses(NextBrief, 404, 409))
async def get_next_brief(request: Request, org: Org, brief: BriefId) -> Response:
    """Draft the next brief of a mission: a brief below a stored one.

    Nothing is stored, and every draft has a new id.
    """

    def draft(context: Context) -> NextBrief:
        next_brief = draft_next_brief(context, brief, org)
        return NextBrief(brief=convert_to_document(next_brief), markdown=render_brief(next_brief))

    return build_json_response(await operate(request, require_scope(request, "read"), draft))


class DecisionLog(msgspec.Struct, frozen=True, kw_only=True):
    """The decision log of an organization, oldest first."""

    entries: tuple[DecisionEntry, ...]
    markdown: str
    """The same log in the form for people and agents."""


@router.get("/v1/orgs/{org}/decisions", responses=declare_store_responses(DecisionLog, 404, 409))
async def get_decision_log(request: Request, org: Org) -> Response:
    """Get the decision log. A log that was changed in the store is refused (`LOG_MUTATED`)."""
    caller = require_scope(request, "read")
    kernel: Kernel = request.app.state.answers.kernel
    org_id = resolve_org(kernel, org)
    empty: tuple[DecisionEntry, ...] = ()
    entries = await with_store(
        request, lambda store: read_decision_log(Context(kernel, store, caller.actor), org_id), empty
    )
    return build_json_response(DecisionLog(entries=entries, markdown=render_decision_log(entries)))


def _check(kernel: Kernel, question: ContractQuestion, org: str) -> ContractAnswer:
    against = None if bytes(question.against) == b"null" else read_in_body("against", question.against)
    terms = kernel.contract_terms(org)
    checked = check_read_contract(
        read_in_body("contract", question.contract), against, terms, read_clock()[0]
    )
    return ContractAnswer(
        outcome=checked.outcome, kind=checked.kind, findings=tuple(map(build_finding, checked.diagnostics))
    )


def read_value(name: str, value: dict[str, Any] | str) -> ReadContract:
    """A contract in the decoded body of a request. An object has places in its own JSON."""
    return read_in_body(name, msgspec.Raw(msgspec.json.encode(value)))


def read_in_body(name: str, value: msgspec.Raw) -> ReadContract:
    """Read a contract in the body of a request: an object, or a string with YAML or JSON."""
    return read_contract(read_body_text(name, value))
