"""What the extension does to an Agent-Zero: tokens spared, calls refused, time added.

`python -m benchmarks.agent_zero` prints the effect on each role of both templates as a table. Prompts are those that the
doubles of the three generations build (`tests/agent_zero`), with the files of the checkout that `A0_ROOT` names if there is
one. Times are those of the whole chain of hooks, with a new object for every call, real files and a real bundle.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from extension.host.gate import may_use
from extension.host.organization import Active, Settings
from extension.host.tool_texts import list_served_tools
from orgkernel import Kernel
from orgkernel.exchange.agent_zero.activation import activate
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.runtime.bundle import Bundle, BundleRole, compute_checksum_of, read_bundle
from tests.agent_zero.double import build_host, running
from tests.agent_zero.double_loader import Loader
from tests.agent_zero.double_prompts import TOOLS_HEADER
from tests.agent_zero.installing import install
from tests.support.tokens import count_tokens

TEMPLATES = ("software_dev", "sigint_alpha")
VERSIONS = {"0.9.7": "G1", "0.9.8.2": "G2", "1.7": "G3"}
"""A version and its generation."""
_HELLO = "what time is it"
_BUG = "Fix the bug in parser.py"


@dataclass(frozen=True, slots=True)
class Effect:
    """One role in one version of the host. All figures but the last two are tokens."""

    org_id: str
    role: BundleRole
    version: str
    tools_before: int
    """The tool section of the host."""
    tools_after: int
    """The tool section that the role is shown."""
    before: int
    """The whole prompt of the host."""
    after: int
    """The whole prompt of the role, with its brief."""
    brief: int
    tools: int
    """Stock tools of that version."""
    refused: int
    """Those of them that the role is refused."""

    @property
    def saved(self) -> float:
        """The share of the tool section that is gone."""
        return 1 - self.tools_after / self.tools_before

    @property
    def saved_of_all(self) -> float:
        """The share of the whole prompt that is gone."""
        return 1 - self.after / self.before


@cache
def load(org_id: str) -> tuple[dict[str, Any], Bundle]:
    """The compiled bundle of a template, as JSON and as read."""
    compiled = json.loads(json.dumps(compile_bundle(Kernel.open().latest(org_id).index, "benchmarks")))
    return compiled, read_bundle(compiled)


def _build(place: str, generation: str, compiled: Mapping[str, Any]) -> Path:
    """A host in that folder with our extension and an active organization."""
    root = build_host(Path(place) / "host", generation)
    checkout = os.environ.get("A0_ROOT")
    if checkout:
        for file in (root / "prompts").glob("agent.system.tool.*.md"):
            file.unlink()
        for pattern in ("prompts", "plugins/*/prompts"):
            for file in Path(checkout).glob(f"{pattern}/agent.system.tool.*.md"):
                shutil.copyfile(file, root / "prompts" / file.name)
    install(root, generation)
    activate(str(root), compiled, {})
    return root


def effects() -> list[Effect]:
    """The effect on every role of both templates."""
    return [effect for org_id in TEMPLATES for version in VERSIONS for effect in _effects_in(org_id, version)]


def _effects_in(org_id: str, version: str) -> Iterator[Effect]:
    compiled, bundle = load(org_id)
    active = Active(Settings(), bundle, None, True)
    with TemporaryDirectory() as place:
        root = _build(place, VERSIONS[version], compiled)
        with running(root, VERSIONS[version]) as host:
            agent = host.open_chat()
            host.say(agent, _HELLO)
            stock = host.seen[-1]
            files = host.prompts.tool_files(agent)
            served = [
                list_served_tools(name, host.prompts.raw(agent, name), bundle.tools.keys()) for name in files
            ]
            tools = frozenset(tool for each in served for tool in each)
            for role in bundle.roles.values():
                agent = host.open_chat()
                agent.config.profile = role.role_id
                host.say(agent, _HELLO)
                shown = host.seen[-1]
                yield Effect(
                    org_id, role, version,
                    count_tokens(_section(stock.entries)), count_tokens(_section(shown.entries)),
                    count_tokens(stock.system), count_tokens(shown.system), count_tokens(role.brief),
                    len(tools), sum(not may_use(active, role, tool) for tool in tools),
                )  # fmt: skip


def _section(entries: tuple[str, ...]) -> str:
    return next(entry for entry in entries if entry.startswith(TOOLS_HEADER))


def role_effect(_: Path) -> dict[str, Any]:
    """Median share of the tool section that specialists are spared, by version, and of the calls refused."""
    specialists = [each for each in effects() if each.role.role_type == "specialist"]

    def shares(version: str, what: str) -> list[float]:
        return [getattr(each, what) for each in specialists if each.version == version]

    names = dict(zip(VERSIONS, ("oldest", "old", "new"), strict=True))
    return (
        {name: median(shares(version, "saved")) for version, name in names.items()}
        | {f"least_{name}": min(shares(version, "saved")) for version, name in names.items()}
        | {f"whole_{name}": median(shares(version, "saved_of_all")) for version, name in names.items()}
        | {"refused": median(each.refused / each.tools for each in specialists)}
    )


class _Timed(Loader):
    """A loader that keeps the time our shims take, for each model call."""

    spent = 0.0
    counting: Callable[[], Any] | None = None
    inside = False

    async def call(self, hook: str, agent: Any, **kwargs: Any) -> None:
        for cls in self.classes(hook, agent.config.profile, None):
            if not cls.__name__.startswith("Org"):
                await cls(agent=agent).execute(**kwargs)  # type: ignore[attr-defined]
                continue
            # The end of a turn is no part of a model call.
            self.inside, start = hook != "monologue_end", time.perf_counter()
            await cls(agent=agent).execute(**kwargs)  # type: ignore[attr-defined]
            self.inside, self.spent = False, self.spent + time.perf_counter() - start


_SYSTEM_CALLS = (
    "stat",
    "lstat",
    "open",
    "scandir",
    "listdir",
    "getcwd",
    "fsync",
    "replace",
    "rename",
    "unlink",
    "mkdir",
)


@contextmanager
def _counted(loader: _Timed) -> Iterator[Counter[str]]:
    """Count the system calls about files that our shims make in this thread."""
    found: Counter[str] = Counter()
    here = threading.get_ident()

    def counting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **kwargs: Any) -> Any:
            if loader.inside and threading.get_ident() == here:
                found[name] += 1
            return call(*args, **kwargs)

        return count

    real = {name: getattr(os, name) for name in _SYSTEM_CALLS}
    opening = builtins.open
    try:
        for name, call in real.items():
            setattr(os, name, counting(name, call))
        builtins.open = counting("open", opening)
        yield found
    finally:
        builtins.open = opening
        for name, call in real.items():
            setattr(os, name, call)


def _reporting_always(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """The bundle with a report due at every model call."""
    changed: dict[str, Any] = json.loads(json.dumps(bundle))
    for role in changed["roles"].values():
        role["doctrine"]["salute_interval_turns"] = 1
    return changed | {"checksum": compute_checksum_of(changed)}


def host_overhead(
    _: Path, calls: int = 400, generation: str = "G2", *, reports: bool = False
) -> dict[str, Any]:
    """Milliseconds our shims add to a model call, and the system calls about files that they make in it."""
    times: list[float] = []
    compiled = load("software_dev")[0]
    with TemporaryDirectory() as place:
        root = _build(place, generation, _reporting_always(compiled) if reports else compiled)
        with running(root, generation) as host:
            loader = _Timed(root, generation)
            host.loader = loader
            agent = host.open_chat()
            host.say(agent, _BUG)

            def turn(number: int) -> Callable[[Any], Mapping[str, Any]]:
                def ask(_: Any) -> Mapping[str, Any]:
                    if number:
                        times.append(loader.spent * 1e3)
                    loader.spent = 0.0
                    arguments = {"runtime": "terminal", "code": f"ls {number}"}
                    return {"tool_name": "code_execution_tool", "tool_args": arguments}

                return ask

            def run() -> None:
                agent.hist_add_user_message(_BUG)
                host.script = [turn(number) for number in range(calls)]
                asyncio.run(agent.monologue())

            run()
            measured = list(times)
            with _counted(loader) as found:
                run()
    return {
        "median": median(measured),
        "p90": quantiles(measured, n=10)[8],
        "p99": quantiles(measured, n=100)[98],
        "files": sum(found.values()) / calls,
        "by_call": {name: count / calls for name, count in found.items()},
    }


def host_overhead_reporting(_: Path, calls: int = 400) -> dict[str, Any]:
    """The same with a report at every model call."""
    return host_overhead(_, calls, reports=True)


def first_call(_: Path, generation: str = "G2", processes: int = 5) -> dict[str, Any]:
    """Milliseconds that our shims take in a new process: when a chat begins, and in its first model call."""
    with TemporaryDirectory() as place:
        root = _build(place, generation, load("software_dev")[0])
        command = [sys.executable, "-m", "benchmarks.agent_zero", "first", str(root), generation]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        found = []
        for number in range(processes + 1):
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            if number:  # the first one compiles the modules
                found.append(json.loads(done.stdout))
    return {name: median(each[name] for each in found) for name in found[0]}


def _first(root: Path, generation: str) -> dict[str, float]:
    """What a process of the host measures of itself."""
    with running(root, generation) as host:
        sys.dont_write_bytecode = False
        host.loader = loader = _Timed(root, generation)
        start = time.perf_counter()
        agent = host.open_chat()
        chat, loader.spent = time.perf_counter() - start, 0.0
        spent: list[float] = []

        def ask(_: Any) -> Mapping[str, Any]:
            spent.append(loader.spent)
            return {"tool_name": "response", "tool_args": {"text": "done"}}

        host.say(agent, _BUG, [ask])
        return {"chat": chat * 1e3, "call": spent[0] * 1e3, "together": (chat + spent[0]) * 1e3}


def render_effects(found: list[Effect]) -> str:
    """The table of the documentation."""
    by_role: dict[tuple[str, str], list[Effect]] = {}
    for each in found:
        by_role.setdefault((each.org_id, each.role.role_id), []).append(each)
    heads = "".join(f" {version}: tools | whole prompt |" for version in VERSIONS)
    lines = [f"| role |{heads} brief | refused |", f"|---|{'---|---|' * len(VERSIONS)}---|---|"]
    for (org_id, _), versions in by_role.items():
        cells = "".join(
            f" {each.tools_before:,} → {each.tools_after:,} (−{each.saved:.0%}) "
            f"| {each.before:,} → {each.after:,} (−{each.saved_of_all:.0%}) |"
            for each in versions
        )
        last = versions[-1]
        lines.append(
            f"| `{org_id}` {last.role.role_name} |{cells} {last.brief} | {last.refused} of {last.tools} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["first"]:
        print(json.dumps(_first(Path(sys.argv[2]), sys.argv[3])))
    else:
        print(render_effects(effects()))
        print(role_effect(Path()))
        print("first call", first_call(Path()))
        for generation in VERSIONS.values():
            print(generation, host_overhead(Path(), generation=generation))
            print(
                generation,
                "with a report in each call",
                host_overhead(Path(), generation=generation, reports=True),
            )
