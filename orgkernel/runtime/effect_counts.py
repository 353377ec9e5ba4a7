"""Counts the effects of an organization in a host: tokens spared, calls refused, roles taken, tiers reached.

Actual effects and hypothetical ones (under `enforcement: observe`, and refusals under `trim`) are counted separately.
The size is limited: further names are counted under `…`.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from . import secret_shapes

SCHEMA: Final = "orgkernel:effect"
VERSION: Final = 1
CHARACTERS_PER_TOKEN: Final = 4
"""A rough average. The exact number differs between models."""
OTHER: Final = "…"
_MAX_NAMES: Final = 100
_MAX_REFUSALS: Final = 50
_MAX_TARGETS: Final = 3
_MAX_NAME_LENGTH: Final = 60
_MAX_TARGET_LENGTH: Final = 80
_MAX_READ_LENGTH: Final = 2_000
"""Maximum number of characters of a value that are searched for secrets. The rest is never shown."""
_MAX_COUNT: Final = 10**15
"""A larger number in a saved record is damage, and would stay in every sum."""


@dataclass(slots=True)
class EffectCounts:
    """Counts of actual events, or of events that would have happened if the organization were enforced."""

    prompts: int = 0
    """Number of prompts of agents in a role."""
    characters: int = 0
    """Number of characters by which these prompts were shorter than the host's own."""
    refusals: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    """Number of refused calls, keyed by tool."""
    roles: dict[str, int] = field(default_factory=dict)
    """How often a role was taken."""
    tiers: dict[str, dict[str, int]] = field(default_factory=dict)
    """How often a role reached a tier, by role and tier."""

    @property
    def tokens(self) -> int:
        """Approximate number of tokens spared."""
        return round(self.characters / CHARACTERS_PER_TOKEN)

    def add(self, other: EffectCounts) -> None:
        """Add the counts of another record."""
        self.prompts += other.prompts
        self.characters += other.characters
        self.refusals += other.refusals
        for name, count in other.tools.items():
            count_name(self.tools, name, count)
        for name, count in other.roles.items():
            count_name(self.roles, name, count)
        for name, tiers in other.tiers.items():
            for tier, count in tiers.items():
                count_tier(self.tiers, name, tier, count)

    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.prompts or self.characters or self.refusals or self.roles or self.tiers)

    def as_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "prompts": self.prompts,
            "characters_spared": self.characters,
            "tokens_spared_about": self.tokens,
            "calls_refused": self.refusals,
            "refused_by_tool": dict(self.tools),
            "roles_taken": dict(self.roles),
            "tiers_reached": {name: dict(tiers) for name, tiers in self.tiers.items()},
        }


class RefusedCall(NamedTuple):
    """One refused call, and its targets."""

    time: str
    role_id: str
    tool: str
    touched: str
    """Paths, hosts and the program of a command, masked and shortened. Empty if the arguments name none."""
    applied: bool
    """False if the call was only logged and still ran."""

    def as_json(self) -> dict[str, Any]:
        """The refusal as plain data."""
        return {
            "time": self.time,
            "role": self.role_id,
            "tool": self.tool,
            "touched": self.touched,
            "applied": self.applied,
        }


@dataclass(slots=True)
class HostEffect:
    """All counts for one chat, or for all chats."""

    applied: EffectCounts = field(default_factory=EffectCounts)
    would: EffectCounts = field(default_factory=EffectCounts)
    refusals: list[RefusedCall] = field(default_factory=list)
    """The last refused calls, oldest first."""
    since: str = ""

    def add(self, other: HostEffect) -> None:
        """Add a later record to this one."""
        self.applied.add(other.applied)
        self.would.add(other.would)
        self.refusals = [*self.refusals, *other.refusals][-_MAX_REFUSALS:]
        self.since = self.since or other.since

    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return self.applied.is_empty() and self.would.is_empty()

    def as_json(self) -> dict[str, Any]:
        """The record as plain data: the content of `effect.json`."""
        return {
            "_schema": SCHEMA,
            "_version": VERSION,
            "since": self.since,
            "applied": self.applied.as_json(),
            "would_have": self.would.as_json(),
            "last_refusals": [each.as_json() for each in self.refusals],
        }


def count_name(counts: dict[str, int], name: str, by: int = 1) -> None:
    """Count a name. The number of different names is limited."""
    if name not in counts and len(counts) >= _MAX_NAMES:
        name = OTHER
    counts[name] = counts.get(name, 0) + by


