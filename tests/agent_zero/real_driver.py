"""Drives a real Agent-Zero with a scripted model: run by its Python, in its folder; prints what happened as JSON.

`python real_driver.py SCRIPT` with SCRIPT a JSON file of {message, turns, profile}: each turn is a tool request. Tools that are
called do not run (they would need a model, a browser or a shell): they answer that they have done it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from types import SimpleNamespace
from typing import Any


def drive(message: str, turns: list[dict[str, Any]], profile: str = "") -> dict[str, Any]:
    """One user turn of the host that can be imported here, by an agent with this profile."""
    import agent as host
    from initialize import initialize_agent

    seen: list[str] = []
    ran: list[str] = []
    arguments: list[dict[str, Any]] = []
    left = list(turns)

    async def call_chat_model(self: Any, messages: Any, *args: Any, **kwargs: Any) -> tuple[str, str]:
        seen.append(str(getattr(messages[0], "content", messages[0])))
        request = left.pop(0) if left else {"tool_name": "response", "tool_args": {"text": "done"}}
        return json.dumps({"thoughts": [], **request}), ""

    real_get_tool = host.Agent.get_tool

    def get_tool(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        tool = real_get_tool(self, name, *args, **kwargs)
        if name != "response":

            async def execute(**given: Any) -> Any:
                ran.append(name)
                arguments.append(given)
                return SimpleNamespace(message=f"{name} has done it", break_loop=False, additional=None)

            tool.execute = execute
        return tool

    host.Agent.call_chat_model = call_chat_model
    host.Agent.get_tool = get_tool
    context = host.AgentContext(config=initialize_agent())
    context.task = SimpleNamespace(is_alive=lambda: True)
    main = context.agent0
    if profile:
        main.config.profile = profile
    main.hist_add_user_message(host.UserMessage(message=message, attachments=[]))
    said = asyncio.run(main.monologue())
    role = getattr(main, "_org_active_role", None)
    return {
        "said": said,
        "ran": ran,
        "arguments": arguments,
        "systems": seen,
        "role": role["role_id"] if role else None,
        "plans": main.get_data("_org_htn_allowed_plans"),
        "log": [f"{item.heading} {item.content}" for item in context.log.logs],
    }


if __name__ == "__main__":
    sys.path.insert(0, ".")
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    print("\n" + json.dumps(drive(given["message"], given["turns"], given.get("profile", ""))))
