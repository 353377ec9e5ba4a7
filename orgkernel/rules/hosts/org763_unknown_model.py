"""An agent asks for a model that Claude Code does not have.

## What it checks

`model` of a subagent of Claude Code is `inherit`, an alias (`sonnet`, `opus`, `haiku`, …), or the full name of a model.

## Why it matters

The agent fails when it is started, or runs on another model than its author chose.

## Example

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read
model: sonet
---
```

## Instead

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read
model: sonnet
---
```

## Known limits

The finding is only a warning, because aliases are added with new models. A full name is any word with a digit, a
slash, a colon or a dot. The rule does not check whether that model exists. It only reports a misspelled family
(`claude-sonet-4-5`). Other hosts are not checked, because they use models of many vendors.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FORMAT = "claude-code"
_ALIASES = ("inherit", "default", "best", "opusplan")
_FULL = lazy_pattern(r"[0-9/:.$]")
_NAMED = lazy_pattern(r"claude-(?:[0-9][0-9-]*-)?(?P<family>[a-z]+)(?:-[0-9].*)?\Z")


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find models that are neither an alias nor a full name, and full names with a misspelled family."""
    families = read_host_table()["model_families"]
    aliases = (*families, *_ALIASES)
    for post in posts:
        model = post.profile.requirements.preferred_model
        if post.document.format != _FORMAT or not model:
            continue
        word = model.strip().casefold().removesuffix("[1m]")
        if word in aliases:
            continue
        named = _NAMED.match(word)
        if named is not None:
            family = named["family"]
            help = "" if family in families else did_you_mean(family, families)
            is_wrong = bool(help)
        else:
            is_wrong = not _FULL.search(word)
            help = (
                did_you_mean(word, aliases) or "write `inherit`, an alias such as `sonnet`, or the full name"
            )
        if is_wrong:
            yield Finding(
                post.document.place("model"),
                f"agent {quote(post.profile.name)} asks for the model {quote(model)}, which Claude Code does not have",
                help,
                f"role:{post.role_id}",
            )


RULE = Rule("ORG763", "unknown-model", Severity.WARNING, RuleTarget.PROFILE, check)