def count_tier(counts: dict[str, dict[str, int]], name: str, tier: str, by: int = 1) -> None:
    """Count a tier of a role. The number of roles is limited."""
    if name not in counts and len(counts) >= _MAX_NAMES:
        name = OTHER
    count_name(counts.setdefault(name, {}), tier, by)


def read_effect(data: object) -> HostEffect:
    """Read the record in an `effect.json`. Raises `ValueError` if it is not one. Unknown keys are ignored."""
    if not isinstance(data, Mapping) or data.get("_schema") != SCHEMA:
        raise ValueError("it is not a record of effects")
    if data.get("_version") != VERSION:
        raise ValueError("another version of orgkernel wrote it")
    given = data.get("last_refusals")
    return HostEffect(
        _read_counts(data.get("applied")),
        _read_counts(data.get("would_have")),
        [_read_refusal(each) for each in given[-_MAX_REFUSALS:] if isinstance(each, Mapping)]
        if isinstance(given, list)
        else [],
        cut(data.get("since"), 30),
    )


def _read_counts(data: object) -> EffectCounts:
    given: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    counts = EffectCounts(
        _count(given.get("prompts")),
        _parse_number(given.get("characters_spared")),
        _count(given.get("calls_refused")),
        dict(_read_names(given.get("refused_by_tool"))),
        dict(_read_names(given.get("roles_taken"))),
    )
    tiers = given.get("tiers_reached")
    for name, tier_counts in list(tiers.items())[: _MAX_NAMES + 1] if isinstance(tiers, Mapping) else ():
        for tier, count in _read_names(tier_counts):
            count_tier(counts.tiers, cut(name), tier, count)
    return counts


def _read_names(data: object) -> Iterator[tuple[str, int]]:
    if isinstance(data, Mapping):
        # One more than the bound: the names beyond it.
        yield from ((cut(name), _count(count)) for name, count in list(data.items())[: _MAX_NAMES + 1])


def _read_refusal(data: Mapping[str, Any]) -> RefusedCall:
    return RefusedCall(
        cut(data.get("time"), 30),
        cut(data.get("role")),
        cut(data.get("tool")),
        cut(data.get("touched"), _MAX_TARGET_LENGTH * _MAX_TARGETS),
        data.get("applied") is True,
    )


def _parse_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_COUNT else 0


def _count(value: object) -> int:
    return max(_parse_number(value), 0)


def cut(value: object, most: int = _MAX_NAME_LENGTH) -> str:
    """A string on one line, masked and at most `most` characters long. Empty if the value is not a string."""
    if not isinstance(value, str):
        return ""
    text = " ".join(secret_shapes.mask_secrets(value[:_MAX_READ_LENGTH]).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


# -- what a call would have touched ------------------------------------------------------------------------------------

_COMMANDS: Final = ("code", "command", "cmd", "script")
_ADDRESS: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://(?:[^\s/@\"'`]*@)?([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:\d+)?"
)
_WHOLE_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S*")
_PATH: Final = re.compile(r"(?<![\w:/.@=-])(?:~|\.{1,2})?/[\w.@+~-]+(?:/[\w.@+~*-]+)*/?")
_PATH_NAMES: Final = re.compile(
    r"(?:^|_)(?:path|file|filename|folder|directory|document|dir|cwd)s?$", re.IGNORECASE
)
_HOST_NAMES: Final = re.compile(r"(?:^|_)(?:host|hostname|domain|server)$", re.IGNORECASE)
_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,250}(?::\d+)?\Z")
# The program and its subcommand. Options and values are omitted, because they could be passwords.
_PROGRAM: Final = re.compile(
    r"\s*(?:[A-Za-z_]\w*=\S*\s+){0,5}(?:sudo\s+)?([A-Za-z][\w.+-]{0,30})(?=\s|$)(?:\s+([a-z][a-z-]{1,20})(?=\s|$))?"
)
_NO_VERB: Final = frozenset({"echo", "printf", "export", "set", "read", "pass", "login"})


