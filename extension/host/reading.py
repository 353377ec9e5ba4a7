"""Read the agent: what neighbors store, and how full the model's window is.

Every read is optional. A value that is missing or has an unexpected form is None, which the runtime treats as not
reported. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_MAX_TASK = 4_000


def get_message(agent: Any) -> Any:
    """The last message of the user or the superior agent: an object that is new with each message."""
    return getattr(agent, "last_user_message", None)


def get_content(agent: Any) -> Any:
    """The content of that message as the history stores it."""
    return getattr(get_message(agent), "content", None)


def read_task(agent: Any) -> str:
    """The last request of the user or the superior agent."""
    content = get_content(agent)
    if isinstance(content, Mapping):
        content = content.get("user_message") or content.get("user_intervention") or content.get("message")
    if isinstance(content, list):
        content = " ".join(str(each) for each in content)
    return content[:_MAX_TASK] if isinstance(content, str) else ""


def is_intervention(agent: Any) -> bool:
    """Whether that message was sent by the user in the middle of a turn."""
    content = get_content(agent)
    return isinstance(content, Mapping) and "user_intervention" in content


def list_messages(agent: Any) -> list[Any]:
    """The contents of all messages that the agent did not write: requests, tool results and warnings."""
    output = agent.history.output()
    return [item.get("content") for item in output if isinstance(item, Mapping) and not item.get("ai")]


class Belief(NamedTuple):
    """The belief of a belief state tracker."""

    record: Any
    """The tracker's own record. It makes a new one when it classifies a message."""
    domain: str

    def is_same(self, other: Belief | None) -> bool:
        """Whether the tracker has not classified anything since."""
        return other is not None and self.record is other.record and self.domain == other.domain


def read_belief(agent: Any) -> Belief | None:
    """The belief of a tracker. None without a tracker or a belief, and if it has an unexpected form."""
    store = getattr(agent, "_bst_store", None)
    record = store.get("__bst_belief_state__") if isinstance(store, Mapping) else None
    domain = record.get("domain") if isinstance(record, Mapping) else None
    return Belief(record, domain) if isinstance(domain, str) and domain else None


def plan_of(agent: Any) -> Mapping[str, Any]:
    """The active plan with its progress. Empty if there is none."""
    state = getattr(agent, "_htn_state", None)
    return state if isinstance(state, Mapping) and state.get("plan_id") else {}


def read_model(agent: Any) -> tuple[str, int | None]:
    """The model's name and window in tokens. The rest of its configuration is not read, because it contains keys."""
    model = getattr(getattr(agent, "config", None), "chat_model", None)
    if model is None:
        try:
            from plugins._model_config.helpers.model_config import (  # type: ignore[import-not-found]
                get_chat_model_config,
            )

            model = get_chat_model_config(agent)
        except Exception:
            return "", None
    provider, name, window = (_get_field(model, field) for field in ("provider", "name", "ctx_length"))
    words = [word for word in (provider, name) if isinstance(word, str) and word]
    return "/".join(words), window if isinstance(window, int) and window > 0 else None


def _get_field(model: object, name: str) -> object:
    return model.get(name) if isinstance(model, Mapping) else getattr(model, name, None)


def read_tokens(agent: Any) -> int | None:
    """Tokens of the last prompt."""
    window = agent.data.get("ctx_window")
    tokens = window.get("tokens") if isinstance(window, Mapping) else None
    return tokens if isinstance(tokens, int) and tokens >= 0 else None


def read_fragments(agent: Any) -> int:
    """The number of stored memories, if a neighbor counts them."""
    health = getattr(agent, "_memory_health", None)
    total = health.get("total_memories") if isinstance(health, Mapping) else None
    return total if isinstance(total, int) and total >= 0 else 0


def read_profile(agent: Any) -> str:
    """The agent's profile."""
    profile = getattr(getattr(agent, "config", None), "profile", None)
    return profile if isinstance(profile, str) else ""


def read_project(agent: Any) -> str:
    """The name of the active project; empty without one and in generations without projects."""
    ask = getattr(getattr(agent, "context", None), "get_data", None)
    project = ask("project") if callable(ask) else None
    return project if isinstance(project, str) else ""


def call_of(agent: Any) -> tuple[str | None, Mapping[str, Any]]:
    """The method and the arguments of the running tool. The hooks receive only its name."""
    tool = getattr(getattr(agent, "loop_data", None), "current_tool", None)
    method, args = getattr(tool, "method", None), getattr(tool, "args", None)
    return method if isinstance(method, str) and method else None, args if isinstance(args, Mapping) else {}


def count(value: object) -> int | None:
    """An integer from a neighbor, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
