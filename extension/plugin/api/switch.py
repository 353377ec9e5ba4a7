"""POST /api/plugins/orgkernel/switch {on}: switch the organization of this host off or on, for all chats."""

from helpers.api import ApiHandler


class Switch(ApiHandler):
    async def process(self, input, request):
        try:
            from agent import AgentContext
            from usr.organizations.lib.orgkernel_agent_zero import panel_requests

            return panel_requests.switch(input, AgentContext.get)
        except Exception as error:
            return {"ok": False, "error": f"the extension failed: {type(error).__name__}"}
