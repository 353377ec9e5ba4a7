"""The guard around the work of a hook: if anything fails, the host's turn continues.

An error of orgkernel is shown once in the chat and kept for `orgkernel host status`. With `on_error: refuse`, tool
calls are refused after that until the organization can be read again, except calls that are never refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import activation, places, reading, saying
from .memory import KEY, AgentMemory, RoleMemory, get_memory
from .organization import Active, find_active
from .runtime import bundle as bundles
from .runtime import secret_shapes

T = TypeVar("T")
_MAX_LENGTH = 500
_LOOKING = ("message_loop_prompts_before", "tool_execute_before")
"""The hooks that notice at once that the organization was switched on, off or changed."""
_described: list[tuple[Active, str]] = []


def run_guarded(agent: Any, hook: str, work: Callable[[Active, AgentMemory], T]) -> T | None:
    """Run the work of a hook if an organization is active. Returns None if none is active, and after an error."""
    memory: AgentMemory | None = None
    if agent is None:
        return None
    try:
        active, error = find_active(look=hook in _LOOKING, thorough=hook == _LOOKING[0])
        if error is not None:
            note_error(agent, error, of_files=True)
        if active is None:
            if KEY in agent.data:
                activation.switch_off(get_memory(agent), agent)
                del agent.data[KEY]
            return None
        memory = get_memory(agent)
        problem = saying.note_status(
            places.ORGANIZATIONS, loaded=active.bundle.digest, error=error, of_files=True
        )
        if getattr(agent, "number", 0) == 0:
            saying.say_once(agent, memory, _describe(active))
        for remark in (*active.remarks, *([problem] if problem else [])):
            heading, _, content = remark.partition("\n")
            saying.say_once(agent, memory, heading, content=content, kind="warning")
        done = work(active, memory)
        if memory.message is reading.get_message(agent) and not memory.unsettled:
            memory.belief = reading.read_belief(agent)
        return done
    except Exception as error:
        # An error may quote a secret.
        text = secret_shapes.mask_secrets(
            f"{hook} failed and was skipped: {type(error).__name__}: {error}"[:_MAX_LENGTH]
        )
        if memory is not None:
            memory.trouble = text
        note_error(agent, text)
        return None


def _describe(active: Active) -> str:
    if _described and _described[0][0] is active:
        return _described[0][1]
    bundle = active.bundle
    name, roles = bundle.organization.get("org_name"), len(bundle.roles)
    text = (
        f"On: {name} ({bundle.org_id}), {roles} role{'s' if roles != 1 else ''}, "
        f"enforcement {active.settings.enforcement}"
    )
    _described[:] = [(active, text)]
    return text


def note_error(agent: Any, text: str, *, of_files: bool = False) -> None:
    """Report an error to the chat and the status file, as far as either can be written."""
    for tell in (
        lambda: saying.say_trouble(agent, text),
        lambda: saying.note_status(places.ORGANIZATIONS, error=text, of_files=of_files),
    ):
        try:
            tell()
        except Exception:  # the log or the disk cannot be written; the other one is still tried
            continue


def find_role_in_force(active: Active, memory: AgentMemory) -> tuple[bundles.BundleRole, RoleMemory] | None:
    """The active role and its record."""
    role = active.bundle.roles.get(memory.role_id) if memory.role_id is not None else None
    own = memory.roles.get(memory.role_id) if memory.role_id is not None else None
    return (role, own) if role is not None and own is not None else None
