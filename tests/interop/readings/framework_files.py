"""Generates files of frameworks that loaders could read in different ways."""

from __future__ import annotations

from hypothesis import strategies as st

# Not there: `=` and `<<` as values, which PyYAML refuses, and we read as text.
_TEXTS = (
    "R", '"a # b"', "a # b", "'it''s'", "a: b", "- x", "@x", "`x`", "&x a", "*x", "|\n    a\n    b", ">-\n    a", "yes", "on", "null", "~",
    "", '""', "' '", "1", "1.0", "0x1F", "010", "12:30", "2024-01-01", "x y", "[a]", "{a: b}", '"unclosed', "x\n    y", "true",
    ".inf", "1_000", "!!str 1", "{topic} R", "\u00e4\u2028b", '"a\\u0020b"', "x \u00a0",
)  # fmt: skip
_TOOLS = (
    "[search]", "[search, write]", "\n    - search\n    - write", "\n  - search", "search", "'search, write'", "[]", "", "null", "~", "{}",
    "{search: true}", "[null]", "[yes]", "[1]", "[search, null]", "['search']", '["search"]', "[ search ]", "[' search']", "[search, search]",
    "[search] # [write]", "&t [search]", "[[search]]", "[{search: 1}]", "[search,]", "[Search]", "[unknown]", "[search write]", "yes",
    "0", '""', "[search, 'write']", "!!set {search}", "|\n    search", "['search ']", "['']", "['', search]",
)  # fmt: skip
_FLAGS = (
    "true", "false", "yes", "no", "on", "off", "y", "n", "Yes", "TRUE", "True", "'true'", "'yes'", "'on'", "1", "0", "'1'", "null", "~", "",
    "2", "1.0", "[]", "[true]", "t", "f", "'t'", "0x1", "!!bool yes", "' true'", "oN", '"true "', "01", "1.5", "'0'", "''",
)  # fmt: skip
_MODELS = (
    "gpt-4o",
    "openai/gpt-4o",
    "'gpt-4o'",
    "null",
    "",
    "{model: gpt-4o}",
    "1",
    "[gpt-4o]",
    "gpt-4o # x",
    "' gpt-4o'",
    "yes",
    "~",
)
_NAMES = (
    "b",
    "b",
    "b",
    "1",
    "yes",
    "on",
    "null",
    "'1'",
    '"b c"',
    "b c",
    "1.0",
    "a",
    "\u00e4",
    "'a'",
    "b#c",
    "''",
    "~",
    "? b\n",
    "<<",
    "true",
    "0x1",
)
_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r")


