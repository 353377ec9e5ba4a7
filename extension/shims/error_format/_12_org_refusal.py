"""Show a refusal without a stack trace. Part of orgkernel; remove it with its installer."""

try:
    from helpers.extension import Extension
except ImportError:
    from python.helpers.extension import Extension


class OrgRefusal(Extension):
    async def execute(self, **kwargs):
        try:
            from usr.organizations.lib.orgkernel_agent_zero import hooks

            hooks.error_format(self.agent, **kwargs)
        except Exception:
            pass  # the turn continues; `hooks` reports its own errors, and `_12_org_dispatcher` reports a missing package
