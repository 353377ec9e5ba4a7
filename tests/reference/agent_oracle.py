"""Who can take a task, in plain loops over plain dicts. It shares no code with `decisions/dispatch/by_agent.py`."""

from __future__ import annotations

from typing import Any

RANKS = ["ensign", "lieutenant", "commander"]


def judge(world: dict[str, Any], role: str, agent: str, needs: list[str], *, acts_only: bool) -> list[str]:
    """The codes of the conditions that an agent does not meet; empty if it can take the task."""
    member, profile = world["agents"][agent], world["roles"][role]
    if member["lifecycle"] in ("registered", "suspended", "decommissioned"):
        return ["AGENT_INACTIVE"]
    open_roles = [role for role in member["roles"] if world["roles"][role]["open_to_probation"]]
    if member["lifecycle"] == "probationary" and len(open_roles) < len(member["roles"]):
        return ["AGENT_INACTIVE"]
    if member["emergency"]:
        return ["PACE_CAP"]
    codes = []
    if world["watch"] in ("alpha", "beta") and world["watch"] not in member["roles"][role]:
        codes.append("OFF_WATCH")
    entry_rank = profile["entry_rank"] or RANKS[0]
    if RANKS.index(member["rank"]) < RANKS.index(entry_rank):
        codes.append("RANK_BELOW_ROLE")
    if acts_only:
        return codes
    codes += ["SKILL_SUSPENDED" for skill in profile["skills"] if member["skills"].get(skill) == 0]
    closed = [tool for tool in needs if access(world, agent, tool) == "closed"]
    return codes + ["TOOL_NOT_ALLOWED"] * len(closed)


def access(world: dict[str, Any], agent: str, tool: str) -> str:
    member = world["agents"][agent]
    if not any(tool in world["roles"][role]["tools"] for role in member["roles"]):
        return "closed"
    if tool in member["restricted"]:
        return "closed"
    return "ask" if tool in member["ask"] else "allow"


def sort_key(
    world: dict[str, Any], role: str, agent: str, needs: list[str], *, acts_only: bool
) -> tuple[int, ...]:
    member, profile = world["agents"][agent], world["roles"][role]
    approvals = 0 if acts_only else sum(access(world, agent, tool) == "ask" for tool in needs)
    levels = sum(member["skills"].get(skill, 1) for skill in profile["skills"])
    return approvals, -levels, member["claims"] + member["handoffs"], -RANKS.index(member["rank"])


def choose(
    world: dict[str, Any], role: str, needs: list[str]
) -> tuple[str | None, list[str], dict[str, list[str]]]:
    """The acting role, its agents in order, and the codes of each agent that is not available."""
    unavailable: dict[str, list[str]] = {}
    stages = [(role, False)]
    deputy = world["roles"][role]["deputy"]
    if deputy not in (None, role):
        stages.append((deputy, False))
    superior = world["roles"][role]["superior"]
    while superior is not None:
        stages.append((superior, True))
        superior = world["roles"][superior]["superior"]
    for acting, acts_only in stages:
        fitting = []
        for agent, member in world["agents"].items():
            if acting in member["roles"]:
                codes = judge(world, acting, agent, needs, acts_only=acts_only)
                if not codes:
                    fitting.append(agent)
                elif not acts_only:
                    unavailable.setdefault(agent, codes)
        if fitting:
            fitting.sort(key=lambda each: sort_key(world, acting, each, needs, acts_only=acts_only))
            return acting, fitting, unavailable
    return None, [], unavailable