@st.composite
def crew_files(draw: st.DrawFn) -> str:
    """The text of an `agents.yaml` with two agents, of which one has values that are hard to read."""
    fields = {
        "role": draw(st.one_of(st.just("R"), st.just("R"), st.sampled_from(_TEXTS))),
        "goal": draw(st.one_of(st.just("G"), st.just("G"), st.sampled_from(_TEXTS))),
        "backstory": draw(st.one_of(st.just("B"), st.just("B"), st.sampled_from(_TEXTS))),
    }
    for key, values in (
        ("tools", _TOOLS), ("allow_delegation", _FLAGS), ("llm", _MODELS), ("max_iter", ("5", "'5'", "0", "-1", "1.5", "010", "null", "1_0", "")),
        ("shade", _TEXTS), ("apps", ("[gmail]", "gmail", "[]", "[1]")), ("verbose", _FLAGS), ("config", ("{tools: [search]}", "null")),
        ("Tools", _TOOLS), ("settings", ("{tools: [write]}",)), ("name", _TEXTS),
    ):  # fmt: skip
        if draw(st.integers(0, 3 if key in ("tools", "allow_delegation") else 9)) < 2:
            fields[key] = draw(st.sampled_from(values))
    lines = [f"  {key}: {value}\n" for key, value in fields.items()]
    if draw(st.integers(0, 5)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    lines = list(draw(st.permutations(lines)))
    anchor = " &a" if draw(st.integers(0, 5)) == 0 else ""
    other = "  role: S\n  goal: G\n  backstory: B\n"
    if anchor:
        other = draw(
            st.sampled_from(
                (
                    "  <<: *a\n",
                    "  <<: *a\n  tools: [write]\n",
                    "  <<: [*a]\n  role: S\n",
                    "  <<: *a\n  <<: *a\n",
                )
            )
        )
    beginning = draw(
        st.sampled_from(
            ("", "", "", "", "", "", "\ufeff", "---\n", "# c\n", "%YAML 1.1\n---\n", "\n\n", "--- # x\n")
        )
    )
    ending = draw(
        st.sampled_from(
            ("", "", "", "", "", "", "...\n", "---\n", "c: 1\n", "c:\n", "c: {}\n", "---\na: 1\n")
        )
    )
    text = f"{beginning}a:{anchor}\n{''.join(lines)}{draw(st.sampled_from(_NAMES))}:\n{other}{ending}"
    return text.replace("\n", draw(st.sampled_from(_ENDS)))


_SERVERS = (
    '{"command": "x"}', '{"command": "x", "args": ["a"]}', '{"url": "https://x.test/mcp"}', '{"url": "https://x.test/mcp", "command": "x"}', "{}",
    "null", '"x"', "[]", "1", '{"command": 1}', '{"command": null}', '{"command": "x", "args": "a"}', '{"command": "x", "env": {"A": 1}}',
    '{"command": "x", "disabled": true}', '{"serverUrl": "https://x.test"}', '{"url": "x", "type": "sse"}', '{"command": "x", "type": "http"}',
    '{"command": "x", "extra": {"y": 1}}', '{"command": ""}', '{"url": ""}', '{"command": "x", "command": "y"}', '{"command": "x", "tools": []}',
    '{"command": "x", "tools": {}}', '{"command": "x", "tools": {"a": {}}}', '{"command": "x", "tools": [{"name": "a"}]}',
    '{"url": "https://x.test", "include_tags": ["a"]}', '{"command": "x", "args": [1]}', '{"url": "https://x.test", "headers": {"A": "b"}}',
)  # fmt: skip
_SERVER_NAMES = (
    "a",
    "b",
    "a b",
    "A",
    "",
    "1",
    "\u00e4",
    "a_b",
    "a.b",
    "__",
    "mcp__a",
    "x" * 120,
    "\\u0061",
    "a/b",
    "mcpServers",
    "servers",
)


@st.composite
def server_files(draw: st.DrawFn) -> str:
    """The text of an `mcp.json`."""
    names = draw(st.lists(st.sampled_from(_SERVER_NAMES), max_size=3))
    servers = ", ".join(f'"{name}": {draw(st.sampled_from(_SERVERS))}' for name in names)
    form = draw(st.sampled_from((
        '{{"mcpServers": {{{0}}}}}', '{{"mcpServers": {{{0}}}}}', '{{"mcpServers": {{{0}}}}}', '{{"mcpServers": {{{0}}}, "x": 1}}', "{{{0}}}",
        '{{"servers": {{{0}}}}}', '{{"mcpServers": {{{0}}}, "servers": {{{0}}}}}', '{{"mcpServers": {{{0}}}, "mcpServers": {{}}}}',
        '{{"mcpServers": {{}}, "mcpServers": {{{0}}}}}', '{{"mcpservers": {{{0}}}}}', '{{"mcpServers": [{{{0}}}]}}', '{{"mcp": {{"servers": {{{0}}}}}}}',
        '// c\n{{"mcpServers": {{{0}}}}}', '{{"mcpServers": {{{0}}},}}', '\ufeff{{"mcpServers": {{{0}}}}}', '{{"mcpServers": null, {0}}}',
        '{{"mcp\\u0053ervers": {{{0}}}}}', '[{{"mcpServers": {{{0}}}}}]', '{{"result": {{"mcpServers": {{{0}}}}}}}',
        '{{"mcpServers": {{{0}}}, "result": {{"tools": []}}}}', '{{"mcpServers": {{{0}}}, "tools": []}}', '{{"mcpServers" : {{{0}}}}}',
        '{{"mcpServers"\n:\n{{{0}}}}}', '{{"mcpServers": {{{0}}}}}\n{{}}',
    )))  # fmt: skip
    return form.format(servers).replace("\n", draw(st.sampled_from(_ENDS)))


# Not there: names of tools and classes that do not exist, because files do not say which ones do.
_ADK_TOOLS = (
    "[{name: google_search}]", "\n  - name: google_search", "[google_search]", "[google_search, load_memory]", "google_search", "[]", "null", "",
    "[{name: google_search, args: {}}]", "[{name: google.adk.tools.google_search}]", "[google.adk.tools.load_memory]",
    "[{Name: google_search}]", "[null]", "[1]", "[{name: google_search, x: 1}]", "[{name: AgentTool, args: {agent: {config_path: child.yaml}}}]",
    "[{name: exit_loop}, {name: load_memory}]", "{name: google_search}", "[[google_search]]", "&t [{name: google_search}]",
    "[{name: [google_search]}]", "[{name: yes}]", "[{}]", "['google_search']", "[{name: 'google_search', args: null}]",
)  # fmt: skip
_ADK_BELOW = (
    "[{config_path: child.yaml}]", "\n  - config_path: child.yaml", "[child.yaml]", "[{config_path: ./child.yaml}]", "[{config_path: below/other.yaml}]",
    "[{config_path: child.yaml}, {config_path: below/other.yaml}]", "[{config_path: ' child.yaml'}]", "[]", "null", "child.yaml", "[{code: x.y}]",
    "[{config_path: missing.yaml}]", "[{config_path: below/../child.yaml}]", "[{config_path: child}]", "[{}]", "[{config_path: child.yaml, code: x}]",
    "{config_path: child.yaml}", "['child.yaml', below/other.yaml]", "[{config_path: child.yaml}, {config_path: child.yaml}]", "[1]",
)  # fmt: skip
_ADK_CLASSES = (
    "LlmAgent", "Agent", "SequentialAgent", "LoopAgent", "ParallelAgent", "google.adk.agents.LlmAgent", "''", "null", "yes", "BaseAgent",
    "google.adk.agents.SequentialAgent", "Workflow",
)  # fmt: skip
_ADK_EDGES = (
    "[[START, child.yaml]]", "[[START, {name: inline, instruction: Help.}]]", "[[START, {config_path: child.yaml}]]", "[]",
    "[[START, {name: inline, instruction: Help., tools: [{name: google_search}]}, child.yaml]]", "[{from_node: START, to_node: child.yaml}]",
)  # fmt: skip


@st.composite
def adk_files(draw: st.DrawFn) -> str:
    """The text of a `root_agent.yaml`, beside which lie `child.yaml` and `below/other.yaml`."""
    fields = {
        "name": draw(st.sampled_from(("a_b", *_TEXTS))) if draw(st.integers(0, 9)) == 0 else "a",
        "instruction": draw(st.sampled_from(_TEXTS)) if draw(st.integers(0, 9)) == 0 else "Work.",
    }
    for key, values, often in (
        ("tools", _ADK_TOOLS, 5), ("sub_agents", _ADK_BELOW, 5), ("agent_class", _ADK_CLASSES, 3), ("description", _TEXTS, 2), ("edges", _ADK_EDGES, 1),
        ("model", ("gemini-2.5-flash", "'gemini-2.5-flash'", "null", "1", "yes", "{name: x}", "[x]", "' gemini'"), 3), ("shade", ("red",), 1),
        ("Tools", _ADK_TOOLS, 1), ("disallow_transfer_to_peers", _FLAGS, 1), ("static_instruction", ("X",), 1),
    ):  # fmt: skip
        if draw(st.integers(0, 9)) < often:
            fields[key] = draw(st.sampled_from(values))
    if fields.get("agent_class") not in (None, "LlmAgent", "Agent", "''") and draw(st.booleans()):
        for key in ("instruction", "tools", "model"):
            fields.pop(key, None)
    lines = [f"{key}: {value}\n" for key, value in fields.items()]
    if draw(st.integers(0, 9)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    beginning = draw(
        st.sampled_from(
            (
                "",
                "",
                "",
                "",
                "",
                "\ufeff",
                "---\n",
                "# c\n",
                "%YAML 1.1\n---\n",
                "# yaml-language-server: x\n",
            )
        )
    )
    ending = draw(st.sampled_from(("", "", "", "", "", "...\n", "---\n")))
    return (beginning + "".join(draw(st.permutations(lines))) + ending).replace(
        "\n", draw(st.sampled_from(_ENDS))
    )


_CLIENT = (
    '{"provider": "autogen_ext.models.replay.ReplayChatCompletionClient", "config": {"chat_completions": ["x"], "model_info": {"vision": false, '
    '"function_calling": true, "json_output": false, "family": "unknown", "structured_output": false}}}'
)


def _build_tool(name: str, function: str = "") -> str:
    """A tool of AutoGen, as its function is dumped."""
    source = f"def {function or name}() -> str:\\n    return 'x'\\n"
    config = f'{{"source_code": "{source}", "name": "{name}", "description": "D", "global_imports": [], "has_cancellation_support": false}}'
    return f'{{"provider": "autogen_core.tools.FunctionTool", "config": {config}}}'


_SEARCH, _WRITE = _build_tool("search"), _build_tool("write")
_BENCH = '{{"provider": "autogen_core.tools.StaticWorkbench", "config": {{"tools": [{0}]}}}}'
# Not there: text as a hand-off, on which AutoGen 0.7.5 fails by a fault of its own, and a `workbench` that is no list, which it no
# longer reads; classes and agents that do not exist; two tools of one name; tools beside a workbench.
AUTOGEN_TOOLS = (
    f'"tools": [{_SEARCH}]', f'"tools": [{_SEARCH}, {_WRITE}]', '"tools": []', '"tools": null', '"tools": {}', '"tools": ["search"]',
    f'"tools": {_SEARCH}', '"tools": [null]', f'"tools": [{_build_tool("search", "other")}]',
    f'"workbench": [{_BENCH.format(_SEARCH)}]', f'"workbench": [{_BENCH.format(_SEARCH)}, {_BENCH.format(_WRITE)}]',
    '"workbench": null', '"workbench": []', f'"workbench": null, "tools": [{_WRITE}]',
    f'"workbench": [], "tools": [{_WRITE}]', f'"t\\u006fols": [{_SEARCH}]', f'"Tools": [{_SEARCH}]', f'"tools": [{_SEARCH}], "tools": [{_WRITE}]',
    f'"workbench": [{_BENCH.format(_SEARCH).replace("StaticWorkbench", "StaticStreamWorkbench")}]', '"tools": "search"',
)  # fmt: skip
AUTOGEN_HANDOFFS = (
    '"handoffs": [{"target": "b"}]', '"handoffs": [{"target": "b", "name": "transfer_to_b"}]', '"handoffs": []', '"handoffs": null',
    '"handoffs": "b"', '"handoffs": [1]', '"handoffs": {"b": 1}',
    '"handoffs": [{"target": "b", "message": null}]', '"handoffs": [{"target": 1}]', '"handoffs": [{"Target": "b"}]',
)  # fmt: skip
AUTOGEN_NAMES = (
    '"a"',
    '"a b"',
    '""',
    "null",
    "1",
    '"1"',
    '"\\u0061"',
    '"ä"',
    '"a-b"',
    '"def"',
    '"A"',
    "true",
)
AUTOGEN_TEAMS = (
    "autogen_agentchat.teams.RoundRobinGroupChat", "autogen_agentchat.teams.Swarm", "autogen_agentchat.teams._group_chat._swarm_group_chat.Swarm",
    "RoundRobinGroupChat", "autogen\\u005fagentchat.teams.RoundRobinGroupChat",
)  # fmt: skip


_NEEDED = '"reflect_on_tool_use": false, "tool_call_summary_format": "{result}"'


def build_team(agent: str, team: str = AUTOGEN_TEAMS[0], name: str = '"a"', client: str = _CLIENT) -> str:
    """A team of two agents, of which the first has `agent` among its fields."""
    own = f", {agent}" if agent else ""
    kind = '"provider": "autogen_agentchat.agents.AssistantAgent", "config"'
    first = (
        f'{{{kind}: {{"name": {name}, "model_client": {client}, "description": "Leads.", {_NEEDED}{own}}}}}'
    )
    second = (
        f'{{{kind}: {{"name": "b", "model_client": {_CLIENT}, "description": "Counts stock.", {_NEEDED}}}}}'
    )
    return f'{{"provider": "{team}", "config": {{"participants": [{first}, {second}]}}}}'


@st.composite
def autogen_files(draw: st.DrawFn) -> str:
    """The text of a component."""
    fields = [
        draw(st.sampled_from(each)) for each in (AUTOGEN_TOOLS, AUTOGEN_HANDOFFS) if draw(st.integers(0, 2))
    ]
    fields += draw(
        st.lists(
            st.sampled_from(('"system_message": "X"', '"system_message": null', '"shade": 1', '"label": 1')),
            max_size=1,
        )
    )
    team = (
        draw(st.sampled_from(AUTOGEN_TEAMS[:3]))
        if draw(st.integers(0, 3))
        else draw(st.sampled_from(AUTOGEN_TEAMS))
    )
    name = draw(st.sampled_from(AUTOGEN_NAMES)) if draw(st.integers(0, 3)) == 0 else '"a"'
    return draw(st.sampled_from(("", "", "", "", "\ufeff", "\r\n", "// c\n"))) + build_team(
        ", ".join(fields), team, name
    )


_CARD_FIELDS = {
    "name": '"a"', "description": '"Finds papers."', "version": '"1"', "capabilities": "{}", "defaultInputModes": '["text/plain"]',
    "defaultOutputModes": '["text/plain"]', "skills": '[{"id": "find", "name": "Find", "description": "Finds.", "tags": ["x"]}]',
    "supportedInterfaces": '[{"url": "https://x.test", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]',
}  # fmt: skip
_CARD_VALUES = (
    '"x"',
    '"\\u0061"',
    '"a b"',
    '""',
    "null",
    "1",
    "1.5",
    "true",
    "[]",
    "{}",
    '["x"]',
    "[1]",
    "[null]",
    '"ä"',
    '[""]',
    '[{"id": "x"}]',
)


@st.composite
def card_files(draw: st.DrawFn) -> str:
    """The text of an agent card, of which up to two fields are hard to read, missing, or there under another name."""
    fields = list(_CARD_FIELDS.items())
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(fields) - 1))
        key, value = fields[place]
        change = draw(st.integers(0, 5))
        if change == 0:
            del fields[place]
        elif change == 1:
            fields[place] = ("".join(f"_{each.lower()}" if each.isupper() else each for each in key), value)
        elif change == 2:
            fields.append((key, draw(st.sampled_from(_CARD_VALUES))))
        else:
            fields[place] = (key, draw(st.sampled_from(_CARD_VALUES)))
    fields += draw(st.lists(st.sampled_from((
        ("url", '"https://x.test"'), ("url", "1"), ("shade", "1"), ("protocolVersion", '"0.3.0"'), ("security", "[]"), ("provider", "1"),
        ("preferredTransport", '"GRPC"'), ("additionalInterfaces", "1"), ("supportsAuthenticatedExtendedCard", "true"),
    )), max_size=2))  # fmt: skip
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields) + "}"


