"""An overlay adds to a role that no source has.

## What it checks

A role profile with `overlay: true` adds to the role of the same id in a source of its organization. A source is a
folder or file in another format that the organization names under `sources`.

## Why it matters

The overlay has no effect, so the intended role lacks its rank, its department or its domains.

## Example

The file of the agent says `name: code-reviewer`:

```yaml
_schema: orgkernel:role_profile
role_id: code_reviewer
overlay: true
entry_rank: lieutenant
```

## Instead

```yaml
_schema: orgkernel:role_profile
role_id: code-reviewer
overlay: true
entry_rank: lieutenant
```

## Known limits

An overlay has an effect only in the folder of its organization, or below it. If a role has two overlays, the second is
reported. If a file of a source cannot be read, its roles are missing. Overlays of these roles are not reported.

## Since

0.1
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import RoleProfile
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find overlays without a role, and second overlays of a role."""
    for overlay in assembly.stray_overlays if assembly.strays_are_known else ():
        assert isinstance(overlay.record, RoleProfile)
        role_id, organization = overlay.record.role_id, _find_organization(overlay, assembly)
        if organization is None or role_id in organization.excused:
            continue
        roles = [each for each, post in organization.posts.items() if post.document.format]
        if role_id in roles:
            message = f"role {quote(role_id)} has another overlay, which takes precedence"
            help = "keep one of them"
        else:
            message = f"no source of organization {quote(organization.org_id)} has the role {quote(role_id)}"
            way_out = "name the source under `sources`, or leave `overlay` out"
            if overlay.format:  # a file of the source itself, such as the skills of a post
                way_out = "declare the role in the source, or remove it here"
            help = did_you_mean(role_id, roles) or way_out
        yield Finding(overlay.place("role_id"), message, help, f"role:{role_id}")


def _find_organization(overlay: SourceDocument, assembly: Assembly) -> OrgRecords | None:
    """The nearest organization above an overlay, or any other one, so every overlay is checked."""
    folder = os.path.dirname(overlay.path)
    above = [
        each
        for each in assembly.organizations
        if os.path.join(folder, "").startswith(os.path.join(os.path.dirname(each.document.path), ""))
    ]
    return max(above or assembly.organizations, key=lambda each: len(each.document.path), default=None)


RULE = Rule("ORG784", "overlay-without-role", Severity.ERROR, RuleTarget.TREE, check)
