"""Write names and strings in Cedar's syntax."""

from __future__ import annotations

from typing import Any

NAMESPACE = "OrgKernel"


def render_text(value: str) -> str:
    r"""A string literal. Cedar uses Rust's escapes.

    >>> print(render_text('say "a\\b"'), render_text("tab\t"))
    "say \"a\\b\"" "tab\u{9}"
    """
    escaped = "".join(
        f"\\{each}" if each in '"\\' else each if each.isprintable() else f"\\u{{{ord(each):x}}}"
        for each in value
    )
    return f'"{escaped}"'


def render_prefix(value: str) -> str:
    r"""A `like` pattern for a prefix. A star in the prefix itself is escaped.

    >>> print(render_prefix("mail_"))
    "mail_*"
    """
    return render_text(value)[:-1].replace("*", "\\*") + '*"'


def render_uid(kind: str, name: str) -> str:
    """An entity in a policy.

    >>> print(render_uid("Role", "co"))
    OrgKernel::Role::"co"
    """
    return f"{NAMESPACE}::{kind}::{render_text(name)}"


def build_reference(kind: str, name: str) -> dict[str, str]:
    """An entity in JSON."""
    return {"type": f"{NAMESPACE}::{kind}", "id": name}


def attribute(kind: str, name: str) -> dict[str, Any]:
    """An entity as the value of a JSON attribute."""
    return {"__entity": build_reference(kind, name)}


def build_holders_id(resource: str, level: str = "") -> str:
    """The id of the group of roles that have a resource, at least at a level.

    >>> build_holders_id("tool:deploy", "read"), build_holders_id("credential:registry")
    ('tool:deploy/read', 'credential:registry')
    """
    return f"{resource}/{level}" if level else resource
