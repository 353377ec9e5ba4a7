"""Print what the roles of an organization spare a real Agent-Zero: tokens of its own prompts, and milliseconds.

`A0_ROOT=/path/to/agent-zero python -m tools.host_figures [ORG]` prints a Markdown table with a row for each role. `A0_ROOT` names one
checkout or several, each in a folder with the name of its version. `A0_PYTHON` names a Python with simpleeval, PyYAML and
pydantic for `tools/host_prompts.py`, which reads the prompts by the loader of the host. Nothing is written to a checkout.

The tool section is trimmed as in the host, once by default and once with `examples: all`. The whole prompt is the main
prompt with the tool section and the list of skills, and with the brief of the role in place of what was cut. A tool of
the catalogs that the host does not have spares nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from extension.host.tool_examples import ALL, ARGUMENTS
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
    """The tokens of a role's prompts, without it and with it."""

    role: str
    tools_before: int
    """The tool section of the host."""
    tools_after: int
    tools_with_all: int
    """The tool section with the setting `examples: all`."""
    prompt_before: int
    """The whole prompt of the host."""
    prompt_after: int

    @property
    def spared_tools(self) -> float:
        """The share of the tool section that is spared."""
        return 1 - self.tools_after / self.tools_before

    @property
    def spared_prompt(self) -> float:
        """The share of the whole prompt that is spared."""
        return 1 - self.prompt_after / self.prompt_before


def read_host_prompts(root: str) -> dict[str, Any]:
    """The prompts of a checkout, by its own loader. Exits with the error of the host if it cannot be loaded."""
    python = os.environ.get("A0_PYTHON", sys.executable)
    command = [python, str(HERE / "host_prompts.py")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        last_line = (done.stderr.strip().splitlines() or [""])[-1]
        sys.exit(
            f"{root} could not be loaded by {python}: {last_line} (versions from 0.9.8 on need Python 3.12, in `A0_PYTHON`)"
        )
    prompts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return prompts


def measure_roles(prompts: Mapping[str, Any], bundle: Bundle) -> Iterator[RoleFigures]:
    """The figures of each role."""
    texts = list_tool_texts(prompts, bundle)
    main, section, skills = prompts["main"], prompts["tools"], prompts["skills"]
    before, whole = count_tokens(section), count_tokens(f"{main}\n\n{section}\n\n{skills}")
    for role in bundle.roles.values():
        shown, with_all = (
            trim_section(section, texts, bundle.tools, partial(may_show, role), examples).text
            for examples in (ARGUMENTS, ALL)
        )
        listed = skills if may_show(role, "skills_tool") else ""
        shaped = count_tokens(f"{main}\n\n{shown}\n\n{listed}\n\n{role.brief}")
        yield RoleFigures(role.role_id, before, count_tokens(shown), count_tokens(with_all), whole, shaped)


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


def render_figures(roots: Sequence[str], org_ids: Sequence[str]) -> str:
    """A Markdown table with a row for each role, two columns for each checkout and a third for the last, which should be
    the newest, and the milliseconds of each one.
    """
    hosts = {Path(root).name.removeprefix("v"): read_host_prompts(root) for root in roots}
    heads = [head for host in hosts for head in (f"{host}: tools", "prompt")]
    heads.append(f"{list(hosts)[-1]}, all examples: tools")
    table = {"role": heads, "---": ["---"] * len(heads), **render_rows(list(hosts.values()), org_ids)}
    times = [
        f"{host}: {choosing:.2f} ms to choose the role of a follow-up, {trimming:.2f} ms to trim a new prompt"
        for host, prompts in hosts.items()
        for choosing, trimming in [measure_milliseconds(prompts, _read_bundle(org_ids[0]))]
    ]
    return "\n".join([*(f"| {name} | {' | '.join(cells)} |" for name, cells in table.items()), "", *times])


def render_rows(hosts: Sequence[Mapping[str, Any]], org_ids: Sequence[str]) -> dict[str, list[str]]:
    """The cells of each row, by its first cell: the stock prompts, then each role of these organizations."""
    rows: dict[str, list[str]] = {"no role": []}
    for prompts in hosts:
        is_last = prompts is hosts[-1]
        for org_id in org_ids:
            bundle = _read_bundle(org_id)
            for figures in measure_roles(prompts, bundle):
                row = rows.setdefault(f"`{org_id}` {bundle.roles[figures.role].role_name}", [])
                row.append(_render_cell(figures.tools_after, figures.tools_before))
                row.append(_render_cell(figures.prompt_after, figures.prompt_before))
                if is_last:
                    row.append(_render_cell(figures.tools_with_all, figures.tools_before))
        rows["no role"] += [f"{figures.tools_before:,}", f"{figures.prompt_before:,}"]
    rows["no role"].append(f"{figures.tools_before:,}")
    return rows


def _read_bundle(org_id: str) -> Bundle:
    return read_bundle(json.loads((BUNDLES / f"{org_id}.json").read_text(encoding="utf-8")))


def _render_cell(after: int, before: int) -> str:
    return f"{after:,} (−{1 - after / before:.0%})"


def count_tokens(text: str) -> int:
    """The tokens of a text in o200k_base."""
    import bpe_openai

    return len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


def main() -> None:
    """Print the table of the checkouts in `A0_ROOT`."""
    roots = [root for root in os.environ.get("A0_ROOT", "").split(os.pathsep) if root]
    if not roots:
        sys.exit("A0_ROOT names no checkout of Agent-Zero")
    print(render_figures(roots, sys.argv[1:] or sorted(path.stem for path in BUNDLES.glob("*.json"))))


if __name__ == "__main__":
    main()
