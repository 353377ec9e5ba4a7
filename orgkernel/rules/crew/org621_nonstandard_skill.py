"""A SKILL.md does not follow the Agent Skills standard.

## What it checks

- `name` is the name of the folder: 1 to 64 lower-case letters, digits and single hyphens.
- `description` has 1 to 1024 characters.
- `compatibility` has at most 500 characters.

## Why it matters

Other programs refuse the skill or find it under another name. orgkernel gives the skill to no role until it is corrected.

In a skill that was written for one host, two deviations are only warnings, because hosts load the skill anyway: a folder whose
name differs from `name`, and a long description. A third is only a warning unless the skill is in a folder of skills for every
host: other characters in `name`.

## Example

```yaml
name: Price_List
```

## Instead

```yaml
name: price-list
```

## Known limits

The rest of the organization is still served. ORG102 reports fields that are not part of the standard.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.cognitive_skills import find_violations, list_skill_names
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find deviations of skills from the standard."""
    record = document.record
    if isinstance(record, CognitiveSkill):
        shown = list_skill_names(document)[1]
        for violation in find_violations(document):
            yield Finding(
                document.place(*violation.route),
                f"skill {quote(shown)} {violation.text}",
                violation.help,
                f"cognitive_skill:{record.name}",
                severity=Severity.WARNING if document.format and violation.is_harmless_elsewhere else None,
            )


RULE = Rule("ORG621", "nonstandard-skill", Severity.ERROR, RuleTarget.DOCUMENT, check)
