"""An organization's access as Cedar policies.

First come the layers that every organization has; the entities contain the facts for them. Then come its access
policies: when each applies, and what it allows, limits, denies and requires approval for. The `@id` of a policy is
the code of the same reason in orgkernel's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.documents.records import DATA_TIERS, STAR, Condition, Policy, Principal
from orgkernel.exchange.cedar.words import NAMESPACE, render_prefix, render_text, render_uid
from orgkernel.graph.records import Definition

ALWAYS, NEVER = "true", "false"
_TOLD = ("channel", "peer_kind", "account", "guild", "hook_id", "event_type")
# The condition for a `*` of each kind. A role means any agent that fills it.
_ANY = {
    "system": f"principal is {NAMESPACE}::System",
    "webhook": f"principal is {NAMESPACE}::Webhook",
    "agent": f"(principal is {NAMESPACE}::Role || principal is {NAMESPACE}::Agent)",
    "role": f"principal in {render_uid('Group', 'crew')}",
}


def join_all(parts: Iterable[str]) -> str:
    """Join conditions with "and". True if there are none."""
    return " && ".join(part for part in parts if part != ALWAYS) or ALWAYS


def join_any(parts: Iterable[str]) -> str:
    """Join conditions with "or". False if there are none."""
    alternatives = tuple(dict.fromkeys(parts))
    if ALWAYS in alternatives:
        return ALWAYS
    if len(alternatives) < 2:
        return alternatives[0] if alternatives else NEVER
    return "(" + " || ".join(alternatives) + ")"


def render_match(policy: Policy) -> str:
    """The conditions on the principal and the circumstances of a policy."""
    principal = policy.match.principal
    who = () if principal is None else _list_principal_conditions(principal)
    conditions = policy.match.conditions
    when = join_any(join_all(_list_conditions(each)) for each in conditions) if conditions else ALWAYS
    return join_all((*who, when, *_list_status_conditions(policy)))


def _list_status_conditions(policy: Policy) -> Iterator[str]:
    """The alerts and the watches that a policy matches."""
    for name, values in (("alert", policy.match.alert), ("watch", policy.match.watch)):
        if values:
            yield join_any(f"context has {name} && context.{name} == {render_text(each)}" for each in values)


def render_fallback(policy: Policy, others: Iterable[Policy], *, giving: bool) -> str:
    """Always true, except for a fallback.

    It allows something if no other policy matches, and takes something away if no other policy that allows matches.
    """
    if not policy.fallback:
        return ALWAYS
    matching = join_any(
        render_match(other)
        for other in others
        if not other.fallback and other.effect in (("allow", "deny", "ask") if giving else ("allow",))
    )
    return ALWAYS if matching == NEVER else f"!({matching})"


def _list_principal_conditions(principal: Principal) -> Iterator[str]:
    if principal.is_user is not None:
        yield _render_unless(principal.is_user, f"principal in {render_uid('Group', 'owner')}")
    if principal.relationship is not None:
        yield f"principal in {render_uid('Relationship', principal.relationship)}"
    yield from (f"principal in {render_uid('Tag', tag)}" for tag in principal.tags)
    if principal.person_id is not None:
        yield f"principal == {render_uid('Person', principal.person_id)}"
    if principal.unknown is not None:
        yield _render_unless(principal.unknown, f"principal in {render_uid('Group', 'unknown')}")
    for kind, equals in (("System", "=="), ("Webhook", "=="), ("Agent", "=="), ("Role", "in")):
        named = getattr(principal, kind.lower())
        if named == STAR:
            yield _ANY[kind.lower()]
        elif named is not None:
            yield f"principal {equals} {render_uid(kind, named)}"


def _render_unless(wanted: bool, condition: str) -> str:
    return condition if wanted else f"!({condition})"


def _list_conditions(condition: Condition) -> Iterator[str]:
    for name in _TOLD:
        value = getattr(condition, name)
        if value is not None:
            yield f"context has {name} && context.{name} == {render_text(value)}"
    if condition.time == "weekends":
        yield "context has weekend && context.weekend"
    elif condition.time is not None:
        start, end = map(_count_minutes, condition.time.split("-"))
        both = "&&" if start < end else "||"
        yield f"context has minute && (context.minute >= {start} {both} context.minute < {end})"


def _count_minutes(words: str) -> int:
    hours, minutes = words.split(":")
    return int(hours) * 60 + int(minutes)


# True if the tool is essential for the principal. Used in `unless`.
ESSENTIAL = "resource is OrgKernel::ToolAction && principal in resource.tool.essential_for"

LAYERS = f"""\
// Roles and agents get what roles list, at the listed level.
@id("BOUND_TO_ROLE")
permit (principal, action, resource)
when {{ principal in resource.holders }};

@id("ESSENTIAL_TOOL")
permit (principal, action, resource is OrgKernel::ToolAction)
when {{ principal in resource.tool.essential_for }};

// Cedar accepts any action in requests that are not checked against the schema.
@id("ACTION_UNKNOWN")
forbid (principal, action, resource)
unless {{ if resource is OrgKernel::Data then action == OrgKernel::Action::"read" else action == OrgKernel::Action::"use" }};

@id("TOOL_DISABLED")
forbid (principal, action, resource is OrgKernel::ToolAction)
unless {{ resource.tool.enabled }};

@id("NOT_VISIBLE")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has names && resource.tool has departments && !(principal in resource.tool.departments) }}
unless {{ {ESSENTIAL} }};

@id("NOT_IN_RESTRICTED_TO")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.tool has restricted_to && !(principal has names && resource.tool.restricted_to.containsAny(principal.names)) }}
unless {{ {ESSENTIAL} }};

