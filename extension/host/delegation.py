"""Delegation: the roles that a role may call as its subordinates, and the tools that a subordinate may use.

The kernel decided both when the organization was compiled: the bundle contains the roles that each role may
hand work to, the tools that it may use, and the limits of a run. `decide` and `find_chain_refusal` are functions of the
bundle and of one call. The rest of this module reads the call and the agents above it from the host.

Error policy: a subordinate of a role never ends up without a role. What is not clear is refused, with the choice.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from . import host_tools, reading
from .memory import KEY, AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import task_life, text_index

TOOL = "call_subordinate"
PROFILE_ARGUMENTS = ("profile", "agent_profile", "prompt_profile")
_CHAT_ARGUMENTS = ("context_id", "agent_id")
_MAX_SHOWN = 8
_MAX_DOMAINS = 3
_MAX_AGENTS = 20
_MAX_HANDED = 20
FITS_NONE = "the message fits no role clearly"
CONTINUES = "the message continues the previous task"
_MAX_LENGTH = 4_000
"""Maximum number of characters of a message that are remembered as a task."""


def say_tie(names: str) -> str:
    """Why none of several roles was chosen."""
    return f"the message fits {names} equally well"


class Existing(NamedTuple):
    """The subordinate that an agent already has."""

    profile: str
    role_id: str | None
    """The subordinate's role. None if it has none yet."""


class SubordinateCall(NamedTuple):
    """A call of `call_subordinate`."""

    message: str = ""
    profile: str = ""
    reset: bool = False
    existing: Existing | None = None
    """The subordinate that would continue. With `reset`, a new one begins."""


class RunPlace(NamedTuple):
    """The position of the caller in the run."""

    depth: int = 0
    """How many agents are above it."""
    children: int = 0
    """Subordinates of the caller that have not ended."""


_ABOVE_ALL: Final = RunPlace()


class Delegation(NamedTuple):
    """The decision about a call of a subordinate."""

    role_id: str | None = None
    """The role of the subordinate, if it is already known."""
    profile: str | None = None
    """The profile to call it with. None if the call already names it."""
    reason: str = ""
    """Why this role, if we chose it."""
    refusal: str | None = None


def decide(
    bundle: bundles.Bundle,
    index: text_index.TextIndex | None,
    caller: bundles.BundleRole,
    call: SubordinateCall,
    place: RunPlace = _ABOVE_ALL,
) -> Delegation:
    """Decide whether a role may make this call, and in which role the subordinate works.

    Law: a call with the profile of a role is allowed exactly if the kernel allows the caller to hand work to that role.
    """
    may = caller.delegates_to
    if not may:
        return _refuse(f"{caller.role_name} may not delegate. {_answer(bundle, caller)}")
    if (limited := _limit(bundle, caller, place)) is not None:
        return _refuse(f"{limited}. {_answer(bundle, caller)}")
    existing = None if call.reset else call.existing
    if existing is not None and existing.profile in bundle.roles:
        existing = Existing(existing.profile, existing.profile)
    named = _find_named_role(bundle, call.profile)
    if named is not None:
        return _call_named(bundle, caller, call, named, existing)
    if existing is not None and call.profile in ("", existing.profile):
        return _continue(bundle, caller, existing)
    chosen, why = _choose(bundle, index, may, call.message)
    if chosen is None:
        wrong = f"`{call.profile[:60]}` is not a role here, and " if call.profile else ""
        return _refuse(f"{wrong}{why}. {_list_choices(bundle, caller, reset=existing is not None)}")
    if existing is not None and existing.role_id != chosen:
        return _refuse_without_reset(bundle, existing, chosen)
    return Delegation(chosen, _choose_profile(existing, chosen), why)


def _call_named(
    bundle: bundles.Bundle,
    caller: bundles.BundleRole,
    call: SubordinateCall,
    named: str,
    existing: Existing | None,
) -> Delegation:
    if named not in caller.delegates_to:
        other = bundle.roles[named].role_name
        way = _list_choices(bundle, caller, reset=existing is not None)
        return _refuse(f"{caller.role_name} may not delegate to {other}. {way}")
    if existing is not None and existing.role_id != named:
        return _refuse_without_reset(bundle, existing, named)
    profile = _choose_profile(existing, named)
    return Delegation(named, profile if profile != call.profile else None)


