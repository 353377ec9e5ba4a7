"""An organization whose agents use the tools of MCP servers, and the files that a gateway for it needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orgkernel.loading.formats.names import build_server_tool_id
from orgkernel.state.location import StoreLocation, parse_location
from tests.support.trees import write_tree

OWN_TOOLS = [
    f"orgkernel__{name}"
    for name in ("can", "dispatch", "report", "request_access", "what_can", "who_am_i", "who_can", "why")
]
"""The tools of orgkernel itself, which every role has."""
PROGRAM = Path(__file__).with_name("box.py")
ORG = """
_schema: orgkernel:organization
org_id: shop
hierarchy:
  chief: {subordinates: [lead]}
  lead: {subordinates: [clerk, guest]}
  clerk: {}
  guest: {}
"""
TOOLS = """
_schema: orgkernel:tool_catalog
tools:
  mcp__box__look: {type: mcp_server, provider: box, side_effects: read}
  mcp__box__send: {type: mcp_server, provider: box, side_effects: write}
  mcp__box__pay: {type: mcp_server, provider: box, side_effects: write}
  mcp__box__wipe: {type: mcp_server, provider: box, side_effects: destructive}
  mcp__crate: {type: mcp_server, provider: crate, side_effects: read}
"""
POLICIES = """
_schema: orgkernel:access_policies
policies:
  payments_ask:
    match: {principal: {role: clerk}}
    effect: ask
    permissions: {tools: [mcp__box__pay]}
"""
ROSTER = """
_schema: orgkernel:crew_roster
org: shop
agents:
  amy: {assignments: [{role: clerk}]}
  ann: {assignments: [{role: clerk}]}
  bob: {assignments: [{role: guest}]}
  lea: {assignments: [{role: lead}]}
"""
DIRECTORY = """
_schema: orgkernel:directory
people:
  owner: {relationship: owner, identities: [{platform: signal, id: owner-phone}]}
  friend: {relationship: friend, identities: [{platform: signal, id: friend-phone}]}
"""


def profile(role: str, kind: str, superior: str, **levels: str) -> str:
    """A role profile."""
    tools = ", ".join(f"{{tool: {tool}, level: {level}}}" for tool, level in levels.items())
    return (
        f"_schema: orgkernel:role_profile\nrole_id: {role}\nrole_type: {kind}\n"
        f"chain_of_command: {{reports_to: {superior}}}\ncapabilities:\n  tools: [{tools}]\n"
    )


CLERK = profile(
    "clerk", "specialist", "lead", mcp__box__look="read", mcp__box__send="write", mcp__box__pay="write", mcp__crate="read"
)  # fmt: skip
FILES = {
    "org.yaml": ORG,
    "tools.yaml": TOOLS,
    "policies.yaml": POLICIES,
    "crew.yaml": ROSTER,
    "directory.yaml": DIRECTORY,
    "roles/chief.yaml": profile("chief", "commander", "user", mcp__box__wipe="full"),
    "roles/lead.yaml": profile("lead", "executive", "chief", mcp__box__pay="full", mcp__box__wipe="full"),
    "roles/clerk.yaml": CLERK,
    "roles/guest.yaml": profile("guest", "specialist", "lead", mcp__box__look="read"),
}
LOOK, SEND, PAY, WIPE = (
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}
    for name in ("look", "send", "pay", "wipe")
)


class Box:
    """A server of a test: what it lists, and what reached it."""

    def __init__(self, folder: Path, name: str, *tools: dict[str, Any], **script: Any) -> None:
        self.name = name
        self._script = folder / f"{name}.script.json"
        self.notes = folder / f"{name}.notes"
        self.notes.touch()
        self.says(tools=tools, **script)

    def says(self, **script: Any) -> None:
        """What it lists from now on."""
        new = self._script.with_suffix(".new")
        new.write_text(json.dumps(script), encoding="utf-8")
        new.replace(self._script)

    @property
    def command(self) -> dict[str, Any]:
        """How it is started, in the words of an `mcp.json`."""
        return {
            "command": sys.executable,
            "args": ["-S", "-E", str(PROGRAM), str(self._script), str(self.notes)],
        }

    def noted(self, what: str) -> list[list[Any]]:
        """What came, such as calls, each as its name, its arguments and its process."""
        lines = self.notes.read_text(encoding="utf-8").splitlines()
        return [said[1:] for said in map(json.loads, lines) if said[0] == what]

    @property
    def calls(self) -> list[list[Any]]:
        """The calls that reached it, as names and arguments."""
        return [said[:2] for said in self.noted("call")]

    @property
    def processes(self) -> list[int]:
        """The processes that were started of it."""
        return [said[0] for said in self.noted("start")]

    @property
    def children(self) -> list[int]:
        """The processes that those have started."""
        return [said[0] for said in self.noted("child")]


class Shop:
    """A folder with the organization, its servers and what a gateway writes."""

    def __init__(self, folder: Path, *boxes: Box, **changed: str) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        files = {name: changed.get(Path(name).stem, text) for name, text in FILES.items()}
        write_tree(self.tree, files)
        self.box = Box(folder, "box", LOOK, SEND, PAY, WIPE)
        self.crate = Box(folder, "crate", LOOK)
        self.boxes = (self.box, self.crate, *boxes)
        self.config = folder / "mcp.json"
        self.declare({each.name: each.command for each in self.boxes})
        self.store: Any = folder / "state.db"
        """A file, or the URL of a database."""
        self.lock = folder / "gateway.lock.json"

    @property
    def place(self) -> StoreLocation:
        """The store."""
        return parse_location(str(self.store), str(self.folder))

    def declare(self, servers: dict[str, Any]) -> None:
        """Write the servers into the file that names them."""
        self.config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    def edit(self, name: str, text: str) -> None:
        """Replace a document."""
        new = self.tree / f"{name}.new"
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        new.replace(self.tree / name)

    @property
    def options(self) -> list[str]:
        """The options of a gateway."""
        return [
            "--path", str(self.tree), "--mcp-config", str(self.config), "--lock", str(self.lock), "--store", str(self.store),
        ]  # fmt: skip


def large_shop(folder: Path, boxes: list[Box]) -> Shop:
    """A shop whose clerk may use every tool of many servers."""
    catalog = "".join(
        f"  {build_server_tool_id(each.name)}: {{type: mcp_server, provider: {each.name}, side_effects: read}}\n"
        for each in boxes
    )
    held = "".join(f"{{tool: {build_server_tool_id(each.name)}, level: read}}, " for each in boxes)
    return Shop(folder, *boxes, tools=TOOLS + catalog, clerk=CLERK.replace("[{", f"[{held}{{", 1))
