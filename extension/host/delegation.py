"""Delegation: whom a role may call as its subordinate, and what a subordinate may use.

Both were decided by the kernel when the organization was compiled: the bundle holds whom each role may hand work to, what
each role may use, and the limits of a run. `decide` and `chain_refuses` are functions of the bundle and of one call. The
rest of this module reads the call and the agents above it from the host.

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
from .runtime import text_index

TOOL = "call_subordinate"
PROFILE_ARGUMENTS = ("profile", "agent_profile", "prompt_profile")
_CHAT_ARGUMENTS = ("context_id", "agent_id")
_MOST_SHOWN = 8
_MOST_DOMAINS = 3
_MOST_AGENTS = 20
_MOST_HANDED = 20
FITS_NONE = "the message fits no role clearly"
CONTINUES = "the message continues the previous task"
_LONGEST = 4_000
"""Characters of a message that are remembered, as of a task."""


def say_tie(names: str) -> str:
    """Why none of several roles was chosen."""
    return f"the message fits {names} equally well"


class Existing(NamedTuple):
    """The subordinate that an agent already has."""

    profile: str
    role_id: str | None
    """Its role. None if it has none yet."""


class SubordinateCall(NamedTuple):
    """A call of `call_subordinate`."""

    message: str = ""
    profile: str = ""
    reset: bool = False
    existing: Existing | None = None
    """The subordinate that would continue. With `reset`, a new one begins."""


class RunPlace(NamedTuple):
    """Where the caller stands in the run."""

    depth: int = 0
    """How many agents are above it."""
    children: int = 0
    """Its subordinates that have not ended."""


_ABOVE_ALL: Final = RunPlace()


class Delegation(NamedTuple):
    """What becomes of a call."""

    role_id: str | None = None
    """The role of the subordinate, as far as it is known now."""
    profile: str | None = None
    """The profile to call it with. None if the call already says it."""
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
    """Whether a role may make this call, and in which role the subordinate works.

    Law: a call with the profile of a role is allowed exactly if the kernel allows the caller to hand work to that role.
    """
    may = caller.delegates_to
    if not may:
        return _refuse(f"{caller.role_name} may not delegate to anybody. {_answer(bundle, caller)}")
    if (limited := _limit(bundle, caller, place)) is not None:
        return _refuse(f"{limited}. {_answer(bundle, caller)}")
    existing = None if call.reset else call.existing
    if existing is not None and existing.profile in bundle.roles:
        existing = Existing(existing.profile, existing.profile)
    named = _named(bundle, call.profile)
    if named is not None:
        return _call_named(bundle, caller, call, named, existing)
    if existing is not None and call.profile in ("", existing.profile):
        return _continue(bundle, caller, existing)
    chosen, why = _choose(bundle, index, may, call.message)
    if chosen is None:
        wrong = f"`{call.profile[:60]}` is not a role here, and " if call.profile else ""
        return _refuse(f"{wrong}{why}. {_choice(bundle, caller, reset=existing is not None)}")
    if existing is not None and existing.role_id != chosen:
        return _refuse_without_reset(bundle, existing, chosen)
    return Delegation(chosen, _profile_for(existing, chosen), why)


def _call_named(
    bundle: bundles.Bundle,
    caller: bundles.BundleRole,
    call: SubordinateCall,
    named: str,
    existing: Existing | None,
) -> Delegation:
    if named not in caller.delegates_to:
        other = bundle.roles[named].role_name
        way = _choice(bundle, caller, reset=existing is not None)
        return _refuse(f"{caller.role_name} may not delegate to {other}. {way}")
    if existing is not None and existing.role_id != named:
        return _refuse_without_reset(bundle, existing, named)
    profile = _profile_for(existing, named)
    return Delegation(named, profile if profile != call.profile else None)


def _continue(bundle: bundles.Bundle, caller: bundles.BundleRole, existing: Existing) -> Delegation:
    """A call without a profile continues with the subordinate that is there."""
    if existing.profile not in bundle.roles:
        # It gets a role when its turn begins (`role_below`), the same as before if this caller may hand work to it.
        return Delegation(existing.role_id if existing.role_id in caller.delegates_to else None)
    if existing.profile in caller.delegates_to:
        return Delegation(existing.profile, existing.profile)
    other = bundle.roles[existing.profile].role_name
    return _refuse(
        f"your subordinate is {other}, to whom {caller.role_name} may not delegate. "
        f"{_choice(bundle, caller, reset=True)}"
    )


def _profile_for(existing: Existing | None, role_id: str) -> str:
    """The profile to call a role with. One that continues keeps its own, and some hosts refuse to hear another."""
    return role_id if existing is None or existing.profile == role_id else ""


def _limit(bundle: bundles.Bundle, caller: bundles.BundleRole, place: RunPlace) -> str | None:
    limits = bundle.limits
    if place.depth >= limits.max_spawn_depth:
        return f"{caller.role_name} is {place.depth} levels below the first agent, where nobody delegates (`max_spawn_depth`)"
    if place.children >= limits.max_children or place.children >= limits.max_concurrent:
        return f"{caller.role_name} has {place.children} subordinates at work, and more are not allowed"
    return None


def _named(bundle: bundles.Bundle, profile: str) -> str | None:
    """The role that a profile names, by its id or its name. Case, hyphens and one wrong letter do not matter."""
    if not profile or profile in bundle.roles:
        return profile or None
    ids = {role.role_name: role_id for role_id, role in bundle.roles.items()}
    meant_name = host_tools.meant_by(profile, [*bundle.roles, *ids])
    return ids.get(meant_name, meant_name) if meant_name is not None and ":" not in meant_name else None


def _choose(
    bundle: bundles.Bundle, index: text_index.TextIndex | None, among: Collection[str], message: str
) -> tuple[str | None, str]:
    """The role that the message fits best, and why it does, or why none does."""
    if len(among) == 1:
        (only,) = among
        return only, f"{bundle.roles[only].role_name} is its only subordinate"
    ranking = _rank(index, among, message)
    if ranking is None or index is None or not ranking.ranked:
        return None, FITS_NONE
    if ranking.outcome == "role":
        return index.roles[ranking.ranked[0].role], text_index.say_why(ranking.ranked[0])
    if ranking.outcome == "close":
        names = " and ".join(bundle.roles[index.roles[each.role]].role_name for each in ranking.ranked[:2])
        return None, say_tie(names)
    return None, FITS_NONE


def _rank(
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
        f"your subordinate is {name} and stays so until it is reset. Call it again with `profile`: `{role_id}` and "
        '`reset`: "true".'
    )


def _choice(bundle: bundles.Bundle, caller: bundles.BundleRole, *, reset: bool) -> str:
    """The way on: the roles that may be called, direct subordinates first, each with what it does."""
    may = sorted(caller.delegates_to, key=lambda each: each not in caller.subordinates)
    shown = [f"`{each}` ({_does(bundle.roles[each])})" for each in may[:_MOST_SHOWN]]
    more = f" and {len(may) - _MOST_SHOWN} more" if len(may) > _MOST_SHOWN else ""
    again = 'Call it again with `reset`: "true" and' if reset else "Call it again with"
    return f"{again} `profile` set to one of: {', '.join(shown)}{more}."


def _does(role: bundles.BundleRole) -> str:
    return ", ".join(role.domains[:_MOST_DOMAINS]) or role.role_name


def _answer(bundle: bundles.Bundle, role: bundles.BundleRole) -> str:
    above = bundle.roles.get(role.reports_to or "")
    who = above.role_name if above is not None else "somebody else"
    return f"Do this part yourself, or answer with `response` and say that {who} is needed."


# -- what a subordinate may use ----------------------------------------------------------------------------------------


def chain_refuses(
    bundle: bundles.Bundle,
    role: bundles.BundleRole,
    superiors: Sequence[bundles.BundleRole],
    depth: int,
    is_refused: Callable[[bundles.BundleRole], bool],
) -> str | None:
    """Why a call that the role itself may make is refused to it in this run. None if it is allowed.

    `is_refused` says of a role whether it may not make this call itself. An essential tool is outside of all this.
    """
    if depth > bundle.limits.max_spawn_depth:
        return (
            f"{role.role_name} is {depth} levels below the first agent, deeper than `max_spawn_depth` allows. "
            "Only tools that are never taken away are left."
        )
    if bundle.limits.strict:
        for above in superiors:
            if is_refused(above):
                return f"{above.role_name}, for whom {role.role_name} works, may not do this itself."
    return None


def role_in_run(active: Active, agent: Any, role: bundles.BundleRole) -> bundles.BundleRole:
    """The role with the tools that are left to it in this run, for what it is shown."""
    depth, limits = _depth_of(agent), active.bundle.limits
    if not depth or (depth <= limits.max_spawn_depth and not limits.strict):
        return role
    left = role.host_tools if depth <= limits.max_spawn_depth else role.essential
    if limits.strict:
        for above in superior_roles(active, agent):
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
        _existing(agent, arguments),
    )


def how_to_call(active: Active, agent: Any, caller: bundles.BundleRole, role_id: str) -> str | None:
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
    """Make the host call the role that was decided: by its profile in the call, and by what the caller remembers.

    Hosts run the very mappings in `arguments`. Some builds refuse a profile that they do not know; then the subordinate
    has none, and `role_below` gives it the role.
    """
    if delegation.role_id is not None:
        memory.handed.pop(_key(call.message), None)
        memory.handed[_key(call.message)] = delegation.role_id
        while len(memory.handed) > _MOST_HANDED:
            del memory.handed[next(iter(memory.handed))]
    profile = delegation.profile
    if profile is None and delegation.role_id is not None and call.profile == delegation.role_id:
        profile = delegation.role_id  # under whichever name, with spaces around it or not
    if profile and delegation.role_id is not None and not _accepts(agent, profile or call.profile):
        profile = ""
    if profile is not None:
        for each in arguments:
            if isinstance(each, dict):
                each["profile"] = profile
                each.update((name, profile) for name in PROFILE_ARGUMENTS if name in each)


def _key(message: str) -> str:
    return " ".join(message.strip()[:_LONGEST].split())


def _accepts(agent: Any, profile: str) -> bool:
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
    """Where an agent stands. `beside` are calls that begin together with the one that is decided."""
    return RunPlace(_depth_of(agent), beside + _jobs_of(agent))


def superior_roles(active: Active, agent: Any) -> list[bundles.BundleRole]:
    """The roles of the agents above, nearest first, as far as they have one."""
    roles = [_role_of(active, each) for each in _superiors(agent)]
    return [role for role in roles if role is not None]


def role_below(active: Active, memory: AgentMemory, agent: Any) -> tuple[bundles.BundleRole, str] | None:
    """The role of a subordinate whose profile is none: the nearest that its superior may hand work to, else the superior's.

    None if its superior has no role, and for the main agent.
    """
    above = next(iter(_superiors(agent)), None)
    superior = _role_of(active, above) if above is not None else None
    if above is None or superior is None:
        return None
    may = superior.delegates_to
    handed = _memory_of(above).handed.get(_key(memory.task))
    if handed in may:
        return active.bundle.roles[handed], f"{superior.role_name} delegated this"
    ranking = _rank(active.words, may, memory.task) if may else None
    if ranking is not None and active.words is not None and ranking.outcome in ("role", "close"):
        nearest = active.bundle.roles[active.words.roles[ranking.ranked[0].role]]
        return nearest, f"{superior.role_name} delegated this"
    if memory.role_id in (*may, superior.role_id):
        return active.bundle.roles[str(memory.role_id)], CONTINUES
    return superior, f"{superior.role_name} delegated this, and it fits no role below"


def _memory_of(agent: Any) -> AgentMemory:
    """What is remembered about an agent, without beginning to."""
    memory = agent.data.get(KEY)
    return memory if isinstance(memory, AgentMemory) else AgentMemory()


def _role_of(active: Active, agent: Any) -> bundles.BundleRole | None:
    return active.bundle.roles.get(_memory_of(agent).role_id or reading.profile_of(agent))


def _depth_of(agent: Any) -> int:
    number = getattr(agent, "number", 0)
    return max(number if isinstance(number, int) else 0, len(_superiors(agent)))


def _superiors(agent: Any) -> list[Any]:
    superiors: list[Any] = []
    above = _superior_of(agent)
    while above is not None and len(superiors) < _MOST_AGENTS:
        superiors.append(above)
        above = _superior_of(above)
    return superiors


def _superior_of(agent: Any) -> Any:
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


def _existing(agent: Any, arguments: Mapping[str, Any]) -> Existing | None:
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
    return Existing(reading.profile_of(subordinate), _memory_of(subordinate).role_id)


def _is_usual(subordinate: Any) -> bool:
    """Whether a call that names no chat continues it. One that was begun together with others is only continued by name."""
    ask = getattr(subordinate.context, "get_output_data", None)
    return not callable(ask) or ask("subordinate_slot") in (None, "default")


def _jobs_of(agent: Any) -> int:
    """Subordinates that run at the same time as the agent."""
    jobs = agent.context.data.get("_parallel_jobs")
    values = jobs.values() if isinstance(jobs, Mapping) else ()
    return sum(
        getattr(each, "kind", "") == "subordinate"
        and getattr(each, "state", "") in ("pending", "running")
        and getattr(each, "parent_agent", None) is agent
        for each in values
    )
