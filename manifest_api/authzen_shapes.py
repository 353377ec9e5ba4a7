"""What OpenID AuthZEN 1.0 asks and answers, as shapes; `authzen` says what that means here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.state_view import PaceTierName
from orgkernel.kernel.registry import ACTIVE
from orgkernel.operations.permissions import LONGEST_WORD, Name
from orgkernel.records.levels import ToolLevel

MOST_EVALUATIONS, MOST_RESULTS, DEFAULT_RESULTS = 100, 1_000, 100
Semantic = Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"]


Whole = Annotated[float, msgspec.Meta(ge=0, le=1_000_000, multiple_of=1)]
"""A count. JSON has one kind of number: 2.0 is as good as 2."""


class KnownCircumstances(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a context may say; everything else is ignored, and said to be."""

    org: Name = ACTIVE
    """The organization; the active one by default."""
    on_behalf_of: str | None = None
    via: tuple[str, ...] = ()
    envelope: dict[str, ToolLevel] | None = None
    channel: str | None = None
    peer_kind: Literal["dm", "group"] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    session: str | None = None
    pace: PaceTierName | None = None
    input: dict[str, Any] | None = None
    depth: Whole = 0
    children: Whole = 0
    concurrent: Whole = 0


def _described() -> dict[str, Any]:
    """The schema of a context: what is known of it, and whatever else a caller likes to say."""
    _, definitions = msgspec.json.schema_components([KnownCircumstances])
    return {"properties": definitions["KnownCircumstances"]["properties"]}


ContextData = Annotated[dict[str, Any], msgspec.Meta(extra_json_schema=_described())]


class AuthzenEntity(msgspec.Struct, frozen=True):
    """A subject or a resource."""

    type: Name
    id: Name
    properties: dict[str, Any] = {}
    """Read by nothing; `ignored` in the context of the answer names them."""


class EntityType(msgspec.Struct, frozen=True):
    """What is searched for: a subject or resource of which only the type is known."""

    type: Name
    id: str | None = None
    """Ignored, and said to be."""
    properties: dict[str, Any] = {}
    """Read by nothing; `ignored` in the context of the answer names them."""


class AuthzenAction(msgspec.Struct, frozen=True):
    """What is to be done."""

    name: Name
    properties: dict[str, Any] = {}
    """Read by nothing; `ignored` in the context of the answer names them."""


class EvaluationQuestion(msgspec.Struct, frozen=True):
    """May this subject do this to that?"""

    subject: AuthzenEntity
    action: AuthzenAction
    resource: AuthzenEntity
    context: ContextData = {}


class PartialEntity(msgspec.Struct, frozen=True):
    """A subject or resource of one of several questions. It replaces the one above, which fills in `type` and `id`."""

    type: Name | msgspec.UnsetType = msgspec.UNSET
    id: Name | msgspec.UnsetType = msgspec.UNSET
    properties: dict[str, Any] = {}


