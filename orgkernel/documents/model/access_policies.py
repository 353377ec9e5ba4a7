"""`access_policies`: who may use what, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag

from orgkernel.documents.model.directory import Relationship
from orgkernel.documents.model.record import Document, Id, PathGlob, PersonId, PolicyId, Record

STAR = "*"

# Words as a shell reads them without quotes.
CommandBeginning = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_./:@%+,=~-]+( [A-Za-z0-9_./:@%+,=~-]+)*$", max_length=200)
]

Effect = Literal["allow", "deny", "ask", "annotate"]
DataTier = Literal["none", "minimal", "contextual", "full"]
# Lowest first.
DATA_TIERS: tuple[DataTier, ...] = ("none", "minimal", "contextual", "full")
LimitCounter = Literal["all", "subject", "role", "principal", "tool"]
LimitWindow = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}[smhd]$")]
PeerKind = Literal["dm", "group"]
QueueMode = Literal["steer", "followup", "collect", "interrupt", "queue", "steer-backlog"]

# A host, or `*.` and the domain that it is below.
HostName = Annotated[
    str, StringConstraints(pattern=r"^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$", max_length=253)
]
ArgumentName = Annotated[str, StringConstraints(min_length=1, max_length=100)]

# A tool, a prefix of tool ids with a star, or a star alone.
ToolGlob = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\*?)$")]
# An id, or a star for any.
AnyOr = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z_][A-Za-z0-9_-]{0,99})$")]
TimeWindow = Annotated[
    str,
    StringConstraints(pattern=r"^(weekends|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])$"),
]


def _build_synonym_validator(words: dict[str, str]) -> Callable[[Any], Any]:
    """Map synonyms of a value to the word that decisions use."""
    return lambda value: words.get(value, value) if isinstance(value, str) else value


# Older files use `restricted`.
Data = Annotated[
    DataTier,
    BeforeValidator(
        _build_synonym_validator({"restricted": "contextual"}),
        json_schema_input_type=DataTier | Literal["restricted"],
    ),
]
# Other files name kinds of containers.
PolicyPeer = Annotated[
    PeerKind,
    BeforeValidator(
        _build_synonym_validator({"direct": "dm", "channel": "group"}),
        json_schema_input_type=PeerKind | Literal["direct", "channel"],
    ),
]


class ToolRules(Record):
    """Allowed and denied tools. Each is an id or a prefix with a star."""

    allow: tuple[ToolGlob, ...] = ()
    """Allowed tools. In a `deny` or `ask` policy, next to a `*` under `deny`, the exceptions."""
    deny: tuple[ToolGlob, ...] = ()
    """Denied tools, whatever the effect of the policy. Next to an `allow` list, `*` means all other tools."""


def _choose_tools_form(value: Any) -> str:
    if isinstance(value, str):
        return "(every-tool)"
    return "(tools)" if isinstance(value, tuple | list) else "(allow-deny)"


ToolPermission = Annotated[
    Annotated[Literal["*"], Tag("(every-tool)")]
    | Annotated[tuple[ToolGlob, ...], Tag("(tools)")]
    | Annotated[ToolRules, Tag("(allow-deny)")],
    Discriminator(_choose_tools_form),
]


def _choose_names_form(value: Any) -> str:
    return "(every-name)" if isinstance(value, str) else "(names)"


NamePermission = Annotated[
    Annotated[Literal["*"], Tag("(every-name)")] | Annotated[tuple[Id, ...], Tag("(names)")],
    Discriminator(_choose_names_form),
]


class ArgumentTest(Record):
    """Tests of one argument of a tool. An argument passes if it passes all of them."""

    one_of: tuple[str, ...] = ()
    """The value is one of these. Numbers and truth values are compared as they are written in JSON."""
    none_of: tuple[str, ...] = ()
    """The value is none of these."""
    matches: tuple[str, ...] = ()
    """The whole value matches one of these patterns, in which `*` is any text."""
    not_matches: tuple[str, ...] = ()
    """The whole value matches none of these patterns."""
    host_in: tuple[HostName, ...] = ()
    """The host of the URL is one of these. `*.example.com` is every host below `example.com`."""
    host_not_in: tuple[HostName, ...] = ()
    """The host of the URL is none of these."""
    under: tuple[PathGlob, ...] = ()
    """The path matches one of these paths or globs."""
    not_under: tuple[PathGlob, ...] = ()
    """The path matches none of these paths or globs."""
    more_than: float | None = None
    """The number is above this one."""
    less_than: float | None = None
    """The number is below this one."""
    longer_than: Annotated[int, Field(ge=0)] | None = None
    """The text has more characters than this."""


class Permissions(Record):
    """The resources that a policy covers. The policy does not affect omitted kinds."""

    tools: ToolPermission | None = None
    """`*` or a list for the tools that the effect applies to, or lists of allowed and denied tools."""
    paths: tuple[PathGlob, ...] = ()
    """Paths or globs, in a `deny` or `ask` policy about tools. They limit the policy to calls with these paths. Empty
    means all calls."""
    commands: tuple[CommandBeginning, ...] = ()
    """Prefixes of shell commands, in a `deny` or `ask` policy about tools. They limit the policy to calls with these
    commands. Empty means all calls."""
    input: dict[ArgumentName, ArgumentTest] = Field(default_factory=dict)
    """Tests of arguments by name, in a `deny` or `ask` policy about tools. They limit the policy to calls whose input passes
    all of them. Empty means all calls."""
    credentials: NamePermission | None = None
    """`*` for every credential, or a list of their names."""
    roles: NamePermission | None = None
    """`*` for every role, or a list of roles: those that the subjects hand work to, such as the role that talks to everyone."""
    data: Data | None = None
    """How much of the owner's data is accessible."""


