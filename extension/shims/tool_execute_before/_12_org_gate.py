"""Refuse calls that are not the role's. Part of orgkernel; remove it with its installer."""

try:
    from helpers.errors import RepairableException
    from helpers.extension import Extension
except ImportError:
    from python.helpers.errors import RepairableException
    from python.helpers.extension import Extension


class OrgGate(Extension):
    async def execute(self, **kwargs):
        refusal = None
        try:
            from usr.organizations.lib.orgkernel_agent_zero import hooks

            refusal = hooks.tool_execute_before(self.agent, **kwargs)
        except Exception:
            pass  # the turn goes on; what can be told is told in `hooks`, and that it is missing by `_12_org_dispatcher`
        if refusal:
            raise RepairableException(refusal)
