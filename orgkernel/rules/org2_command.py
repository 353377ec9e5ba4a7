"""What the rules about command share: the words for a role's type, and whom a superior's authority is not above."""

from __future__ import annotations

from orgkernel.diagnostics import Place
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import Edge
from orgkernel.model.role_profile import AUTHORITY_OF_TYPE

TYPE_IN_WORDS = {1: "a specialist", 2: "an executive", 3: "a commander"}
"""A role type with its article, by the authority it has."""


def authority_of_type(post: RolePost) -> int:
    """The authority level a role of this type has (specification, table "Role Types")."""
    return AUTHORITY_OF_TYPE[post.profile.role_type]


def place_of_authority(post: RolePost) -> Place:
    """Where the authority level is written, or else what it follows from."""
    if post.profile.chain_of_command.authority_level is not None:
        return post.place("chain_of_command", "authority_level")
    return post.place("role_type" if post.document.has("role_type") else "role_id")


def not_outranked(view: OrgView, superior: RolePost) -> tuple[Edge, ...]:
    """The edges from direct subordinates whose authority the superior's is not above.

    Empty for a specialist, whom ORG208 lets command nobody; without edges of a circle, in which one is never above.
    """
    posts, authority = view.records.posts, superior.profile.authority_level
    if superior.profile.role_type == "specialist":
        return ()
    return tuple(
        edge
        for edge in view.subordinates_of(superior.role_id)
        if edge.source in posts
        and posts[edge.source].profile.authority_level >= authority
        and edge.source not in view.circling
    )
