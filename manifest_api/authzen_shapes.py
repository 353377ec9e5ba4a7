"""The types of questions and answers of OpenID AuthZEN 1.0. `authzen` defines their meaning in orgkernel."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from manifest_api.access_offers import AccessRequestOffer
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.decisions.reasons import Reason
from orgkernel.documents.records import ToolLevel
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.permissions import MAX_WORD_LENGTH, Name

MAX_EVALUATIONS, MAX_RESULTS, DEFAULT_RESULTS = 100, 1_000, 100
Semantic = Literal["execute_all", "deny_on_first_deny", "permit_on_first_permit"]


Whole = Annotated[float, msgspec.Meta(ge=0, le=1_000_000, multiple_of=1)]
"""A count. JSON has one type of number, so 2.0 is the same as 2."""


class KnownCircumstances(msgspec.Struct, frozen=True, omit_defaults=True):
    """The circumstances of a question. Keys that are not listed here are ignored, and the answer lists them."""

    org: Name = ACTIVE
    """The organization. By default the active one."""
    on_behalf_of: str | None = None
    via: tuple[str, ...] = ()
    envelope: dict[str, ToolLevel] | None = None
    channel: str | None = None
    peer_kind: Literal["dm", "group", ""] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    watch: str | None = None
    session: str | None = None
    pace: PaceTierName | None = None
    input: dict[str, Any] | None = None
    depth: Whole = 0
    children: Whole = 0
    concurrent: Whole = 0


ContextData = Annotated[
    dict[str, Any],
    msgspec.Meta(extra_json_schema={"$ref": "#/components/schemas/KnownCircumstances"}),
]
"""The known keys of a context, and any others."""


class AuthzenEntity(msgspec.Struct, frozen=True):
    """A subject or a resource."""

    type: Name
    id: Name
    properties: dict[str, Any] = {}
    """Read only if `authzen.types` of the organization names them. The answer lists all others as `ignored`."""


class EntityType(msgspec.Struct, frozen=True):
    """The type of subjects or resources to search for."""

    type: Name
    id: str | None = None
    """Ignored. The answer lists it as `ignored`."""
    properties: dict[str, Any] = {}
    """Read only if `authzen.types` of the organization names them. The answer lists all others as `ignored`."""


class AuthzenAction(msgspec.Struct, frozen=True):
    """An action."""

    name: Name
    properties: dict[str, Any] = {}
    """Read only if `authzen.types` of the organization names them. The answer lists all others as `ignored`."""


class EvaluationQuestion(msgspec.Struct, frozen=True):
    """May this subject perform this action on this resource?"""

    subject: AuthzenEntity
    action: AuthzenAction
    resource: AuthzenEntity
    context: ContextData = {}


class PartialEntity(msgspec.Struct, frozen=True):
    """A subject or resource of one of several questions. A missing `type` or `id` is taken from the top level."""

    type: Name | msgspec.UnsetType = msgspec.UNSET
    id: Name | msgspec.UnsetType = msgspec.UNSET
    properties: dict[str, Any] = {}


class PartialAction(msgspec.Struct, frozen=True):
    """The action of one of several questions. A missing `name` is taken from the top level."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    properties: dict[str, Any] = {}


class PartialQuestion(msgspec.Struct, frozen=True):
    """One of several questions. Missing parts are taken from the top level of the request."""

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
    """Several questions, or a single one without `evaluations`."""

    evaluations: Annotated[tuple[UnreadQuestion, ...], msgspec.Meta(max_length=MAX_EVALUATIONS)] = ()
    options: EvaluationOptions = EvaluationOptions()


class PageWanted(msgspec.Struct, frozen=True):
    """The page of a list. `next_token` is the name of `token` in earlier drafts."""

    token: Annotated[str, msgspec.Meta(max_length=MAX_WORD_LENGTH)] = ""
    next_token: Annotated[str, msgspec.Meta(max_length=MAX_WORD_LENGTH)] = ""
    # JSON has one kind of number: 10.0 is a limit as good as 10.
    limit: Annotated[float, msgspec.Meta(ge=0, multiple_of=1)] | msgspec.UnsetType = msgspec.UNSET
    """Most results on a page, at most 1,000. 0 only counts the results. Every page of a list has the same limit."""


