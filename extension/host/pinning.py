"""Pin a role to a chat and release it, by `/role` at the start of a message, the panel, or the plugin's API.

A pin lasts as long as the chat is in memory, is never saved, and applies from the next message. It binds the main
agent only: a subordinate keeps the role of its profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from . import reading
from .organization import Active, find_active
from .runtime import bundle as bundles
from .saying import say

KEY = "_orgkernel_pin"
_COMMAND = re.compile(r"\s*/role(?![^\s:])[ \t:]*", re.IGNORECASE)
_RELEASE = frozenset({"auto", "off", "none", "release"})
_IN_PATH = re.compile(r"[^\s,:;]*[/\\]|[\w-]*\.\w")
"""What follows a name that is part of a path."""
_WORD = re.compile(r"[^\W_]+")
_MAX_WORDS = 8
_MIN_PART = 2
PINNED = "it is pinned to this chat"
EACH_CHOOSES = "Each message chooses its role again."
_SHOWN = 12
_MAX_LENGTH = 60


class _Named(NamedTuple):
    """The roles that the words after `/role` name, and the number of characters of these words."""

    roles: Sequence[bundles.BundleRole]
    length: int


def pin(context: Any, role_id: str) -> str | None:
    """Pin a role, by its id, its name or a part that no other role has. The problem in words, or None if it is pinned."""
    active, error = find_active()
    if active is None:
        return error or "no organization is active, so there is no role to pin"
    named = _find(active, role_id, whole=True)
    if len(named.roles) != 1:
        return _explain_no_match(active, role_id, named.roles)
    context.set_data(KEY, named.roles[0].role_id)
    return None


def release(context: Any) -> None:
    """Let every message choose its role again."""
    context.set_data(KEY, None)


def get_pinned_role(context: Any) -> str | None:
    """The id of the pinned role."""
    role_id = context.get_data(KEY)
    return role_id if isinstance(role_id, str) else None


def find_pinned_role(active: Active, agent: Any) -> bundles.BundleRole | None:
    """The pinned role of an agent. If the role no longer exists, the pin is released and the user is told."""
    role_id = get_pinned_role(agent.context) if _is_main(agent) else None
    if role_id is None:
        return None
    role = active.bundle.roles.get(role_id)
    if role is None:
        release(agent.context)
        gone = f"{active.bundle.org_id} no longer has the role `{role_id}`. Messages choose their role again."
        say(agent, "Pin released: the role is gone", content=gone, kind="warning")
    return role


def obey(active: Active, agent: Any, message: str) -> str | None:
    """Execute a message that begins with `/role`, and confirm it.

    Returns the rest of the message, which is the task.

    None if the message only asks which role is pinned. A message to a subordinate is obeyed if it interrupts,
    because only users do that; others are written by its superior.
    """
    command = _COMMAND.match(message) if _is_main(agent) or reading.is_intervention(agent) else None
    if command is None:
        return message
    rest = message[command.end() :]
    word = _WORD.match(rest)
    if not rest.strip():
        _tell(active, agent)
        return None
    if word is not None and word[0].casefold() in _RELEASE:
        release(agent.context)
        say(agent, "Pin released", content=EACH_CHOOSES)
        return rest[word.end() :].lstrip(" \t:,.\n")
    named = _find(active, rest)
    if _IN_PATH.match(rest, named.length):
        return message  # `/role devops/notes.md is outdated` is about a file
    if len(named.roles) != 1:
        name_text = rest.split("\n")[0] if word is None else word[0]
        problem = _explain_no_match(active, name_text, named.roles)
        say(agent, "No role was pinned", content=f"{problem[:1].upper()}{problem[1:]}", kind="warning")
        return rest
    role = named.roles[0]
    agent.context.set_data(KEY, role.role_id)
    every = f"Every message of this chat goes to {role.role_name} (`{role.role_id}`). To release it: `/role auto`."
    say(agent, f"Pinned: {role.role_name}", content=every)
    return rest[named.length :].lstrip(" \t:,.\n")


def _is_main(agent: Any) -> bool:
    return getattr(agent, "number", 0) == 0


def _tell(active: Active, agent: Any) -> None:
    role = active.bundle.roles.get(get_pinned_role(agent.context) or "")
    now = f"Pinned: {role.role_name}" if role is not None else "No role is pinned"
    ways = "To pin one: `/role ID`, with a task behind it if you like. To release it: `/role auto`."
    say(agent, now, content=f"Roles: {_list(active.bundle.roles.values())}. {ways}")


def _find(active: Active, text: str, *, whole: bool = False) -> _Named:
    """Find the roles that the first words name: as many words as possible that are an id or a name, else a part of
    one.

    The words are on one line. With `whole`, the complete string is the name.
    """
    words = list(_WORD.finditer(text.split("\n", maxsplit=1)[0]))[: None if whole else _MAX_WORDS]
    roles = list(active.bundle.roles.values())
    titles = [(role, (_split_words(role.role_id), _split_words(role.role_name))) for role in roles]
    for fits in (_is_all, _is_part):
        for number in range(len(words), 0, -1):
            first_words = [word[0].casefold() for word in words[:number]]
            matching_roles = [
                role for role, names in titles if any(fits(first_words, name) for name in names)
            ]
            if matching_roles:
                return _Named(matching_roles, words[number - 1].end())
            if whole:
                break
    return _Named((), 0)


def _split_words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def _is_all(words: Sequence[str], name: Sequence[str]) -> bool:
    return words == name


def _is_part(words: Sequence[str], name: Sequence[str]) -> bool:
    """Whether each word begins a word of the name, in order."""
    left = iter(name)
    return all(len(word) >= _MIN_PART and any(each.startswith(word) for each in left) for word in words)


def _explain_no_match(active: Active, name_text: str, roles: Sequence[bundles.BundleRole]) -> str:
    name_text = " ".join(name_text.split())[:_MAX_LENGTH]
    if roles:
        return f"`{name_text}` fits {_list(roles)}. Name one of them."
    known: dict[str, dict[str, bundles.BundleRole]] = {}
    for role in active.bundle.roles.values():
        for name in (role.role_id, role.role_name, *_split_words(role.role_name)):
            known.setdefault(name.casefold(), {})[role.role_id] = role
    near = get_close_matches(name_text.casefold(), known, n=3, cutoff=0.7)
    meant = {role_id: role for name in near for role_id, role in known[name].items()}.values()
    suggested = (
        f" Did you mean {_list(meant)}?" if meant else f" Roles: {_list(active.bundle.roles.values())}."
    )
    return f"`{name_text}` is not a role of {active.bundle.org_id}.{suggested}"


def _list(roles: Iterable[bundles.BundleRole]) -> str:
    ids = [f"`{role.role_id}`" for role in roles]
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
