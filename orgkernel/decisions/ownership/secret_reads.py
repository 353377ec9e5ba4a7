"""Which files agents may not read: those of sacred scopes with `readers`, and the kinds of files that are always secret.

Access decisions and the hooks compare paths with a scope in different ways, and ask the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.runtime.secret_file_names import NAMES
from orgkernel.runtime.secret_files import find_secret_kind

if TYPE_CHECKING:
    from orgkernel.documents.records import SacredScope
    from orgkernel.loading.sources import SourceDocument

_WILD: Final = frozenset("*?[")


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


def find_secret_kind_of_glob(path: str) -> str | None:
    """The kind of a secret file that a shell could put in the place of a path with wildcards; None for every other path.

    Only names that are in the list as a whole count, and not those that only an ending such as `*.json` matches: such a glob is
    ordinary work.

    >>> find_secret_kind_of_glob("web/.e*"), find_secret_kind_of_glob("*.json"), find_secret_kind_of_glob("*")
    ('environment file', None, None)
    """
    *_, glob = path.rstrip("/").split("/")
    fixed = glob.strip("*")
    if _WILD.isdisjoint(glob) or not fixed or (glob.startswith("*.") and _WILD.isdisjoint(fixed)):
        return None
    for name, kind in NAMES:
        # A shell puts a name that begins with a dot only in the place of a glob that does so too.
        is_hidden = name.startswith(".") and not glob.startswith((".", "["))
        if not {"*", "/"} & set(name) and not is_hidden and fnmatchcase(name, glob.casefold()):
            return kind
    return None


def cite_scope(document: SourceDocument | None, scope_id: str) -> tuple[Why, ...]:
    """The line that declares a sacred scope."""
    if document is None:
        return ()
    return (cite_place(f"sacred scope {scope_id}", document.place("sacred_scopes", scope_id, key=True)),)
