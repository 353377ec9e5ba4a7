"""Which other organizations include a role, looked up when asked: there may be many of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property


class Including:
    """Role id to the organizations that include it, put together when it is first asked for."""

    def __init__(self, organizations: Callable[[], Iterable[tuple[str, Iterable[str]]]]) -> None:
        self._organizations = organizations

    @cached_property
    def by_role(self) -> Mapping[str, list[str]]:
        """Role id to ids of organizations, in their order."""
        found: dict[str, list[str]] = defaultdict(list)
        for org_id, role_ids in self._organizations():
            for role_id in role_ids:
                found[role_id].append(org_id)
        return dict(found)


class Elsewhere(Mapping[str, tuple[str, ...]]):
    """Role id to the organizations other than one's own that include it."""

    def __init__(self, including: Including, org_id: str) -> None:
        self._including = including
        self._org_id = org_id

    def __getitem__(self, role_id: str) -> tuple[str, ...]:
        all_of_them = self._including.by_role.get(role_id, ())
        others = tuple(org_id for org_id in all_of_them if org_id != self._org_id)
        if not others:
            raise KeyError(role_id)
        return others

    def __iter__(self) -> Iterator[str]:
        return (role_id for role_id in self._including.by_role if role_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
