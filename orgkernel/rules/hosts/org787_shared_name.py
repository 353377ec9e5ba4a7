"""Two files give their agents the same name.

## What it checks

Custom agents of GitHub Copilot in one folder have different names.

## Why it matters

Copilot distinguishes agents by their files and shows their names, so users cannot tell which of the two runs. A handoff to the name means one
of them. In orgkernel, the agent whose file has this name keeps it, or else the first one. The others are known by their files.

## Example

```markdown
---
name: reviewer
description: Reviews a change. Use after code was written.
tools: [read]
---
List the bugs.
```

in `reviewer.agent.md`, and the same name in `strict-reviewer.agent.md`.

## Instead

```markdown
---
name: strict-reviewer
description: Reviews a change before a release. Use when a tag is to be set.
tools: [read]
---
List the bugs.
```

## Known limits

Agents of different plugins can share a name, because hosts keep them apart by the names of the plugins. Names that differ in
letter case are different names. In formats whose hosts load only one of two agents with the same name, such as Claude Code, the second
one is ORG217, because it is not known which of them a host uses.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import NAME_IN_FILE
from orgkernel.rules.hosts.foreign_agents import get_written_words, iterate_agents, list_names
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find agents that have the name of another agent of their source."""
    for post in iterate_agents(view):
        for name in get_written_words(post).get(NAME_IN_FILE, ()):
            others = [
                each
                for each in iterate_agents(view)
                if name in list_names(each) and each.profile.department == post.profile.department
            ]
            yield Finding(
                post.document.place("role_name"),
                f"agent {quote(name)} has the name of another agent, and people see only the name",
                f"give it another name; until then, orgkernel calls it {quote(post.profile.name)}",
                f"role:{post.role_id}",
                tuple(
                    Related(each.document.place("role_name"), f"the other agent {quote(name)}")
                    for each in others[:1]
                ),
            )


RULE = Rule("ORG787", "shared-name", Severity.WARNING, RuleTarget.ORGANIZATION, check)
