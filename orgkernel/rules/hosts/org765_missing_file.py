"""The text of an agent or a skill refers to a file that is not there.

## What it checks

A file that a text says to read is there: the target of a Markdown link, and a path with a slash and a known suffix in
backticks after a word such as *read*, *see*, *follow* or *consult*. A path is looked for beside the file of the agent and in
each folder above it, up to the root of the project.

## Why it matters

The agent looks for the file, does not find it, and goes on without the rules that its author counts on. Mostly the file was
moved, and the text was forgotten.

## Example

```markdown
Follow `docs/stile.md` for every page.
```

## Instead

```markdown
Follow `docs/style.md` for every page.
```

## Known limits

It is only information, because a file may be made by a build, and nobody can be sure that a text means a file of this project.
Paths in blocks of code, in `<example>` and in sentences that speak of writing, of conditions or of examples are passed over,
and so are patterns, addresses and paths from the home folder. In a plugin and in a folder of agents alone, which are used in
any project, only links are looked for. Links of the file system are not followed: what is behind one counts as there. At most
2,000 files are looked for.

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
    """Files, each once for each text."""
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
