"""The hierarchy gives a role another name than its profile does.

## What it checks

If an entry of the hierarchy repeats `role_name`, it repeats the name in the profile. If it repeats `role_id`, it repeats
its own key.

## Why it matters

People know roles by their names. Only the profile's name is shown, so a reader of the hierarchy looks for a name that
appears nowhere else.

## Example

```yaml
devops:
  role_name: Deployment Specialist
```

## Instead

```yaml
devops:
  role_name: DevOps Specialist
```

## Known limits

Names are compared letter by letter, and only if the profile has one.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find entries that repeat a name or an id incorrectly."""
    document = view.records.document
    for role_id, entry in view.records.organization.hierarchy.items():
        if entry.role_id not in (None, role_id):
            yield Finding(
                document.place("hierarchy", role_id, "role_id"),
                f"role {quote(role_id)} has `role_id` {quote(entry.role_id)} in the hierarchy",
                "leave `role_id` out; the key takes precedence",
                f"role:{role_id}",
            )
        post = view.records.posts.get(role_id)
        if post is None or not entry.role_name or post.profile.role_name in ("", entry.role_name):
            continue
        yield Finding(
            document.place("hierarchy", role_id, "role_name"),
            f"role {quote(role_id)} is named {quote(entry.role_name)} in the hierarchy "
            f"and {quote(post.profile.role_name)} in its profile",
            "write the profile's name here too, or leave `role_name` out; the profile takes precedence",
            f"role:{role_id}",
            (Related(post.place("role_name"), "the name in the profile"),),
        )


RULE = Rule("ORG215", "name-disagreement", Severity.WARNING, RuleTarget.ORGANIZATION, check)
