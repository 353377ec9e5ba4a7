"""Any file in another format is read or refused, and values keep their source positions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.loading.files import Area, LocatedFile, Root, decode, locate_files
from orgkernel.loading.formats import FORMATS, complete
from orgkernel.loading.sources import LoadedFile
from orgkernel.snapshots.roots import resolve_paths
from tests.support.crew_trees import json_crew, yaml_crew
from tests.support.format_trees import cards, skills, specification

_MARKS = [*"abn: ,[]{}()'\"|>-&*!#%@`/\t\n\r\0\u2028\ud800\x1b", "---\n", "\n  - ", "true", "\u202e"]
_FRONT = [
    "name: a\n", "\ndescription: ", "\ntools: ", "\nagents: ", "\nmodel: ", "\nhandoffs:\n  - agent: ", "\nmcp-servers: ",
    "\ninfer: ", "\norgkernel-suppressions: ", "mcp__x__y", "x/y", "{rule: ", "agent",
]  # fmt: skip
_JSON = [
    '{"mcpServers": ', '{"servers": {"s": ', '{"tools": [', '{"name": "a", ', '"inputSchema": {', '"annotations": ', '"$ref": "#"',
    '"readOnlyHint": true', '"nextCursor": "x"', "}", "]", "null", "1e999", '"type": "object"', '"result": {', '"s": ',
]  # fmt: skip
_CREW = [
    "a:\n  ", "role: r\n  ", "goal: g\n  ", "backstory: b\n  ", "tools: [x]\n  ", "mcps: [{url: u}]\n  ", "allow_delegation: on\n  ",
    "description: d\n  ", "expected_output: e\n  ", "agent: a\n  ", "max_iter: 0\n  ", "llm: {model: m}\n  ", "<<: *a\n",
]  # fmt: skip
_CREW_JSON = [
    '"agents": ["a"], ', '"tasks": [{"description": "d", "agent": "a", "tools": ["t"], "context": ["x"]}], ', '"process": "hierarchical", ',
    '"manager_agent": "a", ', '"role": "r", ', '"goal": "g", ', '"backstory": "b", ', '"tools": ["x", {"name": 1}], ', "// c\n", "/*", "*/", "}",
    '"settings": {"max_iter": 3}, ', '"manager_llm": ',
]  # fmt: skip
_PYTHON = [
    "@CrewBase\nclass A:\n", "    @tool\n    def t(self): pass\n", "    @agent\n    def a(self): return Agent(tools=[1])\n",
    "    @crew\n    def c(self): return Crew(process=Process.hierarchical, manager_agent=self.a())\n", "    async def x(self): ...\n", "    ",
]  # fmt: skip
_SPEC = [
    "component_type: Agent\n", "id: i\n", "name: a\n", "system_prompt: p\n", "llm_config: {$component_ref: i}\n", "tools: [{$component_ref: i}]\n",
    "component_type: ManagerWorkers\n", "group_manager: {component_type: Agent, name: x}\n", "workers: [{$component_ref: i}, 1]\n",
    "relationships: [[1], [{$component_ref: i}, {}]]\n", "$referenced_components: {i: {component_type: ServerTool, name: x, id: i}}\n",
    "component_type: Swarm\n", "tools: [{component_type: ClientTool, name: y, requires_confirmation: true}]\n",
]  # fmt: skip
_CARD = [
    '"name": "a", ', '"description": "d", ', '"version": "1", ', '"skills": [{"id": "a", "tags": [1], "examples": ["x", 2]}], ', '"capabilities": {}, ',
    '"supportedInterfaces": [{}, 1], ', '"signatures": [], ', '"protocolVersion": "0.3", ', '"defaultInputModes": [], ', '"x": 1}',
]  # fmt: skip
# Format, a place of its files, how a text begins and goes on, and what it is made of.
PLACES = [
    ("copilot", ".github/agents/a.agent.md", "---\n{}\n---\nText\n", _FRONT),
    ("copilot", ".vscode/mcp.json", "{}", _JSON),
    (
        "claude-code",
        ".claude/commands/a.md",
        "---\n{}\n---\nText\n",
        ["allowed-tools: ", "\nagent: ", "Bash(git:*)", "x"],
    ),
    (
        "claude-code",
        ".claude/settings.json",
        "{}",
        [
            '{"permissions": {',
            '"deny": [',
            '"ask": ',
            '"Bash(rm:*)"',
            '"mcp__x__*"',
            '"*"',
            '"Task"',
            "]",
            "}}",
            "3",
        ],
    ),
    ("mcp", "mcp-tools.json", "{}", _JSON),
    ("crewai", "config/agents.yaml", "a:\n  {}", _CREW),
    ("crewai", "config/tasks.yaml", "a:\n  {}", _CREW),
    ("crewai", "crew.jsonc", "{ {}", _CREW_JSON),
    ("crewai", "agents/a.jsonc", "{ {}", _CREW_JSON),
    ("crewai", "crew.py", "from crewai.project import CrewBase\n{}", _PYTHON),
    ("crewai", "tools/a.py", "{}", _PYTHON),
    ("agent-spec", "a.yaml", "{}agentspec_version: 1\n", _SPEC),
    ("agent-spec", "a.json", '{"component_type": "Agent", "name": "\\ud800", {}', _JSON),
    ("a2a", "a.json", '{"url": "u", {}', _CARD),
    ("skills", "a/SKILL.md", "---\n{}\n---\nText\n", _FRONT),
    (
        "agent-zero",
        "agents/a/agent.yaml",
        "{}",
        ["title: ", "\ndescription: ", "\ncontext: ", "\norgkernel-suppressions: ", "enabled: "],
    ),
    (
        "agent-zero",
        "agents/a/plugins/_tool_access/config.json",
        "{}",
        ['{"mode": "custom"', ', "default": ', '"block"', ', "allowed": [', '"mcp:a:b"', "]", "}"],
    ),
]


@pytest.mark.parametrize(
    ("form", "place", "frame", "parts"), PLACES, ids=[f"{each[0]}-{each[1]}" for each in PLACES]
)
@settings(max_examples=100)
@given(data=st.data())
def test_no_text_stops_the_reader(
    form: str, place: str, frame: str, parts: list[str], data: st.DataObject
) -> None:
    """No text raises, whatever it is made of."""
    text = "".join(data.draw(st.lists(st.sampled_from([*_MARKS, *parts * 3]), max_size=30)))
    content = frame.replace("{}", text).encode("utf-8", "surrogatepass")
    source = decode(f"/x/{place}", place, content)
    root = Root("/x", "", format=form, areas=(Area(place),))
    read = FORMATS[form].read(source, root)
    assert read.documents or read.broken or read.skipped
    assert not read.broken or read.diagnostics
    completion = complete(
        [LoadedFile(LocatedFile(source.path, source.name, root, 0), source.digest, True, False, read)]
    )
    made = [document for documents in completion.instead.values() for document in documents]
    for document in (*completion.documents, *made, *read.documents):
        assert document.record
        document.place("tools", "mcp__s", "input_schema")
        document.place("capabilities", "tools_primary", 0)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> list[list[LocatedFile]]:
    """The files of well-kept trees, with the roots they are read below."""
    made = []
    for number, make in enumerate((yaml_crew, json_crew, specification, cards, skills)):
        folder = make(tmp_path_factory.mktemp("trees") / str(number))
        request = resolve_paths(["."], str(folder))
        made.append([each for each in locate_files(request.roots) if each.root.areas])
    return made


@settings(max_examples=150)
@given(data=st.data())
def test_no_damage_to_a_tree_stops_what_its_files_mean_together(
    trees: list[list[LocatedFile]], data: st.DataObject
) -> None:
    """Files that lack a part, have one twice, or are gone: the others still become an organization, or nothing."""
    files = data.draw(st.sampled_from(trees))
    read = []
    for located in data.draw(st.permutations(files)):
        text = Path(located.path).read_text("utf-8")
        lines = text.splitlines(keepends=True)
        start = data.draw(st.integers(0, len(lines)))
        end = data.draw(st.integers(start, min(len(lines), start + 4)))
        kept = data.draw(st.sampled_from(["all", "without", "twice", "cut", "gone"]))
        if kept == "gone":
            continue
        part = "".join(lines[start:end])
        damaged = {
            "all": text,
            "without": text.replace(part, "", 1),
            "twice": text.replace(part, part * 2, 1),
            "cut": text[: len(text) - len(part)],
        }
        source = decode(located.path, located.name, damaged[kept].encode())
        read.append(
            LoadedFile(
                located, source.digest, True, False, FORMATS[located.root.format].read(source, located.root)
            )
        )
    completion = complete(read)
    documents = [document for file in read for document in file.read.documents]
    now = [document for each in documents for document in completion.instead.get(id(each), (each,))]
    for document in (*completion.documents, *now):
        assert document.record
        document.place("hierarchy", "reporter", "subordinates", 0)
