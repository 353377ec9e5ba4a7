"""An organization's access as Cedar policies.

First come the layers that every organization has; the entities contain the facts for them. Then come its access
policies: when each applies, and what it allows, limits, denies and requires approval for. The `@id` of a policy is
the code of the same reason in orgkernel's decision.

A circumstance that the context does not contain is not known. A policy that allows does not hold then, and a policy that takes
something away forbids as `CONTEXT_MISSING`, because it could hold.
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


def render_match(policy: Policy, *, possible: bool = False) -> str:
    """The conditions on the principal and the circumstances of a policy.

    If `possible`, the text is also true if circumstances that the context does not contain could satisfy them.
    """
    principal = policy.match.principal
    who = () if principal is None else _list_principal_conditions(principal)
    conditions = policy.match.conditions
    when = (
        join_any(join_all(_list_conditions(each, possible)) for each in conditions) if conditions else ALWAYS
    )
    return join_all((*who, when, *_list_status_conditions(policy, possible)))


def _list_status_conditions(policy: Policy, possible: bool) -> Iterator[str]:
    """The alerts and the watches that a policy matches."""
    for name, values in (("alert", policy.match.alert), ("watch", policy.match.watch)):
        if values:
            yield join_any(_render_equal(name, each, possible) for each in values)


def _render_equal(name: str, value: str, possible: bool) -> str:
    text = render_text(value)
    if possible:
        return f"!(context has {name} && context.{name} != {text})"
    return f"context has {name} && context.{name} == {text}"


def render_giving_fallback(policy: Policy, others: Iterable[Policy]) -> str:
    """Always true, except for a fallback: it allows something only if no other policy can match.

    An `allow` policy that could match, and would then allow the same, does not override it.
    """
    if not policy.fallback:
        return ALWAYS
    parts = []
    for other in others:
        if other.fallback or other.effect not in ("allow", "deny", "ask"):
            continue
        match, possible = render_match(other), render_match(other, possible=True)
        parts.append(match if other.effect == "allow" else possible)
        if other.effect == "allow" and possible != match:
            parts.append(_render_without(possible, join_any(_list_covered(other))))
    return _render_none(parts)


def render_taking_fallback(policy: Policy, others: Iterable[Policy]) -> str:
    """Always true, except for a fallback: it denies, asks or limits only if no other `allow` policy matches."""
    if not policy.fallback:
        return ALWAYS
    allowing = (other for other in others if not other.fallback and other.effect == "allow")
    return _render_none(map(render_match, allowing))


def _render_none(conditions: Iterable[str]) -> str:
    matching = join_any(conditions)
    return ALWAYS if matching == NEVER else f"!({matching})"


def _render_without(condition: str, exception: str) -> str:
    """A condition, except where another one is true."""
    if exception == ALWAYS:
        return NEVER
    return condition if exception == NEVER else join_all((condition, f"!({exception})"))


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


def _list_conditions(condition: Condition, possible: bool) -> Iterator[str]:
    for name in _TOLD:
        value = getattr(condition, name)
        if value is not None:
            yield _render_equal(name, value, possible)
    if condition.time == "weekends":
        yield _render_known("weekend", "context.weekend", possible)
    elif condition.time is not None:
        start, end = map(_count_minutes, condition.time.split("-"))
        both = "&&" if start < end else "||"
        yield _render_known("minute", f"(context.minute >= {start} {both} context.minute < {end})", possible)


def _render_known(name: str, condition: str, possible: bool) -> str:
    return f"!(context has {name} && !{condition})" if possible else f"context has {name} && {condition}"


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
    match = render_match(policy)
    if policy.effect == "allow":
        gives = join_all((_OUTSIDE, match, render_giving_fallback(policy, others)))
        yield from _render("POLICY_ALLOW", name, "permit", gives, join_any(_list_covered(policy)))
    losses = tuple(_list_losses(policy))
    fallback = render_taking_fallback(policy, others)
    for code, covered, unless in losses:
        yield from _render(code, name, "forbid", join_all((match, fallback)), covered, unless)
    possible = render_match(policy, possible=True)
    if possible != match:
        taken = join_any(
            _list_statements(*(_render_without(covered, unless) for _, covered, unless in losses))
        )
        yield from _render("CONTEXT_MISSING", name, "forbid", join_all((possible, fallback)), taken, match)


def _list_losses(policy: Policy) -> Iterator[tuple[str, str, str]]:
    """The denials of a policy: the code, the resources, and the condition under which they are not denied."""
    denied = _render_denied(policy)
    covered = join_any(_list_covered(policy))
    if policy.effect == "allow" and policy.is_ceiling:
        yield "POLICY_CEILING", join_any(_list_left_out(policy)), ESSENTIAL
    elif policy.effect == "deny":
        denied = join_any(_list_statements(covered, denied))
    elif policy.effect == "ask":
        # Cedar cannot count approvers, so what several have to approve stays closed.
        yield "ASK_APPROVAL", covered, _APPROVED if policy.approvals is None else NEVER
    yield "POLICY_DENY", denied, NEVER


def _render(
    code: str, name: str, effect: str, match: str, covered: str, unless: str = NEVER
) -> Iterator[str]:
    if covered == NEVER:
        return
    when = "" if (body := join_all((match, covered))) == ALWAYS else f"\nwhen {{ {body} }}"
    but = "" if unless == NEVER else f"\nunless {{ {unless} }}"
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
