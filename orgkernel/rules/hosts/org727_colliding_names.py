"""The names or files of two agents differ only in letter case and separators.

## What it checks

Two agents of one source do not have names that differ only in letter case, hyphens, underscores and spaces (`code-reviewer` and
`code_reviewer`), and their files do not have paths that differ only in letter case.

## Why it matters

Programs that write names in their own way turn both into one: an export, a file system without letter case, or a host that replaces
separators. One agent then replaces the other. People and models take one for the other, too.

## Example

```markdown
---
name: code-reviewer
description: Reviews a change. Use after code was written.
tools: Read
---
```

A second file has `name: code_reviewer`.

## Instead

```markdown
---
name: style-reviewer
description: Checks the style of a change. Use before a commit.
tools: Read
---
```

## Known limits

Agents of different plugins can have such names, because hosts keep them apart by the names of the plugins. Equal names are ORG217, or
ORG787 in hosts that tell agents apart by their files.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_WITHOUT_SEPARATORS = str.maketrans("", "", "-_ ")


def check(view: OrgView) -> Iterator[Finding]:
    """Find agents whose name, or else whose file, collides with that of an earlier agent of their source."""
    by_name: dict[tuple[str, str], RolePost] = {}
    by_file: dict[str, RolePost] = {}
    for post in sorted(iterate_agents(view), key=lambda each: each.document.name):
        name, file = post.profile.name, post.document.name
        collapsed = name.casefold().translate(_WITHOUT_SEPARATORS)
        other = by_name.setdefault((post.profile.department or "", collapsed), post)
        beside = by_file.setdefault(file.casefold(), post)
        if other.profile.name != name:
            yield Finding(
                post.document.place("role_name"),
                f"the name of agent {quote(name)} differs from {quote(other.profile.name)} only in letter case or separators",
                "give one of them another name",
                f"role:{post.role_id}",
                (Related(other.document.place("role_name"), f"agent {quote(other.profile.name)}"),),
            )
        elif beside.document.name != file:
            yield Finding(
                post.document.place("role_name"),
                f"the file of agent {quote(name)} differs from {quote(beside.document.name)} only in letter case",
                "give one of the files another name",
                f"role:{post.role_id}",
                (Related(beside.document.place("role_name"), f"agent {quote(beside.profile.name)}"),),
            )


RULE = Rule("ORG727", "colliding-names", Severity.WARNING, RuleTarget.ORGANIZATION, check)