_SPEC_SEARCH = "{component_type: ClientTool, id: t, name: search, description: D, inputs: [], outputs: []}"
SPEC_TOOLS = (
    f"[{_SPEC_SEARCH}]", f"\n- {_SPEC_SEARCH}", "[]", "[search]", "search", "[null]", "[{$component_ref: r}]", "[{$component_ref: missing}]",
    f"[{_SPEC_SEARCH}, {{$component_ref: r}}]", _SPEC_SEARCH, "[{component_type: Unknown, name: search}]", f"&t [{_SPEC_SEARCH}]", "[{name: search}]",
    "['search']", "[1]",
)  # fmt: skip
_SPEC_ENDING = """\
agentspec_version: 26.1.0
$referenced_components:
  r: {component_type: ServerTool, id: r, name: write, description: D, inputs: [], outputs: []}
"""


def build_spec(**fields: str) -> str:
    """An agent in YAML, with other values in some fields. An empty field is not there."""
    values = {
        "component_type": "Agent", "id": "a1", "name": "a", "description": "Leads.", "system_prompt": "Work.",
        "llm_config": "{component_type: OpenAiCompatibleConfig, id: m, name: m, url: x, model_id: m1}", **fields,
    }  # fmt: skip
    return "".join(f"{key}: {value}\n" for key, value in values.items() if value) + _SPEC_ENDING


