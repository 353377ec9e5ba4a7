"""Each way out that a refusal names works: carried out by who it names, the same call succeeds."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.gateways import Wire, on_wire
from tests.gateway.shop import LOOK, PAY, POLICIES, SEND, TOOLS, WIPE, Shop
from tests.support.in_process import run_here

CLERK = """\
_schema: orgkernel:role_profile
role_id: clerk
role_type: specialist
chain_of_command: {reports_to: lead}
capabilities:
  tools:
    - {tool: mcp__box__look, level: read}
    - {tool: mcp__box__pay, level: write}
    - {tool: mcp__box__send, level: write}
    - {tool: mcp__crate, level: read}
file_scope: ["desk/**"]
"""
WIPES = [f"wipe_{letter}" for letter in "abcdefgh"]
"""Tools that are refused alike, so that each way out is tried on one of them."""
CATALOG = TOOLS.replace("side_effects: write}", "side_effects: write, path_arguments: []}").replace(
    "provider: box, side_effects: destructive}", "provider: box, side_effects: destructive, path_arguments: []}"
).replace("box__send: {type: mcp_server, provider: box, side_effects: write, path_arguments: []}",
          "box__send: {type: mcp_server, provider: box, side_effects: write, path_arguments: [path]}") + "".join(
    f"  mcp__box__{each}: {{type: mcp_server, provider: box, side_effects: write, path_arguments: []}}\n" for each in WIPES
)  # fmt: skip
LEAD = """\
_schema: orgkernel:role_profile
role_id: lead
role_type: executive
chain_of_command: {reports_to: chief}
capabilities:
  tools_primary: [mcp__box__pay, mcp__box__wipe, %s]
"""


class Project(Shop):
    """A shop whose settings name its documents and its store, so that commands need no options."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, tools=CATALOG, clerk=CLERK, lead=LEAD % ", ".join(f"mcp__box__{each}" for each in WIPES))  # fmt: skip
        self.edit("../orgkernel.toml", 'paths = ["tree"]\nstore = "state.db"\n')
        self.box.says(tools=[LOOK, SEND, PAY, WIPE, *({**LOOK, "name": each} for each in WIPES)])

    @property
    def options(self) -> list[str]:
        """Only what no settings name, written as an operator in the folder writes it."""
        return ["--mcp-config", "mcp.json"]

    def run(self, command: str) -> None:
        """Run a printed command as the operator does."""
        words = shlex.split(command)
        assert words[0] == "orgkernel"
        done = run_here(*words[1:], cwd=self.folder)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The organization, and the folder in which its operator works."""
    return Project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def wire(project: Project) -> Iterator[Wire]:
    """The gateway of a clerk."""
    with on_wire(project) as wire:
        yield wire


def changes_in(text: str) -> list[str]:
    """The changes that a refusal names, each with its commands and edits."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match("smallest change: |or: ", line)]
    return ["\n".join([lines[at], *_below(lines[at + 1 :])]) for at in starts]


