"""What a host makes of an agent's file, and what orgkernel makes of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from orgkernel import AccessRequest, Kernel
from orgkernel.errors import OrgkernelError
from tests.support.trees import write_tree


class Reading(NamedTuple):
    """One agent, as a reader sees it."""

    name: str
    tools: frozenset[str]
    """The tools that it may use, out of the tools that were asked about."""
    model: str = ""
    """Empty for the model of the session."""


class OwnReading(NamedTuple):
    """What orgkernel reads in a folder."""

    agents: Mapping[str, Reading]
    """By the name."""
    errors: tuple[str, ...]
    """The messages of the errors. An agent with an error is out of service, so every call of it is refused."""
    findings: tuple[str, ...]
    """The messages of all findings."""


def read_with_orgkernel(folder: Path, files: Mapping[str, str], tools: Collection[str]) -> OwnReading:
    """The agents of a tree. A tool counts as usable if a call of it, or of one of its parts, is allowed, asks a person, or depends on
    the call.
    """
    write_tree(folder, files)
    try:
        kernel = Kernel.open(folder)
    except OrgkernelError as error:
        return OwnReading({}, (str(error),), (str(error),))
    diagnostics = kernel.check()
    errors = tuple(each.message for each in diagnostics if each.severity.value == "error")
    findings = tuple(each.message for each in diagnostics)
    agents = {}
    for org in kernel.state.served:
        snapshot = kernel.organization(org).snapshot
        for role_id, post in snapshot.records.posts.items():
            usable = frozenset(
                tool
                for tool in tools
                if any(
                    _is_usable(kernel, org, role_id, each)
                    for each in _list_parts(tool, snapshot.records.tools)
                )
            )
            profile = post.profile
            agents[profile.role_name] = Reading(
                profile.role_name, usable, profile.requirements.preferred_model or ""
            )
    return OwnReading(agents, errors, findings)


def _list_parts(tool: str, declared: Collection[str]) -> list[str]:
    """A tool, and the tools in it if it is a set, such as `read.readFile`."""
    return [tool, *(each for each in declared if each.startswith(f"{tool}."))]


def _is_usable(kernel: Kernel, org: str, role: str, tool: str) -> bool:
    decision = kernel.can(org, AccessRequest(f"role:{role}", "use", f"tool:{tool}"))
    return decision.outcome != "deny"


def find_disagreements(host: Mapping[str, Reading], own: OwnReading) -> list[str]:
    """What orgkernel reads otherwise than the host.

    An agent that the host loads is read, or an error stands about its file. The tools and the model of an agent that both
    load are the same; if orgkernel reads more tools than the host gives, a finding is enough.
    """
    disagreements = []
    for name, theirs in host.items():
        ours = own.agents.get(name)
        if ours is None:
            if not own.errors:
                disagreements.append(f"the host loads {name!r}, and orgkernel reads {sorted(own.agents)}")
            continue
        if narrower := sorted(theirs.tools - ours.tools):
            disagreements.append(f"the host gives {name!r} {narrower}, and orgkernel denies them")
        if (wider := sorted(ours.tools - theirs.tools)) and not own.findings:
            disagreements.append(
                f"the host denies {name!r} {wider}, and orgkernel gives them without a finding"
            )
        if ours.model.strip() != theirs.model.strip() and not own.findings:
            disagreements.append(
                f"the host gives {name!r} the model {theirs.model!r}, orgkernel {ours.model!r}"
            )
    if (more := sorted(own.agents.keys() - host.keys())) and not own.findings:
        disagreements.append(f"orgkernel reads {more}, and the host loads {sorted(host)}")
    return disagreements
