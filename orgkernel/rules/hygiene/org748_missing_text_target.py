"""A text of the organization refers to a file or a command that does not exist.

## What it checks

Every file that a text refers to exists, and so does every command. A reference to a file is the target of a Markdown link, or a
path in backticks with a slash and a known suffix, after a word such as *read*, *see*, *follow* or *consult*. It is looked up next
to the document and in each folder above it. A command is named as in ``the `/deploy` command``, and looked up in
`.claude/commands` and `.claude/skills`. The rule reads standing orders, the descriptions of roles, `SKILL.md`, and the
descriptions and step names of bills.

## Why it matters

The agent looks for the file, does not find it, and continues without the rules that its author relies on.

## Example

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters.
standing_orders: ["Follow `rules/filing.md` for every letter."]
```

## Instead

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters.
standing_orders: ["Put every letter into the folder of its month."]
```

## Known limits

The finding is only informational, because an agent can create the file, and the text could mean a file of another
project. Paths in code blocks, and in sentences about writing, conditions or examples, are ignored. So are patterns
and URLs. Commands are checked only in a folder with commands of Claude Code, and those that come with it are known.
Texts in the formats of other hosts are read by ORG765 and ORG766.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.lookups import get_missing
from orgkernel.loading.formats.references import COMMAND, find_references
from orgkernel.rules.hosts.foreign_agents import list_built_in_commands
from orgkernel.rules.hygiene.native_texts import list_instruction_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find missing files and commands, each once per text."""
    for each in list_instruction_texts(view):
        missing = {(reference.kind, reference.name) for reference in get_missing(each.document)}
        for kind, offset, name in find_references(each.text) if missing else ():
            if (kind, name) not in missing or (kind == COMMAND and name in list_built_in_commands()):
                continue
            missing.discard((kind, name))
            what = f"command {quote('/' + name)}" if kind == COMMAND else f"file {quote(name)}"
            yield Finding(
                each.locate(offset),
                f"the text of {each.owner} refers to the {what}, which does not exist",
                "correct the name, or remove the reference",
                each.subject,
            )


RULE = Rule("ORG748", "missing-text-target", Severity.INFO, RuleTarget.ORGANIZATION, check)
