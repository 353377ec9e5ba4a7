"""An id is declared twice.

## What it checks

No two organizations have one id. Among the documents of one folder with an organization no two profiles declare one
role, no two catalogs one id of a kind (a domain, plan, tool, skill, matrix, qualification, person, system origin,
webhook, policy or agent), and no two ladders list ranks.

## Why it matters

Only the first declaration counts, in the order of the files' names. The other has no effect, and which of them that is
changes when a file is renamed.

## Example

```yaml
role_id: codegen
description: Restructures existing modules.
```

## Instead

```yaml
role_id: refactor
description: Restructures existing modules.
```

## Known limits

A nearer declaration takes the place of one farther away on purpose: an organization's own profile that of a shared
folder, its own catalog the shared one. `active.json`, by which a host knows the active organization, is a copy.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.rules.rule import Finding, Rule, Scope


def check(assembly: Assembly) -> Iterator[Finding]:
    """Declarations that another one hides."""
    for duplicate in assembly.duplicates:
        yield Finding(
            duplicate.place,
            f"{duplicate.what} {quote(duplicate.id)} is declared again",
            "only the first declaration counts; remove this one, or give it an id of its own",
            f"{duplicate.what}:{duplicate.id}",
            (Related(duplicate.first, "declared first here"),),
        )


RULE = Rule("ORG217", "duplicate-declaration", Severity.ERROR, Scope.TREE, check)
