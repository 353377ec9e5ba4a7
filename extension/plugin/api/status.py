"""POST /api/plugins/orgkernel/status {context}: the role of a chat, its tier, its last report, and the effect."""

from helpers.api import ApiHandler


class Status(ApiHandler):
    async def process(self, input, request):
        try:
            from agent import AgentContext
            from usr.organizations.lib.orgkernel_agent_zero import panel_requests

            return panel_requests.status(input, AgentContext.get)
        except Exception as error:
            return {"ok": False, "on": False, "error": f"the extension failed: {type(error).__name__}"}
