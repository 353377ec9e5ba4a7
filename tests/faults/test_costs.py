"""No file within the size limit costs more than a second of processor time or 200 MB: neither its reading nor its check."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sampling import sample_every
from tests.support.trees import REPOSITORY

SECONDS, MEGABYTES = 1.0, 200
LIMIT = 16 * 2**20
# A machine that is busy with other things, or slow, takes longer for the same work.
ROOM = 2.0

Y = b"_schema: orgkernel:role_profile\nrole_id: dev\nrole_name: Dev\nx_a: "
J = b'{"_schema":"orgkernel:role_profile","role_id":"dev","role_name":"Dev","x_a":'
FACE = "\U0001f600".encode()

COSTLY: dict[str, tuple[bytes, bytes, bytes]] = {
    "anchors.yaml": (Y + b"[", b"&a%d 1, ", b"1]\n"),
    "keys.yaml": (Y + b"\n", b"  k%d: 1\n", b""),
    "values.yaml": (Y + b"[", b"1, ", b"1]\n"),
    "lists.yaml": (Y + b"[", b"[],", b"]\n"),
    "mappings.yaml": (Y + b"[", b"{a},", b"]\n"),
    "folded.yaml": (Y + b">\n", b"  a\n", b""),
    "folded_blank.yaml": (Y + b">\n", b"  a\n\n\n", b""),
    "folded_quoted.yaml": (Y + b'"a', b"\n  a", b'"\n'),
    "folded_plain.yaml": (Y + b"a", b"\n  a", b"\n"),
    "literal.yaml": (Y + b"|\n", b"  a\n", b""),
    "comments.yaml": (Y + b"1\n", b"#\n", b""),
    "text.yaml": (Y, b"a", b"\n"),
    "wide_text.yaml": (Y + b'"' + FACE, b"a", b'"\n'),
    "wide_lines.yaml": (Y + b"|\n  " + FACE, b"a\n  ", b"\n"),
    "escapes.yaml": (Y + b'"', b"\\n", b'"\n'),
    "documents.yaml": (Y + b"1\n", b"---\n", b""),
    "roles.yaml": (Y + b"1\n", b"---\n_schema: orgkernel:role_profile\nrole_id: r%d\nrole_name: R\n", b""),
    "unknown_fields.yaml": (Y + b"1\n", b"k%d: 1\n", b""),
    "numbers.json": (J + b"[", b"1,", b"1]}"),
    "numbers_in_json.yaml": (J + b"[", b"1,", b"1]}"),
    "keys.json": (J + b"{", b'"k%d":1,', b'"k":1}}'),
    "lists.json": (J + b"[", b"[],", b"1]}"),
    "lines.json": (J, b"\n", b"1}"),
    "escapes.json": (J + b'"', b"\\u0041", b'"}'),
    "wide_text.json": (J + b'"' + FACE, b"a", b'"}'),
    "schema.json": (b'{"$schema": "x", "a": [', b"[],", b"1]}"),
}

ORDERS = Y + b"1\nstanding_orders:\n"
NEARLY_SECRET = {
    "token": b"token: a1b2c3d4e5f ", "varied": b"token=abcdefghij0 ", "repeated": b"password='a1a1a1a1a1a1' ",
    "zeros": b"api_key=0000000001a ", "pulumi": b"pul-0123456789abcdef0123456789abcdef01234567 ",
    "github": b"ghp_0123456789abcdefghijABCDEFGHIJ012345 ", "name": b"http1MaxPendingRequests ", "digits": b"a1",
    "header": b"Bearer a1b2c3d4e5f6 ", "jwt": b"eyJhbGciOiJIUzI1NiJ9.", "private": b"-----BEGIN PRIVATE KEY-----",
    "address": b"a://b:a1B2c3d4e5f6@h ",
}  # fmt: skip
COPILOT = b"---\nname: a\ndescription: b\n"
SERVER = b'"s%d":{"command":"x","args":["a","b","c","d"]},'
HOSTS: dict[str, tuple[bytes, bytes, bytes]] = {
    ".codex/agents/deep_key.toml": (b'name = "a"\n', b"a.", b"b = 1\n"),
    ".codex/agents/tables.toml": (b'name = "a"\n', b"[t.a%d]\n", b""),
    ".codex/agents/lists.toml": (b'name = "a"\nx = [', b"[],", b"1]\n"),
    ".codex/agents/digits.toml": (b'name = "a"\nx = ', b"9", b"\n"),
    "opencode.json": (
        b'{"agent":{',
        b'"s%d":{"description":"x","prompt":"a"},',
        b'"z":{"description":"x"}}}',
    ),
    "opencode.jsonc": (b'{"agent":{', b"/* a */ // b\n", b'"z":{"description":"x"}}}'),
    ".mcp.json": (b'{"mcpServers":{', SERVER, b'"z":{"command":"x"}}}'),
    ".github/agents/lists.agent.md": (COPILOT + b"tools: ", b"[", b"\n---\n"),
    ".github/agents/mappings.agent.md": (COPILOT + b"handoffs: ", b"{a: ", b"\n---\n"),
    ".vscode/mcp.json": (b'{"servers":', b'{"a":', b"1\n"),
    "config/agents.yaml": (b"", b"a%d:\n  role: x\n  goal: y\n  backstory: z\n", b""),
}
"""Files of other hosts."""
FEWER: dict[str, tuple[bytes, bytes, bytes]] = {
    ".claude/agents/tools.md": (
        b"---\nname: a\ndescription: b\ntools: ",
        b"Bash(a%d:*), ",
        b"Read\n---\nbody\n",
    ),
    ".claude/agents/secrets.md": (b"---\nname: a\ndescription: b\n---\n", b"token: a1b2c3d4e5f ", b"\n"),
    ".claude/agents/fences.md": (b"---\nname: a\ndescription: b\n---\n", b"```\n~~~\n", b"\n"),
    ".github/agents/lists.agent.md": (COPILOT + b"tools: ", b"[", b"\n---\n"),
    ".github/agents/blocks.agent.md": (COPILOT + b"tools:\n", b"- ", b"a\n---\n"),
    ".github/agents/mappings.agent.md": (COPILOT + b"handoffs: ", b"{a: ", b"\n---\n"),
    ".github/agents/servers.agent.md": (
        COPILOT
        + b"mcp-servers: {"
        + b"".join(b"s%d: {command: x}, " % each for each in range(4_000))
        + b"}\ntools: [",
        b"s%d/*, ",
        b"]\n---\n",
    ),
    ".github/agents/repeated.agent.md": (COPILOT + b"agents: [", b"'*', ", b"]\n---\n"),
    ".mcp.json": (b'{"mcpServers":{', SERVER, b'"z":{"command":"x"}}}'),
    "opencode.json": (
        b'{"agent":{"z":{"description":"x","permission":{"bash":{',
        b'"a%d *":"deny",',
        b'"b":"deny"}}}}}',
    ),
}
"""Files of other hosts just below the limit for them."""

# Imports once; each file is read by a process of its own, which begins with the memory of the first one.
MEASURE = """
import os, re, resource, sys, time
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.rules.catalog import list_rules
from orgkernel.rules.hygiene import known_tokens
from orgkernel.snapshots.build import build_snapshot
from orgkernel.snapshots.roots import resolve_paths
list_rules()
if known_tokens.is_installed():
    known_tokens._get_scanner()
