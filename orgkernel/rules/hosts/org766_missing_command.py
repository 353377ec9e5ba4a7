"""The text of an agent or a skill refers to a command that does not exist.

## What it checks

A command that a text names, as in ``the `/deploy` command``, is a file in the `commands` folder of the project, or
one of its skills.

## Why it matters

The agent runs a command that does not exist, or asks the user to run it.

## Example

```markdown
When all is green, run the `/relase` command.
```

## Instead

```markdown
When all is green, run the `/release` command.
```

## Known limits

The finding is only informational, because users can have their own commands. Commands that come with Claude Code are
known. Only names next to the word *command* are checked, because ``/health`` in backticks could be a URL path.
Nothing is reported in a project without commands, in a plugin, or in a folder that contains only agents.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import COMMAND
from orgkernel.rules.hosts.foreign_agents import find_missing, list_built_in_commands
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find unknown commands, each once per text."""
    for document, whose, subject, references in find_missing(view):
        names: set[str] = set()
        for kind, offset, name in references:
            if kind == COMMAND and name not in names and name not in list_built_in_commands():
                names.add(name)
                yield Finding(
                    document.locate_within(offset, "body"),
                    f"the text of {whose} refers to the command {quote('/' + name)}, which does not exist",
                    "name an existing command, or remove the reference",
                    subject,
                )


RULE = Rule("ORG766", "missing-command", Severity.INFO, RuleTarget.ORGANIZATION, check)
