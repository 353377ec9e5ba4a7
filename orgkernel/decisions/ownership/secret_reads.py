"""Which files agents may not read: those of sacred scopes with `readers`, and the kinds of files that are always secret.

Access decisions and the hooks compare paths with a scope in different ways, and ask the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.runtime.secret_files import find_secret_kind

if TYPE_CHECKING:
    from orgkernel.documents.records import SacredScope
    from orgkernel.loading.sources import SourceDocument


class SecretFile(NamedTuple):
    """Why a file is not read: the scope whose readers the agent is not among, or the kind of the file."""

    scope_id: str | None
    readers: tuple[str, ...] = ()
    """The roles that may read the files of the scope."""
    kind: str = ""


def find_secret_file(
    path: str,
    scopes: Mapping[str, SacredScope],
    roles: Collection[str],
    does_hold: Callable[[SacredScope], bool],
) -> SecretFile | None:
    """The reason why an agent in some roles may not read a file; None if it may. `does_hold` is whether a scope has it.

    A declared scope with `readers` decides before the kinds of files that are always secret.
    """
    is_declared = False
    for scope_id, scope in scopes.items():
        if scope.readers is None or not does_hold(scope):
            continue
        is_declared = True
        if set(scope.readers).isdisjoint(roles):
            return SecretFile(scope_id, tuple(scope.readers))
    kind = None if is_declared else find_secret_kind(path)
    return None if kind is None else SecretFile(None, kind=kind)


def cite_scope(document: SourceDocument | None, scope_id: str) -> tuple[Why, ...]:
    """The line that declares a sacred scope."""
    if document is None:
        return ()
    return (cite_place(f"sacred scope {scope_id}", document.place("sacred_scopes", scope_id, key=True)),)
