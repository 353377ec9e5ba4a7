"""Compiled policies: which subjects they match, and their combined effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgkernel.decisions.access.arguments import ArgumentTests
from orgkernel.decisions.access.circumstances import Circumstance, is_satisfied, read_circumstances
from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, MIN_LEVEL, Resource
from orgkernel.decisions.access.stated import StatedParts
from orgkernel.documents.records import DATA_TIERS, STAR, Policy, Principal
from orgkernel.graph.records import Definition

_MAX_CACHED_SETS = 4_096
"""The number of cached policy sets. Which policies match depends on circumstances that callers state."""
PolicyEffect = tuple[int, int, bool, bool]
"""The combined effect of all matching policies on one resource: granted level, ceiling, whether they deny it, and whether
they require an approval.
"""


class PartEffect(NamedTuple):
    """The effect of policies about a part of a resource on the requested part."""

    denies: bool
    denies_open: bool
    """Whether they deny it because the request leaves open whether it matches."""
    denies_unread: bool
    """Whether they deny it only because something in the request cannot be read."""
    asks: bool


class NamePatterns:
    """Names and name prefixes with a star, as policies write them."""

    __slots__ = ("_beginnings", "_exact")

    def __init__(self, words: Iterable[str]) -> None:
        words = tuple(words)
        self._exact = frozenset(word for word in words if not word.endswith(STAR))
        self._beginnings = tuple(word[:-1] for word in words if word.endswith(STAR))

    def __bool__(self) -> bool:
        return bool(self._exact or self._beginnings)

    def __contains__(self, name: str) -> bool:
        return name in self._exact or name.startswith(self._beginnings)


class AccessPolicy:
    """One enabled policy, compiled."""

    __slots__ = ("approvals", "ceiling", "commands", "conditions", "credentials", "data", "definition", "denied", "effect", "everything",
                 "fallback", "id", "input", "number", "paths", "roles", "spared", "tools")  # fmt: skip

    def __init__(self, number: int, definition: Definition[Policy]) -> None:
        record = definition.record
        permissions = record.permissions
        named = record.named_tools
        self.number = number
        self.id = definition.id
        self.definition = definition
        self.effect = record.effect
        self.approvals = record.approvals if record.effect == "ask" else None
        self.fallback = record.fallback
        self.conditions: tuple[Circumstance, ...] = read_circumstances(record.match)
        self.ceiling = record.is_ceiling
        self.tools = None if named is None else NamePatterns(named)
        self.spared = NamePatterns(record.spared_tools)
        self.denied = NamePatterns(record.denied_tools)
        # Paths or commands without tools would apply to everything, so such a policy covers whole tools.
        self.paths = () if named is None else permissions.paths
        self.commands = () if named is None else permissions.commands
        self.input: ArgumentTests = () if named is None else tuple(permissions.input.items())
        self.credentials = None if permissions.credentials is None else NamePatterns(permissions.credentials)
        self.roles = None if permissions.roles is None else NamePatterns(permissions.roles)
        self.data = None if permissions.data is None else DATA_TIERS.index(permissions.data)
        self.everything = record.is_everything

    @property
    def decisive(self) -> bool:
        """Whether it affects what is allowed."""
        return self.effect != "annotate" or bool(self.denied)

    @property
    def gives(self) -> bool:
        """Whether it can allow anything."""
        return self.effect == "allow"

    @property
    def silences(self) -> bool:
        """Whether it keeps fallbacks from granting. Only a policy that grants also keeps them from denying."""
        return not self.fallback and self.effect != "annotate"

    @property
    def denies(self) -> bool:
        """Whether it denies anything."""
        return self.effect == "deny" or bool(self.denied)

    def is_satisfied(self, context: AccessContext) -> bool:
        """Whether one of its conditions is satisfied, or it has none."""
        return not self.conditions or any(is_satisfied(condition, context) for condition in self.conditions)

    def covers(self, kind: str, name: str, level: int) -> bool | None:
        """Whether it covers a resource; None if it does not mention resources of this kind."""
        if self.everything:
            return True
        if kind == "tool":
            return None if self.tools is None else name in self.tools and name not in self.spared
        if kind == "credential":
            return None if self.credentials is None else name in self.credentials
        if kind == "role":
            return None if self.roles is None else name in self.roles
        if kind == "data" and self.data is not None:
            # The lowest tier contains no data, so access to it requires the level of the next one.
            return max(level, MIN_LEVEL) <= self.data if self.effect == "allow" else level >= self.data
        return None

    def does_deny(self, kind: str, name: str, level: int) -> bool:
        """Whether it denies a resource, through its effect or by listing the tool."""
        if kind == "tool" and name in self.denied:
            return True
        return self.effect == "deny" and bool(self.covers(kind, name, level))

    def has_part_of(self, kind: str, name: str) -> bool:
        """Whether it denies or asks about only a part of a resource: some paths, commands or arguments."""
        if kind != "tool" or not (self.paths or self.commands or self.input):
            return False
        return name in self.denied or bool(self.covers(kind, name, 0))

    def touches(self, stated_parts: StatedParts) -> bool:
        """Whether a request could match its part. A request that states nothing, or cannot be compared, could."""
        paths, commands, given = stated_parts
        if self.input and given is not None and given.match(self.input) is False:
            return False
        if not (self.paths or self.commands):
            return True
        if self.paths and (paths is None or any(map(paths.may_touch, self.paths))):
            return True
        return bool(self.commands) and (commands is None or any(map(commands.may_begin, self.commands)))

    def is_open(self, stated_parts: StatedParts) -> bool:
        """Whether a request does not state enough to compare it with the part."""
        return any(
            part and stated is None
            for part, stated in zip((self.paths, self.commands, self.input), stated_parts, strict=True)
        )

    def is_unread(self, stated_parts: StatedParts) -> bool:
        """Whether a request matches the part only because something in it cannot be read."""
        if self.is_open(stated_parts) or not self.touches(stated_parts):
            return False
        paths, commands, given = stated_parts
        if given is not None and self.input and given.match(self.input) is None:
            return True
        readable = StatedParts(paths and paths.readable, commands and commands.readable, given)
        return not self.touches(readable)

    def get_granted_level(self, kind: str, name: str, level: int) -> int:
        """The level that it grants: the full level, or for data the tier that it names.

        A policy meant for a part of a tool grants nothing.
        """
        if (self.paths or self.commands or self.input) and kind == "tool":
            return 0
        if kind == "data" and self.data is not None and not self.everything:
            return self.data
        return FULL if self.covers(kind, name, level) else 0


class PolicySet:
    """Matching policies and their combined effect. Sets are cached and shared by all subjects that they match."""

    __slots__ = ("effects", "giving", "policies")

    def __init__(self, policies: Sequence[AccessPolicy], giving: Sequence[AccessPolicy]) -> None:
        self.policies = tuple(policies)
        """All policies of the set. Each can deny, ask and limit."""
        self.giving = tuple(giving)
        """The policies that also grant what they allow."""
        self.effects: dict[str, PolicyEffect] = {}
        """The cached effects on declared resources."""

    def compute_effect(self, resource: Resource) -> PolicyEffect:
        """The combined effect on a resource as a whole."""
        effect = self.effects.get(resource.resource)
        if effect is None:
            effect = self._join(resource.kind, resource.id, resource.tier)
            if not resource.unknown:  # invented names must not fill the memory
                self.effects[resource.resource] = effect
        return effect

    def evaluate_parts(self, resource: Resource, stated_parts: StatedParts) -> PartEffect:
        """The effect of policies about a part of a resource on the requested part."""
        denies = denies_open = denies_unread = asks = False
        for policy in self.policies:
            if policy.has_part_of(resource.kind, resource.id) and policy.touches(stated_parts):
                if policy.does_deny(resource.kind, resource.id, resource.tier):
                    if policy.is_open(stated_parts):
                        denies_open = True
                    elif policy.is_unread(stated_parts):
                        denies_unread = True
                    else:
                        denies = True
                covers = policy.covers(resource.kind, resource.id, resource.tier)
                asks = asks or (policy.effect == "ask" and bool(covers))
        return PartEffect(denies, denies_open, denies_unread, asks)

    def _join(self, kind: str, name: str, level: int) -> PolicyEffect:
        granted = max((policy.get_granted_level(kind, name, level) for policy in self.giving), default=0)
        ceiling, denies, asks = FULL, False, False
        for policy in self.policies:
            covers = policy.covers(kind, name, level)
            if policy.ceiling and covers is not None:
                ceiling = min(ceiling, policy.get_granted_level(kind, name, level))
            if policy.has_part_of(kind, name):
                continue  # `evaluate_parts` handles it, from the paths and commands of the request
            denies = denies or policy.does_deny(kind, name, level)
            asks = asks or (policy.effect == "ask" and bool(covers))
        return granted, ceiling, denies, asks


def choose_deciding(matching: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    """The policies that decide. Fallbacks are left out if any other policy grants something.

    A policy that only denies does not silence a fallback that denies. Otherwise adding it could allow something.
    """
    decisive = [policy for policy in matching if policy.decisive]
    if any(policy.gives and policy.silences for policy in decisive):
        return tuple(policy for policy in decisive if not policy.fallback)
    return tuple(decisive)


def choose_giving(deciding: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    """The policies that grant. Fallbacks grant only if no other policy decides."""
    deciding = tuple(deciding)
    silenced = any(policy.silences for policy in deciding)
    return tuple(policy for policy in deciding if policy.gives and not (policy.fallback and silenced))


class PolicyTable:
    """All policies of an organization, indexed by the subjects that they could match."""

    def __init__(self, policies: Iterable[AccessPolicy]) -> None:
        self.policies = tuple(policies)
        self._about: dict[str, list[AccessPolicy]] = {}
        self._general: list[AccessPolicy] = []
        for policy in self.policies:
            about = get_single_subject(policy.definition.record.match.principal)
            (self._general if about is None else self._about.setdefault(about, [])).append(policy)
        self._matched: dict[tuple[AccessPolicy, ...], tuple[AccessPolicy, ...]] = {}
        self._sets: dict[tuple[object, ...], PolicySet] = {}
        self.require_approvals = any(policy.approvals is not None for policy in self.policies)
        """Whether any policy requires approvals of certain or of several subjects."""
        self.depends_on_circumstances = any(policy.conditions for policy in self.policies)
        """Whether any policy depends on circumstances."""
        self.match_status = any(
            each.alert or each.watch for policy in self.policies for each in policy.conditions
        )
        """Whether any policy depends on the alert or the watch of the organization."""
        self.crew_depends_on_circumstances = any(
            policy.conditions for policy in self.policies if _can_mean_crew(policy)
        )
        """Whether any policy that could match a role or an agent depends on circumstances."""

    @classmethod
    def build(cls, definitions: Iterable[Definition[Policy]]) -> PolicyTable:
        """The table of the enabled policies, sorted by priority and name, so the order of files has no effect."""
        enabled = [each for each in definitions if each.record.enabled]
        enabled.sort(key=lambda each: (-each.record.priority, each.id))
        return cls(AccessPolicy(number, each) for number, each in enumerate(enabled))

    def has_policies_about_parts(self, kind: str, name: str) -> bool:
        """Whether any policy is about a part of a resource."""
        return any(policy.has_part_of(kind, name) for policy in self.policies)

    def copy_without(self, names: frozenset[str]) -> PolicyTable:
        """A copy of the table without some policies."""
        return PolicyTable(policy for policy in self.policies if policy.id not in names)

    def find_matching(self, identity: SubjectIdentity) -> tuple[AccessPolicy, ...]:
        """The policies whose principal block matches a subject, by priority. Conditions are not checked."""
        policies = [policy for policy in self._general if _does_match(policy, identity)]
        for key in identity.keys:
            policies += (policy for policy in self._about.get(key, ()) if _does_match(policy, identity))
        policies.sort(key=lambda policy: policy.number)
        matched = tuple(policies)
        # All subjects with the same matching policies share one set.
        return self._matched.setdefault(matched, matched)

    def get_policy_set(
        self, deciding: tuple[AccessPolicy, ...], giving: tuple[AccessPolicy, ...] | None = None
    ) -> PolicySet:
        """The shared set of these policies. Which of them grant follows from them, unless a list assumes otherwise."""
        key: tuple[object, ...] = tuple(policy.number for policy in deciding)
        if giving is not None:
            key = (key, tuple(policy.number for policy in giving))
        policy_set = self._sets.get(key)
        if policy_set is None:
            if len(self._sets) >= _MAX_CACHED_SETS:
                self._sets.clear()
            given = choose_giving(deciding) if giving is None else giving
            policy_set = self._sets[key] = PolicySet(deciding, given)
        return policy_set


def _can_mean_crew(policy: AccessPolicy) -> bool:
    """Whether the principal block can match roles and agents."""
    principal = policy.definition.record.match.principal
    return principal is None or not (
        principal.is_user
        or principal.unknown
        or principal.tags
        or any(
            each is not None
            for each in (principal.relationship, principal.person_id, principal.system, principal.webhook)
        )
    )


def get_single_subject(principal: Principal | None) -> str | None:
    """The only subject that a principal block can match, if it names one."""
    if principal is not None:
        for kind in ("role", "agent", "webhook", "system"):
            named = getattr(principal, kind)
            if named not in (None, STAR):
                return f"{kind}:{named}"
        if principal.person_id is not None:
            return f"person:{principal.person_id}"
    return None


def _does_match(policy: AccessPolicy, identity: SubjectIdentity) -> bool:
    """Whether a subject satisfies all matchers of the principal block."""
    principal = policy.definition.record.match.principal
    if principal is None:
        return True
    return (
        (principal.is_user is None or principal.is_user == identity.is_user)
        and (principal.relationship is None or principal.relationship == identity.relationship)
        and set(principal.tags) <= identity.tags
        and (principal.person_id is None or f"person:{principal.person_id}" in identity.keys)
        and (principal.unknown is None or principal.unknown == (identity.kind == "unknown"))
        and all(
            named is None or _is_named(kind, named, identity)
            for kind, named in (
                ("system", principal.system), ("webhook", principal.webhook), ("agent", principal.agent),
                ("role", principal.role),
            )
        )
    )  # fmt: skip


def _is_named(kind: str, named: str, identity: SubjectIdentity) -> bool:
    if named == STAR:
        # A role matches like any agent that fills it.
        return (
            bool(identity.roles)
            if kind == "role"
            else identity.kind == kind or (kind == "agent" and identity.is_crew)
        )
    return f"{kind}:{named}" in identity.keys
