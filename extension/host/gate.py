"""Decide whether a role may make a call. A tool of other roles is refused; the refusal says who may use it and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

from . import host_tools
from .organization import Active
from .runtime import bundle as bundles
from .runtime import paths, refusals

ALWAYS = frozenset({"response"})
"""Tools that no organization can take away: without them a turn never ends."""
_ACTION_ARGUMENTS = ("runtime", "method", "action")
_SHOWN = 4
DescribeSubordinateCall = Callable[[str], str | None]
"""Describes the call by which a role becomes a subordinate. Takes a role id; returns None if the call would be refused."""


def is_essential(role: bundles.BundleRole, tool: str) -> bool:
    """Whether a tool is never trimmed and never refused."""
    return tool in ALWAYS or tool in role.essential


def may_use(active: Active, role: bundles.BundleRole, tool: str) -> bool:
    """Whether the prompt of a role shows a tool of the host."""
    if is_essential(role, tool) or tool in role.host_tools:
        return True
    return tool not in active.bundle.tools and active.settings.unlisted_tools != "refuse"


def judge(
    active: Active,
    role: bundles.BundleRole,
    tool: str,
    action: str | None,
    available: Collection[str],
    describe_call: DescribeSubordinateCall,
    arguments: Mapping[str, Any],
) -> str | None:
    """The refusal of a call, with alternatives. None if the call is allowed.

    The alternatives are always allowed. `available` are the tools that this host has, empty if unknown.
    """
    if is_essential(role, tool):
        return None
    known = active.bundle.tools.get(tool)
    if known is None:
        if active.settings.unlisted_tools != "refuse":
            return None
        option = f"Or answer with `response` and say that `{tool}` must be listed first."
        unlisted = refusals.say_unlisted_tool(_name(active), "it")
        return (
            f"`{tool}` is refused: {unlisted}. {_join_options(_own_tools(active, role, available), option)}"
        )
    if tool not in role.host_tools:
        return _refuse_foreign_tool(active, role, tool, known, available, describe_call)
    grant = role.tools.get(known.tool)
    actions = grant.actions if grant is not None else {}
    # An undeclared action could write, so it is treated as writing.
    writes = grant is not None and (action in grant.scoped or (bool(grant.scoped) and action not in actions))
    if writes:
        return _find_file_scope_violation(active, role, tool, known, arguments)
    if action is not None and actions.get(action) is False:
        allowed = [name for name, may in actions.items() if may]
        instead = f"Allowed: {', '.join(f'`{name}`' for name in allowed)}." if allowed else ""
        option = _say_alternative(active, role, tool, _list_holders(active, role, known), describe_call)
        refusal = f"`{tool}:{action}` is refused: {role.role_name} may use `{tool}`, but not this action."
        return f"{refusal} {_join_options(instead, option)}"
    return None


def answer_in_run(
    active: Active, role: bundles.BundleRole, tool: str, why: str, available: Collection[str]
) -> str:
    """The refusal for a tool that the run, not the role, forbids. `role` has the tools that remain in this run."""
    option = "Or answer with `response` and say so."
    return f"`{tool}` is refused: {why} {_join_options(_own_tools(active, role, available), option)}"


def answer_unknown(
    active: Active,
    role: bundles.BundleRole,
    tool: str,
    available: Collection[str],
    describe_call: DescribeSubordinateCall,
) -> str:
    """The refusal for a tool that this host does not have. `available` are the tools that it has.

    Without this refusal, the host would answer with all its tools.
    """
    own = [each for each in _list_host_tools(active, role, available) if each != "response"]
    others = [each for each in available if each not in active.bundle.tools and may_use(active, role, each)]
    meant = host_tools.find_meant_tool(tool, [*own, *sorted(others), *ALWAYS])
    missing = f"There is no tool `{tool[:60]}` here."
    option = "Or answer with `response`."
    if meant is not None:
        return f"{missing} Did you mean `{meant}`? Tools of {role.role_name}: {_quote_names(own)}. {option}"
    foreign = host_tools.find_meant_tool(
        tool, [each for each in active.bundle.tools if not available or each in available]
    )
    if foreign is not None and (known := active.bundle.tools.get(host_tools.without_method(foreign))):
        name = host_tools.without_method(foreign)
        return f"{missing} {_refuse_foreign_tool(active, role, name, known, available, describe_call)}"
    return f"{missing} {_join_options(f'Continue with {_quote_names(own)}.' if own else '', option)}"


def _list_host_tools(active: Active, role: bundles.BundleRole, available: Collection[str]) -> list[str]:
    """The role's tools that this host has. Remote tools are treated as available if the host lists none."""
    remote = any("." in each for each in available)
    return [
        tool
        for tool in sort_tools(active, role)
        if not available or tool in available or ("." in tool and not remote)
    ]


