"""`python -m benchmarks.crew`: questions about a crew of thousands, and how they grow with it."""

from __future__ import annotations

import argparse
import math
import socket
import statistics
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
import yaml

from manifest_api import create_app
from orgkernel import AgentFilter, Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.agents import move_agent
from orgkernel.operations.commissions import CommissionOrder, commission_agents
from orgkernel.operations.context import OPERATOR, Context, build_actor
from orgkernel.state.location import parse_location

ROLES_PER_AGENTS, TOOLS, SKILLS, INTENTS = 20, 400, 200, 300
TURNS = 25
AWAY = 4
"""The number of roles whose agents are all suspended."""
DRILL = """_schema: orgkernel:bill
slug: drill
roles:
  lead: {min_rank: lieutenant, count: "1"}
  hands: {department: d3, count: "1-3"}
  medics: {department: d4, count: "2"}
steps:
  - {id: start, name: Start, role: lead, action: captain_approval}
"""
ORG = "fleet"


def generate(folder: Path, agents: int) -> None:
    """An organization in which twenty agents fill each role; rosters of a thousand agents each."""
    roles = max(agents // ROLES_PER_AGENTS, 2)
    (folder / "roles").mkdir(parents=True)
    subordinates: dict[int, list[int]] = {}
    for number in range(1, roles):
        subordinates.setdefault(0 if number < 40 else 1 + number % 39, []).append(number)
    lines = [
        "_schema: orgkernel:organization", "org_id: fleet", "rank_matrix: default", "departments:",
        *(f"  d{number}: {{name: D{number}}}" for number in range(20)), "hierarchy:",
    ]  # fmt: skip
    for number in range(roles):
        below = ", ".join(f"role_{each}" for each in subordinates.get(number, ()))
        lines.append(f"  role_{number}: {{subordinates: [{below}]}}")
    (folder / "org.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for number in range(roles):
        _role(folder, number)
    (folder / "drill.yaml").write_text(DRILL, encoding="utf-8")
    catalogs = {
        "tools": ("tool_catalog", (f"  tool_{each}: {{type: remote_api, side_effects: write}}" for each in range(TOOLS))),
        "skills": ("skill_catalog", (f"  skill_{each}: {{category: role}}" for each in range(SKILLS))),
    }  # fmt: skip
    for name, (kind, entries) in catalogs.items():
        text = "\n".join((f"_schema: orgkernel:{kind}", f"{name}:", *entries))
        (folder / f"{name}.yaml").write_text(text + "\n", encoding="utf-8")
    for start in range(0, agents, 1_000):
        entries = (
            f"  agent_{number}: {{callsign: A{number}, rank: lieutenant, trust: 0.6, "
            f"assignments: [{{role: role_{number % roles}, watches: [{('alpha', 'beta', 'gamma')[number % 3]}]}}]}}"
            for number in range(start, min(start + 1_000, agents))
        )
        text = "\n".join(("_schema: orgkernel:crew_roster", "org: fleet", "agents:", *entries))
        (folder / f"crew_{start}.yaml").write_text(text + "\n", encoding="utf-8")


def _role(folder: Path, number: int) -> None:
    kind = "commander" if number == 0 else "executive" if number < 40 else "specialist"
    tools = ", ".join(f"{{tool: tool_{(number * 7 + each) % TOOLS}, level: write}}" for each in range(10))
    skills = ", ".join(f"skill_{(number * 3 + each) % SKILLS}" for each in range(8))
    text = (
        f"_schema: orgkernel:role_profile\nrole_id: role_{number}\nrole_type: {kind}\ndescription: Does {number}.\n"
        f"department: d{number % 20}\nentry_rank: lieutenant\ncapabilities:\n  intents: [intent_{number % INTENTS}]\n"
        f"  tools: [{tools}]\n  skills: [{skills}]\n"
    )
    (folder / "roles" / f"role_{number}.yaml").write_text(text, encoding="utf-8")


def measure(folder: Path, agents: int) -> dict[str, float]:
    """Milliseconds of processor time of each question: the median of several, after the first."""
    place = parse_location("state.db", str(folder))
    found: dict[str, float] = {}
    with open_store(place) as store:
        kernel = Kernel.open(folder / ORG, store=store)
        context = Context(kernel, store, build_actor(OPERATOR))
        at_once = min(1_000, agents)
        roles = max(agents // ROLES_PER_AGENTS, 2)
        orders = [
            CommissionOrder(agent=f"agent_{each}", role=f"role_{each % roles}") for each in range(at_once)
        ]
        begun = time.process_time()
        commission_agents(context, orders, org=ORG)
        found[f"commission {at_once:,} in one transaction"] = (time.process_time() - begun) * 1e3
        for role in range(roles - AWAY, roles):
            for number in range(role, agents, roles):
                move_agent(context, f"agent_{number}", "suspended", org=ORG)
        numbers = iter(range(1, agents))
        questions: dict[str, Callable[[], Any]] = {
            "a full profile": lambda: kernel.agent_manifest(ORG, f"agent_{next(numbers)}"),
            "a page of 100": lambda: kernel.agents(ORG, limit=100),
            "who can use a tool": lambda: kernel.who_can(ORG, "use", "tool:tool_9", kinds=["agent"]),
            "who holds a skill": lambda: kernel.agents(ORG, AgentFilter(skill="skill_7"), limit=100),
            "vacancies, four roles": lambda: kernel.vacancies(ORG),
            "fill a bill of three roles": lambda: kernel.fill_bill(ORG, "drill"),
            "who serves an intent": lambda: kernel.agents(ORG, AgentFilter(intent="intent_7"), limit=100),
        }
        for name, ask in questions.items():
            found[name] = _median(ask)
    with _serving(create_app(Kernel.open(folder / ORG), store=place)) as url:
        # Each page is another one, so that no answer is kept.
        starts = iter(range(1, agents))
        found["a page of 100 over HTTP"] = _median(
            lambda: _get(f"{url}/v1/orgs/{ORG}/agents?limit=100&cursor=agent_{next(starts)}")
        )
    return found


def measure_plain(folder: Path, agents: int) -> dict[str, float]:
    """Milliseconds of processor time of the loops that a team would write over its own parsed YAML: no decision, no reason, no state."""
    documents = [
        yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for path in (folder / ORG).rglob("*.yaml")
    ]
    roles = {each["role_id"]: each for each in documents if "role_id" in each}
    crew = {name: each for one in documents for name, each in one.get("agents", {}).items()}
    away = {name for name in crew if int(name.partition("_")[2]) % len(roles) >= len(roles) - AWAY}
    numbers = iter(range(1, agents))

    def hold(member: dict[str, Any]) -> list[dict[str, Any]]:
        return [roles[each["role"]] for each in member["assignments"]]

    def find_vacancies() -> list[tuple[str, list[str]]]:
        filled = {each["role"] for name in crew if name not in away for each in crew[name]["assignments"]}
        return [(role, sorted(crew.keys() - away)[:5]) for role in roles if role not in filled]

    def fill() -> list[list[str]]:
        needs = [(None, 1), ("d3", 3), ("d4", 2)]
        return [
            [
                name
                for name, member in sorted(crew.items(), key=lambda each: -each[1]["trust"])
                if name not in away
                and (need is None or any(role["department"] == need for role in hold(member)))
            ][:most]
            for need, most in needs
        ]

    questions: dict[str, Callable[[], Any]] = {
        "a full profile": lambda: [role["capabilities"] for role in hold(crew[f"agent_{next(numbers)}"])],
        "who can use a tool": lambda: [
            name
            for name, member in crew.items()
            if any(
                each["tool"] == "tool_9" for role in hold(member) for each in role["capabilities"]["tools"]
            )
        ],
        "who holds a skill": lambda: [
            name
            for name, member in crew.items()
            if any("skill_7" in role["capabilities"]["skills"] for role in hold(member))
        ],
        "vacancies, four roles": find_vacancies,
        "fill a bill of three roles": fill,
    }
    return {name: _median(ask) for name, ask in questions.items()}


@contextmanager
def _serving(app: Any) -> Iterator[str]:
    """The address on which an app answers, in a thread of this process."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url) as response:
        answer: bytes = response.read()
        return answer


def _median(ask: Callable[[], Any]) -> float:
    ask()
    times = []
    for _ in range(TURNS):
        begun = time.process_time()
        ask()
        times.append(time.process_time() - begun)
    return statistics.median(times) * 1e3


def main() -> None:
    """Print a table: each question at two sizes, and the exponent of its growth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crew", description=__doc__)
    parser.add_argument("--sizes", nargs=2, type=int, default=[1_000, 10_000], metavar=("SMALL", "LARGE"))
    small, large = parser.parse_args().sizes
    results = []
    plain: dict[str, float] = {}
    for size in (small, large):
        with TemporaryDirectory() as folder:
            generate(Path(folder) / ORG, size)
            results.append(measure(Path(folder), size))
            plain = measure_plain(Path(folder), size)
    print(
        f"| question | {small:,} agents | {large:,} agents | exponent | plain loops |\n|---|---|---|---|---|"
    )
    for name, first in results[0].items():
        last = results[1][name]
        exponent = math.log(last / first) / math.log(large / small)
        loops = f"{plain[name]:.2f} ms" if name in plain else ""
        print(f"| {name} | {first:.2f} ms | {last:.2f} ms | {exponent:.2f} | {loops} |")


if __name__ == "__main__":
    main()
