"""Count the effect of the organization (hidden text, refused calls) in each chat, and write the totals of the host to
`effect.json`.

Counting does not access the disk. When a turn ends, the counts are added to the file. This needs a lock, because
several processes can add at the same time. The file is replaced in one step, so no reader sees half of it. Counts that cannot be
written are kept and written later.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import organization, places
from .locking import hold_folder
from .memory import AgentMemory
from .runtime import effect_counts, regular_files, utc
from .saying import say, say_once

HostEffect = effect_counts.HostEffect

KEY = "_orgkernel_effect"
"""Key in the data of a chat. The host does not save keys that begin with an underscore."""
_MAX_BYTES = 1_000_000
_MAX_WAITING = 50
_WAIT = 0.2
"""Seconds to wait for another process."""


@dataclass(slots=True)
class _ChatEffect:
    """The effect in one chat."""

    turn: HostEffect = field(default_factory=HostEffect)
    """Counts that have not been shown yet."""
    shown: HostEffect = field(default_factory=HostEffect)
    unwritten: HostEffect = field(default_factory=HostEffect)
    waiting: list[tuple[str, str, str | None, Any, bool]] = field(default_factory=list)
    """Refused calls whose arguments have not been inspected yet."""


# -- counting ----------------------------------------------------------------------------------------------------------


def note_prompt(agent: Any, memory: AgentMemory, role_id: str, hidden_characters: int) -> None:
    """Count a prompt of a role. It is `hidden_characters` shorter than the host's own; negative if it is longer.

    Under `observe`, the number of characters by which it would be shorter.
    """
    counts = _get_counts(agent, _get_enforcement() != "observe")
    counts.prompts += 1
    counts.characters += hidden_characters


def note_refusal(
    agent: Any, memory: AgentMemory, role_id: str, tool: str, action: str | None, arguments: Any
) -> None:
    """Count a refused call, or under `observe` one that would be refused."""
    applied = _get_enforcement() == "enforce"
    counts = _get_counts(agent, applied)
    counts.refusals += 1
    waiting = _get_chat_effect(agent).waiting
    if len(waiting) < _MAX_WAITING:
        # Inspected when the turn ends. A copy, because the host could change the arguments.
        kept = dict(arguments) if isinstance(arguments, Mapping) else None
        waiting.append((role_id, str(tool), action, kept, applied))
    else:
        effect_counts.count_name(counts.tools, effect_counts.OTHER)


def note_role(agent: Any, memory: AgentMemory, role_id: str) -> None:
    """Count that a message chose another role than before."""
    effect_counts.count_name(_get_counts(agent, _get_enforcement() != "observe").roles, role_id)


def note_tier(agent: Any, memory: AgentMemory, role_id: str, tier: str) -> None:
    """Count that a role moved to another tier."""
    effect_counts.count_tier(_get_counts(agent, _get_enforcement() != "observe").tiers, role_id, tier)


def _get_enforcement() -> str:
    """The setting of the organization that the running hook has found."""
    held = organization.find_loaded()
    return held.settings.enforcement if held is not None else "enforce"


def _get_counts(agent: Any, applied: bool) -> effect_counts.EffectCounts:
    turn = _get_chat_effect(agent).turn
    return turn.applied if applied else turn.would


def _get_chat_effect(agent: Any) -> _ChatEffect:
    """The record of the agent's chat, which all agents of a chat share."""
    data = getattr(agent.context, "data", None)
    if not isinstance(data, dict):  # a host that keeps no data with a chat
        data = agent.context.__dict__
    chat_effect = data.get(KEY)
    if not isinstance(chat_effect, _ChatEffect):
        chat_effect = data[KEY] = _ChatEffect()
    return chat_effect


# -- telling and writing -----------------------------------------------------------------------------------------------


def tell_turn(agent: Any, memory: AgentMemory, names: Mapping[str, str]) -> None:
    """At the end of a main agent's turn, tell the user its effect, if any. `names` maps role ids to names."""
    turn, problem = end_turn(agent)
    if problem:
        say_once(agent, memory, problem, kind="warning")
    short = effect_counts.summary(turn)
    if short:
        chat = effect_counts.summary(_get_chat_effect(agent).shown)
        so_far = [f"in this chat so far: {chat}"] if chat != short else []
        say(agent, f"Effect: {short}", content="\n".join((*effect_counts.lines(turn, names), *so_far)))


