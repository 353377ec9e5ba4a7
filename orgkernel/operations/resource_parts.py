"""Compare parts of a resource: `tool:ID:GLOB` as grants and restrictions write it."""

from __future__ import annotations

from orgkernel.runtime.paths import is_glob_inside, may_globs_meet


def split_part(resource: str) -> tuple[str, str | None]:
    """A resource without the part, and the part.

    >>> split_part("tool:shell:/srv/**"), split_part("tool:shell"), split_part("data:full")
    (('tool:shell', '/srv/**'), ('tool:shell', None), ('data:full', None))
    """
    kind, _, name = resource.partition(":")
    if kind != "tool":
        return resource, None
    tool, colon, part = name.partition(":")
    return f"{kind}:{tool}", part if colon else None


def does_cover(held: str | None, given: str | None, root: str | None) -> bool:
    """Whether every path that matches `given` also matches `held`. None means the whole resource.

    >>> does_cover(None, "/srv/**", None), does_cover("/srv/**", "a/*.py", "/srv"), does_cover("/srv/**", None, None)
    (True, True, False)
    """
    return held is None or (given is not None and is_glob_inside(given, held, root))


def may_overlap(one: str | None, other: str | None, root: str | None) -> bool:
    """Whether some path could match both. Parts that cannot be compared are assumed to overlap.

    >>> may_overlap("/etc/**", "/srv/**", None), may_overlap("/etc/**", None, None), may_overlap("/etc", "srv/x", None)
    (False, True, True)
    """
    return one is None or other is None or may_globs_meet(one, other, root)
