"""Begin the turn that the layers of an agent share. Part of orgkernel; remove it with its installer."""

try:
    from helpers.extension import Extension
except ImportError:
    from python.helpers.extension import Extension


class OrgTurn(Extension):
    async def execute(self, **kwargs):
        try:
            from usr.organizations.lib.orgkernel_agent_zero import hooks

            hooks.message_loop_start(self.agent, **kwargs)
        except Exception:
            pass  # the turn continues; `hooks` reports its own errors, and `_12_org_dispatcher` reports a missing package