class Principal(Record):
    """The subject of a request. All given fields must match."""

    is_user: bool | None = None
    """Whether the subject is the owner in person. System origins such as `cron` are not."""
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    """Tags that a person must have, all of them."""
    person_id: PersonId | None = None
    unknown: bool | None = None
    """Whether the subject is a person who is not in the directory."""
    system: AnyOr | None = None
    """A system origin, or `*` for any."""
    webhook: AnyOr | None = None
    """A webhook, or `*` for any, declared or undeclared."""
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
    """Circumstances. All given fields must match."""

    model_config = ConfigDict(json_schema_extra=_name_both)

    channel: Id | None = Field(default=None, validation_alias=AliasChoices("channel", "platform"))
    """Platform of the message, such as `slack`."""
    peer_kind: PolicyPeer | None = Field(
        default=None, validation_alias=AliasChoices("peer_kind", "container_kind")
    )
    """`dm` (or `direct`) for a conversation of two, `group` (or `channel`) for a larger one."""
    account: str | None = None
    """Account on the platform that received the message."""
    guild: str | None = Field(default=None, validation_alias=AliasChoices("guild", "space_id"))
    """Server or workspace of the platform."""
    time: TimeWindow | None = None
    """`HH:MM-HH:MM` in local time (it may go past midnight), or `weekends`."""
    hook_id: str | None = None
    """Hook that started the work."""
    event_type: str | None = None
    """Kind of event that started the work, such as `timer`."""


class Match(Record):
    """When a policy applies."""

    principal: Principal | None = None
    """The subject of the request. Absent means any subject."""
    conditions: tuple[Condition, ...] = ()
    """Circumstances. At least one of them must match. An empty list means always."""
    alert: tuple[Id, ...] = ()
    """Alerts of the organization in which it applies, such as `RED`. An empty list means every alert."""
    watch: tuple[Id, ...] = ()
    """Watches of the organization in which it applies, such as `gamma`. An empty list means every watch."""


# Who may approve: a subject, or all people with a relationship or a tag.
Approver = Annotated[
    str, StringConstraints(pattern=r"^(agent|person|relationship|role|tag):[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")
]


class RequiredApprovals(Record):
    """The approvals that an `ask` policy requires. Only a request that all of them have answered opens it."""

    count: Annotated[int, Field(ge=1, le=20)] = 2
    """The number of different approvers. Neither the requester nor a subject that shares a principal with it counts."""
    by: tuple[Approver, ...] = ()
    """The approvers, such as `role:chief` or `relationship:owner`. Empty means every subject that may grant the resource."""


class Session(Record):
    """The session that keeps the conversation."""

    persona: str | None = None
    """Persona that answers."""
    key: str | None = None
    """Key of the session. It may contain `{principal.name}`, `{principal.id}`, `{principal.relationship}`, `{channel}`, …"""
    pin: bool = False
    """A pinned key takes precedence over unpinned keys of policies with a higher priority."""


class Modifiers(Record):
    """How a message is handled, independent of permissions."""

    queue_mode: QueueMode | None = None
    """Handling of a message that arrives during a turn."""
    delay_response: bool | None = None
    """Whether the answer waits until the circumstances no longer apply."""


