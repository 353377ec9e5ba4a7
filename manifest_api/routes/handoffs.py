"""The log of hand-offs: who handed which brief to whom. The server hands nothing down; it decides, claims and logs."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, declare_word
from manifest_api.routes.claims import ClaimSeconds
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_change, declare_store_responses
from manifest_api.routes.locks import Holder
from manifest_api.store_requests import DEFAULT_ROWS, RowLimit, build_json_response, page_from_store, write
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_records import HandoffRecord
from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context
from orgkernel.operations.handoffs import HandoffOrder, list_handoffs, record_handoff
from orgkernel.operations.permissions import Name, Text
from orgkernel.operations.reports.submission import resolve_org

router = APIRouter(tags=["handoffs"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
Number = Annotated[int, msgspec.Meta(ge=0)]
_EXAMPLE = {
    "from": "role:planner",
    "to": "worker",
    "brief": {"_schema": "orgkernel:brief"},
    "session": "shop-worker-1",
}


class HandoffDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hand-off to decide, claim the files of, and log."""

    sender: Name | None = msgspec.field(default=None, name="from")
    """Not needed with the credential of an agent, which hands work down as that agent only."""
    receiver: Name = msgspec.field(name="to")
    """A role, or a layer with one role."""
    brief: dict[str, Any] | str | None = None
    """The brief that is handed down: an object, or a string with YAML or JSON. The brief of the sender must be
    stored.
    """
    holder: Holder | None = None
    """The agent that does the work. By default, any agent in the role."""
    session: Name | None = None
    """The session that does the work. By default, the session that the edge declares."""
    from_session: Name | None = None
    """The session of the sender. By default, the one that its own brief was handed down into."""
    depth: Number | None = None
    """Number of hand-offs above the sender. If the log has a larger number, that one is used; the same applies to
    the next two fields.
    """
    children: Number | None = None
    concurrent: Number | None = None
    pace: PaceTierName | None = None
    on_behalf_of: Name | None = None
    """The subject that triggered the run."""
    budget_guard: bool = False
    context: AccessContext = AccessContext()
    seconds: ClaimSeconds | None = None
    """How long the files are claimed. By default an hour."""
    reason: Text = ""


class HandoffPage(msgspec.Struct, frozen=True, kw_only=True):
    """Hand-offs, oldest first."""

    handoffs: tuple[HandoffRecord, ...]
    next: str | None
    """Cursor of the next page. It is null on the last page."""


@router.post(
    "/v1/orgs/{org}/handoffs", **declare_change(HandoffRecord, HandoffDraft, _EXAMPLE, creates_record=True)
)
async def post_handoff_record(request: Request, org: Org) -> Response:
    """Decide about a hand-off. If it is permitted, claim the files of its brief and log it, both or neither.

    If the log has depth, children and principal, they are taken from it.
    """
    return await write(
        request, "report", HandoffDraft, '{"from": "role:ID", "to": "ID"}',
        lambda context, draft: _record(context, draft, org),
        201,
    )  # fmt: skip


@router.get("/v1/orgs/{org}/handoffs", responses=declare_store_responses(HandoffPage, 404, 409))
async def get_handoff_list(
    request: Request,
    org: Org,
    session: Annotated[str | None, declare_word("Only hand-offs from or into this session.")] = None,
    sender: Annotated[str | None, declare_word("Only hand-offs by this subject, such as `role:ID`.")] = None,
    receiver: Annotated[
        str | None, declare_word("Only hand-offs to this role or agent, such as `role:ID`.")
    ] = None,
    brief: Annotated[
        str | None, declare_word("Only hand-offs of this brief, or of one derived from it.")
    ] = None,
    running: Annotated[bool, Query(description="Only hand-offs whose work has not ended.")] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the hand-offs of an organization, oldest first."""
    kernel: Kernel = request.app.state.answers.kernel
    org_id = resolve_org(kernel, org)
    shown, following = await page_from_store(
        request,
        lambda store: list_handoffs(
            store, org_id, session=session, sender=sender, receiver=receiver, brief=brief, is_running=running
        ),
        lambda each: each.handoff_id,
        cursor,
        limit,
    )
    return build_json_response(HandoffPage(handoffs=shown, next=following))


def _record(context: Context, draft: HandoffDraft, org: str) -> HandoffRecord:
    order = HandoffOrder(
        to=draft.receiver, sender=draft.sender, holder=draft.holder, session=draft.session,
        from_session=draft.from_session, seconds=draft.seconds, reason=draft.reason,
        question=HandoffQuestion(
            sender="", receiver="", depth=draft.depth, children=draft.children, concurrent=draft.concurrent,
            pace=draft.pace, on_behalf_of=draft.on_behalf_of, budget_guard=draft.budget_guard, context=draft.context,
        ),
    )  # fmt: skip
    brief = None if draft.brief is None else read_value("brief", draft.brief)
    return record_handoff(context, order, brief, org=org)
