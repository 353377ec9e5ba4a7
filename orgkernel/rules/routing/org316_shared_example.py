"""Two roles give the same example of a request, so only the first of them can take it.

## What it checks

No request under `examples` of a role is also an example of another role of the organization. Case, endings of words, and
words without meaning make no difference.

## Why it matters

Dispatch by text gives a request that matches an example to the role with that example. If two roles have the same
example, the role that is first in the hierarchy takes the request. The other role never gets it.

## Example

```yaml
role_id: bookkeeper
examples: [Book the receipt]
---
_schema: orgkernel:role_profile
role_id: clerk
examples: [Book the receipts]
```

## Instead

```yaml
role_id: bookkeeper
examples: [Book the receipt]
---
_schema: orgkernel:role_profile
role_id: clerk
examples: [File the receipt]
```

## Known limits

Examples of domains are not compared: several roles may handle one domain.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find examples that an earlier role also has."""
    first: dict[tuple[str, ...], tuple[str, Place]] = {}
    if sum(bool(post.profile.examples) for post in view.records.posts.values()) < 2:
        return
    from orgkernel.runtime.text_index import extract_content  # few organizations have examples

    for role_id, post in view.records.posts.items():
        examples = post.profile.examples
        places = post.locate_items("examples") if examples else []
        for text, place in zip(examples, places, strict=True):
            other, where = first.setdefault(extract_content(text), (role_id, place))
            if other != role_id:
                name, earlier = _name(post), _name(view.records.posts[other])
                yield Finding(
                    place,
                    f"{quote(text)} is an example of role {quote(name)} and of {quote(earlier)}, which takes it",
                    "keep it only in the role that should take it",
                    f"role:{role_id}",
                    (Related(where, f"role {quote(earlier)} gives the same example"),),
                )


def _name(post: RolePost) -> str:
    """What people call a role: its id, or the name in the file of another host."""
    return post.profile.name if post.document.format else post.role_id


RULE = Rule("ORG316", "shared-example", Severity.WARNING, RuleTarget.ORGANIZATION, check)
