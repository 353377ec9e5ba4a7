"""The actions of the plugin's API handlers: show the state of a chat, pin a role, switch off and on.

A request is the JSON that the host passes, so it can be anything. Every answer is a mapping; a request that cannot
be served is answered with `ok: false` and the reason in `error`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from . import pinning, saying, showing, switching
from .organization import find_active
from .runtime import secret_shapes

Find = Callable[[str], Any]
"""Find a chat by its id. None if there is none."""
_MAX_LENGTH = 200


def status(request: object, find: Find) -> dict[str, Any]:
    """The state of a chat, `{context}`. Without a chat, the state of the host."""
    chat, problem = _find_chat(request, find)
    if problem:
        return _refuse(problem)
    return {"ok": True, **showing.describe(_find_agent(chat))}


def pin(request: object, find: Find) -> dict[str, Any]:
    """Pin a role to a chat, `{context, role}`, or release it, `{context, role: null}`."""
    chat, problem = _find_chat(request, find)
    if problem:
        return _refuse(problem)
    if chat is None:
        return _refuse("`context` is missing. Name the chat by its id.")
    assert isinstance(request, Mapping)
    if "role" not in request:
        return _refuse("`role` is missing. Name a role by its id, or null to release the pin.")
    role = request["role"]
    if role is None:
        pinning.release(chat)
        _say(chat, "Pin released", pinning.EACH_CHOOSES)
        return {"ok": True, "pinned": None}
    if not isinstance(role, str) or not role.strip():
        return _refuse("`role` is not the id of a role. Name a role by its id, or null to release the pin.")
    unknown = pinning.pin(chat, role[:_MAX_LENGTH])
    if unknown is not None:
        return _refuse(f"{unknown[:1].upper()}{unknown[1:]}")
    pinned = pinning.get_pinned_role(chat)
    _say(
        chat,
        f"Pinned: {_name(pinned)}",
        f"It was pinned in the panel and applies from the next message: `{pinned}`.",
    )
    return {"ok": True, "pinned": pinned}


def switch(request: object, find: Find) -> dict[str, Any]:
    """Switch the organization of the host off or on, `{on: true|false}`.

    With `context`, the switch is logged in that chat.
    """
    chat, problem = _find_chat(request, find)
    if problem:
        return _refuse(problem)
    assert isinstance(request, Mapping)
    on = request.get("on")
    if not isinstance(on, bool):
        return _refuse("`on` is neither true nor false.")
    refusal = switching.switch_on() if on else switching.switch_off()
    if refusal is not None:
        return _refuse(refusal)
    if on:
        active, error = find_active()
        if active is None:
            return _refuse(f"It was switched on and cannot be used: {error}.")
    _say(chat, f"Switched {'on' if on else 'off'} in the panel", "For all chats of this host.")
    return {"ok": True, "on": on}


def _find_chat(request: object, find: Find) -> tuple[Any, str]:
    """The chat that a request names, None if it names none, and the problem with it."""
    if not isinstance(request, Mapping):
        return None, "The request is not a JSON object."
    name = request.get("context")
    if name is None or name == "":
        return None, ""
    if not isinstance(name, str):
        return None, "`context` is not the id of a chat."
    chat = find(name)
    return chat, "" if chat is not None else f"There is no chat `{_cut(name)}`."


def _find_agent(chat: Any) -> Any:
    """The agent that works in a chat now, or its main agent."""
    return getattr(chat, "streaming_agent", None) or getattr(chat, "agent0", None)


def _name(role_id: str | None) -> str:
    active, _ = find_active()
    role = active.bundle.roles.get(role_id or "") if active is not None else None
    return role.role_name if role is not None else str(role_id)


def _say(chat: Any, heading: str, content: str) -> None:
    agent = getattr(chat, "agent0", None)
    if agent is not None:
        with contextlib.suppress(Exception):  # the request was executed
            saying.say(agent, heading, content=content)


def _refuse(problem: str) -> dict[str, Any]:
    return {"ok": False, "error": problem}


def _cut(text: str) -> str:
    return secret_shapes.mask_secrets(" ".join(text.split())[:_MAX_LENGTH])
