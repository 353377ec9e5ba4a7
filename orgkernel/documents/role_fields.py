"""Every field of a role profile, once: where the manifest shows it, what it decides, and what exports lose of it.

Readers of the table: the manifest (`manifest/role.py` fills settings and lists from it), the comparison of two versions
(`diff/effects.py`), the reports of what exports leave out (`exchange/agents/losses.py`), the form of a role that a host of
the specification reads (`exchange/agent_zero/specification.py`), and the tests of `tests/meta` that a field is neither lost
in silence nor without effect. A row answers every question; a field without a row fails `tests/meta/test_role_fields.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from orgkernel.documents.records import RoleProfile

Shown = Literal["setting", "ids", "texts", "derived"]
"""How the manifest is filled: with the value as a setting (with its default), with an item for each id or text of a list, or
by a function of `manifest/role.py`, because the organization, a catalog or the state decides as well."""
Decides = Literal[
    "chain of command",
    "dispatch",
    "hand-offs",
    "access",
    "crew",
    "contracts",
    "failures",
    "reports",
    "nothing",
    "not yet",
]
"""The decision that depends on the field. `nothing`: people and agents read it. `not yet`: see its description."""
Gives = Literal["nothing", "items", "number", "levels", "own measure"]
"""How a change of the field gives a role more: by nothing, by each item, by a greater number, by an item or a higher level
of it, or by a measure of its own in `diff/effects.py`. A tuple is a ladder, from the least."""


class Lost(NamedTuple):
    """The value that an export format leaves out if it cannot express the field. Fields with the same name are
    counted together.
    """

    what: str
    why: str = "the format has no field for it"


class RoleField(NamedTuple):
    """A field of a role profile."""

    route: tuple[str, ...]
    """Its place in the profile."""
    part: str
    """The part of the manifest that shows it."""
    shown: Shown
    decides: Decides
    gives: Gives | tuple[str | None, ...]
    lost: Lost | None
    """None if every export format expresses the field, or if it is counted by the tools that it withholds."""
    another: Any
    """A valid value that is not the default. The laws write it into a profile and look what changes."""
    of_specification: bool
    """Whether the kernel's specification has the field. A host of it always gets the field, and others if they are set."""


_SAID_IN_TEXT: Final = "described in the agent's instructions; not enforced"
_IDENTITY: Final = "identity"
_COMMAND: Final = Lost("chain of command", _SAID_IN_TEXT)
_HANDOFF_RIGHTS: Final = Lost("hand-off rights")
_EXAMPLES: Final = Lost("examples")
_REQUIREMENTS: Final = Lost("requirements")
_DOCTRINE: Final = Lost("doctrine")
_ENTRY_RANKS: Final = Lost("entry ranks")


def _build_row(
    route: str,
    part: str,
    shown: Shown,
    decides: Decides,
    gives: Gives | tuple[str | None, ...],
    lost: Lost | None,
    another: Any,
    *,
    specified: bool = False,
) -> RoleField:
    return RoleField(tuple(route.split(".")), part, shown, decides, gives, lost, another, specified)