@st.composite
def spec_files(draw: st.DrawFn) -> str:
    """The text of a specification in YAML."""
    fields = {"tools": draw(st.sampled_from(SPEC_TOOLS))}
    for key in draw(
        st.lists(st.sampled_from(("name", "description", "system_prompt", "id", "shade")), max_size=1)
    ):
        fields[key] = draw(st.sampled_from(_TEXTS))
    beginning = draw(st.sampled_from(("", "", "", "\ufeff", "---\n", "# c\n")))
    return (beginning + build_spec(**fields)).replace("\n", draw(st.sampled_from(_ENDS)))


# Not there: tools without a name, whose names are made by the framework, and models, which only its client reads; space around the
# name of a tool, and unknown fields of a tool, with which the framework makes no agent.
_PROMPT_TOOLS = (
    "[{kind: function, name: search, description: D}]", "[{kind: function, name: search}, {kind: function, name: write}]", "[]", "", "null", "~",
    "\n  - kind: function\n    name: search", "[{name: search}]", "[search]", "search", "{kind: function, name: search}", "[null]", "[1]",
    "[{kind: Function, name: search}]", "[{kind: function, name: 'search'}]", "&t [{kind: function, name: search}]",
    "[{kind: function, name: yes}]", "[{kind: function, name: search}] # x", "[[{kind: function, name: search}]]",
    "[{kind: function, name: search, kind: function}]", '[{"kind": "function", "na\\u006de": "search"}]', "[{kind: custom, name: search}]", "yes",
)  # fmt: skip