def _continue(bundle: bundles.Bundle, caller: bundles.BundleRole, existing: Existing) -> Delegation:
    """A call without a profile continues with the subordinate that is there."""
    if existing.profile not in bundle.roles:
        # It gets a role when its turn begins (`find_role_below`), the same as before if this caller may hand work to it.
        return Delegation(existing.role_id if existing.role_id in caller.delegates_to else None)
    if existing.profile in caller.delegates_to:
        return Delegation(existing.profile, existing.profile)
    other = bundle.roles[existing.profile].role_name
    return _refuse(
        f"your subordinate is {other}, to whom {caller.role_name} may not delegate. "
        f"{_list_choices(bundle, caller, reset=True)}"
    )


def _choose_profile(existing: Existing | None, role_id: str) -> str:
    """Choose the profile to call a role with.

    A continued subordinate keeps its profile, and some hosts reject another one.
    """
    return role_id if existing is None or existing.profile == role_id else ""


def _limit(bundle: bundles.Bundle, caller: bundles.BundleRole, place: RunPlace) -> str | None:
    limits = bundle.limits
    if place.depth >= limits.max_spawn_depth:
        return f"{caller.role_name} is {place.depth} levels below the first agent, too deep to delegate (`max_spawn_depth`)"
    if place.children >= limits.max_children or place.children >= limits.max_concurrent:
        return f"{caller.role_name} has {place.children} subordinates at work, which is the limit"
    return None


def _find_named_role(bundle: bundles.Bundle, profile: str) -> str | None:
    """The role that a profile names, by its id or its name. Case, hyphens and one wrong letter do not matter."""
    if not profile or profile in bundle.roles:
        return profile or None
    ids = {role.role_name: role_id for role_id, role in bundle.roles.items()}
    meant_name = host_tools.find_meant_tool(profile, [*bundle.roles, *ids])
    return ids.get(meant_name, meant_name) if meant_name is not None and ":" not in meant_name else None


def _choose(
    bundle: bundles.Bundle, index: text_index.TextIndex | None, among: Collection[str], message: str
) -> tuple[str | None, str]:
    """The role that the message fits best, and why it does, or why none does."""
    if len(among) == 1:
        (only,) = among
        return only, f"{bundle.roles[only].role_name} is its only subordinate"
    ranking = _rank_roles(index, among, message)
    if ranking is None or index is None or not ranking.ranked:
        return None, FITS_NONE
    if ranking.outcome == "role":
        return index.roles[ranking.ranked[0].role], text_index.say_why(ranking.ranked[0])
    if ranking.outcome == "close":
        names = " and ".join(bundle.roles[index.roles[each.role]].role_name for each in ranking.ranked[:2])
        return None, say_tie(names)
    return None, FITS_NONE


def _rank_roles(
    index: text_index.TextIndex | None, among: Collection[str], message: str
) -> text_index.Ranking | None:
    if index is None:
        return None
    wanted = frozenset(among)
    others = frozenset(number for number, role_id in enumerate(index.roles) if role_id not in wanted)
    return text_index.rank_roles(index, message, without=others)


def _refuse(text: str) -> Delegation:
    return Delegation(refusal=f"`{TOOL}` is refused: {text}")


def _refuse_without_reset(bundle: bundles.Bundle, existing: Existing, role_id: str) -> Delegation:
    role = bundle.roles.get(existing.role_id or "")
    name = role.role_name if role is not None else "without a role"
    return _refuse(
        f"your subordinate is {name} and stays in this role until it is reset. Call it again with `profile`: `{role_id}` and "
        '`reset`: "true".'
    )


def _list_choices(bundle: bundles.Bundle, caller: bundles.BundleRole, *, reset: bool) -> str:
    """List the roles that may be called, direct subordinates first, each with its domains."""
    may = sorted(caller.delegates_to, key=lambda each: each not in caller.subordinates)
    shown = [f"`{each}` ({_does(bundle.roles[each])})" for each in may[:_MAX_SHOWN]]
    more = f" and {len(may) - _MAX_SHOWN} more" if len(may) > _MAX_SHOWN else ""
    again = 'Call it again with `reset`: "true" and' if reset else "Call it again with"
    return f"{again} `profile` set to one of: {', '.join(shown)}{more}."


def _does(role: bundles.BundleRole) -> str:
    return ", ".join(role.domains[:_MAX_DOMAINS]) or role.role_name


def _answer(bundle: bundles.Bundle, role: bundles.BundleRole) -> str:
    above = bundle.roles.get(role.reports_to or "")
    who = above.role_name if above is not None else "another role"
    return f"Do this part yourself, or answer with `response` and say that {who} is needed."


# -- what a subordinate may use ----------------------------------------------------------------------------------------


