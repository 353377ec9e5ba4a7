"""What the extension does to an Agent-Zero: tokens of the tool prompt saved, calls refused, time added.

`python -m benchmarks.agent_zero` prints the effect on each role of both templates as a table. Sizes are those of the
stock prompt files (`tests/agent_zero/double_prompts.py`), or of the checkout that `A0_ROOT` names. Without a tokenizer a
token is taken for four characters, which is roughly what tokenizers make of English; shares do not depend on it.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from extension.host.gate import may_use
from extension.host.organization import Active, Settings
from extension.host.tool_texts import served_by
from orgkernel import Kernel
from orgkernel.exchange.agent_zero.activation import activate
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.runtime.bundle import Bundle, BundleRole, read_bundle
from tests.agent_zero.double import build_host, running
from tests.agent_zero.double_loader import Loader
from tests.agent_zero.double_prompts import STOCK_TOOLS, TOOLS_HEADER, tool_text
from tests.agent_zero.installing import install

TEMPLATES = ("software_dev", "sigint_alpha")
VERSIONS = ("0.9.8.2", "1.7")
CHARACTERS_OF_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Effect:
    """One role in one version of the host."""

    org_id: str
    role: BundleRole
    version: str
    before: int
    """Tokens of the whole tool section."""
    after: int
    """Tokens of what the role is shown of it."""
    brief: int
    """Tokens of the brief that is added."""
    tools: int
    """Stock tools of that version."""
    refused: int
    """Those of them that the role is refused."""

    @property
    def saved(self) -> float:
        """Share of the tool section that is gone."""
        return 1 - self.after / self.before


def stock_texts(version: str) -> dict[str, str]:
    """The prompt files about tools of a version; those of a checkout where `A0_ROOT` names one."""
    root = os.environ.get("A0_ROOT")
    if root:
        files = sorted(
            {
                *Path(root).glob("prompts/agent.system.tool.*.md"),
                *Path(root).glob("plugins/*/prompts/agent.system.tool.*.md"),
            }
        )
        return {file.name: file.read_text(encoding="utf-8") for file in files}
    sizes = {
        name: (tools, old if version == VERSIONS[0] else new)
        for name, (tools, old, new) in STOCK_TOOLS.items()
    }
    return {
        f"agent.system.tool.{name}.md": tool_text(tools, size)
        for name, (tools, size) in sizes.items()
        if size
    }


def count_tokens(text: str) -> int:
    """Tokens of a text: counted where a tokenizer is installed, otherwise a token for four characters."""
    try:
        import tiktoken

        return len(tiktoken.get_encoding("o200k_base").encode(text))
    except Exception:  # not installed, or its tables would have to be downloaded
        return len(text) // CHARACTERS_OF_TOKEN


def load(org_id: str) -> tuple[dict[str, Any], Bundle]:
    """The compiled bundle of a template, as JSON and as read."""
    compiled = json.loads(json.dumps(compile_bundle(Kernel.open().latest(org_id).index, "benchmarks")))
    return compiled, read_bundle(compiled)


def effects() -> list[Effect]:
    """The effect on every role of both templates."""
    found = []
    for org_id in TEMPLATES:
        bundle = load(org_id)[1]
        active = Active(Settings(), bundle, None, True)
        for version in VERSIONS:
            texts = stock_texts(version)
            served = {name: served_by(name, text, bundle.tools.keys()) for name, text in texts.items()}
            tools = frozenset(tool for each in served.values() for tool in each)
            for role in bundle.roles.values():
                kept = [
                    text
                    for name, text in texts.items()
                    if any(may_use(active, role, tool) for tool in served[name])
                ]
                sections = ["\n".join([TOOLS_HEADER, "\n\n".join(each)]) for each in (texts.values(), kept)]
                before, after = map(count_tokens, sections)
                refused = sum(not may_use(active, role, tool) for tool in tools)
                found.append(
                    Effect(
                        org_id, role, version, before, after, count_tokens(role.brief), len(tools), refused
                    )
                )
    return found


def role_effect(_: Path) -> dict[str, Any]:
    """Median share of the tool prompt that specialists are spared, by version, and of the calls refused."""
    specialists = [each for each in effects() if each.role.role_type == "specialist"]
    return {
        name: median(each.saved for each in specialists if each.version == version)
        for name, version in (("old", VERSIONS[0]), ("new", VERSIONS[1]))
    } | {"least_old": min(each.saved for each in specialists if each.version == VERSIONS[0]),
         "least_new": min(each.saved for each in specialists if each.version == VERSIONS[1]),
         "refused": median(each.refused / each.tools for each in specialists)}  # fmt: skip


class _Timed(Loader):
    """A loader that keeps the time our shims take, for each model call."""

    spent = 0.0

    async def call(self, hook: str, agent: Any, **kwargs: Any) -> None:
        for cls in self.classes(hook, agent.config.profile, None):
            start = time.perf_counter()
            await cls(agent=agent).execute(**kwargs)  # type: ignore[attr-defined]
            if cls.__name__.startswith("Org"):
                self.spent += time.perf_counter() - start


def host_overhead(_: Path, calls: int = 400) -> dict[str, Any]:
    """Milliseconds our shims add to a model call, and of them those of a call with a report; over many calls."""
    times: list[float] = []
    with TemporaryDirectory() as place:
        root = build_host(Path(place) / "host", "G2")
        install(root, "G2")
        activate(str(root), load("software_dev")[0], {})
        with running(root, "G2") as host:
            loader = _Timed(root, "G2")
            host.loader = loader
            agent = host.open_chat()

            def turn(number: int) -> Callable[[Any], Mapping[str, Any]]:
                def ask(_: Any) -> Mapping[str, Any]:
                    if number:
                        times.append(loader.spent * 1e3)
                    loader.spent = 0.0
                    arguments = {"runtime": "terminal", "code": f"ls {number}"}
                    return {"tool_name": "code_execution_tool", "tool_args": arguments}

                return ask

            agent.hist_add_user_message("Fix the bug in parser.py")
            host.script = [turn(number) for number in range(calls)]
            asyncio.run(agent.monologue())
    return {"median": median(times), "p99": quantiles(times, n=100)[98]}


def render_effects(found: list[Effect]) -> str:
    """The table of the documentation."""
    old, new = (
        {(each.org_id, each.role.role_id): each for each in found if each.version == version}
        for version in VERSIONS
    )
    lines = [
        "| role | 0.9.8.2: tokens of tools | | 1.7: tokens of tools | | brief | refused of the stock tools |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, before in old.items():
        after = new[key]
        lines.append(
            f"| `{key[0]}` {before.role.role_name} | {before.before:,} → {before.after:,} | −{before.saved:.0%} "
            f"| {after.before:,} → {after.after:,} | −{after.saved:.0%} | +{after.brief} | {after.refused} of {after.tools} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(render_effects(effects()))
    print(role_effect(Path()))
    print(host_overhead(Path()))
