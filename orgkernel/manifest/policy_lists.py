"""The lists of a policy in a manifest: what it allows and what it stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.records.access_policies import Permissions, Policy

_FIELD_OF = {"allow": "allows", "ask": "asks", "deny": "denies"}


def permitted(policy: Policy) -> dict[str, Any]:
    """The lists of a policy in a manifest, sorted by name, because their written order has no meaning.

    A policy that only annotates allows nothing and stops nothing.
    """
    terms: dict[str, set[str]] = {"allows": set(), "asks": set(), "denies": set(), "bounds": set()}
    field = _FIELD_OF.get(policy.effect)
    if field is not None:
        terms[field].update(_spoken(policy.permissions))
        terms["denies"].update(f"tool:{name}" for name in policy.permissions.excepted_tools)
    if policy.ceiling:
        terms["bounds"].update(
            kind for kind in ("tools", "credentials", "data") if getattr(policy.permissions, kind) is not None
        )
    return {name: tuple(sorted(said)) for name, said in terms.items()}


def _spoken(permissions: Permissions) -> Iterator[str]:
    named: Any = permissions.named_tools
    yield from (f"tool:{name}" for name in named or ())
    listed: Any = permissions.credentials or ()
    yield from (f"credential:{name}" for name in ((listed,) if isinstance(listed, str) else listed))
    if permissions.data is not None:
        yield f"data:{permissions.data}"
