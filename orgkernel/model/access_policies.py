"""`access_policies`: who may use what, and when (policies and governance §1–2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag

from orgkernel.model.directory import Relationship
from orgkernel.model.record import Document, Id, PersonId, PolicyId, Record

STAR = "*"

Effect = Literal["allow", "deny", "ask", "annotate"]
DataTier = Literal["none", "minimal", "contextual", "full"]
# Lowest first.
DATA_TIERS: tuple[DataTier, ...] = ("none", "minimal", "contextual", "full")
PeerKind = Literal["dm", "group"]
QueueMode = Literal["steer", "followup", "collect", "interrupt", "queue", "steer-backlog"]

# A tool, the beginning of tools' ids with a star, or a star alone.
ToolGlob = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z_][A-Za-z0-9_.-]{0,199}\*?)$")]
# An id, or a star for any.
AnyOr = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z_][A-Za-z0-9_-]{0,99})$")]
TimeWindow = Annotated[
    str,
    StringConstraints(pattern=r"^(weekends|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])$"),
]


def _in_our_words(words: dict[str, str]) -> Callable[[Any], Any]:
    """Other words for a value to the one decisions know."""
    return lambda value: words.get(value, value) if isinstance(value, str) else value


# Older files say `restricted` (policies and governance §2.3).
Data = Annotated[
    DataTier,
    BeforeValidator(
        _in_our_words({"restricted": "contextual"}), json_schema_input_type=DataTier | Literal["restricted"]
    ),
]
# Other files speak of kinds of containers (policies and governance §1.3).
Peer = Annotated[
    PeerKind,
    BeforeValidator(
        _in_our_words({"direct": "dm", "channel": "group"}),
        json_schema_input_type=PeerKind | Literal["direct", "channel"],
    ),
]


class ToolRules(Record):
    """Tools that are allowed and tools that are not, each an id or the beginning of ids with a star."""

    allow: tuple[ToolGlob, ...] = ()
    deny: tuple[ToolGlob, ...] = ()
    """Denied, whatever else allows them; beside an `allow` list, `*` stands for what that leaves out."""


def _tools_form(value: Any) -> str:
    if isinstance(value, str):
        return "(every-tool)"
    return "(tools)" if isinstance(value, tuple | list) else "(allow-deny)"


ToolPermission = Annotated[
    Annotated[Literal["*"], Tag("(every-tool)")]
    | Annotated[tuple[ToolGlob, ...], Tag("(tools)")]
    | Annotated[ToolRules, Tag("(allow-deny)")],
    Discriminator(_tools_form),
]


def _names_form(value: Any) -> str:
    return "(every-name)" if isinstance(value, str) else "(names)"


CredentialPermission = Annotated[
    Annotated[Literal["*"], Tag("(every-name)")] | Annotated[tuple[Id, ...], Tag("(names)")],
    Discriminator(_names_form),
]


class Permissions(Record):
    """What a policy speaks of; what is left out it says nothing about."""

    tools: ToolPermission | None = None
    """`*` for every tool, a list, or lists to allow and to deny; a name may end in a star."""
    credentials: CredentialPermission | None = None
    """`*` for every credential, or a list of their names."""
    data: Data | None = None
    """How much of the owner's data is shown."""

    @property
    def named_tools(self) -> tuple[str, ...] | None:
        """Tools and globs its effect is about; None where it says nothing about tools."""
        if self.tools is None:
            return None
        if isinstance(self.tools, ToolRules):
            return self.tools.allow
        return (self.tools,) if isinstance(self.tools, str) else self.tools

    @property
    def excepted_tools(self) -> tuple[str, ...]:
        """Tools and globs it denies although its effect is another."""
        return self.tools.deny if isinstance(self.tools, ToolRules) else ()


class Principal(Record):
    """Who asks; all that is written must hold."""

    is_user: bool | None = None
    """Whether it is the owner."""
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    """Tags a person must have, all of them."""
    person_id: PersonId | None = None
    unknown: bool | None = None
    """Whether it is a person the directory does not know."""
    system: AnyOr | None = None
    """A system origin, or `*` for any."""
    webhook: AnyOr | None = None
    """A webhook, or `*` for any, declared or not."""
    agent: AnyOr | None = None
    """An agent, or `*` for any."""
    role: AnyOr | None = None
    """Agents in a role, or `*` for any."""


def _name_both(schema: dict[str, Any]) -> None:
    """An editor accepts the other names of fields too."""
    for name, other in (("channel", "platform"), ("peer_kind", "container_kind"), ("guild", "space_id")):
        schema["properties"][other] = {
            **schema["properties"][name],
            "title": other,
            "description": f"Another name for `{name}`.",
        }


class Condition(Record):
    """Circumstances; all that is written must hold."""

    model_config = ConfigDict(json_schema_extra=_name_both)

    channel: Id | None = Field(default=None, validation_alias=AliasChoices("channel", "platform"))
    """Platform the message came by, such as `slack`."""
    peer_kind: Peer | None = Field(default=None, validation_alias=AliasChoices("peer_kind", "container_kind"))
    """`dm` for a conversation of two (also `direct`), `group` for one of more (also `channel`)."""
    account: str | None = None
    """Account of the platform the message came to."""
    guild: str | None = Field(default=None, validation_alias=AliasChoices("guild", "space_id"))
    """Server or workspace of the platform."""
    time: TimeWindow | None = None
    """`HH:MM-HH:MM` in local time, which may go past midnight, or `weekends`."""
    hook_id: str | None = None
    """Hook that started the work."""
    event_type: str | None = None
    """Kind of event that started the work, such as `timer`."""


class Match(Record):
    """When a policy applies."""

    principal: Principal | None = None
    """Who asks; absent means anybody."""
    conditions: tuple[Condition, ...] = ()
    """Circumstances of which one must hold; none means always."""


class Session(Record):
    """Where the conversation is kept."""

    persona: str | None = None
    """Persona that answers."""
    key: str | None = None
    """Key of the session; may hold `{principal.name}`, `{principal.id}`, `{principal.relationship}`, `{channel}`, …"""
    pin: bool = False
    """This key wins over those of policies with a higher priority that are not pinned."""


class Modifiers(Record):
    """How a message is treated, whatever is allowed."""

    queue_mode: QueueMode | None = None
    """What happens to a message that arrives during a turn."""
    delay_response: bool | None = None
    """Whether the answer waits until the circumstances have passed."""


class Policy(Record):
    """A statement about who may use what."""

    description: str = ""
    match: Match = Match.model_construct()
    effect: Effect
    """`annotate` carries modifiers and a session only and never makes a request allowed."""
    permissions: Permissions = Permissions.model_construct()
    """What it speaks of; a `deny` or `ask` that leaves all of them out speaks of everything."""
    ceiling: bool = False
    """What it allows is also the most that anything else can give."""
    fallback: bool = False
    """Used only where no other policy matched."""
    session: Session = Session.model_construct()
    modifiers: Modifiers = Modifiers.model_construct()
    priority: Annotated[int, Field(ge=0, le=100)] = 50
    """Orders statements and picks the session; never decides between allow and deny."""
    enabled: bool = True


class AccessPolicies(Document):
    """Policies."""

    kind: Literal["orgkernel:access_policies"] = Field(default="orgkernel:access_policies", alias="_schema")
    description: str = ""
    policies: dict[PolicyId, Policy] = Field(default_factory=dict)
    """Policies by name."""