def end_turn(agent: Any) -> tuple[HostEffect, str]:
    """End the turn of a main agent. Returns its effect, and the problem if the file cannot be written."""
    chat = _get_chat_effect(agent)
    _inspect_calls(chat)
    turn, chat.turn = chat.turn, HostEffect()
    if not turn.is_empty():
        turn.since = utc.as_utc(time.time()) or ""
        chat.shown.add(turn)
        chat.unwritten.add(turn)
    problem = ""
    if not chat.unwritten.is_empty():
        problem = add_to_file(places.ORGANIZATIONS, chat.unwritten)
        if not problem:
            chat.unwritten = HostEffect()
    return turn, problem


def get_chat_effect(agent: Any) -> HostEffect:
    """The effect in a chat so far."""
    chat = _get_chat_effect(agent)
    _inspect_calls(chat)
    host_effect = HostEffect()
    host_effect.add(chat.shown)
    host_effect.add(chat.turn)
    return host_effect


def read_total_effect(agent: Any, folder: str = places.ORGANIZATIONS) -> tuple[HostEffect | None, str]:
    """The effect in all chats, up to this moment for the chat of this agent. None if the file cannot be read."""
    host_effect, problem = read_host_effect(folder)
    if problem:
        return None, problem
    every = host_effect or HostEffect()
    if agent is not None:
        chat = _get_chat_effect(agent)
        every.add(chat.unwritten)
        every.add(chat.turn)
    return every, ""


def read_host_effect(folder: str = places.ORGANIZATIONS) -> tuple[HostEffect | None, str]:
    """Read the effect in all chats until their last turn.

    Returns None if there is no file, and a problem if it cannot be read.
    """
    try:
        return _read(folder), ""
    except (OSError, ValueError, RecursionError) as error:
        return (
            None,
            f"{places.EFFECT} cannot be read: {_describe_error(error)}; remove it to start counting again",
        )


def _inspect_calls(chat: _ChatEffect) -> None:
    """Determine the paths and hosts that refused calls would have accessed. Then discard their arguments."""
    waiting, chat.waiting = chat.waiting, []
    now = utc.as_utc(time.time()) or ""
    for role_id, tool, action, arguments, applied in waiting:
        counts = chat.turn.applied if applied else chat.turn.would
        name = effect_counts.cut(tool)
        effect_counts.count_name(counts.tools, name)
        call = effect_counts.cut(f"{tool}:{action}") if action else name
        refusal = effect_counts.RefusedCall(
            now, effect_counts.cut(role_id), call, effect_counts.describe_touched(arguments), applied
        )
        chat.turn.refusals.append(refusal)


def add_to_file(folder: str, effect: HostEffect) -> str:
    """Add counts to the totals of the host. Returns the problem if that fails, else an empty string."""
    try:
        with hold_folder(folder, _WAIT):
            total = _read(folder) or HostEffect()
            total.add(effect)
            _write(folder, total)
    except (OSError, ValueError, RecursionError) as error:
        return f"{places.EFFECT} cannot be written: {_describe_error(error)}; the counts stay in memory until it can be written"
    return ""


def _read(folder: str) -> HostEffect | None:
    path = os.path.join(folder, places.EFFECT)
    try:
        content = regular_files.read_regular(path, _MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(content) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES:,} bytes")
    return effect_counts.read_effect(json.loads(content.decode("utf-8")))


def _write(folder: str, effect: HostEffect) -> None:
    """Replace the file in one step.

    The lock makes the temporary name safe; a file left by a killed writer is replaced.
    """
    temporary = os.path.join(folder, places.EFFECT_TEMPORARY)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    content = json.dumps(effect.as_json(), ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
        file.write(content)
    os.replace(temporary, os.path.join(folder, places.EFFECT))


def _describe_error(error: Exception) -> str:
    if isinstance(error, BlockingIOError):
        return "another process holds the folder"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "it is not valid JSON" if isinstance(error, json.JSONDecodeError | UnicodeError) else str(error)