class PartialAction(msgspec.Struct, frozen=True):
    """The action of one of several questions. It replaces the one above, which fills in `name`."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    properties: dict[str, Any] = {}


class PartialQuestion(msgspec.Struct, frozen=True):
    """One of several questions. What it leaves out is taken from the top level of the request."""

    subject: PartialEntity | msgspec.UnsetType = msgspec.UNSET
    action: PartialAction | msgspec.UnsetType = msgspec.UNSET
    resource: PartialEntity | msgspec.UnsetType = msgspec.UNSET
    context: ContextData | msgspec.UnsetType = msgspec.UNSET


# Each is read by itself, so that a malformed one fails alone.
UnreadQuestion = Annotated[
    msgspec.Raw, msgspec.Meta(extra_json_schema={"$ref": "#/components/schemas/PartialQuestion"})
]


class EvaluationOptions(msgspec.Struct, frozen=True):
    """How several questions are answered."""

    evaluations_semantic: Semantic = "execute_all"


class EvaluationsQuestion(PartialQuestion, frozen=True):
    """Several questions, or one as for a single evaluation."""

    evaluations: Annotated[tuple[UnreadQuestion, ...], msgspec.Meta(max_length=MOST_EVALUATIONS)] = ()
    options: EvaluationOptions = EvaluationOptions()


class PageWanted(msgspec.Struct, frozen=True):
    """Which part of a list; `next_token` is what earlier drafts call the token."""

    token: Annotated[str, msgspec.Meta(max_length=LONGEST_WORD)] = ""
    next_token: Annotated[str, msgspec.Meta(max_length=LONGEST_WORD)] = ""
    # JSON has one kind of number: 10.0 is a limit as good as 10.
    limit: Annotated[float, msgspec.Meta(ge=0, multiple_of=1)] | msgspec.UnsetType = msgspec.UNSET
    """Most results on a page: 0 only counts them, and a page never has more than 1,000. The next page has the same limit."""


class SubjectSearch(msgspec.Struct, frozen=True):
    """Who may do this to that?"""

    subject: EntityType
    action: AuthzenAction
    resource: AuthzenEntity
    context: ContextData = {}
    page: PageWanted = PageWanted()


class ResourceSearch(msgspec.Struct, frozen=True):
    """To what may this subject do this?"""

    subject: AuthzenEntity
    action: AuthzenAction
    resource: EntityType
    context: ContextData = {}
    page: PageWanted = PageWanted()


class ActionSearch(msgspec.Struct, frozen=True):
    """What may this subject do to that?"""

    subject: AuthzenEntity
    resource: AuthzenEntity
    context: ContextData = {}
    page: PageWanted = PageWanted()


class EvaluationError(msgspec.Struct, frozen=True):
    """Why one of several questions has no answer."""

    status: int
    message: str


class EvaluationContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an answer rests on."""

    outcome: Outcome
    """`ask` is no permission: somebody has to approve first."""
    code: str
    codes: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()
    level_required: str = ""
    level_effective: str = ""
    obligations: tuple[str, ...] = ()
    """What the caller has to do when it goes ahead, `WORD:ID` each."""
    snapshot: str = ""
    state_version: int = 0
    audit: str = ""
    """Name of the audit row."""
    ignored: tuple[str, ...] = ()
    """What the question says in its context and in properties, and nothing here reads."""
    error: EvaluationError | None = None


class EvaluationAnswer(msgspec.Struct, frozen=True):
    """Whether it may."""

    decision: bool
    context: EvaluationContext


class EvaluationsAnswer(msgspec.Struct, frozen=True):
    """The answers, in the order of the questions; with a semantic that stops, up to the one that stopped."""

    evaluations: tuple[EvaluationAnswer, ...]


class FoundEntity(msgspec.Struct, frozen=True):
    """A subject or resource that was found."""

    type: str
    id: str


class FoundAction(msgspec.Struct, frozen=True):
    """An action that was found."""

    name: str


class Uncertain(msgspec.Struct, frozen=True):
    """Something that was not counted as found, or holds only as things are."""

    name: str
    """A subject or resource as `TYPE:ID`, or an action."""
    outcome: Outcome
    depends_on: tuple[str, ...]


class SearchContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a list rests on."""

    ask: tuple[str, ...]
    """Those that would have to ask; evaluating them gives no permission."""
    conditional: tuple[Uncertain, ...]
    """Those that a time, channel, path or lock could change."""
    ignored: tuple[str, ...]
    snapshot: str
    state_version: int


class PageAnswer(msgspec.Struct, frozen=True):
    """Where the list goes on; `next_token` is empty on the last page."""

    next_token: str
    count: int
    total: int


class EntityList(msgspec.Struct, frozen=True):
    """Subjects or resources; each of them, evaluated in the same circumstances, is permitted."""

    page: PageAnswer
    results: tuple[FoundEntity, ...]
    context: SearchContext


class ActionList(msgspec.Struct, frozen=True):
    """Actions; each of them, evaluated in the same circumstances, is permitted."""

    page: PageAnswer
    results: tuple[FoundAction, ...]
    context: SearchContext


class Configuration(msgspec.Struct, frozen=True):
    """Where this decision point answers what."""

    policy_decision_point: str
    access_evaluation_endpoint: str
    access_evaluations_endpoint: str
    search_subject_endpoint: str
    search_resource_endpoint: str
    search_action_endpoint: str
