"""A role has too many direct subordinates.

## What it checks

No role has more direct subordinates than the organization's `limits.span_of_control`. The default is 7.

## Why it matters

A superior reads the reports of all its direct subordinates. With too many of them, its context fills up before it
decides anything.

## Example

```yaml
co:
  subordinates: [a, b, c, d, e, f, g, h]
```

## Instead

```yaml
co:
  subordinates: [a, b, c, d, xo]
xo:
  subordinates: [e, f, g, h]
```

## Known limits

The rule does not count roles that a superior may dispatch in addition to its subordinates.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """More direct subordinates than the limit."""
    role_id, limit = post.role_id, view.records.organization.limits.span_of_control
    if len(view.edges_to(EdgeKind.REPORTS_TO, role_id)) <= limit:
        return
    below = len({edge.source for edge in view.subordinates_of(role_id)})
    if below <= limit:
        return
    document = view.records.document
    listed, setting = ("hierarchy", role_id, "subordinates"), ("limits", "span_of_control")
    yield Finding(
        document.place(*listed) if document.has(*listed) else view.place_of(role_id),
        f"role {quote(role_id)} has {below} direct subordinates, more than the limit of {limit}",
        "put another role between them, or raise `span_of_control` under `limits`",
        f"role:{role_id}",
        (Related(document.place(*setting), f"the limit of organization {quote(view.org_id)}"),)
        if document.has(*setting)
        else (),
    )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts with more direct subordinates than the limit."""
    limit = posts.records.organization.limits.span_of_control
    wide = {role_id for role_id, below in posts.spans.items() if below > limit}
    return [post for post, _ in posts.pairs if post.role_id in wide]


RULE = Rule("ORG209", "span-of-control", Severity.WARNING, Scope.POST, check, suspects)
