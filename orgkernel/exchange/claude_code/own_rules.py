"""Rules in Claude Code's own settings, which apply in addition to the hook."""

from __future__ import annotations

import os

from orgkernel.graph.questions import OrgView
from orgkernel.project.hooks.claude_hook.protected import SETTINGS


def own_parts(view: OrgView, project: str | None) -> frozenset[str]:
    """The paths and commands that only a project's settings name. The host applies these rules itself as well."""
    if project is None:
        return frozenset()
    settings = {os.path.realpath(os.path.join(project, name)) for name in SETTINGS}
    named: dict[str, bool] = {}
    for policy in view.records.policies.values():
        is_own = os.path.realpath(policy.document.path) in settings
        permissions = policy.record.permissions
        for part in (*permissions.paths, *permissions.commands):
            named[part] = is_own and named.get(part, True)
    return frozenset(part for part, is_own in named.items() if is_own)
