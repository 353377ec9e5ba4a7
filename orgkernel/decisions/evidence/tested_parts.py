"""The current digests of tested parts that the kernel reads itself: a SKILL.md, the standing orders of a role, a tool.

A qualification names such a part in `digests` as `skill:NAME`, `orders:ROLE` or `tool:TOOL`. A change of its file then drops every
result that was measured before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from orgkernel.documents.records import Qualification
from orgkernel.graph.records import OrgRecords

PART_KINDS = ("skill", "orders", "tool")


def is_part(declared: str) -> bool:
    """Whether a declared digest names a part, so that the kernel computes the digest."""
    kind, colon, name = declared.partition(":")
    return bool(colon and name) and kind in PART_KINDS


def find_part_digest(records: OrgRecords, part: str) -> str | None:
    """The current digest of a part; None if no document declares it."""
    kind, _, name = part.partition(":")
    if kind == "skill":
        skill = records.cognitive_skills.get(name)
        return None if skill is None else _digest((skill.document.digest or "",))
    if kind == "tool":
        tool = records.tools.get(name)
        return None if tool is None else _digest_tool(msgspec.json.encode(tool.record, order="deterministic"))
    post = records.posts.get(name)
    if post is None:
        return None
    targets = (
        ("federation", ""),
        ("organization", ""),
        ("department", post.profile.department),
        ("role", name),
    )
    files = (
        order.document.digest or ""
        for source, target in targets
        if target is not None
        for order in records.orders.get((source, target), ())
    )
    return _digest((*files, *post.profile.standing_orders))


def resolve_digest(records: OrgRecords, declared: str) -> str | None:
    """The digest that a result must have: the declared one, or the current one of a part. None for a part that is not there."""
    return find_part_digest(records, declared) if is_part(declared) else declared


def list_differing_digests(
    records: OrgRecords, declaration: Qualification, digests: Mapping[str, str]
) -> list[str]:
    """The names of the declared digests that the digests of a result differ from."""
    return [
        name
        for name, declared in declaration.digests.items()
        if digests.get(name) is None or digests[name] != resolve_digest(records, declared)
    ]


@lru_cache(4_096)
def _digest_tool(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _digest(texts: Iterable[str]) -> str:
    return _digest_texts(tuple(texts))


@lru_cache(4_096)
def _digest_texts(texts: tuple[str, ...]) -> str:
    content = hashlib.sha256()
    for text in texts:
        # The length before each text keeps two lists from having one digest.
        content.update(b"%d:%s" % (len(text.encode()), text.encode()))
    return f"sha256:{content.hexdigest()}"