def describe_touched(arguments: object) -> str:
    """Describe the targets of a call: paths, hosts, and the program of a command. Masked and shortened.

    >>> describe_touched({"runtime": "terminal", "code": "rm -rf /srv/data"})
    'rm, /srv/data'
    >>> describe_touched({"url": "https://ann:hunter2@shop.example/cart?key=1"})
    'shop.example'
    """
    targets: dict[str, None] = {}
    if not isinstance(arguments, Mapping):
        return ""
    for name, value in list(arguments.items())[:20]:
        for text in value[:10] if isinstance(value, list) else (value,):
            if isinstance(text, str):
                targets |= dict.fromkeys(_find_targets(str(name), text[:_MAX_READ_LENGTH], arguments))
    shown = [cut(each, _MAX_TARGET_LENGTH) for each in targets]
    more = f" and {len(shown) - _MAX_TARGETS} more" if len(shown) > _MAX_TARGETS else ""
    return ", ".join(shown[:_MAX_TARGETS]) + more


def _find_targets(name: str, text: str, arguments: Mapping[Any, Any]) -> Iterator[str]:
    # Masked before it is taken apart: a part of a secret is not recognized as one.
    text = secret_shapes.mask_secrets(text)
    if name in _COMMANDS and arguments.get("runtime", "terminal") == "terminal":
        program = _PROGRAM.match(text)
        if program is not None:
            verb = program[2] if program[1] not in _NO_VERB else None
            yield f"{program[1]} {verb}" if verb else program[1]
    hosts = list(_ADDRESS.finditer(text))
    if _PATH_NAMES.search(name) and not hosts and "\n" not in text:
        yield text
        return
    if _HOST_NAMES.search(name) and _HOST.match(text):
        yield text
    yield from (match[1] + (match[2] or "") for match in hosts)
    yield from (match[0] for match in _PATH.finditer(_WHOLE_ADDRESS.sub(" ", text)))


# -- in words ----------------------------------------------------------------------------------------------------------


def summary(effect: HostEffect) -> str:
    """One short line. Empty if all counts are zero."""
    parts = []
    done, would = effect.applied, effect.would
    if done.prompts or done.characters:
        parts.append(_describe_spared(done))
    if done.refusals:
        parts.append(f"{_format_times(done.refusals, 'call')} refused")
    if would.prompts or would.characters:
        parts.append(f"would have: {_describe_spared(would)}")
    if would.refusals:
        word = "" if would.prompts or would.characters else "would have: "
        parts.append(f"{word}{_format_times(would.refusals, 'call')} refused")
    return ", ".join(parts)


def _describe_spared(counts: EffectCounts) -> str:
    word = "spared" if counts.tokens >= 0 else "added"
    return f"about {abs(counts.tokens):,} tokens {word}"


def lines(effect: HostEffect, names: Mapping[str, str] | None = None) -> list[str]:
    """The effects as lines, one fact each. `names` maps role ids to names."""
    facts = []
    for counts, word in ((effect.applied, ""), (effect.would, "would have: ")):
        if counts.prompts or counts.characters:
            facts.append(f"{word}{_describe_spared(counts)} in {_format_times(counts.prompts, 'prompt')}")
        if counts.refusals:
            tools = _describe_most_frequent({f"`{name}`": count for name, count in counts.tools.items()})
            facts.append(f"{word}{_format_times(counts.refusals, 'call')} refused: {tools}")
            touched = [
                each.touched for each in effect.refusals if each.touched and each.applied is not bool(word)
            ]
            if touched:
                # Calls that were only logged ran anyway.
                verb = "they touched" if word else "they would have touched"
                shown = list(dict.fromkeys(reversed(touched)))[:5]
                facts.append(f"{verb}, last first: {'; '.join(shown)}")
        if counts.roles:
            facts.append(f"{word}roles taken: {_describe_most_frequent(_read_named(counts.roles, names))}")
        if counts.tiers:
            reached = {
                f"{role} {tier}": count
                for role, tiers in _read_named(counts.tiers, names).items()
                for tier, count in tiers.items()
            }
            facts.append(f"{word}tiers reached: {_describe_most_frequent(reached)}")
    return facts


def _read_named(counts: Mapping[str, Any], names: Mapping[str, str] | None) -> dict[str, Any]:
    return {(names or {}).get(key, key): value for key, value in counts.items()}


def _describe_most_frequent(counts: Mapping[str, int]) -> str:
    """The most frequent names first, at most five."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [f"{name} ({count:,})" if count > 1 else name for name, count in ordered[:5]]
    more = [f"{len(ordered) - 5} more"] if len(ordered) > 5 else []
    return ", ".join((*shown, *more))


def _format_times(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
