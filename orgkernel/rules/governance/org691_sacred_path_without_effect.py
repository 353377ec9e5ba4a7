"""A sacred scope has no path, or one that cannot be compared with the files of a brief.

## What it checks

Every sacred scope has at least one path, and each path can be compared with the files of a brief. Such a path is
relative, or absolute and inside the workspace. It contains no home folder (`~`), variable (`$NAME`) or alternatives
(`{a,b}`).

## Why it matters

orgkernel cannot tell whether a brief owns a file below such a path, so it does not refuse the brief. Instead, every
brief that owns files gets the obligation to leave the scope unchanged.

## Example

```yaml
sacred_scopes:
  tokens: {paths: [~/.provider/credentials.json]}
```

## Instead

```yaml
sacred_scopes:
  tokens: {paths: ["**/credentials.json"]}
```

## Known limits

The rule does not check whether such files exist.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.paths import ANYWHERE, is_glob_inside


def check(view: OrgView) -> Iterator[Finding]:
    """Find sacred scopes and paths without effect."""
    governance, document = read_governance(view.records.governance), view.records.governance
    if governance is None or document is None:
        return
    root, subject = view.records.organization.workspace_root, f"organization:{view.org_id}"
    for scope_id, scope in governance.sacred_scopes.items():
        if not scope.paths:
            place = document.place("sacred_scopes", scope_id, key=True)
            yield Finding(place, f"sacred scope {quote(scope_id)} has no path", "write `paths`", subject)
        for number, path in enumerate(scope.paths):
            if not is_glob_inside(path, ANYWHERE, root):
                yield Finding(
                    document.place("sacred_scopes", scope_id, "paths", number),
                    f"path {quote(path)} of sacred scope {quote(scope_id)} cannot be compared with other paths",
                    "write it relative to the workspace, such as `**/NAME`",
                    subject,
                )


RULE = Rule("ORG691", "sacred-path-without-effect", Severity.ERROR, RuleTarget.ORGANIZATION, check)