@id("RANK_TOO_LOW")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has names && resource has ranks && !(principal has rank && resource.ranks.contains(principal.rank)) }}
unless {{ {ESSENTIAL} }};

@id("QUALIFICATION_MISSING")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.tool has qualifications && !(principal has passed && principal.passed.containsAll(resource.tool.qualifications)) }}
unless {{ {ESSENTIAL} }};

@id("POSITION_CAP")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.tool.delegating && principal has worker && principal.worker }};

@id("WRITE_OUT_OF_FILE_SCOPE")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has scoped && principal.scoped.contains(resource.word) }}
unless {{ context has in_file_scope && context.in_file_scope }};

@id("LOCKED")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.needs_lock }}
unless {{ context has holds_lock && context.holds_lock }};

@id("LIMIT_REACHED")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.limited }}
unless {{ context has within_limits && context.within_limits }};
"""


_TOOL, _CREDENTIAL, _DATA = (
    f"resource is {NAMESPACE}::{kind}" for kind in ("ToolAction", "Credential", "Data")
)
# A policy about everything would make Cedar allow undeclared resources.
_OUTSIDE = f"principal in {render_uid('Group', 'outside')} && resource has holders"
_APPROVED = "context has approved && context.approved"


def render_statements(definitions: Iterable[Definition[Policy]]) -> Iterator[str]:
    """The enabled policies that decide something, sorted by name: their order has no effect."""
    enabled = [each for each in definitions if each.record.enabled]
    records = [each.record for each in enabled]
    for each in sorted(enabled, key=lambda each: each.id):
        yield from _render_statement(each.id, each.record, records)


def _render_statement(name: str, policy: Policy, others: Iterable[Policy]) -> Iterator[str]:
    match = join_all((render_match(policy), render_fallback(policy, others, giving=False)))
    covered = join_any(_list_covered(policy))
    denied = _render_denied(policy)
    if policy.effect == "allow":
        gives = join_all((_OUTSIDE, render_match(policy), render_fallback(policy, others, giving=True)))
        yield from _render("POLICY_ALLOW", name, "permit", gives, covered)
        if policy.is_ceiling:
            yield from _render(
                "POLICY_CEILING", name, "forbid", match, join_any(_list_left_out(policy)), ESSENTIAL
            )
    elif policy.effect == "deny":
        denied = join_any(_list_statements(covered, denied))
    elif policy.effect == "ask":
        yield from _render("ASK_APPROVAL", name, "forbid", match, covered, _APPROVED)
    yield from _render("POLICY_DENY", name, "forbid", match, denied)


def _render(
    code: str, name: str, effect: str, match: str, covered: str, unless: str | None = None
) -> Iterator[str]:
    if covered == NEVER:
        return
    when = "" if (body := join_all((match, covered))) == ALWAYS else f"\nwhen {{ {body} }}"
    but = "" if unless is None else f"\nunless {{ {unless} }}"
    yield f"@id({render_text(f'{code}:{name}')})\n{effect} (principal, action, resource){when}{but};\n"


def _list_statements(*parts: str) -> tuple[str, ...]:
    return tuple(part for part in parts if part != NEVER)


def _list_covered(policy: Policy) -> Iterator[str]:
    """The resources that its effect applies to, kind by kind. A deny or ask policy that names nothing means everything."""
    permissions = policy.permissions
    if policy.is_everything:
        yield ALWAYS
    if policy.named_tools is not None:
        names = _render_names("resource.tool.id", policy.named_tools)
        spared = _render_names("resource.tool.id", policy.spared_tools)
        yield from _match_kind(_TOOL, names) if spared == NEVER else _match_other_kinds(_TOOL, spared)
    if permissions.credentials is not None:
        yield from _match_kind(_CREDENTIAL, _render_names("resource.id", permissions.credentials))
    if permissions.data is not None:
        yield f"({_DATA} && {_render_tiers(policy)})"


def _list_left_out(policy: Policy) -> Iterator[str]:
    """The resources that a ceiling removes: everything that it does not name in the kinds that it covers."""
    permissions = policy.permissions
    if policy.named_tools is not None:
        yield from _match_other_kinds(_TOOL, _render_names("resource.tool.id", policy.named_tools))
    if permissions.credentials is not None:
        yield from _match_other_kinds(_CREDENTIAL, _render_names("resource.id", permissions.credentials))
    if permissions.data is not None:
        yield f"({_DATA} && !({_render_tiers(policy)}))"


def _render_tiers(policy: Policy) -> str:
    """An allow covers its tier and the lower ones. A deny or ask covers its tier and the higher ones."""
    assert policy.permissions.data is not None
    tier = DATA_TIERS.index(policy.permissions.data)
    return f"resource.level <= {tier}" if policy.effect == "allow" else f"resource.tier >= {tier}"


def _render_denied(policy: Policy) -> str:
    """The tools that it denies whatever its effect."""
    return join_any(_match_kind(_TOOL, _render_names("resource.tool.id", policy.denied_tools)))


def _render_names(attribute: str, words: Iterable[str]) -> str:
    """Whether an id matches one of the words: a name, a prefix with a star, or a star alone."""
    return join_any(
        ALWAYS
        if word == STAR
        else f"{attribute} like {render_prefix(word[:-1])}"
        if word.endswith(STAR)
        else f"{attribute} == {render_text(word)}"
        for word in words
    )


def _match_kind(kind: str, names: str) -> Iterator[str]:
    if names != NEVER:
        yield kind if names == ALWAYS else f"({kind} && {names})"


def _match_other_kinds(kind: str, names: str) -> Iterator[str]:
    if names != ALWAYS:
        yield kind if names == NEVER else f"({kind} && !({names}))"
