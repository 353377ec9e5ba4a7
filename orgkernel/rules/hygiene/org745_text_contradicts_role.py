"""The text of a role tells it to use a tool that it does not have.

## What it checks

A declared tool that the description or the standing orders of a role name (``the `press` tool``) is among the tools of the role,
and is not named in its `does_not_have`.

## Why it matters

`does_not_have` exists so that an agent does not invent abilities. A text that tells it to use the tool anyway undoes this: the
agent tries, is refused, and improvises.

## Example

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters.
standing_orders: ["Print every letter with the `press` tool."]
does_not_have: [no press]
---
_schema: orgkernel:tool_catalog
tools: {press: {type: deterministic_function, side_effects: write, path_arguments: []}}
```

## Instead

```yaml
_schema: orgkernel:role_profile
role_id: clerk
description: Files letters.
standing_orders: ["Ask the printer for every letter; never use the `press` tool."]
does_not_have: [no press]
---
_schema: orgkernel:tool_catalog
tools: {press: {type: deterministic_function, side_effects: write, path_arguments: []}}
```

## Known limits

The rule guesses from words, so the finding is only informational. Sentences with *not*, *never*, *if*, *instead* and
the like before the name are ignored. A tool that the role could get by a grant is reported too.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.references import is_denied
from orgkernel.rules.hygiene.native_texts import find_named_things, list_instruction_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_WORD = re.compile(r"[a-z0-9]+")


def check(view: OrgView) -> Iterator[Finding]:
    """Find tools that the texts of roles name and the roles do not have, each once per text."""
    tools = view.records.tools
    for each in list_instruction_texts(view):
        if each.role_id is None or not view.is_role(each.role_id):
            continue
        equipped = {edge.target for edge in view.list_tools(each.role_id)}
        excluded = view.records.posts[each.role_id].profile.does_not_have
        names: set[str] = set()
        for kind, name, offset in find_named_things(each.text):
            if kind != "tool" or name not in tools or name in names or is_denied(each.text, offset):
                continue
            entry = next((text for text in excluded if _mentions(text, name)), None)
            if name in equipped and entry is None:
                continue
            names.add(name)
            because = "it does not have" if entry is None else f"`does_not_have` excludes ({quote(entry)})"
            yield Finding(
                each.locate(offset),
                f"the text of {each.owner} names the tool {quote(name)}, which {because}",
                "equip the role with the tool, or change the text",
                each.subject,
            )


def _mentions(entry: str, tool_id: str) -> bool:
    """Whether an entry of `does_not_have` names a tool, as an id or in words."""
    words = f" {' '.join(_WORD.findall(entry.casefold()))} "
    return f" {' '.join(_WORD.findall(tool_id.casefold()))} " in words


RULE = Rule("ORG745", "text-contradicts-role", Severity.INFO, RuleTarget.ORGANIZATION, check)
