"""POST /api/plugins/orgkernel/pin {context, role}: pin a role to a chat; `role: null` releases the pin."""

from helpers.api import ApiHandler


class Pin(ApiHandler):
    async def process(self, input, request):
        try:
            from agent import AgentContext
            from usr.organizations.lib.orgkernel_agent_zero import panel_requests

            return panel_requests.pin(input, AgentContext.get)
        except Exception as error:
            return {"ok": False, "error": f"the extension failed: {type(error).__name__}"}
