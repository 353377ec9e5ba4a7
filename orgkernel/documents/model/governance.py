"""`governance`: the layers of an organization, who may hand work from one to another, and what a hand-off requires."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from orgkernel.documents.model.access_policies import QueueMode
from orgkernel.documents.model.record import Document, Id, PathGlob, Record, RoleId

HandoffNeed = Literal["brief", "verify_command", "right_to_delegate"]
SessionKey = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9_:.-]|\{org\}|\{from\}|\{to\}|\{principal\}){1,200}$")
]


class GovernedLayer(Record):
    """A layer. The key is its id. Layers are listed in order, top layer first."""

    name: str = ""
    """Name for people."""
    optional: bool = False
    """Whether the organization also works without a role in this layer."""
    roles: tuple[RoleId, ...] = ()
    """Roles of the layer. A role may name its layer itself instead, under `layer` in its profile."""
    read_only: bool = False
    """Whether its roles only read the work of other layers. Their briefs own no files, unless a budget guard has
    fired."""


class GovernedEdge(Record):
    """Permission for the roles of one layer to hand work to those of another, and what each hand-off requires."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")
    requires: tuple[HandoffNeed, ...] = ()
    """Requirements that the sender must meet: a brief, a command in it that verifies the result, the right to
    delegate."""
    gates: tuple[Id, ...] = ()
    """Quality gates that the brief must name under `audit_gates`."""
    queue_mode: QueueMode | None = None
    """Handling of work that arrives while the receiver works. Default: derived from the positions of both."""
    session_key: SessionKey | None = None
    """Session that does the work. It may contain `{org}`, `{from}`, `{to}` and `{principal}`, the person for whom the
    work is done."""


class SacredScope(Record):
    """Files that no brief may own, or only under conditions. The key is its id."""

    paths: tuple[PathGlob, ...]
    """Paths and globs of the files."""
    description: str = ""
    """The reason why they are sacred."""
    unlocked_by: Literal["allow_authentication", "allow_billing", "allow_dependency_change"] | None = None
    """Permission in a brief that unlocks them."""
    unlocked_with_gate: Id | None = None
    """Quality gate that a brief must name to unlock them. Without `unlocked_by` and `unlocked_with_gate`, nothing
    unlocks them."""
    new_files_only: bool = False
    """Whether new files may be added while existing ones must not change."""
    readers: tuple[RoleId, ...] | None = None
    """The roles whose agents may read the files. Empty means none. Absent means all, except for environment files, vaults,
    credentials and private keys, which no agent reads."""


class QualityGate(Record):
    """An audit that a brief may name under `audit_gates`. The key is its id."""

    description: str = ""


class HandoffLimits(Record):
    """Limits on hand-offs. They replace those of the organization."""

    max_spawn_depth: Annotated[int, Field(ge=1, le=5)] | None = None
    """How deep hand-offs may lie. Default: 3."""
    max_children: Annotated[int, Field(ge=1, le=20)] | None = None
    """Maximum number of agents that one agent may have handed work to. Default: 5."""
    max_concurrent: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of them that run at the same time. Default: 8."""


class ClaimRules(Record):
    """Limits on claims of files, so that no agent locks a project."""

    without_handoff: tuple[RoleId, ...] = ()
    """Roles that may claim files without a hand-off. Other agents can only claim files of a brief that was handed down
    to them."""
    max_seconds: Annotated[float, Field(gt=0, le=604_800)] | None = None
    """Maximum number of seconds that a claim lasts, with all of its extensions. Default: seven days from each extension."""
    max_claims: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of claims that one holder has at the same time, without those of hand-offs. Default: 20."""
    min_fixed_names: Annotated[int, Field(ge=0, le=20)] | None = None
    """Number of names without wildcards with which each claimed path begins: `src/**` has one, `**/*.py` has none. If it
    is set, it also holds for the files of a brief. Default: 1, and 0 for briefs."""


class CommitRules(Record):
    """Whom the hooks of git and `orgkernel ownership verify-push` hold to a brief."""

    held: Literal["everyone", "agents"] = "everyone"
    """`everyone`: a commit without a brief is refused (default). `agents`: people commit without a brief."""
    agent_variables: tuple[str, ...] | None = None
    """Environment variables that show that an agent runs git. Default: those of the coding agents that orgkernel knows."""
    agent_authors: tuple[str, ...] = ()
    """Email addresses of agents as authors of commits. A `*` stands for any text."""


class Governance(Document):
    """Rules for hand-offs in an organization."""

    kind: Literal["orgkernel:governance"] = Field(default="orgkernel:governance", alias="_schema")
    description: str = ""
    layers: dict[Id, GovernedLayer] = Field(default_factory=dict)
    """The layers, top layer first. They replace those of the organization."""
    dispatch_edges: tuple[GovernedEdge, ...] = ()
    """The only pairs of layers between which work may be handed down."""
    limits: HandoffLimits = HandoffLimits.model_construct()
    claims: ClaimRules = ClaimRules.model_construct()
    """Limits on claims of files."""
    commits: CommitRules = CommitRules.model_construct()
    """Whom the hooks of git hold."""
    sacred_scopes: dict[Id, SacredScope] = Field(default_factory=dict)
    """Files that briefs may not own."""
    destructive_operations: tuple[Id, ...] | None = None
    """Destructive operations that a brief may allow (docs/destructive-commands.md). Absent means any; empty means none."""
    quality_gates: dict[Id, QualityGate] = Field(default_factory=dict)
    """Audits. If any are declared, a brief may name only these."""
    ownership_audits: Literal["always", "stated", "optional"] | None = None
    """The clean results that need a clean ownership audit of their commits: `always`, those of briefs that own files;
    `stated`, those that state changed files (default); `optional`, as `stated`, but a result may set `no_audit`."""
    lmc_modes: dict[Id, Literal["full", "lite", "direct"]] = Field(default_factory=dict)
    """Lead-manager-checker (LMC) mode of each layer: `full` (a manager and a checker), `lite` (checked by the lead)
    or `direct` (not checked). A record of a lead with a weaker mode is not valid. A role may require another mode
    under `lmc_mode`."""
    phrases: tuple[Annotated[str, StringConstraints(pattern=r"[^ ]", max_length=200)], ...] = ()
    """Wordings that show that a session is waiting for an answer, in addition to the built-in ones. A blocker or a
    pending action that contains one of them is not valid."""
    batch_size: Annotated[int, Field(ge=1, le=4)] | None = None
    """Maximum number of workers of one mission that may write at the same time. Default: 3."""