class Policy(Record):
    """A rule about who may use what."""

    description: str = ""
    match: Match = Match.model_construct()
    effect: Effect
    """`annotate` sets modifiers and a session. It never allows a request. A `deny` list denies in every effect."""
    permissions: Permissions = Permissions.model_construct()
    """The resources that it covers. A `deny` or `ask` policy without any covers everything."""
    approvals: RequiredApprovals | None = None
    """The approvals that it requires, in an `ask` policy. Absent means one, by a subject that may grant the resource."""
    ceiling: bool = False
    """Its permissions are also the upper bound for all other permissions."""
    fallback: bool = False
    """It allows only if no other policy matches, and denies or asks only if no other policy that allows matches."""
    session: Session = Session.model_construct()
    modifiers: Modifiers = Modifiers.model_construct()
    priority: Annotated[int, Field(ge=0, le=100)] = 50
    """Orders policies and selects the session. It never decides between allow and deny."""
    enabled: bool = True

    @property
    def _denies_others(self) -> bool:
        """Whether the `*` under `deny` means all tools but those under `allow`."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == "annotate":
            return False
        return bool(tools.allow) and STAR in tools.deny and STAR not in tools.allow

    @property
    def named_tools(self) -> tuple[str, ...] | None:
        """The tools and globs that its effect applies to. None if it does not affect tools."""
        tools = self.permissions.tools
        if tools is None:
            return None
        if isinstance(tools, ToolRules):
            return (STAR,) if self.spared_tools else tools.allow
        return (tools,) if isinstance(tools, str) else tools

    @property
    def spared_tools(self) -> tuple[str, ...]:
        """The exceptions of a `deny` or `ask` policy about all tools."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == "allow" or not self._denies_others:
            return ()
        return tools.allow

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """The tools and globs that it denies whatever its effect."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules):
            return ()
        return tuple(each for each in tools.deny if each != STAR or not self._denies_others)

    @property
    def is_ceiling(self) -> bool:
        """Whether its permissions are also an upper bound: it sets `ceiling`, or it denies all other tools."""
        return self.effect == "allow" and (self.ceiling or self._denies_others)

    @property
    def is_everything(self) -> bool:
        """Whether it lists no resources, and so denies or asks for everything."""
        named = self.permissions
        names = (named.tools, named.credentials, named.roles, named.data)
        return self.effect in ("deny", "ask") and all(each is None for each in names)


class LimitSubjects(Record):
    """Whose calls a limit counts. Empty lists mean everyone."""

    roles: tuple[Id, ...] = ()
    agents: tuple[Id, ...] = ()
    people: tuple[PersonId, ...] = ()


class CallLimit(Record):
    """How many calls of some tools are allowed. The store counts them, and every further call is denied."""

    tools: Annotated[tuple[ToolGlob, ...], Field(min_length=1)]
    """The tools whose calls it counts together: ids, or prefixes with a star."""
    subjects: LimitSubjects = LimitSubjects.model_construct()
    """Whose calls it counts, also those that others make on their behalf."""
    each: LimitCounter = "all"
    """What has a count of its own: `subject` (each agent, person or role that calls), `role`, `principal` (whoever triggered
    the run), `tool`, or `all` for one count in total."""
    calls: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    """The highest number of calls in a sliding window."""
    per: LimitWindow = "1h"
    """The length of the window: a number of seconds, minutes, hours or days, such as `30s`, `5m`, `1h` or `7d`."""
    concurrent: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """The highest number of calls at the same time."""
    budget: Annotated[float, Field(ge=0, le=1_000_000_000)] | None = None
    """The highest sum of the costs of calls in a sliding window, exact to a millionth."""
    cost: Annotated[float, Field(gt=0, le=1_000_000_000)] | None = None
    """What each call costs of the budget."""
    cost_argument: Annotated[str, Field(min_length=1)] | None = None
    """The argument of a call that states its cost, such as `amount`. Without a number there, the call is denied."""
    unit: str = ""
    """The unit of the budget in explanations, such as `USD`."""


class AccessPolicies(Document):
    """Access policies: who may use what, and when."""

    kind: Literal["orgkernel:access_policies"] = Field(default="orgkernel:access_policies", alias="_schema")
    description: str = ""
    policies: dict[PolicyId, Policy] = Field(default_factory=dict)
    """Policies by name."""
    limits: dict[PolicyId, CallLimit] = Field(default_factory=dict)
    """Limits of calls by name."""
