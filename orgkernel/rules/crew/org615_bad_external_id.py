"""A skill has an external id that cannot be right.

## What it checks

The keys of `external` are known classifications, and each id has the form of its classification:

- `esco`: the URI of a skill, which names `data.europa.eu/esco/skill/`;
- `onet`: the code of an element or of an occupation of O*NET, such as `2.A.1.a` or `15-1252.00`.

## Why it matters

Answers show these ids, so readers can tell which skill is meant. A wrong id matches no skill or another one.

## Example

```yaml
skills:
  writing: {external: {onnet: 2.A.1.c}}
```

## Instead

```yaml
skills:
  writing: {external: {onet: 2.A.1.c}}
```

## Known limits

The rule does not check whether the id exists in the classification.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FORMS = {
    "esco": (
        lazy_pattern(r"http://data\.europa\.eu/esco/skill/[0-9A-Za-z-]+"),
        "write its URI, `http://data.europa.eu/esco/skill/…`",
    ),
    "onet": (
        lazy_pattern(
            r"[0-9](\.[A-Z](\.[0-9]{1,2}(\.[a-z](\.[0-9]{1,2})?)?)?)?|[0-9]{2}-[0-9]{4}(\.[0-9]{2})?"
        ),
        "write the code of an element or an occupation, such as `2.A.1.a` or `15-1252.00`",
    ),
}


def check(view: OrgView) -> Iterator[Finding]:
    """External ids of unknown classifications or in another form."""
    for skill in view.records.skills.values():
        for scheme, code in skill.record.external.items():
            form, subject = _FORMS.get(scheme), f"skill:{skill.id}"
            if form is None:
                yield Finding(
                    skill.place("external", scheme, key=True),
                    f"skill {quote(skill.id)} has an id in {quote(scheme)}, which is not a known classification",
                    did_you_mean(scheme, _FORMS) or f"known ones are {listing(_FORMS)}",
                    subject,
                )
            elif not form[0].fullmatch(code):
                yield Finding(
                    skill.place("external", scheme),
                    f"skill {quote(skill.id)} has {quote(code)} as its id in {quote(scheme)}, which is not an id of that classification",
                    form[1],
                    subject,
                )


RULE = Rule("ORG615", "bad-external-id", Severity.WARNING, RuleTarget.CATALOG, check)
