"""Whether one part of a resource lies in another: `tool:ID:GLOB` as grants and restrictions write it.

What cannot be compared is not covered, and may overlap: it counts as outside of what somebody holds, and as inside of
what a restriction takes away.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from orgkernel.decisions.access.circumstances import tidy_path

_ANY = "**"


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


def covers(held: str | None, given: str | None) -> bool:
    """Whether every path that `given` means is one that `held` means; None means the whole.

    >>> covers(None, "/srv/**"), covers("/srv/**", "/srv/a/*.py"), covers("/srv/**", "/srv/**")
    (True, True, True)
    >>> covers("/srv/*", "/srv/**"), covers("/srv/**", None), covers("/srv/**", "/srv/../etc/**"), covers("/srv/**", "/srv")
    (False, False, False, False)
    """
    if held is None or held == given:
        return True
    if given is None:
        return False
    return _covers(_segments(held), _segments(given))


def may_overlap(one: str | None, other: str | None) -> bool:
    """Whether some path may be one that both mean: unless they differ before the first star, they may.

    >>> may_overlap("/etc/**", "/srv/**"), may_overlap("/etc/**", "/**"), may_overlap("/etc/**", None)
    (False, True, True)
    >>> may_overlap("/ETC/**", "/etc/passwd"), may_overlap("/etc", "srv/x")
    (True, True)
    """
    if one is None or other is None:
        return True
    first, second = _segments(one), _segments(other)
    if (first[0] == "") != (second[0] == ""):  # one is absolute, and nobody says where the other begins
        return True
    for left, right in zip(first, second, strict=False):
        if _has_star(left) or _has_star(right):
            return True
        if left.casefold() != right.casefold():
            return False
    return len(first) == len(second)


def _segments(glob: str) -> list[str]:
    return tidy_path(glob).split("/")


def _has_star(segment: str) -> bool:
    return "*" in segment or "?" in segment or "[" in segment


def _covers(held: list[str], given: list[str]) -> bool:
    if not held:
        return not given
    if held[0] == _ANY:  # at least one segment, whatever it is
        return any(_covers(held[1:], given[count:]) for count in range(1, len(given) + 1))
    if not given or not _covers_segment(held[0], given[0]):
        return False
    return _covers(held[1:], given[1:])


def _covers_segment(held: str, given: str) -> bool:
    if held == given:
        return given != _ANY
    if _ANY in held or _ANY in given:
        return False
    if held == "*":
        return True
    # `[` is a plain letter in a path, and a set to `fnmatch`.
    return not _has_star(given) and "[" not in held and fnmatchcase(given, held)
