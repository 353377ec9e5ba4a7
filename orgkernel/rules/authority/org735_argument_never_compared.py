"""A policy tests an argument that its tool does not have, or that has another type.

## What it checks

Each argument under `input` of a `deny` or `ask` policy is an argument of the tools that the policy lists, and its type fits the
test: a number for `more_than` and `less_than`, text for the others. The `input_schema` of a tool declares its arguments.

## Why it matters

An argument that no call states cannot be compared. So the policy applies to every call of the tool, although it looks
as if it applied to only some of them. Usually the name is misspelled, or the policy lists one tool too many.

## Example

```yaml
policies:
  small-payments: {effect: deny, permissions: {tools: [pay], input: {amuont: {more_than: 500}}}}
```

## Instead

```yaml
policies:
  small-payments: {effect: deny, permissions: {tools: [pay], input: {amount: {more_than: 500}}}}
```

## Known limits

A tool without an `input_schema`, or whose schema refers to other schemas, accepts names by pattern or states
`additionalProperties`, could have any argument. Policies that are not enabled are ignored.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import ArgumentTest, Policy, Tool
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.authority.org426_part_never_stated import iterate_covered_tools
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_DONE = {"deny": "denied", "ask": "asked about"}
_OPEN = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"})
"""Keywords with which a schema can have arguments besides `properties`."""
_NUMBERS = frozenset({"number", "integer"})
_LISTED = frozenset({"string", "number", "integer", "boolean"})
"""The types that tests of listed values and patterns compare."""


def check(view: OrgView) -> Iterator[Finding]:
    """Find tests of arguments that no call can state, or state with this type."""
    for policy in view.records.policies.values():
        record = policy.record
        if not record.enabled or record.effect not in _DONE or not record.permissions.input:
            continue
        tools = tuple(iterate_covered_tools(view, policy))
        for name, test in record.permissions.input.items():
            yield from _check_argument(policy, name, test, tools)


def _check_argument(
    policy: Definition[Policy], name: str, test: ArgumentTest, tools: tuple[Definition[Tool], ...]
) -> Iterator[Finding]:
    missing, misfits = [], []
    known: dict[str, Any] = {}
    for tool in tools:
        arguments = list_arguments(tool.record.input_schema)
        if arguments is None:
            continue
        if name not in arguments:
            missing.append(tool)
            known.update(arguments)
        elif not _does_type_fit(test, arguments[name]):
            misfits.append(tool)
    done = _DONE[policy.record.effect]
    if missing:
        names, one = listing(tool.id for tool in missing), len(missing) == 1
        text = f"tests the argument {quote(name)}, which {names} {'does' if one else 'do'} not have, so every call of"
        help = did_you_mean(name, known) or f"leave the tool{'' if one else 's'} out of the policy"
        yield _build_finding(policy, name, f"{text} {'it' if one else 'them'} is {done}", help, missing)
    if misfits:
        names = listing(tool.id for tool in misfits)
        text = f"tests the argument {quote(name)} in a way that its type in {names} does not allow, so every call is {done}"
        help = "use a test for this type"
        yield _build_finding(policy, name, text, help, misfits)


def _build_finding(
    policy: Definition[Policy], name: str, text: str, help: str, tools: list[Definition[Tool]]
) -> Finding:
    return Finding(
        policy.place("permissions", "input", name, key=True),
        f"policy {quote(policy.id)} {text}",
        help,
        f"policy:{policy.id}",
        tuple(Related(tool.place(), "the tool") for tool in tools[:3]),
    )


def list_arguments(schema: Any) -> Mapping[str, Any] | None:
    """The arguments of a tool with their schemas; None if it could have others."""
    if not isinstance(schema, Mapping) or _OPEN & schema.keys() or schema.get("additionalProperties", False):
        return None
    arguments = schema.get("properties")
    return arguments if isinstance(arguments, Mapping) and arguments else None


def _does_type_fit(test: ArgumentTest, schema: Any) -> bool:
    """Whether an argument with this schema can have a value that the test compares."""
    if not isinstance(schema, Mapping) or _OPEN & schema.keys():
        return True
    types = schema.get("type")
    if types == "array":
        return _does_type_fit(test, schema.get("items"))
    if not isinstance(types, str):
        return True
    compares_number = test.more_than is not None or test.less_than is not None
    compares_text = (
        test.host_in or test.host_not_in or test.under or test.not_under or test.longer_than is not None
    )
    compares_listed = test.one_of or test.none_of or test.matches or test.not_matches
    return (
        (not compares_number or types in _NUMBERS)
        and (not compares_text or types == "string")
        and (not compares_listed or types in _LISTED)
    )


RULE = Rule("ORG735", "argument-never-compared", Severity.WARNING, RuleTarget.ORGANIZATION, check)
