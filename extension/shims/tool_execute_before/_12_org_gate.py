"""Refuse calls of tools that the role may not use. Part of orgkernel; remove it with its installer."""

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
            pass  # the turn continues; `hooks` reports its own errors, and `_12_org_dispatcher` reports a missing package
        if refusal:
            raise RepairableException(refusal)
