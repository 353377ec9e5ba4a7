"""A SKILL.md requires a department, a rank or a skill that is not declared.

## What it checks

The names in `department`, `min-rank` and `skill-id` are declared by an organization that can use the skill.

## Why it matters

A requirement that cannot be checked is treated as not met, so no role has the skill.

## Example

```yaml
orgkernel-min-rank: admiral
```

## Instead

```yaml
orgkernel-min-rank: commander
```

## Known limits

If several organizations share a skill and only some of them declare the name, the skill is unavailable in the others
without a finding. Nothing is reported for an organization while one of its catalogs could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.cognitive_skills import SkillProblem, find_unknown_names, read_gates
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Names that no organization that sees the skill declares."""
    problems_by_key: dict[int, tuple[Definition[CognitiveSkill], dict[SkillProblem, None]]] = {}
    for records in assembly.organizations:
        for definition in records.cognitive_skills.values():
            gates = read_gates(definition.record)
            problems = () if records.incomplete else find_unknown_names(records, definition, gates)
            key = id(definition.document)
            _, known = problems_by_key.setdefault(key, (definition, dict.fromkeys(problems)))
            problems_by_key[key] = (definition, {each: None for each in known if _is_among(each, problems)})
    for definition, left in problems_by_key.values():
        for problem in left:
            yield Finding(
                definition.place(*problem.route),
                f"skill {quote(definition.id)} {problem.text}",
                problem.help,
                f"cognitive_skill:{definition.id}",
            )


def _is_among(problem: SkillProblem, others: tuple[SkillProblem, ...]) -> bool:
    return any((problem.route, problem.text) == (each.route, each.text) for each in others)


RULE = Rule("ORG623", "unknown-skill-gate", Severity.ERROR, RuleTarget.TREE, check)
