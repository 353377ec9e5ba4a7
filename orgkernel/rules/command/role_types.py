"""Shared code of the rules about the chain of command: names of role types, and comparisons of authority."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place
from orgkernel.documents.records import AUTHORITY_OF_TYPE
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost

TYPE_IN_WORDS = {1: "a specialist", 2: "an executive", 3: "a commander"}
"""The role type with its article, keyed by authority level."""


def get_authority_of_type(post: RolePost) -> int:
    """The authority level of a role type (specification, table "Role Types")."""
    return AUTHORITY_OF_TYPE[post.profile.role_type]


def place_of_authority(post: RolePost) -> Place:
    """The place of the authority level. If it is not written, the place of the role type or id that implies it."""
    if post.profile.chain_of_command.authority_level is not None:
        return post.place("chain_of_command", "authority_level")
    return post.place("role_type" if post.document.has("role_type") else "role_id")


def is_placed(view: OrgView, role_id: str) -> bool:
    """Whether the role gets its superior from the hierarchy, not from its profile."""
    superior = view.get_superior_edge(role_id)
    return superior is not None and superior.attribute == "hierarchy"


def iterate_superior_posts(view: OrgView) -> Iterator[RolePost]:
    """The roles with direct subordinates."""
    posts = view.records.posts
    return (posts[role_id] for role_id in view.subordinates if role_id in posts)


def is_not_outranked(view: OrgView, superior: RolePost, role: RolePost) -> bool:
    """Whether a superior's authority is not above that of its direct subordinate.

    False for the subordinates of a specialist (ORG208 reports them) and for roles in a cycle (ORG203).
    """
    return (
        role.profile.authority_level >= superior.profile.authority_level
        and superior.profile.role_type != "specialist"
        and role.role_id not in view.roles_in_cycles
    )


def find_not_outranked(view: OrgView, superior: RolePost) -> tuple[RolePost, ...]:
    """The direct subordinates with at least as much authority as the superior."""
    posts = view.records.posts
    below = map(posts.get, view.subordinates.get(superior.role_id, ()))
    return tuple(role for role in below if role is not None and is_not_outranked(view, superior, role))