def _quote_names(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _find_file_scope_violation(
    active: Active,
    role: bundles.BundleRole,
    tool: str,
    known: bundles.BundleTool,
    arguments: Mapping[str, Any],
) -> str | None:
    """The reason why a call writes outside the file scope of a role.

    None if all its paths and their link targets are inside.
    """
    bound = refusals.say_file_scope(role.role_name, _quote_names(role.file_scope))
    if not known.path_arguments:
        return f"`{tool}` is refused: {bound}, and this tool does not declare where it writes. Use a tool that names a path."
    stated = [_list_texts(arguments[name]) for name in known.path_arguments if name in arguments]
    stated_paths = [path for texts in stated for path in texts]
    if not stated_paths:
        return f"`{tool}` is refused: {bound}, and the call names no path. Name a path there, or answer with `response`."
    for path in stated_paths:
        if path is None or not _is_in_scope(path, role.file_scope, active.bundle.root):
            path_text = f"`{path}`" if path else "the path"
            return f"`{tool}` is refused: {bound}, and {path_text} is not certainly in it. Write there, or answer with `response`."
    return None


def _list_texts(value: Any) -> list[str | None]:
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, str) else None for each in values]


def _is_in_scope(path: str, scope: Collection[str], root: str | None) -> bool:
    read = paths.read_path(path, root)
    if read is None:
        return False
    ends = [path]
    if read.start:
        # A link could lead elsewhere, so its target is compared; the target of the root itself is treated as the root.
        end, base = os.path.realpath(str(read)), os.path.realpath(root) if root else None
        below = base is not None and end.startswith(base + os.sep)
        ends.append(end[len(str(base)) + 1 :] if below else end)
    return all(any(paths.is_inside(end, glob, root) for glob in scope) for end in ends)


def find_action(method: str | None, arguments: Mapping[str, Any]) -> str | None:
    """The action of a call: its method, or the argument that names an action in host tools."""
    if method:
        return method
    for name in _ACTION_ARGUMENTS:
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    return None


def _refuse_foreign_tool(
    active: Active,
    role: bundles.BundleRole,
    tool: str,
    known: bundles.BundleTool,
    available: Collection[str],
    describe_call: DescribeSubordinateCall,
) -> str:
    holders = _list_holders(active, role, known)
    names = [active.bundle.roles[each].role_name for each in holders]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    who = (
        f"Roles that may use it: {', '.join(names[:_SHOWN])}{more}." if names else "No role here may use it."
    )
    option = _say_alternative(active, role, tool, holders, describe_call)
    return f"`{tool}` is refused: it is not a tool of {role.role_name} in {_name(active)}. {who} {_join_options(_own_tools(active, role, available), option)}"


def _list_holders(active: Active, role: bundles.BundleRole, known: bundles.BundleTool) -> list[str]:
    """Other roles that may use a tool. Roles that this role may delegate to come first."""
    others = [each for each in known.roles if each != role.role_id and each in active.bundle.roles]
    return sorted(others, key=lambda each: (each not in role.delegates_to, each not in role.subordinates))


def _say_alternative(
    active: Active,
    role: bundles.BundleRole,
    tool: str,
    holders: list[str],
    describe_call: DescribeSubordinateCall,
) -> str:
    """The alternative to a refused call: delegate the part if the role may, otherwise answer."""
    if may_use(active, role, "call_subordinate"):
        for below in holders:
            words = describe_call(below) if below in role.delegates_to else None
            if words is not None:
                name = active.bundle.roles[below].role_name
                return f"Or hand this part over: `call_subordinate` {words}, to {name}."
    if holders:
        return (
            f"Or answer with `response` and say that {active.bundle.roles[holders[0]].role_name} is needed."
        )
    return f"Or answer with `response` and say that `{tool}` is not available here."


def sort_tools(active: Active, role: bundles.BundleRole) -> list[str]:
    """Host names of the role's tools in its order of preference, without those that only end a turn."""
    names = {tool.tool: name for name, tool in reversed(list(active.bundle.tools.items()))}
    preferred = [names.get(tool_id, tool_id) for tool_id in role.tools]
    own = role.host_tools - ALWAYS
    return [*(name for name in dict.fromkeys(preferred) if name in own), *sorted(own.difference(preferred))]


def _join_options(first: str, second: str) -> str:
    """Join two options. `second` begins with "Or"."""
    if first:
        return f"{first} {second}"
    second = second.removeprefix("Or ")
    return f"{second[:1].upper()}{second[1:]}"


def _own_tools(active: Active, role: bundles.BundleRole, available: Collection[str]) -> str:
    # Remote tools have a dot in their name. They have no prompt file, so `available` never lists them.
    own = [tool for tool in sort_tools(active, role) if not available or tool in available or "." in tool]
    return f"Continue with {', '.join(f'`{tool}`' for tool in own)}." if own else ""


def _name(active: Active) -> str:
    return str(active.bundle.organization.get("org_name") or active.bundle.organization.get("org_id"))
