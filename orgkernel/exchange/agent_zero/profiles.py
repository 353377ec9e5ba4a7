"""A role as a native agent profile of the host. `call_subordinate(profile=ROLE)` finds it in the profile's folder.

A host takes any name as a profile, and lists in the prompt of every agent the profiles that are enabled. So a
role's profile is not enabled: it costs no tokens, not even after `active.json` was deleted, and still works. A role
that may hand work to another one reads the id in its own brief. The first generation lists every folder, so roles have
no profile there.

Builds with the plugin `_tool_access` also get the policy that limits the role to its tools. The extension does what
a profile cannot express (plans, tiers, the chain of command).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from orgkernel.exchange.agent_zero.host import FIRST, THIRD, ActivationSettings, Generation
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.runtime.bundle import Bundle, BundleRole

ToolIds = Mapping[str, tuple[str, ...]]


def find_tool_ids(tree: ConfinedFolder) -> ToolIds:
    """The tools in a third-generation host: the name of each in calls, and its id in the host."""
    ids_by_name: dict[str, list[str]] = {}
    for name in _list_modules(tree, "tools"):
        ids_by_name.setdefault(name, []).append(f"local:{name}")
    for plugins in ("plugins", "usr/plugins"):
        for plugin in tree.names(plugins):
            for name in _list_modules(tree, f"{plugins}/{plugin}/tools"):
                ids_by_name.setdefault(name, []).append(f"plugin:{plugin}:{name}")
    return {name: tuple(dict.fromkeys(ids)) for name, ids in ids_by_name.items()}


def build_profile_files(
    generation: Generation, bundle: Bundle, role: BundleRole, settings: ActivationSettings, tool_ids: ToolIds
) -> Mapping[str, str]:
    """The files of a role's profile, keyed by their path in the profile's folder. Empty in the first generation."""
    if generation is FIRST:
        return {}
    about = {
        "title": _escape_text(role.role_name),
        "description": _escape_text(role.description or role.role_name),
        "context": _escape_text(_render_context(bundle, role)),
        "enabled": False,
    }
    files = {f"prompts/{generation.role_prompt}": f"## Your role\n{_escape_text(role.brief)}\n"}
    if generation is not THIRD:
        return {"agent.json": json.dumps(about, ensure_ascii=False, indent=2) + "\n", **files}
    # A JSON value is also YAML.
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in about.items())
    files = {"agent.yaml": "".join(lines), **files}
    if settings.enforcement == "enforce":
        policy = _build_tool_access(bundle, role, settings, tool_ids)
        files["plugins/_tool_access/config.json"] = json.dumps(policy, ensure_ascii=False, indent=2) + "\n"
    return files


def _escape_text(text: str) -> str:
    """Escape text for the host's prompts, where `{{…}}` is a variable or an include."""
    return text.replace("{{", "{ {")


def _render_context(bundle: Bundle, role: BundleRole) -> str:
    takes = f"Handles: {', '.join(role.domains)}. " if role.domains else ""
    return (
        f"{takes}A role in {bundle.organization['org_name']} that reports to {role.reports_to or 'the user'}."
    )


def _build_tool_access(
    bundle: Bundle, role: BundleRole, settings: ActivationSettings, tool_ids: ToolIds
) -> Mapping[str, object]:
    """Tools that the role may not use are blocked. Tools in no catalog follow the setting for unlisted tools."""
    refuses = settings.unlisted_tools == "refuse"
    others = [name for name in bundle.tools if name not in role.host_tools]
    default = "block" if refuses else "allow"
    return {
        "mode": "custom",
        "default": default,
        "mcp_default": default,
        "allowed": sorted(each for name in role.host_tools for each in _list_ids(name, tool_ids)),
        "blocked": sorted(each for name in others for each in _list_ids(name, tool_ids)),
    }


def _list_ids(name: str, tool_ids: ToolIds) -> tuple[str, ...]:
    server, dot, tool = name.partition(".")
    return (f"mcp:{server}:{tool}",) if dot else tool_ids.get(name, (f"local:{name}",))


def _list_modules(tree: ConfinedFolder, folder: str) -> Iterator[str]:
    names = tree.names(folder) if tree.is_below(folder) else ()
    return (name[:-3] for name in names if name.endswith(".py") and not name.startswith("_"))
