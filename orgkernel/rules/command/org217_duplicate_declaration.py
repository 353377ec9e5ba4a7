"""An id is declared more than once.

## What it checks

Every organization has a unique id. Within the folder of an organization:

- no two profiles declare the same role,
- no two catalogs declare the same domain, plan, tool, skill, matrix, qualification, person, system origin, webhook,
  policy or agent, and no two bills have the same slug,
- only one ladder lists ranks.

## Why it matters

Only the first declaration is used, in the order of the file names. The other one has no effect, and renaming a file
can change which one that is. Of two agents of another host with one name, neither answers, because it is not known which of them the
host uses.

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

A nearer declaration may replace a farther one: an organization's own profile replaces one of a shared folder, and its
own catalog replaces a shared one. `active.json`, which tells a host the active organization, is a copy and is
ignored.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.visible_documents import Duplicate
from orgkernel.loading.formats.names import derive_name
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_HELP = "remove this declaration, or give it a unique id; only the first one is used"
_HELP_OF_AGENTS = "give one of them another name; until then, neither answers, because it is not known which of them the host uses"


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find declarations that an earlier one hides."""
    roles = {(each.place.file, each.id) for each in assembly.duplicates if each.what == "role"}
    for duplicate in assembly.duplicates:
        if duplicate.what == "role order" and (duplicate.place.file, duplicate.id) in roles:
            continue  # the text of a repeated agent, in the same file
        # Agents of other hosts have ids that are made of their names, and people know the name.
        shown = derive_name(duplicate.id) if duplicate.what == "role" else duplicate.id
        yield Finding(
            duplicate.place,
            f"{duplicate.what} {quote(shown)} is declared more than once",
            _HELP_OF_AGENTS if _is_agent(duplicate) else _HELP,
            f"{duplicate.what}:{duplicate.id}",
            (Related(duplicate.first, "the first declaration"),),
        )


def _is_agent(duplicate: Duplicate) -> bool:
    """Whether an agent of another host is repeated, which is in a Markdown or TOML file. Roles of orgkernel are in neither."""
    return duplicate.what == "role" and duplicate.place.file.endswith((".md", ".toml"))


RULE = Rule("ORG217", "duplicate-declaration", Severity.ERROR, RuleTarget.TREE, check)
