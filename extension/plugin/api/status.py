"""POST /api/plugins/orgkernel/status {context}: the role of a chat, its tier and its last report."""

from helpers.api import ApiHandler


class Status(ApiHandler):
    async def process(self, input, request):
        try:
            from agent import AgentContext
            from usr.organizations.lib.orgkernel_agent_zero.showing import describe

            context = AgentContext.get(str(input.get("context") or "")) if input.get("context") else None
            return describe(getattr(context, "streaming_agent", None) or getattr(context, "agent0", None))
        except Exception as error:
            return {"on": False, "why": "the extension cannot be loaded", "error": str(error)}