def _below(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("  "):
            return
        yield line


def carry_out(project: Project, change: str) -> None:
    """Run the commands of a change, and make its edits."""
    done = 0
    for command in re.findall("command: `(.*)`", change):
        project.run(command)
        done += 1
    for file, number, write in re.findall(r"edit (\S+):(\d+): write `(.*?)`", change):
        path = project.folder / file
        lines = path.read_text(encoding="utf-8").splitlines()
        indent = len(lines[int(number) - 1]) - len(lines[int(number) - 1].lstrip())
        lines.insert(int(number), " " * (indent + 2) + write)
        project.edit(str(path.relative_to(project.tree)), "\n".join(lines) + "\n")
        done += 1
    assert done, change


def succeeds(wire: Wire, tool: str, **arguments: Any) -> bool:
    """Whether a call reaches its server, once the gateway has read edited documents, which takes up to a second."""
    return wire_until(lambda: wire.text(tool, **arguments).endswith(" done"))


def wire_until(check: Any) -> bool:
    """Whether something becomes true within some seconds."""
    from tests.api.running import until

    return bool(until(check, bool))


def test_every_change_of_a_refusal_allows_the_call(project: Project, wire: Wire) -> None:
    """A grant, an edit, a request that is approved, and the subject who can do it instead."""
    refused = wire.text("box__wipe_a")
    changes = changes_in(refused)
    assert len(changes) == 2
    for number, _ in enumerate(changes):
        tool = f"box__{WIPES[number]}"
        carry_out(project, changes_in(wire.text(tool))[number])
        assert succeeds(wire, tool), changes[number]
    refused = wire.text("box__wipe_c")
    asking = re.search(r"to ask for it: call `(\S+)` with (.*)$", refused, re.MULTILINE)
    assert asking is not None, refused
    answer = wire.text(asking[1], **json.loads(asking[2]))
    project.run(str(re.findall("`(orgkernel request approve .*?)`", answer)[0]))
    again = re.search(r"ask `(\S+)` again", answer)
    assert again is not None
    assert again[1] in wire.tools()
    answer = wire.text(again[1], resource="tool:mcp__box__wipe_c", action="use")
    assert "make the call, which uses one up" in answer
    assert "approval" not in answer
    assert succeeds(wire, "box__wipe_c")
    instead = re.search("who can do it instead: .*`role:(lead)`", wire.text("box__wipe_d"))
    assert instead is not None
    with on_wire(project, "--role", instead[1]) as of_lead:
        assert of_lead.text("box__wipe_d") == "wipe_d done"


def test_an_approval_allows_the_call_that_waits_for_it(project: Project, wire: Wire) -> None:
    """The command in the refusal approves this call."""
    waiting = wire.text("box__pay", euros=5)
    project.run(str(re.findall("`(orgkernel request approve .*?)`", waiting)[0]))
    assert succeeds(wire, "box__pay", euros=5)
    assert "payments_ask" in POLICIES


def test_only_paths_that_a_call_can_state_are_proposed(project: Project, wire: Wire) -> None:
    """A missing path is proposed and helps. A request for a path outside of the scope, which no grant widens, is neither
    offered nor filed.
    """
    missing = wire.text("box__send")
    assert "smallest change: state a path in `desk/**`" in missing
    assert "request_access" not in missing
    assert wire.text("box__send", path="desk/a") == "send done"
    outside = wire.text("box__send", path="safe/a")
    assert "request_access" not in outside
    assert "smallest change" not in outside
    assert "NOTHING_TO_ASK" in wire.text(
        "orgkernel__request_access", resource="tool:mcp__box__send:safe/a", action="use", reason="x"
    )


def test_a_withheld_tool_is_called_after_the_named_command(project: Project, wire: Wire) -> None:
    """The command names the servers and the lock file of this gateway."""
    assert wire.text("crate__look") == "look done"
    project.crate.says(tools=[{**LOOK, "description": "Looks closer."}], tells={"listChanged": True})
    with on_wire(project) as other:
        withheld = other.text("crate__look")
        project.run(str(re.findall("`(orgkernel gateway accept .*?)`", withheld)[0]))
        assert other.text("crate__look") == "look done"


def test_an_undeclared_tool_is_called_after_it_is_declared(project: Project, wire: Wire) -> None:
    """The refusal shows the declaration that is missing. A request for a tool that no document declares is not offered."""
    project.box.says(tools=[LOOK, {**LOOK, "name": "ghost"}])
    with on_wire(project) as other:
        other.text("box__look")
        project.run("orgkernel gateway accept --mcp-config mcp.json box")
        refused = other.text("box__ghost")
        assert "request_access" not in refused
        declaration = re.search("gives it to a role: `(.*)`", refused)
        assert declaration is not None, refused
        declared = json.loads(declaration[1])
        project.edit("tools.yaml", CATALOG + f"  {json.dumps(declared)[1:-1]}\n")
        given = f"    - {{tool: {next(iter(declared))}, level: read}}\n"
        project.edit(
            "roles/clerk.yaml", CLERK.replace("    - {tool: mcp__crate", f"{given}    - {{tool: mcp__crate")
        )
        assert succeeds(other, "box__ghost")


def test_a_tool_that_is_not_offered_is_answered_with_the_reason(tmp_path: Path) -> None:
    """A server that cannot be used, a tool of orgkernel that was left out, and a tool that the role does not have."""
    shop = Shop(tmp_path)
    far = {"url": "https://far.example/mcp", "headers": {"authorization": "Bearer ${FAR}"}}
    shop.declare({"box": shop.box.command, "crate": shop.crate.command, "far": far})
    with on_wire(shop, "--role", "clerk", "--no-self-service") as wire:
        assert "it needs the variable `FAR`; pass it with --env FAR" in wire.text("far__look")
        assert "was started with `--no-self-service`" in wire.text("orgkernel__can")
        refused = wire.text("box__wipe")
        assert "does not have tool `mcp__box__wipe`" in refused
        assert "request_access" not in refused
