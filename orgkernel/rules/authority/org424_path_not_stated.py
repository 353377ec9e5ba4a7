"""A role with a file scope has a tool that does not declare which argument holds a path.

## What it checks

A role with a `file_scope` writes only files in that scope. Each tool that it may use to write, and that can open files, lists its
path arguments under `path_arguments`. An empty list declares that it opens no files. Tools of the types
`computer_use`, `deterministic_function`, `infra_service` and `mcp_server` can open files.

## Why it matters

If a tool does not declare its path arguments, it is unknown where a call writes. The call is refused with `WRITE_OUT_OF_FILE_SCOPE`, unless the caller names the path
in the resource.

## Example

```yaml
role_id: codegen
capabilities: {tools_primary: [save]}
file_scope: ["src/**"]
```

## Instead

```yaml
tools:
  save: {type: deterministic_function, side_effects: write, path_arguments: [path]}
```

## Known limits

The rule ignores tools that are essential to the role: they are not refused. It does not compare `path_arguments` with the
input schema of the tool.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import LEVELS
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_WRITE = LEVELS.index("write")


def check(view: OrgView) -> Iterator[Finding]:
    """Find tools that can write at undeclared paths, in roles with a file scope."""
    if not any(post.profile.file_scope for post in view.posts):
        return
    for tool in view.records.tools.values():
        if tool.record.path_arguments is not None or not tool.record.opens_files:
            continue
        needed = {action: LEVELS.index(level) for action, level in tool.record.required_levels.items()}
        for edge in view.list_holders(tool.id):
            role_id = edge.source
            post = view.records.posts[role_id]
            if not post.profile.file_scope or tool.id in view.list_essential_tools(role_id):
                continue
            level = LEVELS.index(view.get_tool_levels(role_id).get(tool.id, "none"))
            refused = [action for action, least in needed.items() if _WRITE <= least <= level]
            if refused:
                yield Finding(
                    edge.place,
                    f"role {quote(role_id)} writes only in its `file_scope`, and {quote(tool.id)} does not declare which"
                    f" argument holds a path, so {listing(refused)} {'is' if len(refused) == 1 else 'are'} refused",
                    "add `path_arguments` to the tool: the arguments that hold paths, or `[]` if it opens no files",
                    f"role:{role_id}",
                    (
                        Related(post.place("file_scope"), "the scope"),
                        Related(tool.place(), "the tool"),
                    ),
                )


RULE = Rule("ORG424", "path-not-stated", Severity.WARNING, RuleTarget.ORGANIZATION, check)