# In the order in which reports and forms list them.
ROLE_FIELDS: Final[tuple[RoleField, ...]] = (
    _build_row("role_name", "role_name", "derived", "nothing", "nothing", None, "Another", specified=True),
    _build_row("role_type", "role_type", "derived", "chain of command", "nothing", Lost("role types"), "executive", specified=True),
    _build_row("description", "description", "derived", "dispatch", "nothing", None, "Does it."),
    _build_row("chain_of_command.reports_to", "chain_of_command", "derived", "chain of command", "nothing", _COMMAND, "c", specified=True),
    _build_row("chain_of_command.authority_level", _IDENTITY, "derived", "chain of command", "number", Lost("authority levels"), 2, specified=True),
    _build_row("chain_of_command.can_delegate", _IDENTITY, "derived", "hand-offs", "number", Lost("rights to delegate"), True, specified=True),
    _build_row("handoff.may_to", "handoff_targets", "derived", "hand-offs", "items", _HANDOFF_RIGHTS, ["c"]),
    _build_row("handoff.may_from", "handoff_sources", "derived", "hand-offs", "nothing", _HANDOFF_RIGHTS, ["c"]),
    _build_row("capabilities.bst_domains", "domains", "derived", "dispatch", "items", Lost("domains", "the host does not route work by domain"), ["codegen"], specified=True),
    _build_row("capabilities.intents", "intents", "derived", "dispatch", "nothing", Lost("intents"), ["greet"]),
    _build_row("capabilities.htn_plans", "plans", "derived", "dispatch", "own measure", Lost("plans"), ["codegen_module"], specified=True),
    _build_row("capabilities.procedures", "listed_procedures", "ids", "dispatch", "nothing", Lost("procedures"), ["sweep"]),
    _build_row("capabilities.tools_primary", "tools", "derived", "access", "own measure", None, ["text_editor"], specified=True),
    _build_row("capabilities.tools_secondary", "tools", "derived", "access", "own measure", None, ["text_editor"], specified=True),
    _build_row("capabilities.tools", "tools", "derived", "access", "own measure", None, [{"tool": "text_editor", "level": "full"}]),
    _build_row("capabilities.skills", "skills", "derived", "crew", "nothing", Lost("skills that roles require"), ["software_construction"], specified=True),
    _build_row("examples", "examples", "texts", "dispatch", "nothing", _EXAMPLES, ["Do it."]),
    _build_row("not_examples", "not_examples", "texts", "dispatch", "nothing", _EXAMPLES, ["Do that."]),
    _build_row("requirements.preferred_model", "requirements", "setting", "nothing", "nothing", Lost("models"), "a-model", specified=True),
    _build_row("requirements.min_context_tokens", "requirements", "setting", "nothing", "nothing", _REQUIREMENTS, 1000, specified=True),
    _build_row("requirements.required_extensions", "requirements", "setting", "nothing", "nothing", _REQUIREMENTS, ["memory"], specified=True),
    _build_row("pace_plan", "pace", "derived", "failures", "nothing", Lost("PACE plans", _SAID_IN_TEXT), {"primary": {"action": "x"}}, specified=True),
    _build_row("doctrine.salute_interval_turns", "doctrine", "setting", "reports", "nothing", _DOCTRINE, 2, specified=True),
    _build_row("doctrine.max_turns_without_progress", "doctrine", "setting", "failures", "nothing", Lost("turns without progress"), 7, specified=True),
    _build_row("doctrine.report_on_completion", "doctrine", "setting", "reports", "nothing", _DOCTRINE, False, specified=True),
    _build_row("doctrine.report_on_failure", "doctrine", "setting", "reports", "nothing", _DOCTRINE, False, specified=True),
    _build_row("doctrine.autonomous_retry_limit", "doctrine", "setting", "nothing", "nothing", _DOCTRINE, 3, specified=True),
    _build_row("does_not_have", "does_not_have", "texts", "nothing", "nothing", Lost("what roles do not have", _SAID_IN_TEXT), ["A shell."]),
    _build_row("standing_orders", "standing_orders", "texts", "nothing", "nothing", Lost("standing orders", _SAID_IN_TEXT), ["Ask."]),
    _build_row("department", "department", "derived", "access", "nothing", Lost("departments"), "d"),
    _build_row("layer", "layer", "derived", "hand-offs", "nothing", Lost("layers"), "l"),
    _build_row("crew_tier", _IDENTITY, "setting", "chain of command", "nothing", Lost("crew tiers"), "utility"),
    _build_row("position", _IDENTITY, "setting", "hand-offs", "nothing", Lost("positions"), "worker"),
    _build_row("clearance", _IDENTITY, "setting", "not yet", (None, "basic", "enhanced", "full", "oracle"), Lost("clearances"), "basic"),
    _build_row("entry_rank", _IDENTITY, "setting", "crew", "nothing", _ENTRY_RANKS, "ensign"),
    _build_row("open_to_probation", _IDENTITY, "setting", "crew", "number", _ENTRY_RANKS, True),
    _build_row("deputy", _IDENTITY, "setting", "dispatch", "nothing", Lost("deputies"), "c"),
    _build_row("lmc_mode", _IDENTITY, "setting", "contracts", "nothing", Lost("LMC modes"), "lite"),
    _build_row("may_grant", "may_grant", "derived", "access", "levels", Lost("rights to grant"), [{"tool": "file_read"}]),
    _build_row("credentials", "credentials", "ids", "access", "items", Lost("credentials"), ["c"]),
    _build_row("data", "data", "ids", "access", "items", Lost("data"), ["minimal"]),
    _build_row("file_scope", "file_scope", "texts", "access", "own measure", Lost("file scopes", "a tool that writes files is withheld from these roles"), ["src/"]),
)  # fmt: skip

OF_DOCUMENT: Final = ("kind", "role_id", "overlay", "version", "suppressions")
"""Fields of a profile that identify the document or control how it is read. They have no rows."""


def fields_shown_in(part: str, shown: Shown) -> Iterator[RoleField]:
    """The fields that a part of the manifest shows in one way."""
    return (field for field in ROLE_FIELDS if field.part == part and field.shown == shown)


def value_in(profile: RoleProfile, field: RoleField) -> Any:
    """The value in a profile, or the default."""
    value: Any = profile
    for step in field.route:
        value = getattr(value, step)
    return value


def is_set(profile: RoleProfile, field: RoleField) -> bool:
    """Whether the value in a profile differs from the default."""
    return bool(value_in(profile, field) != _DEFAULTS[field.route])


_BLANK: Final = RoleProfile(role_id="")
_DEFAULTS: Final[Mapping[tuple[str, ...], Any]] = {
    field.route: value_in(_BLANK, field) for field in ROLE_FIELDS
}
