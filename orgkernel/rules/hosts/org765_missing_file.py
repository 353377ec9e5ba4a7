"""The text of an agent or a skill refers to a file that does not exist.

## What it checks

Every file that a text refers to exists. A reference is the target of a Markdown link, or a path in backticks with a
slash and a known suffix, after a word such as *read*, *see*, *follow* or *consult*. The path is looked up next to the
file of the agent and in each folder above it, up to the root of the project.

## Why it matters

The agent looks for the file, does not find it, and continues without the rules that its author relies on. Usually the
file was moved and the text was not updated.

## Example

```markdown
Follow `docs/stile.md` for every page.
```

## Instead

```markdown
Follow `docs/style.md` for every page.
```

## Known limits

The finding is only informational, because a build can create the file, and the text could mean a file of another
project. Paths in code blocks, in `<example>`, and in sentences about writing, conditions or examples are ignored. So
are patterns, URLs and paths in the home folder. A plugin, or a folder that contains only agents, is used in any
project, so only Markdown links are checked there. Symbolic links are not followed, and every file behind one is
assumed to exist. At most 2,000 files are looked up.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import COMMAND
from orgkernel.rules.hosts.foreign_agents import find_missing
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find missing files, each once per text."""
    for document, whose, subject, references in find_missing(view):
        names: set[str] = set()
        for kind, offset, name in references:
            if kind != COMMAND and name not in names:
                names.add(name)
                yield Finding(
                    document.locate_within(offset, "body"),
                    f"the text of {whose} refers to the file {quote(name)}, which does not exist",
                    "correct the path, or remove the reference",
                    subject,
                )


RULE = Rule("ORG765", "missing-file", Severity.INFO, RuleTarget.ORGANIZATION, check)
