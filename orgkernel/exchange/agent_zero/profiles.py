"""A role as a native agent profile of the host, so that `call_subordinate(profile=ROLE)` runs it.

A profile says who the role is in the host's own form; builds that have the plugin `_tool_access` also get the policy
that keeps the role to its tools. What a form cannot say (plans, tiers, the chain of command) the extension does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from orgkernel.exchange.agent_zero.generations import FIRST, THIRD, Generation
from orgkernel.exchange.agent_zero.settings import Settings
from orgkernel.runtime.bundle import Bundle, BundleRole

ToolIds = Mapping[str, tuple[str, ...]]


def find_tool_ids(root: str) -> ToolIds:
    """The tools that lie in a host of the third generation, by the name they are called by, to their ids there."""
    found: dict[str, list[str]] = {}
    for name in _modules(os.path.join(root, "tools")):
        found.setdefault(name, []).append(f"local:{name}")
    for plugins in ("plugins", os.path.join("usr", "plugins")):
        for plugin in _names(os.path.join(root, plugins)):
            for name in _modules(os.path.join(root, plugins, plugin, "tools")):
                found.setdefault(name, []).append(f"plugin:{plugin}:{name}")
    return {name: tuple(dict.fromkeys(ids)) for name, ids in found.items()}


def profile_files(
    generation: Generation, bundle: Bundle, role: BundleRole, settings: Settings, tool_ids: ToolIds
) -> Mapping[str, str]:
    """The files of a role's profile, by their path in the profile's folder."""
    about = {
        "title": _plain(role.role_name),
        "description": _plain(role.description or role.role_name),
        "context": _plain(_context(bundle, role)),
        "enabled": True,
    }
    files = {f"prompts/{generation.role_prompt}": f"## Your role\n{_plain(role.brief)}\n"}
    if generation is FIRST:
        return {"_context.md": f"# {about['title']}\n{about['description']}\n{about['context']}\n", **files}
    if generation is not THIRD:
        return {"agent.json": json.dumps(about, ensure_ascii=False, indent=2) + "\n", **files}
    # A JSON value is YAML as well.
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in about.items())
    files = {"agent.yaml": "".join(lines), **files}
    if settings.enforcement == "enforce":
        policy = _tool_access(bundle, role, settings, tool_ids)
        files["plugins/_tool_access/config.json"] = json.dumps(policy, ensure_ascii=False, indent=2) + "\n"
    return files


def _plain(text: str) -> str:
    """Text that the host's prompts show as it stands: in them `{{…}}` is a variable, or a file to include."""
    return text.replace("{{", "{ {")


def _context(bundle: Bundle, role: BundleRole) -> str:
    takes = f"Takes: {', '.join(role.domains)}. " if role.domains else ""
    return (
        f"{takes}A role of {bundle.organization['org_name']}, reporting to {role.reports_to or 'the user'}."
    )


def _tool_access(
    bundle: Bundle, role: BundleRole, settings: Settings, tool_ids: ToolIds
) -> Mapping[str, object]:
    """What the role may not use is blocked; what no catalog knows, as the setting for unlisted tools says."""
    refuses = settings.unlisted_tools == "refuse"
    others = [name for name in bundle.tools if name not in role.host_tools]
    default = "block" if refuses else "allow"
    return {
        "mode": "custom",
        "default": default,
        "mcp_default": default,
        "allowed": sorted(each for name in role.host_tools for each in _ids(name, tool_ids)),
        "blocked": sorted(each for name in others for each in _ids(name, tool_ids)),
    }


def _ids(name: str, tool_ids: ToolIds) -> tuple[str, ...]:
    server, dot, tool = name.partition(".")
    return (f"mcp:{server}:{tool}",) if dot else tool_ids.get(name, (f"local:{name}",))


def _modules(folder: str) -> Iterator[str]:
    return (name[:-3] for name in _names(folder) if name.endswith(".py") and not name.startswith("_"))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