def peak():
    return int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
for line in sys.stdin:
    work, path = line.strip().split(" ", 1)
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        before, began = peak(), time.process_time()
        if work == "read":
            result = read_tree([Root(path, path)])
        else:
            result = build_snapshot(resolve_paths([path], path).roots)
        codes = sorted({found.code for found in result.diagnostics})
        print(time.process_time() - began, peak() - before, *codes, flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("died", flush=True)
"""


def fill(begin: bytes, part: bytes, end: bytes, limit: int = LIMIT) -> bytes:
    """A file of nearly 16 MiB, or of another limit."""
    room = limit - len(begin) - len(end) - 100
    if b"%d" not in part:
        return begin + part * (room // len(part)) + end
    parts: list[bytes] = []
    number = 0
    while room > 0:
        parts.append(part % number)
        room -= len(parts[-1])
        number += 1
    return begin + b"".join(parts[:-1]) + end


@pytest.fixture(scope="module")
def reader() -> Iterator[subprocess.Popen[str]]:
    """A process that reads the files that it is told, and says what each has cost."""
    with subprocess.Popen(
        [sys.executable, "-c", MEASURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    ) as process:  # fmt: skip
        yield process


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is measured by /proc")
@pytest.mark.parametrize("name", sample_every(COSTLY, 3))
def test_a_file_within_the_limit_is_cheap(
    name: str, reader: subprocess.Popen[str], quick_folder: Path
) -> None:
    """Whatever fills the file, it is read or refused within the budget."""
    path = quick_folder / name
    path.write_bytes(fill(*COSTLY[name]))
    codes = measure(reader, "read", path)
    assert codes in ([], ["ORG003"]), codes


def measure(reader: subprocess.Popen[str], work: str, path: Path) -> list[str]:
    """The codes of the findings, which were found within the budget."""
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write(f"{work} {path}\n")
    seconds, megabytes, *codes = (said := reader.stdout.readline()).split()
    assert float(seconds) < SECONDS * ROOM, said
    assert int(megabytes) < MEGABYTES, said
    return codes


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is measured by /proc")
@pytest.mark.parametrize("name", sample_every(NEARLY_SECRET, 3))
@pytest.mark.parametrize("shape", ["one text", "many texts"])
def test_near_secrets_are_cheap(
    name: str, shape: str, reader: subprocess.Popen[str], quick_folder: Path
) -> None:
    """A document full of them is searched up to a budget, with the detector too, and the rest is a finding."""
    part = NEARLY_SECRET[name]
    text = (
        fill(Y + b'"', part, b'"\n')
        if shape == "one text"
        else fill(ORDERS, b'  - "' + part * (200 // len(part)) + b'"\n', b"")
    )
    (quick_folder / "dev.yaml").write_bytes(text)
    codes = measure(reader, "check", quick_folder)
    assert {"ORG003", "ORG704"} & set(codes) or name in ("repeated", "digits"), codes


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is measured by /proc")
@pytest.mark.parametrize("name", sample_every(HOSTS, 2))
def test_a_file_of_another_host_is_cheap(
    name: str, reader: subprocess.Popen[str], quick_folder: Path
) -> None:
    """Whatever fills it, it is read or refused within the budget."""
    path = quick_folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(fill(*HOSTS[name]))
    measure(reader, "check", quick_folder)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is measured by /proc")
@pytest.mark.parametrize("name", FEWER)
def test_a_file_of_another_host_below_its_limit_is_cheap(
    name: str, reader: subprocess.Popen[str], quick_folder: Path
) -> None:
    """What is just small enough to be read is checked within the budget."""
    path = quick_folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(fill(*FEWER[name], limit=90_000 if name.endswith(".json") else 256 * 1024))
    codes = measure(reader, "check", quick_folder)
    assert "ORG003" not in codes
