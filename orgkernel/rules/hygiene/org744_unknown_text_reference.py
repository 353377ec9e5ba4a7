"""A text of the organization names a tool, agent, role, skill or bill that is not declared.

## What it checks

A name in backticks next to the word *tool*, *agent*, *role*, *skill* or *bill* is declared. If agents have callsigns, an agent that is
addressed as `@Callsign` has one of them. The rule reads standing orders, the
descriptions of roles, `SKILL.md`, and the descriptions and step names of bills.

## Why it matters

Instructions age like code: a tool is renamed, and the text still tells agents to use it. A model that reads about a
tool that does not exist invents the results of its calls.

## Example

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters. Looks up addresses with the `adress_book` tool.
capabilities: {tools: [{tool: address_book}]}
---
_schema: orgkernel:tool_catalog
tools: {address_book: {type: deterministic_function, side_effects: read, path_arguments: []}}
```

## Instead

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters. Looks up addresses with the `address_book` tool.
capabilities: {tools: [{tool: address_book}]}
---
_schema: orgkernel:tool_catalog
tools: {address_book: {type: deterministic_function, side_effects: read, path_arguments: []}}
```

## Known limits

A name without backticks, or without the word for its kind beside it, is ignored, and so is `@name` in lower case or in fenced code. Agents can be named by their callsign, and
tools and roles by their name. Texts in the formats of other hosts are read by ORG757, ORG764, ORG765 and ORG766.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hygiene.native_texts import find_named_things, list_instruction_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared names in the organization's own texts, each once per text."""
    if view.records.excused:
        return  # a file that could not be read may declare them
    known: dict[str, Collection[str]] = {}
    for each in list_instruction_texts(view):
        names: set[tuple[str, str]] = set()
        for kind, name, offset in find_named_things(each.text):
            words = known.get(kind)
            if words is None:
                words = known[kind] = _DECLARED[kind](view)
            if name in words or (kind, name) in names or (kind == "callsign" and not words):
                continue
            names.add((kind, name))
            yield Finding(
                each.locate(offset),
                f"the text of {each.owner} names the {kind} {quote(name)}, which is not declared",
                did_you_mean(name, words) or "correct the name, or remove it",
                each.subject,
            )


def _list_tools(view: OrgView) -> frozenset[str]:
    tools = view.records.tools
    names = (name for tool in tools.values() for name in (tool.record.name, *tool.record.names.values()))
    return frozenset((*tools, *names))


def _list_agents(view: OrgView) -> frozenset[str]:
    agents = view.records.agents
    return frozenset((*agents, *(each.record.callsign for each in agents.values()), *_list_roles(view)))


def _list_callsigns(view: OrgView) -> frozenset[str]:
    """Everything by which an agent can be addressed; empty if the organization uses no callsigns."""
    has_callsigns = any(each.record.callsign for each in view.records.agents.values())
    return _list_agents(view) if has_callsigns else frozenset()


def _list_roles(view: OrgView) -> frozenset[str]:
    posts = view.records.posts
    return frozenset((*posts, *(post.profile.name for post in posts.values())))


_DECLARED: Mapping[str, Callable[[OrgView], frozenset[str]]] = {
    "tool": _list_tools,
    "agent": _list_agents,
    "role": _list_roles,
    "skill": lambda view: frozenset((*view.records.skills, *view.records.cognitive_skills)),
    "callsign": _list_callsigns,
    "bill": lambda view: frozenset(view.records.bills),
}


RULE = Rule("ORG744", "unknown-text-reference", Severity.WARNING, RuleTarget.ORGANIZATION, check)
