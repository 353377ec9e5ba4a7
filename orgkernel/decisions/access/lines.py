"""The lines of YAML that support the sentences of layers."""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics import Place
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import Edge


def locate_edges(edges: Iterable[Edge]) -> tuple[Why, ...]:
    """The lines of edges, without duplicates."""
    return tuple(dict.fromkeys(cite_edge(edge) for edge in edges))


def locate_tool_field(evaluation: Evaluation, field: str) -> tuple[Why, ...]:
    """The line of a tool's field."""
    definition = evaluation.view.records.tools[evaluation.resource.id]
    return (cite_place(f"{field} of tool {evaluation.resource.id}", definition.place(field, key=True)),)


def locate_in_profile(post: RolePost, *route: str) -> Place:
    """The line of a field in a profile. If it is missing, the nearest written parent; finally the line of `role_id`."""
    for length in range(len(route), 0, -1):
        if post.has(*route[:length]):
            return post.place(*route[:length], key=True)
    return post.place("role_id", key=True)


def locate_in_profiles(evaluation: Evaluation, *route: str) -> tuple[Why, ...]:
    """The lines of a field in the profiles of the subject's roles."""
    posts = evaluation.view.records.posts
    return tuple(
        cite_place(f"{route[-1]} of role {role}", locate_in_profile(posts[role], *route))
        for role in evaluation.roles
    )
