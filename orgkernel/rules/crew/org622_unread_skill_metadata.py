"""The metadata of a SKILL.md has an unknown orgkernel key or an invalid value.

## What it checks

orgkernel reads metadata keys with the prefix `orgkernel-` or `probos-`, in exactly this spelling. For these keys:

- After the prefix stands `department`, `skill-id`, `min-proficiency`, `min-rank`, `intents`, `triggers` or `activation`.
- `min-proficiency` is a number from 1 to 7 and needs a `skill-id`. `activation` is `discovery`, `augmentation` or
  `both`. Intents are ids.
- No restriction is empty.
- A key that is written with both prefixes has the same value under both.

## Why it matters

Some of these keys restrict who has the skill. A misspelled restriction would have no effect, so no role has the skill
until the metadata is corrected.

## Example

```yaml
orgkernel-min-proficiency: high
```

## Instead

```yaml
orgkernel-min-proficiency: 4
```

## Known limits

Other metadata belongs to other programs and is ignored. The rest of the organization is still served.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.cognitive_skills import read_gates
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find unknown keys and invalid values in the metadata of skills."""
    record = document.record
    if isinstance(record, CognitiveSkill):
        for problem in read_gates(record).problems:
            yield Finding(
                document.place(*problem.route),
                f"skill {quote(record.name)} {problem.text}",
                problem.help,
                f"cognitive_skill:{record.name}",
            )


RULE = Rule("ORG622", "unread-skill-metadata", Severity.ERROR, RuleTarget.DOCUMENT, check)
