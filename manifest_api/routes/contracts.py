"""Contracts of a dispatch: is a brief, a result or a blocker sound?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, read_body, text_in_body, word
from manifest_api.routes.documented import body_of, change, stored, told
from manifest_api.shapes import DiagnosticRow
from manifest_api.status import build_finding
from manifest_api.store_requests import DEFAULT_ROWS, RowLimit, json_response, page_from_store, write
from orgkernel.decisions.contracts.reading import ReadContract, check_read_contract, read_contract
from orgkernel.decisions.state_records import ContractRecord
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.context import Context
from orgkernel.operations.contracts import record_contract, select_contracts
from orgkernel.operations.permissions import Name
from orgkernel.operations.reports import org_of

router = APIRouter(tags=["contracts"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_NONE = msgspec.Raw(b"null")
_EXAMPLE = {"contract": {"_schema": "orgkernel:brief", "mission": "Let customers pay with saved cards"}}


class ContractQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Is this contract sound, by itself or beside the one it belongs to?"""

    contract: msgspec.Raw
    """The contract: an object, or a text with YAML or JSON. Places in the findings count from its beginning."""
    against: msgspec.Raw = msgspec.field(default_factory=lambda: _NONE)
    """The brief, or the other contract, that this one belongs to, in the same way."""
    org: Name | None = None
    """Organization whose terms count as well: its modes of checking, and its phrases."""


class ContractAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is found in a contract."""

    outcome: Literal["sound", "unsound", "cannot_tell"]
    """`cannot_tell` if the kind of contract is not known, or the other contract cannot be read."""
    kind: str | None
    """Kind of the contract, such as `brief`. It is null if it is not known."""
    findings: tuple[DiagnosticRow, ...]
    """`file` is `contract` or `against`."""


@router.post(
    "/v1/contracts/check",
    responses=told(ContractAnswer, 400, 404, 409, 415, 503, kept=False),
    openapi_extra=body_of(ContractQuestion, _EXAMPLE),
)
async def post_contract_check(request: Request, answers: AnswersOfApp) -> Response:
    """Check a brief, a result, a blocker or another contract, and say where each finding is. Nothing is stored."""
    require_scope(request, "read")
    asked = await read_body(request, ContractQuestion, '{"contract": {"_schema": "orgkernel:brief"}}')
    return await answers.respond_once(lambda kernel: _check(kernel, asked))


class ContractDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contract to store."""

    org: Name = ACTIVE
    contract: msgspec.Raw
    """The contract: an object, or a text with YAML or JSON."""


class ContractPage(msgspec.Struct, frozen=True, kw_only=True):
    """Stored contracts, oldest first."""

    contracts: tuple[ContractRecord, ...]
    next: str | None
    """Cursor of the next page. It is null on the last page."""


@router.post("/v1/contracts", **change(ContractRecord, ContractDraft, _EXAMPLE, made=True))
async def post_contract(request: Request) -> Response:
    """Store a contract that is sound, by itself and beside what is stored. It is never changed afterwards.

    A session has exactly one result. The credential of an agent stores contracts of that agent only.
    """

    def store(context: Context, draft: ContractDraft) -> ContractRecord:
        return record_contract(
            context, check_read_contract(read_in_body("contract", draft.contract)), org=draft.org
        )

    return await write(
        request, "report", ContractDraft, '{"contract": {"_schema": "orgkernel:result"}}', store, 201
    )


@router.get("/v1/orgs/{org}/contracts", responses=stored(ContractPage, 404, 409))
async def get_contracts(
    request: Request,
    org: Org,
    kind: Annotated[str | None, word("Only contracts of this kind, such as `decision_entry`.")] = None,
    session: Annotated[str | None, word("Only contracts of this session.")] = None,
    is_open: Annotated[
        bool, Query(alias="open", description="Only blockers that no decision has answered.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the stored contracts of an organization, oldest first."""
    kernel: Kernel = request.app.state.answers.kernel
    org_id = org_of(kernel, org)
    shown, following = await page_from_store(
        request,
        lambda store: select_contracts(store, org_id, kind, session, is_open),
        lambda each: each.record_id,
        cursor,
        limit,
    )
    return json_response(ContractPage(contracts=shown, next=following))


def _check(kernel: Kernel, asked: ContractQuestion) -> ContractAnswer:
    against = None if bytes(asked.against) == b"null" else read_in_body("against", asked.against)
    terms = None if asked.org is None else kernel.contract_terms(asked.org)
    checked = check_read_contract(read_in_body("contract", asked.contract), against, terms)
    return ContractAnswer(
        outcome=checked.outcome, kind=checked.kind, findings=tuple(map(build_finding, checked.diagnostics))
    )


def read_value(name: str, value: dict[str, Any] | str) -> ReadContract:
    """A contract in the decoded body of a request. An object has places in its own JSON."""
    return read_in_body(name, msgspec.Raw(msgspec.json.encode(value)))


def read_in_body(name: str, value: msgspec.Raw) -> ReadContract:
    """A contract in the body of a request: an object, or a text with YAML or JSON."""
    return read_contract(text_in_body(name, value))