class SubjectSearch(msgspec.Struct, frozen=True):
    """Which subjects may perform this action on this resource?"""

    subject: EntityType
    action: AuthzenAction
    resource: AuthzenEntity
    context: ContextData = {}
    page: PageWanted = PageWanted()


class ResourceSearch(msgspec.Struct, frozen=True):
    """On which resources may this subject perform this action?"""

    subject: AuthzenEntity
    action: AuthzenAction
    resource: EntityType
    context: ContextData = {}
    page: PageWanted = PageWanted()


class ActionSearch(msgspec.Struct, frozen=True):
    """Which actions may this subject perform on this resource?"""

    subject: AuthzenEntity
    resource: AuthzenEntity
    context: ContextData = {}
    page: PageWanted = PageWanted()


class EvaluationError(msgspec.Struct, frozen=True):
    """The reason why one of several questions could not be answered."""

    status: int
    message: str


class EvaluationContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The reasons of an answer, and the version it came from."""

    outcome: Outcome
    """`ask` does not permit the request. It needs an approval first."""
    code: str
    codes: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()
    level_required: str = ""
    level_effective: str = ""
    obligations: tuple[str, ...] = ()
    """Obligations of the caller if it goes ahead, each as `WORD:ID`."""
    snapshot: str = ""
    state_version: int = 0
    audit: str = ""
    """Name of the audit row."""
    ignored: tuple[str, ...] = ()
    """Keys of the context and properties that were not read."""
    error: EvaluationError | None = None
    access_request: AccessRequestOffer | None = None
    """For a caller with the scope `request`: the request that waits for an answer, or the one that could be made."""


class EvaluationAnswer(msgspec.Struct, frozen=True):
    """Whether it may."""

    decision: bool
    context: EvaluationContext


class EvaluationsAnswer(msgspec.Struct, frozen=True):
    """The answers in the order of the questions.

    If the semantic stops early, the last answer is the one that stopped it.
    """

    evaluations: tuple[EvaluationAnswer, ...]


class FoundEntity(msgspec.Struct, frozen=True):
    """A subject or resource that was found."""

    type: str
    id: str


class FoundAction(msgspec.Struct, frozen=True):
    """An action that was found."""

    name: str


class Uncertain(msgspec.Struct, frozen=True):
    """A result that depends on circumstances."""

    name: str
    """A subject or resource of orgkernel as `TYPE:ID`, or an action."""
    outcome: Outcome
    depends_on: tuple[str, ...]


class SearchContext(msgspec.Struct, frozen=True, kw_only=True):
    """Results that need more than this search, and the version it came from."""

    ask: tuple[str, ...]
    """Results that need an approval. They are not permitted."""
    conditional: tuple[Uncertain, ...]
    """Results that a time, channel, path or lock could change."""
    ignored: tuple[str, ...]
    snapshot: str
    state_version: int


class PageAnswer(msgspec.Struct, frozen=True):
    """The place of the page in the list. `next_token` is empty on the last page."""

    next_token: str
    count: int
    total: int


class EntityList(msgspec.Struct, frozen=True):
    """Subjects or resources. An evaluation of each in the same circumstances is permitted."""

    page: PageAnswer
    results: tuple[FoundEntity, ...]
    context: SearchContext


class ActionList(msgspec.Struct, frozen=True):
    """Actions. An evaluation of each in the same circumstances is permitted."""

    page: PageAnswer
    results: tuple[FoundAction, ...]
    context: SearchContext


class Configuration(msgspec.Struct, frozen=True):
    """The endpoints of this decision point."""

    policy_decision_point: str
    access_evaluation_endpoint: str
    access_evaluations_endpoint: str
    search_subject_endpoint: str
    search_resource_endpoint: str
    search_action_endpoint: str
