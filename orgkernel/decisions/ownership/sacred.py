"""Sacred files, which a worker can change only with a key in its brief, or never. A governance document declares them.

Some files are always protected: files of environment variables, the dependencies of package manifests, and existing
migrations. Fails closed: a scope that cannot be compared with paths leaves the sacred files unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from orgkernel.decisions.ownership.changes import format_path
from orgkernel.decisions.ownership.dependency_blocks import did_dependencies_change, has_dependency_block
from orgkernel.decisions.ownership.file_kinds import is_env_file, is_migration, is_package_manifest
from orgkernel.decisions.ownership.paths import Key
from orgkernel.decisions.ownership.secret_reads import cite_scope, find_secret_file
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.runtime.paths import fold, may_names_be_inside, read_path

if TYPE_CHECKING:
    from orgkernel.documents.records import Brief, SacredScope
    from orgkernel.loading.sources import SourceDocument

SACRED_READ: Final = "SACRED_READ"
_READ_BY_A_PERSON: Final = "use the name of the credential; the program that needs the value reads it"
_BY_A_PERSON: Final = "undo the change; a person can make it outside of a hand-off"
_OF_DEPENDENCIES: Final = "allow_dependency_change"


class TouchedFile(NamedTuple):
    """A changed file, with the facts that sacred scopes need."""

    path: str
    existed: bool
    """Whether it existed before the change."""
    texts: tuple[str | None, str | None] | None
    """The content of a package manifest before and after; None if unknown."""


class SacredTouch(NamedTuple):
    """The reason why a file may not be changed."""

    code: str
    text: str
    """The end of a sentence about the file."""
    help: str
    why: tuple[Why, ...] = ()


class SacredFiles:
    """The sacred files of a project: the scopes of a governance document, and the project folders for absolute paths.

    `changed` are governance documents that have changed since the work began.
    """

    def __init__(
        self,
        scopes: Mapping[str, SacredScope] | None = None,
        roots: Sequence[str] = (),
        document: SourceDocument | None = None,
        changed: Sequence[str] = (),
    ) -> None:
        self._scopes = scopes or {}
        self._changed = changed
        self._document = document
        self._roots: tuple[str | None, ...] = tuple(each for each in roots if read_path(".", each)) or (None,)

    @property
    def scopes(self) -> Mapping[str, SacredScope]:
        """The declared scopes by id."""
        return self._scopes

    @property
    def roots(self) -> tuple[str | None, ...]:
        """The project folders. None if no folder is known."""
        return self._roots

    def find_doubts(self) -> Iterator[SacredTouch]:
        """Reasons why the sacred files cannot be determined."""
        code = "SACRED_SET_UNAVAILABLE"
        for path in self._changed:
            text = f"{quote(format_path(path))} has changed since the work began, so the sacred scopes at that time are unknown"
            yield SacredTouch(
                code,
                text,
                "pass the organization as it was then with `--path`, such as a work tree of the base",
            )
        for path, why in self.find_unreadable():
            text = f"{quote(path)} in the sacred scopes cannot be compared with files"
            yield SacredTouch(code, text, "write a path that starts at the root of the project", why)

    def find_unreadable(self) -> Iterator[tuple[str, tuple[Why, ...]]]:
        """Paths of scopes that cannot be compared with files."""
        for scope_id, scope in self._scopes.items():
            for path in map(_expand_home, scope.paths):
                if not any(_can_be_compared(path, root) for root in self._roots):
                    yield path, cite_scope(self._document, scope_id)

    def find(self, file: TouchedFile, briefs: Sequence[Brief]) -> Iterator[SacredTouch]:
        """The reasons why workers with these briefs may not change a file. Without a brief, there is no key."""
        key = tuple(map(fold, file.path.split("/")))
        # A declared scope says more than the built-in ones, such as which key would help, so these speak only where it
        # is silent.
        touches = list(self._find_declared(file, key, briefs))
        yield from touches or _find_always(file, key, briefs)

    def find_never(self, path: str) -> Iterator[SacredTouch]:
        """The reasons why a file may never be changed, not even temporarily: no brief unlocks it."""
        key = tuple(map(fold, path.split("/")))
        touches = [
            self._touch(scope_id, scope)
            for scope_id, scope in self._scopes.items()
            if not describe_keys(scope) and not scope.new_files_only and self._does_hold(scope, path)
        ]
        yield from touches or ([_ENVIRONMENT] if is_env_file(key) else [])

    def find_unreadable_file(self, path: str, roles: Collection[str] = ()) -> SacredTouch | None:
        """The reason why an agent in some roles may not read a file; None if it may.

        A declared scope with `readers` decides before the kinds of files that are always secret.
        """
        secret = find_secret_file(path, self._scopes, roles, lambda scope: self._does_hold(scope, path))
        if secret is None:
            return None
        if secret.scope_id is None:
            text = f"is {'an' if secret.kind[0] in 'aeiou' else 'a'} {secret.kind}"
            return SacredTouch(SACRED_READ, text, _READ_BY_A_PERSON)
        text = f"is in sacred scope {quote(secret.scope_id)}, {_describe_readers(secret.readers)}"
        return SacredTouch(SACRED_READ, text, _READ_BY_A_PERSON, cite_scope(self._document, secret.scope_id))

    def list_withheld(self, brief: Brief) -> list[str]:
        """The declared paths that a brief does not unlock."""
        return [
            path for scope in self._scopes.values() if not is_unlocked(scope, brief) for path in scope.paths
        ]

    def _find_declared(self, file: TouchedFile, key: Key, briefs: Sequence[Brief]) -> Iterator[SacredTouch]:
        for scope_id, scope in self._scopes.items():
            # A file changed by several workers is theirs together, so every one of them needs the key.
            if not self._does_hold(scope, file.path) or (
                briefs and all(is_unlocked(scope, each) for each in briefs)
            ):
                continue
            if scope.new_files_only and not file.existed:
                continue
            # A manifest of packages also has scripts and metadata. The scope protects its dependencies only.
            if scope.unlocked_by == _OF_DEPENDENCIES and not _does_touch_dependencies(file, key):
                continue
            yield self._touch(scope_id, scope)

    def _touch(self, scope_id: str, scope: SacredScope) -> SacredTouch:
        keys = describe_keys(scope)
        clause = f"is in sacred scope {quote(scope_id)}"
        if scope.new_files_only:
            clause += ", where only new files are allowed"
        if keys:
            text, help = (
                f"{clause}; {keys} in the brief would unlock it",
                "undo the change, or ask for a brief with the key",
            )
        else:
            text, help = clause, _BY_A_PERSON
        return SacredTouch(
            "SACRED_SCOPE_LOCKED" if keys else "SACRED_SCOPE",
            text,
            help,
            cite_scope(self._document, scope_id),
        )

    def _does_hold(self, scope: SacredScope, path: str) -> bool:
        names = tuple(path.split("/"))
        return any(
            may_names_be_inside(names, glob, root)
            for written in scope.paths
            for glob in _expand_depth(_expand_home(written))
            for root in self._roots
            if _can_be_compared(glob, root)
        )


def is_unlocked(scope: SacredScope, brief: Brief) -> bool:
    """Whether the brief holds every key of a scope that has any."""
    keys = []
    if scope.unlocked_by is not None:
        keys.append(bool(getattr(brief, scope.unlocked_by)))
    if scope.unlocked_with_gate is not None:
        keys.append(scope.unlocked_with_gate in brief.audit_gates)
    # A scope without any key is unlocked by no brief; `all` of nothing would unlock it for every one.
    return bool(keys) and all(keys)


def _describe_readers(roles: Sequence[str]) -> str:
    return f"which only {listing(roles)} may read" if roles else "which no agent may read"


def describe_keys(scope: SacredScope) -> str:
    """The keys of a scope, in words. Empty if no key unlocks it."""
    gate = None if scope.unlocked_with_gate is None else f"gate {quote(scope.unlocked_with_gate)}"
    flag = None if scope.unlocked_by is None else quote(scope.unlocked_by)
    return " with ".join(filter(None, (flag, gate)))


_ENVIRONMENT: Final = SacredTouch(
    "SACRED_SCOPE",
    "contains values of environment variables",
    _BY_A_PERSON,
)
_DEPENDENCIES: Final = SacredTouch(
    "SACRED_SCOPE_LOCKED",
    f"declares dependencies; `{_OF_DEPENDENCIES}` in the brief would unlock it",
    "undo the change of dependencies, or ask for a brief with the key",
)
_MIGRATION: Final = SacredTouch(
    "SACRED_SCOPE",
    "is an existing migration, which could already have been applied",
    "undo the change, and add a new migration",
)


def _find_always(file: TouchedFile, key: Key, briefs: Sequence[Brief]) -> Iterator[SacredTouch]:
    if is_env_file(key):
        yield _ENVIRONMENT
    # New migrations are normal work. An existing one could have run already, and then an edit of it never runs.
    if file.existed and is_migration(key):
        yield _MIGRATION
    is_allowed = bool(briefs) and all(each.allow_dependency_change for each in briefs)
    if is_package_manifest(key) and not is_allowed and _does_touch_dependencies(file, key):
        yield _DEPENDENCIES


def _does_touch_dependencies(file: TouchedFile, key: Key) -> bool:
    # If the block of dependencies cannot be read, any change could be one of them.
    if not has_dependency_block(key) or file.texts is None:
        return True
    return did_dependencies_change(key, *file.texts)


def _expand_home(glob: str) -> str:
    """The same glob without the home folder, because the project could be inside it."""
    return f"**/{glob[2:]}" if glob.startswith("~/") else glob


def _can_be_compared(glob: str, root: str | None) -> bool:
    return read_path(glob, root) is not None and (root is not None or not glob.startswith("/"))


def _expand_depth(glob: str) -> Iterable[str]:
    """The glob at any depth, if it has no folder, as git reads it."""
    return (glob,) if "/" in glob.rstrip("/") else (glob, f"**/{glob}")
