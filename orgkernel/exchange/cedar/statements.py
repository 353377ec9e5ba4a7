"""Access policies as Cedar policies: what they allow, cap, deny and require approval for (design §6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.exchange.cedar.layers import ESSENTIAL
from orgkernel.exchange.cedar.matching import ALWAYS, NEVER, all_of, any_of, render_fallback, render_match
from orgkernel.exchange.cedar.words import NAMESPACE, beginning, text, uid
from orgkernel.graph.definition import Definition
from orgkernel.records.access_policies import DATA_TIERS, STAR, Policy

_TOOL, _CREDENTIAL, _DATA = (
    f"resource is {NAMESPACE}::{kind}" for kind in ("ToolAction", "Credential", "Data")
)
# A policy about everything would make Cedar allow undeclared resources.
_OUTSIDE = f"principal in {uid('Group', 'outside')} && resource has holders"
_APPROVED = "context has approved && context.approved"


def render_statements(definitions: Iterable[Definition[Policy]]) -> Iterator[str]:
    """The enabled policies that decide something, sorted by name: their order has no effect."""
    deciding = [each for each in definitions if each.record.enabled and each.record.effect != "annotate"]
    records = [each.record for each in deciding]
    for each in sorted(deciding, key=lambda each: each.id):
        yield from _statement(each.id, each.record, records)


def _statement(name: str, policy: Policy, others: Iterable[Policy]) -> Iterator[str]:
    match = all_of((render_match(policy), render_fallback(policy, others)))
    covered = any_of(_covered(policy))
    denied = _denied(policy)
    if policy.effect == "allow":
        yield from _render("POLICY_ALLOW", name, "permit", all_of((_OUTSIDE, match)), covered)
        if policy.ceiling or _is_exact_list(policy):
            yield from _render("POLICY_CEILING", name, "forbid", match, any_of(_left_out(policy)), ESSENTIAL)
        yield from _render("POLICY_DENY", name, "forbid", match, denied)
    elif policy.effect == "deny":
        yield from _render("POLICY_DENY", name, "forbid", match, any_of(_said(covered, denied)))
    else:
        yield from _render("ASK_APPROVAL", name, "forbid", match, covered, _APPROVED)
        if denied != NEVER:
            only = denied if covered == NEVER else f"{denied} && !({covered})"
            yield from _render("POLICY_DENY", name, "forbid", match, only)


def _render(
    code: str, name: str, effect: str, match: str, covered: str, unless: str | None = None
) -> Iterator[str]:
    if covered == NEVER:
        return
    when = "" if (body := all_of((match, covered))) == ALWAYS else f"\nwhen {{ {body} }}"
    but = "" if unless is None else f"\nunless {{ {unless} }}"
    yield f"@id({text(f'{code}:{name}')})\n{effect} (principal, action, resource){when}{but};\n"


def _said(*parts: str) -> tuple[str, ...]:
    return tuple(part for part in parts if part != NEVER)


def _is_exact_list(policy: Policy) -> bool:
    """Whether the policy denies `*` and allows a list: it then means exactly that list (policies and governance §2.9)."""
    return STAR in policy.permissions.excepted_tools and bool(policy.permissions.named_tools)


def _covered(policy: Policy) -> Iterator[str]:
    """The resources that it covers, kind by kind. A deny or ask policy that names nothing covers everything."""
    permissions = policy.permissions
    if policy.effect != "allow" and (permissions.tools, permissions.credentials, permissions.data) == (
        None,
        None,
        None,
    ):
        yield ALWAYS
    if permissions.named_tools is not None:
        yield from _of_kind(_TOOL, _names("resource.tool.id", permissions.named_tools))
    if permissions.credentials is not None:
        yield from _of_kind(_CREDENTIAL, _names("resource.id", permissions.credentials))
    if permissions.data is not None:
        yield f"({_DATA} && {_tiers(policy)})"


def _left_out(policy: Policy) -> Iterator[str]:
    """The resources that a ceiling removes: everything that it does not name in the kinds that it covers."""
    permissions = policy.permissions
    if permissions.named_tools is not None:
        yield from _not_of_kind(_TOOL, _names("resource.tool.id", permissions.named_tools))
    if permissions.credentials is not None:
        yield from _not_of_kind(_CREDENTIAL, _names("resource.id", permissions.credentials))
    if permissions.data is not None:
        yield f"({_DATA} && !({_tiers(policy)}))"


def _tiers(policy: Policy) -> str:
    """An allow covers its tier and the lower ones. A deny or ask covers its tier and the higher ones."""
    assert policy.permissions.data is not None
    tier = DATA_TIERS.index(policy.permissions.data)
    return f"resource.level <= {tier}" if policy.effect == "allow" else f"resource.tier >= {tier}"


def _denied(policy: Policy) -> str:
    exact = _is_exact_list(policy)
    words = [word for word in policy.permissions.excepted_tools if not (exact and word == STAR)]
    return any_of(_of_kind(_TOOL, _names("resource.tool.id", words)))


def _names(attribute: str, words: Iterable[str]) -> str:
    """Whether an id matches one of the words: a name, a prefix with a star, or a star alone."""
    return any_of(
        ALWAYS
        if word == STAR
        else f"{attribute} like {beginning(word[:-1])}"
        if word.endswith(STAR)
        else f"{attribute} == {text(word)}"
        for word in words
    )


def _of_kind(kind: str, names: str) -> Iterator[str]:
    if names != NEVER:
        yield kind if names == ALWAYS else f"({kind} && {names})"


def _not_of_kind(kind: str, names: str) -> Iterator[str]:
    if names != ALWAYS:
        yield kind if names == NEVER else f"({kind} && !({names}))"