@st.composite
def prompt_files(draw: st.DrawFn) -> str:
    """The text of a declarative agent."""
    fields = {
        "kind": draw(
            st.sampled_from(
                ("Prompt", "Prompt", "Prompt", "'Prompt'", '"Prompt"', "prompt", "Agent", "Prompt # x")
            )
        ),
        "name": draw(st.sampled_from(_TEXTS)) if draw(st.integers(0, 4)) == 0 else "a",
        "description": draw(st.sampled_from(_TEXTS)) if draw(st.integers(0, 4)) == 0 else "Finds papers.",
        "instructions": draw(st.sampled_from(_TEXTS)) if draw(st.integers(0, 4)) == 0 else "Work.",
    }
    for key, values in (
        ("tools", _PROMPT_TOOLS),
        ("displayName", _TEXTS),
        ("shade", _TEXTS),
        ("Tools", _PROMPT_TOOLS),
    ):
        if draw(st.integers(0, 9)) < (7 if key == "tools" else 1):
            fields[key] = draw(st.sampled_from(values))
    lines = [f"{key}: {value}\n" for key, value in fields.items()]
    if draw(st.integers(0, 9)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    beginning = draw(st.sampled_from(("", "", "", "\ufeff", "---\n", "# c\n")))
    ending = draw(st.sampled_from(("", "", "", "...\n", "---\n", "---\nkind: Prompt\nname: b\n")))
    return (beginning + "".join(draw(st.permutations(lines))) + ending).replace(
        "\n", draw(st.sampled_from(_ENDS))
    )


FILES: dict[str, st.SearchStrategy[str]] = {
    "crewai": crew_files(),
    "adk": adk_files(),
    "agent-framework": prompt_files(),
    "agent-spec": spec_files(),
    "a2a": card_files(),
    "autogen": autogen_files(),
    "fastmcp": server_files(),
}
"""The files that are compared, by the name of the framework."""
