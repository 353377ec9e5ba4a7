"""Print what the roles of an organization spare a real Agent-Zero: tokens of its own prompts, and milliseconds.

`A0_ROOT=/path/to/agent-zero python -m tools.host_figures [ORG]` prints a Markdown table with a row for each role. `A0_ROOT` names one
checkout or several. `A0_PYTHON` names a Python with simpleeval, PyYAML and pydantic for `tools/host_prompts.py`, which reads the
prompts by the loader of the host. Nothing is written to a checkout.

The tool section is trimmed as in the host, once with all examples that differ and once with the first for each tool and method. The whole
prompt is the main prompt with the tool section and the list of skills, and with the brief of the role in place of what was cut. A tool of the catalogs that the host does not have spares nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from extension.host.tool_examples import ALL, FIRST
from extension.host.tool_section import trim_section
from extension.host.tool_texts import ToolText, list_served_tools, normalize_line
from orgkernel.runtime.bundle import Bundle, BundleRole, read_bundle
from orgkernel.runtime.task_life import begin_task, judge_message
from orgkernel.runtime.text_index import rank_roles

HERE = Path(__file__).parent
BUNDLES = HERE.parent / "extension/organizations/bundles"
_ALWAYS = frozenset({"response"})
_REPEATS = 200
_FOLLOW_UP = "also show me the diff"


class RoleFigures(NamedTuple):
    """What a role spares."""

    role: str
    tools_before: int
    """Tokens of the tool section of the host."""
    tools_after: int
    prompt_before: int
    """Tokens of the whole prompt of the host."""
    prompt_after: int
    tools_of_first: int
    """Tokens of the tool section with the first example for each tool and method."""
    prompt_of_first: int

    def describe_tools(self) -> str:
        """The tokens of the tool section, and the share that is spared."""
        return " | ".join(
            f"{after:,} (−{1 - after / self.tools_before:.0%})"
            for after in (self.tools_after, self.tools_of_first)
        )

    def describe_prompt(self) -> str:
        """The share of the whole prompt that is spared."""
        return " | ".join(
            f"−{1 - after / self.prompt_before:.0%}" for after in (self.prompt_after, self.prompt_of_first)
        )


def read_host_prompts(root: str) -> dict[str, Any]:
    """The prompts of a checkout, by its own loader. Raises `CalledProcessError` with the error of the host."""
    python = os.environ.get("A0_PYTHON", sys.executable)
    command = [python, str(HERE / "host_prompts.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    prompts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return prompts


def measure_roles(prompts: Mapping[str, Any], bundle: Bundle) -> Iterator[RoleFigures]:
    """The figures of each role."""
    texts = list_tool_texts(prompts, bundle)
    main, section, skills = prompts["main"], prompts["tools"], prompts["skills"]
    before, whole = count_tokens(section), count_tokens(f"{main}\n\n{section}\n\n{skills}")
    for role in bundle.roles.values():
        figures = []
        for examples in (ALL, FIRST):
            shown = trim_section(section, texts, bundle.tools, partial(may_show, role), examples).text
            listed = skills if may_show(role, "skills_tool") else ""
            shaped = count_tokens(f"{main}\n\n{shown}\n\n{listed}\n\n{role.brief}")
            figures += [count_tokens(shown), shaped]
        yield RoleFigures(role.role_id, before, figures[0], whole, *figures[1:])


def list_tool_texts(prompts: Mapping[str, Any], bundle: Bundle) -> list[ToolText]:
    """The files about tools, the longest first, as the extension reads them."""
    texts = []
    for name, text in prompts["files"].items():
        keys = tuple(filter(None, map(normalize_line, text.splitlines())))
        if keys:
            texts.append(ToolText(name, keys, list_served_tools(name, text, bundle.tools)))
    return sorted(texts, key=lambda each: -len(each.keys))


def may_show(role: BundleRole, tool: str) -> bool:
    """Whether the role is shown a tool."""
    return tool in role.host_tools or tool in role.essential or tool in _ALWAYS


def measure_milliseconds(prompts: Mapping[str, Any], bundle: Bundle) -> tuple[float, float]:
    """The median milliseconds to choose the role of a follow-up, and to trim a prompt that was not seen before."""
    index = bundle.text_index
    assert index is not None
    role = next(each for each in bundle.roles.values() if each.domains)
    task = begin_task(role.role_id, "write a file and find the bug in it", 0.0)
    texts = list_tool_texts(prompts, bundle)

    def choose() -> None:
        judge_message(index, _FOLLOW_UP, rank_roles(index, _FOLLOW_UP), task, 0.0)

    def trim() -> None:
        trim_section(prompts["tools"], texts, bundle.tools, lambda tool: may_show(role, tool))

    medians = []
    for work in (choose, trim):
        work()
        durations = []
        for _ in range(_REPEATS):
            begun = time.perf_counter()
            work()
            durations.append(time.perf_counter() - begun)
        medians.append(1_000 * sorted(durations)[_REPEATS // 2])
    return medians[0], medians[1]


def render_table(root: str, org_id: str) -> str:
    """The table of a checkout and an organization, as Markdown."""
    bundle = read_bundle(json.loads((BUNDLES / f"{org_id}.json").read_text(encoding="utf-8")))
    prompts = read_host_prompts(root)
    choosing, trimming = measure_milliseconds(prompts, bundle)
    rows = [
        f"| `{each.role}` | {each.tools_before:,} | {each.describe_tools()} | {each.describe_prompt()} |"
        for each in measure_roles(prompts, bundle)
    ]
    return "\n".join(
        [
            f"{Path(root).name}, {org_id}: {choosing:.2f} ms to choose the role of a follow-up, {trimming:.2f} ms to trim a new prompt",
            "",
            "| role | tool section | for the role | with first examples | prompt | with first examples |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )


def count_tokens(text: str) -> int:
    """The tokens of a text in o200k_base."""
    import bpe_openai

    return len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


def main() -> None:
    """Print a table for each checkout in `A0_ROOT`."""
    roots = [root for root in os.environ.get("A0_ROOT", "").split(os.pathsep) if root]
    if not roots:
        sys.exit("A0_ROOT names no checkout of Agent-Zero")
    organizations = sys.argv[1:] or sorted(path.stem for path in BUNDLES.glob("*.json"))
    for root in roots:
        for org_id in organizations:
            print(render_table(root, org_id), end="\n\n")


if __name__ == "__main__":
    main()