def find_chain_refusal(
    bundle: bundles.Bundle,
    role: bundles.BundleRole,
    superiors: Sequence[bundles.BundleRole],
    depth: int,
    is_refused: Callable[[bundles.BundleRole], bool],
) -> str | None:
    """The reason to refuse a call in this run that the role may otherwise make. None if it is allowed.

    `is_refused` tells whether a role may not make this call itself. Essential tools are always allowed.
    """
    if depth > bundle.limits.max_spawn_depth:
        return (
            f"{role.role_name} is {depth} levels below the first agent, deeper than `max_spawn_depth` allows. "
            "Only essential tools remain."
        )
    if bundle.limits.strict:
        for above in superiors:
            if is_refused(above):
                return f"{above.role_name}, for whom {role.role_name} works, may not do this itself."
    return None


def restrict_role_to_run(active: Active, agent: Any, role: bundles.BundleRole) -> bundles.BundleRole:
    """The role with the tools that remain allowed in this run, for display."""
    depth, limits = _count_depth(agent), active.bundle.limits
    if not depth or (depth <= limits.max_spawn_depth and not limits.strict):
        return role
    left = role.host_tools if depth <= limits.max_spawn_depth else role.essential
    if limits.strict:
        for above in list_superior_roles(active, agent):
            left &= above.host_tools
    return role._replace(host_tools=left | role.essential)


# -- what the host knows -----------------------------------------------------------------------------------------------


def read_call(agent: Any, arguments: Mapping[str, Any]) -> SubordinateCall:
    """The call in a tool's arguments."""
    named = (arguments.get(name) for name in PROFILE_ARGUMENTS)
    profile = next((each.strip() for each in named if isinstance(each, str) and each.strip()), "")
    message = arguments.get("message")
    return SubordinateCall(
        message if isinstance(message, str) else "",
        profile,
        str(arguments.get("reset", "")).lower().strip() == "true",
        _find_existing(agent, arguments),
    )


def explain_how_to_call(active: Active, agent: Any, caller: bundles.BundleRole, role_id: str) -> str | None:
    """How an agent can call a role as its subordinate, in words. None if the call would be refused."""
    place, words = place_of(agent), f"with profile `{role_id}`"
    for more in ({}, {"reset": "true"}):
        call = read_call(agent, {"profile": role_id, **more})
        if decide(active.bundle, active.words, caller, call, place).refusal is None:
            return f"{words} and reset `true`" if more else words
    return None


def hand_over(
    memory: AgentMemory, agent: Any, call: SubordinateCall, delegation: Delegation, *arguments: object
) -> None:
    """Make the host call the chosen role, through the profile in the call and the caller's memory.

    Hosts run the mappings in `arguments` themselves. Some builds reject an unknown profile; then the subordinate has
    no profile, and `find_role_below` gives it the role.
    """
    if delegation.role_id is not None:
        memory.handed.pop(_normalize_message(call.message), None)
        memory.handed[_normalize_message(call.message)] = delegation.role_id
        while len(memory.handed) > _MAX_HANDED:
            del memory.handed[next(iter(memory.handed))]
    profile = delegation.profile
    if profile is None and delegation.role_id is not None and call.profile == delegation.role_id:
        profile = delegation.role_id  # under whichever name, with spaces around it or not
    if profile and delegation.role_id is not None and not _does_host_accept(agent, profile or call.profile):
        profile = ""
    if profile is not None:
        for each in arguments:
            if isinstance(each, dict):
                each["profile"] = profile
                each.update((name, profile) for name in PROFILE_ARGUMENTS if name in each)


def _normalize_message(message: str) -> str:
    return " ".join(message.strip()[:_MAX_LENGTH].split())


def _does_host_accept(agent: Any, profile: str) -> bool:
    """Whether this host runs a profile. Old builds run any; newer ones say which they know."""
    tool = type(getattr(getattr(agent, "loop_data", None), "current_tool", None))
    known = getattr(getattr(tool, "execute", None), "__globals__", {})
    check = known.get("_validate_subordinate_profile")
    if check is None and "helpers.parallel_tools" in sys.modules:
        with contextlib.suppress(Exception):
            module = importlib.import_module("tools.call_subordinate")
            check = getattr(module, "_validate_subordinate_profile", None)
    if not callable(check):
        return True
    try:
        check(agent, profile)
    except Exception:
        return False
    return True


def place_of(agent: Any, beside: int = 0) -> RunPlace:
    """Find the position of an agent in the run. `beside` is the number of calls that start together with this one."""
    return RunPlace(_count_depth(agent), beside + _count_jobs(agent))


def list_superior_roles(active: Active, agent: Any) -> list[bundles.BundleRole]:
    """The roles of the agents above, nearest first, as far as they have one."""
    roles = [_find_role(active, each) for each in _list_superiors(agent)]
    return [role for role in roles if role is not None]


