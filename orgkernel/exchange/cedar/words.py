"""Write names and texts in Cedar's syntax."""

from __future__ import annotations

from typing import Any

NAMESPACE = "OrgKernel"


def text(value: str) -> str:
    r"""A string literal. Cedar uses Rust's escapes.

    >>> print(text('say "a\\b"'), text("tab\t"))
    "say \"a\\b\"" "tab\u{9}"
    """
    escaped = "".join(
        f"\\{each}" if each in '"\\' else each if each.isprintable() else f"\\u{{{ord(each):x}}}"
        for each in value
    )
    return f'"{escaped}"'


def beginning(value: str) -> str:
    r"""A `like` pattern for a prefix. A star in the prefix itself is escaped.

    >>> print(beginning("mail_"))
    "mail_*"
    """
    return text(value)[:-1].replace("*", "\\*") + '*"'


def uid(kind: str, name: str) -> str:
    """An entity in a policy.

    >>> print(uid("Role", "co"))
    OrgKernel::Role::"co"
    """
    return f"{NAMESPACE}::{kind}::{text(name)}"


def reference(kind: str, name: str) -> dict[str, str]:
    """An entity in JSON."""
    return {"type": f"{NAMESPACE}::{kind}", "id": name}


def attribute(kind: str, name: str) -> dict[str, Any]:
    """An entity as the value of an attribute in JSON."""
    return {"__entity": reference(kind, name)}


def holders(resource: str, level: str = "") -> str:
    """The id of the group of roles that have a resource, at least at a level.

    >>> holders("tool:deploy", "read"), holders("credential:registry")
    ('tool:deploy/read', 'credential:registry')
    """
    return f"{resource}/{level}" if level else resource
