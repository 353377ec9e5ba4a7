"""Builds policies from the rules about tools that agents in other formats carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from orgkernel.documents.records import AccessPolicies, Effect, Match, Permissions, Policy, Principal
from orgkernel.loading.marks import Marks

KIND = "access_policies"


class ToolPolicy(NamedTuple):
    """A policy about tools, with the mark of the rule that states it."""

    policy_id: str
    """Unique in its document: a second policy of the same id would silently lift the first."""
    effect: Effect
    description: str
    permissions: Permissions
    mark: int
    role_id: str = ""
    """The role that the policy applies to. Empty for every agent."""


def build_role_policy_id(role_id: str, effect: Effect, number: int) -> str:
    """The id of the numbered policy of a role. The role's id is cut, because a policy's id has a maximum length."""
    return f"{role_id[:80]}_{effect}_{number}"


def build_access_policies(
    policies: Iterable[ToolPolicy],
) -> tuple[AccessPolicies, dict[str, tuple[int, Marks]]]:
    """The record of some policies, and the marks of each, keyed by its id."""
    records: dict[str, Policy] = {}
    marks: dict[str, tuple[int, Marks]] = {}
    for policy in policies:
        records[policy.policy_id] = Policy(
            description=policy.description,
            effect=policy.effect,
            match=Match(principal=Principal(role=policy.role_id)) if policy.role_id else Match(),
            permissions=policy.permissions,
        )
        mark = policy.mark
        marks[policy.policy_id] = (mark, (mark, dict.fromkeys(("effect", "permissions"), (mark, mark))))
    return AccessPolicies(policies=records), marks


def place_policies(start: int, marks: dict[str, tuple[int, Marks]]) -> Marks:
    """The marks of a document that contains nothing but policies."""
    return (start, {"policies": (start, (start, marks))})
