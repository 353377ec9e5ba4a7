"""Policies as decisions read them: whom they may match, and what those that match say together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orgkernel.decisions.access.circumstances import Circumstance, is_satisfied, read_circumstances
from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, LEAST, Resource
from orgkernel.decisions.access.stated import StatedParts
from orgkernel.documents.records import DATA_TIERS, STAR, Policy, Principal
from orgkernel.graph.records import Definition

_MOST_SETS = 4_096
"""Sets of policies that are kept: which ones match depends on circumstances that callers state."""
PolicyEffect = tuple[int, int, bool, bool]
"""What all matching policies say about one resource: what they grant, their ceiling, whether they deny it, and whether
they want somebody to be asked."""


class Names:
    """Names and beginnings of names with a star, as policies write them."""

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

    __slots__ = ("ceiling", "commands", "conditions", "credentials", "data", "definition", "denied", "effect", "everything",
                 "fallback", "id", "number", "paths", "spared", "tools")  # fmt: skip

    def __init__(self, number: int, definition: Definition[Policy]) -> None:
        record = definition.record
        permissions = record.permissions
        named = record.named_tools
        self.number = number
        self.id = definition.id
        self.definition = definition
        self.effect = record.effect
        self.fallback = record.fallback
        self.conditions: tuple[Circumstance, ...] = read_circumstances(record.match)
        self.ceiling = record.is_ceiling
        self.tools = None if named is None else Names(named)
        self.spared = Names(record.spared_tools)
        self.denied = Names(record.denied_tools)
        # Without tools they would be about everything: such a policy is about all of it.
        self.paths = () if named is None else permissions.paths
        self.commands = () if named is None else permissions.commands
        self.credentials = None if permissions.credentials is None else Names(permissions.credentials)
        self.data = None if permissions.data is None else DATA_TIERS.index(permissions.data)
        self.everything = record.is_everything

    @property
    def decisive(self) -> bool:
        """Whether it says anything about what is allowed."""
        return self.effect != "annotate" or bool(self.denied)

    @property
    def gives(self) -> bool:
        """Whether it can allow anything."""
        return self.effect == "allow"

    @property
    def silences(self) -> bool:
        """Whether it keeps fallbacks from giving. Only a policy that gives also keeps them from taking away."""
        return not self.fallback and self.effect != "annotate"

    @property
    def denies(self) -> bool:
        """Whether it denies anything."""
        return self.effect == "deny" or bool(self.denied)

    def is_satisfied(self, context: AccessContext) -> bool:
        """Whether one of its conditions holds, or it has none."""
        return not self.conditions or any(is_satisfied(condition, context) for condition in self.conditions)

    def covers(self, kind: str, name: str, level: int) -> bool | None:
        """Whether it speaks of a resource; None where it says nothing about resources of this kind."""
        if self.everything:
            return True
        if kind == "tool":
            return None if self.tools is None else name in self.tools and name not in self.spared
        if kind == "credential":
            return None if self.credentials is None else name in self.credentials
        if kind == "data" and self.data is not None:
            # The lowest tier shows nothing: to be let into it takes as much as the next.
            return max(level, LEAST) <= self.data if self.effect == "allow" else level >= self.data
        return None

    def does_deny(self, kind: str, name: str, level: int) -> bool:
        """Whether it denies a resource: by its effect, or a tool by name."""
        if kind == "tool" and name in self.denied:
            return True
        return self.effect == "deny" and bool(self.covers(kind, name, level))

    def has_part_of(self, kind: str, name: str) -> bool:
        """Whether what it denies or asks about is only a part of a resource: that of some paths or commands."""
        if kind != "tool" or not (self.paths or self.commands):
            return False
        return name in self.denied or bool(self.covers(kind, name, 0))

    def touches(self, stated: StatedParts) -> bool:
        """Whether a request may be about its part: also one that states nothing, or what cannot be compared."""
        paths, commands = stated
        if self.paths and (paths is None or any(map(paths.may_touch, self.paths))):
            return True
        return bool(self.commands) and (commands is None or any(map(commands.may_begin, self.commands)))

    def is_open(self, stated: StatedParts) -> bool:
        """Whether a request does not say whether it is about its part."""
        return bool(self.paths and stated.paths is None) or bool(self.commands and stated.commands is None)

    def get_granted_level(self, kind: str, name: str, level: int) -> int:
        """The level it names: full, or for data the tier it names. What is meant to allow a part of a tool gives nothing."""
        if (self.paths or self.commands) and kind == "tool":
            return 0
        if kind == "data" and self.data is not None and not self.everything:
            return self.data
        return FULL if self.covers(kind, name, level) else 0


class PolicySet:
    """What policies that match together say; answers are kept, and sets are shared by all whom they match."""

    __slots__ = ("effects", "giving", "policies")

    def __init__(self, policies: Sequence[AccessPolicy], giving: Sequence[AccessPolicy]) -> None:
        self.policies = tuple(policies)
        """All of them: each may deny, ask and bound."""
        self.giving = tuple(giving)
        """Those of them that also give what they allow."""
        self.effects: dict[str, PolicyEffect] = {}
        """Declared resource to what they say about it, as far as it was asked."""

    def compute_effect(self, resource: Resource) -> PolicyEffect:
        """What they say about a resource as a whole."""
        effect = self.effects.get(resource.resource)
        if effect is None:
            effect = self._join(resource.kind, resource.id, resource.tier)
            if not resource.unknown:  # whoever asks for made-up names fills no memory
                self.effects[resource.resource] = effect
        return effect

    def evaluate_parts(self, resource: Resource, stated: StatedParts) -> tuple[bool, bool, bool]:
        """What those about a part of a resource do with what is asked for.

        They deny it, or they deny what it leaves open whether it is, and they want somebody to be asked.
        """
        denies = denies_open = asks = False
        for policy in self.policies:
            if policy.has_part_of(resource.kind, resource.id) and policy.touches(stated):
                if policy.does_deny(resource.kind, resource.id, resource.tier):
                    is_open = policy.is_open(stated)
                    denies, denies_open = denies or not is_open, denies_open or is_open
                covers = policy.covers(resource.kind, resource.id, resource.tier)
                asks = asks or (policy.effect == "ask" and bool(covers))
        return denies, denies_open, asks

    def _join(self, kind: str, name: str, level: int) -> PolicyEffect:
        granted = max((policy.get_granted_level(kind, name, level) for policy in self.giving), default=0)
        ceiling, denies, asks = FULL, False, False
        for policy in self.policies:
            covers = policy.covers(kind, name, level)
            if policy.ceiling and covers is not None:
                ceiling = min(ceiling, policy.get_granted_level(kind, name, level))
            if policy.has_part_of(kind, name):
                continue  # `evaluate_parts` says it, by what the request states
            denies = denies or policy.does_deny(kind, name, level)
            asks = asks or (policy.effect == "ask" and bool(covers))
        return granted, ceiling, denies, asks


def choose_deciding(matching: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    """The policies that decide: fallbacks are left out where a policy that is none gives anything.

    A policy that only takes away leaves a fallback what that takes away: otherwise adding it could allow something.
    """
    decisive = [policy for policy in matching if policy.decisive]
    if any(policy.gives and policy.silences for policy in decisive):
        return tuple(policy for policy in decisive if not policy.fallback)
    return tuple(decisive)


def choose_giving(deciding: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    """Those of them that give what they allow: fallbacks only where no other policy decides."""
    deciding = tuple(deciding)
    silenced = any(policy.silences for policy in deciding)
    return tuple(policy for policy in deciding if policy.gives and not (policy.fallback and silenced))


class PolicyTable:
    """All policies of an organization, by whom they may match."""

    def __init__(self, policies: Iterable[AccessPolicy]) -> None:
        self.policies = tuple(policies)
        self._about: dict[str, list[AccessPolicy]] = {}
        self._general: list[AccessPolicy] = []
        for policy in self.policies:
            about = get_single_subject(policy.definition.record.match.principal)
            (self._general if about is None else self._about.setdefault(about, [])).append(policy)
        self._matched: dict[tuple[AccessPolicy, ...], tuple[AccessPolicy, ...]] = {}
        self._sets: dict[tuple[object, ...], PolicySet] = {}
        self.depends = any(policy.conditions for policy in self.policies)
        """Whether any policy depends on circumstances."""
        self.match_status = any(
            each.alert or each.watch for policy in self.policies for each in policy.conditions
        )
        """Whether any policy matches the alert or the watch of the organization."""
        self.crew_depends = any(policy.conditions for policy in self.policies if _can_mean_crew(policy))
        """Whether any policy that could match a role or an agent depends on circumstances."""

    @classmethod
    def build(cls, definitions: Iterable[Definition[Policy]]) -> PolicyTable:
        """The enabled ones, by priority, then by name, so that neither files nor their order decide anything."""
        enabled = [each for each in definitions if each.record.enabled]
        enabled.sort(key=lambda each: (-each.record.priority, each.id))
        return cls(AccessPolicy(number, each) for number, each in enumerate(enabled))

    def has_policies_about_parts(self, kind: str, name: str) -> bool:
        """Whether any policy is about a part of a resource."""
        return any(policy.has_part_of(kind, name) for policy in self.policies)

    def copy_without(self, names: frozenset[str]) -> PolicyTable:
        """The table without some policies."""
        return PolicyTable(policy for policy in self.policies if policy.id not in names)

    def find_matching(self, identity: SubjectIdentity) -> tuple[AccessPolicy, ...]:
        """The policies whose principal block a subject meets, by priority; their conditions are not looked at."""
        policies = [policy for policy in self._general if _does_match(policy, identity)]
        for key in identity.keys:
            policies += (policy for policy in self._about.get(key, ()) if _does_match(policy, identity))
        policies.sort(key=lambda policy: policy.number)
        matched = tuple(policies)
        # One for all whom the same policies match.
        return self._matched.setdefault(matched, matched)

    def set_of(
        self, deciding: tuple[AccessPolicy, ...], giving: tuple[AccessPolicy, ...] | None = None
    ) -> PolicySet:
        """The one set of these policies. Which of them give follows from them, unless a list supposes otherwise."""
        key: tuple[object, ...] = tuple(policy.number for policy in deciding)
        if giving is not None:
            key = (key, tuple(policy.number for policy in giving))
        policy_set = self._sets.get(key)
        if policy_set is None:
            if len(self._sets) >= _MOST_SETS:
                self._sets.clear()
            given = choose_giving(deciding) if giving is None else giving
            policy_set = self._sets[key] = PolicySet(deciding, given)
        return policy_set


def _can_mean_crew(policy: AccessPolicy) -> bool:
    """Whether its principal block leaves room for roles and agents."""
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
    """The one subject a principal block can mean, where it names one."""
    if principal is not None:
        for kind in ("role", "agent", "webhook", "system"):
            named = getattr(principal, kind)
            if named not in (None, STAR):
                return f"{kind}:{named}"
        if principal.person_id is not None:
            return f"person:{principal.person_id}"
    return None


def _does_match(policy: AccessPolicy, identity: SubjectIdentity) -> bool:
    """Whether a subject is what all matchers of the principal block ask for."""
    principal = policy.definition.record.match.principal
    if principal is None:
        return True
    return (
        (principal.is_user is None or principal.is_user == identity.is_owner)
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
        # A role stands for any agent that fills it.
        return (
            bool(identity.roles)
            if kind == "role"
            else identity.kind == kind or (kind == "agent" and identity.is_crew)
        )
    return f"{kind}:{named}" in identity.keys
