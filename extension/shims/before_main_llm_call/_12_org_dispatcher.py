"""Confirm the role, evaluate PACE and report. Part of orgkernel; remove it with its installer."""

try:
    from helpers.extension import Extension
except ImportError:
    from python.helpers.extension import Extension


class OrgDispatcher(Extension):
    async def execute(self, **kwargs):
        try:
            from usr.organizations.lib.orgkernel_agent_zero import hooks

            hooks.before_main_llm_call(self.agent, **kwargs)
        except Exception as error:  # the turn continues
            try:
                if self.agent.get_data("_orgkernel_missing") is None:
                    self.agent.set_data("_orgkernel_missing", True)
                    self.agent.context.log.log(
                        type="warning", heading="[ORG] orgkernel cannot run here", content=str(error)
                    )
            except Exception:
                pass
