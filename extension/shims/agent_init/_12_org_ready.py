"""Load orgkernel before the first message comes. Part of orgkernel; remove it with its installer."""

try:
    from helpers.extension import Extension

    PLAIN = True  # this hook is plain from the third generation on
except ImportError:
    from python.helpers.extension import Extension

    PLAIN = False


def load(agent):
    try:
        from usr.organizations.lib.orgkernel_agent_zero import hooks

        hooks.agent_init(agent)
    except Exception:
        pass  # the chat begins; `hooks` reports its own errors, and `_12_org_dispatcher` reports a missing package


class OrgReady(Extension):
    if PLAIN:

        def execute(self, **kwargs):
            load(self.agent)

    else:

        async def execute(self, **kwargs):
            load(self.agent)