def find_role_below(active: Active, memory: AgentMemory, agent: Any) -> tuple[bundles.BundleRole, str] | None:
    """Find the role of a subordinate without a role profile.

    It is the nearest role that its superior may hand work to, else the role of its superior.
    None if its superior has no role, and for the main agent.
    """
    above = next(iter(_list_superiors(agent)), None)
    superior = _find_role(active, above) if above is not None else None
    if above is None or superior is None:
        return None
    may = superior.delegates_to
    handed = _find_memory(above).handed.get(_normalize_message(memory.task))
    if handed in may:
        return active.bundle.roles[handed], f"{superior.role_name} delegated this"
    ranking = _rank_roles(active.words, may, memory.task) if may else None
    if ranking is not None and active.words is not None and ranking.outcome in ("role", "close"):
        nearest = active.bundle.roles[active.words.roles[ranking.ranked[0].role]]
        return nearest, f"{superior.role_name} delegated this"
    if memory.role_id in (*may, superior.role_id):
        return active.bundle.roles[str(memory.role_id)], CONTINUES
    return superior, f"{superior.role_name} delegated this, and it fits no role below"


def explain_no_right(bundle: bundles.Bundle, old: str, new: str) -> str | None:
    """Why a task may not move from one role to another. None if a commander above may hand it on."""
    roles = bundle.roles

    def list_superiors(role_id: str) -> list[str]:
        return [each for each in roles[role_id].chain if each in roles]

    commander = task_life.find_move_refusal(
        old, new, list_superiors, lambda sender, receiver: receiver in roles[sender].delegates_to
    )
    return (
        None
        if commander is None
        else f"{roles[commander].role_name} has no right to give {roles[new].role_name} this task"
    )


def _find_memory(agent: Any) -> AgentMemory:
    """Find the record of an agent, without creating one."""
    memory = agent.data.get(KEY)
    return memory if isinstance(memory, AgentMemory) else AgentMemory()


def _find_role(active: Active, agent: Any) -> bundles.BundleRole | None:
    return active.bundle.roles.get(_find_memory(agent).role_id or reading.read_profile(agent))


def _count_depth(agent: Any) -> int:
    number = getattr(agent, "number", 0)
    number = number if isinstance(number, int) else 0
    return number if _find_superior(agent) is None else max(number, len(_list_superiors(agent)))


def _list_superiors(agent: Any) -> list[Any]:
    superiors: list[Any] = []
    above = _find_superior(agent)
    while above is not None and len(superiors) < _MAX_AGENTS:
        superiors.append(above)
        above = _find_superior(above)
    return superiors


def _find_superior(agent: Any) -> Any:
    superior = agent.data.get("_superior")
    if superior is not None:
        return superior
    # A chat of its own that was loaded from the disk still names the chat above it.
    context = agent.context
    ask, find = getattr(context, "get_output_data", None), getattr(type(context), "get", None)
    if not callable(ask) or not callable(find):
        return None
    above = find(ask("parent_context_id") or "")
    superior, number = getattr(above, "agent0", None), ask("parent_agent_number")
    while superior is not None and superior.number != number:
        superior = superior.data.get("_subordinate")
    return superior


def _find_existing(agent: Any, arguments: Mapping[str, Any]) -> Existing | None:
    """The subordinate that the host would continue with."""
    in_chats = agent.data.get("_subordinates")
    in_chats = in_chats if isinstance(in_chats, Mapping) else {}
    wanted = next((str(arguments[name]) for name in _CHAT_ARGUMENTS if arguments.get(name)), "")
    subordinate = in_chats.get(wanted) if wanted else agent.data.get("_subordinate")
    if subordinate is None and not wanted:
        usual = [each for each in in_chats.values() if _is_usual(each)]
        subordinate = max(usual, key=lambda each: getattr(each.context, "created_at", 0), default=None)
    if subordinate is None:
        return None
    return Existing(reading.read_profile(subordinate), _find_memory(subordinate).role_id)


def _is_usual(subordinate: Any) -> bool:
    """Whether a call that names no chat continues this subordinate.

    A subordinate that was started together with others is continued only by name.
    """
    ask = getattr(subordinate.context, "get_output_data", None)
    return not callable(ask) or ask("subordinate_slot") in (None, "default")


def _count_jobs(agent: Any) -> int:
    """Subordinates that run at the same time as the agent."""
    jobs = agent.context.data.get("_parallel_jobs")
    values = jobs.values() if isinstance(jobs, Mapping) else ()
    return sum(
        getattr(each, "kind", "") == "subordinate"
        and getattr(each, "state", "") in ("pending", "running")
        and getattr(each, "parent_agent", None) is agent
        for each in values
    )
