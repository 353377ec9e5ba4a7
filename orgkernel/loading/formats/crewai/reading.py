"""Reads each file of a crew by itself. `whole` combines them.

An agent becomes a role, and its backstory the standing orders of the role. A task becomes a procedure. The words for
tools, and the agent of each task, are kept next to the records.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import (
    ChainOfCommand,
    Doctrine,
    Procedure,
    ProcedureCatalog,
    Requirements,
    RoleProfile,
    StandingOrder,
    Tool,
    ToolCatalog,
)
from orgkernel.loading.documents import build_diagnostic, read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import join_reads, read_as
from orgkernel.loading.formats.crewai.layout import CREW_FILES
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.suppressions import SUPPRESSIONS, read_suppressions
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_foreign_yaml
from orgkernel.runtime.url_secrets import mask_urls

ROLE, TASKS, TOOL_KIND = "role_profile", "procedure_catalog", "tool_catalog"
CUSTOM = "custom:"
SEQUENTIAL, HIERARCHICAL = "sequential", "hierarchical"
_FIRST = pack_mark(1, 1)
_NEEDED = ("role", "goal", "backstory")
_AGENT_FIELDS = (
    *_NEEDED, "name", "type", "settings", "from_repository", "a2a", "agent_executor", "allow_code_execution", "allow_delegation",
    "apps", "cache", "cache_handler", "callbacks", "checkpoint", "code_execution_mode", "config", "date_format", "embedder",
    "executor_class", "function_calling_llm", "guardrail", "guardrail_max_retries", "i18n", "inject_date", "knowledge",
    "knowledge_config", "knowledge_sources", "knowledge_storage", "llm", "max_execution_time", "max_iter",
    "max_reasoning_attempts", "max_retry_limit", "max_rpm", "max_tokens", "mcps", "memory", "multimodal", "planning",
    "planning_config", "prompt_template", "reasoning", "respect_context_window", "response_template", "security_config",
    "skills", "step_callback", "system_template", "tool_failure_policy", "tools", "use_better_compaction", "use_system_prompt",
    "verbose",
)  # fmt: skip
_TASK_FIELDS = (
    "name", "description", "expected_output", "agent", "type", "allow_crewai_trigger_context", "async_execution", "callback",
    "callbacks", "condition", "config", "context", "converter_cls", "create_directory", "guardrail", "guardrail_max_retries",
    "guardrails", "human_input", "input_files", "markdown", "max_retries", "output_file", "output_json", "output_pydantic",
    "prompt_context", "response_model", "security_config", "tool_failure_policy", "tools",
)  # fmt: skip
_CREW_FIELDS = (
    "name", "agents", "tasks", "process", "inputs", "after_kickoff_callbacks", "before_kickoff_callbacks", "cache", "chat_llm",
    "checkpoint", "config", "embedder", "entity_type", "function_calling_llm", "knowledge", "knowledge_sources", "manager_agent",
    "manager_llm", "max_rpm", "memory", "output_log_file", "planning", "planning_llm", "prompt_file", "security_config",
    "share_crew", "skills", "step_callback", "stream", "task_callback", "tool_failure_policy", "tracing", "trained_agents_file",
    "verbose",
)  # fmt: skip
_MAX_TURNS = 9_999
_INTERVAL = Doctrine().salute_interval_turns


def read_file(source: SourceText, root: Root) -> FileResult:
    """Read one file of a crew, according to its name."""
    name = os.path.basename(source.path)
    if name.endswith(".py"):
        return _read_tool_file(source, root)
    if name in CREW_FILES:
        return _read_crew(source, root)
    if name.endswith((".json", ".jsonc")):
        return _read_json_agent(source, root)
    return _read_tasks(source, root) if name.startswith("tasks.") else _read_agents(source, root)


def build_own_tool(description: str) -> Tool:
    """A tool that a project defines in Python. Its side effects are not declared, so the most severe are assumed."""
    return Tool(description=description, type="deterministic_function", side_effects="destructive")


def _read_agents(source: SourceText, root: Root) -> FileResult:
    value, marks, _, refused = read_mapping(source, parse_foreign_yaml)
    if refused:
        return read_broken(source, ROLE, list(refused))
    agents = []
    for name, each in value.items():
        key, below = marks[name]
        if _is_template(name, each, marks):
            continue
        agents.append(_read_agent(source, root, name, each, below, key, only_misspelled=True))
    return join_reads(agents)


def _is_template(name: str, value: Any, marks: Mapping[str, tuple[int, Marks]]) -> bool:
    """Whether an entry is not an agent: it has none of the needed fields, and other entries merge it."""
    if not isinstance(value, dict) or not value.keys().isdisjoint(_NEEDED):
        return False
    own = {id(each) for each in marks[name][1][1].values()}
    others = (at[1] for other, (_, at) in marks.items() if other != name and isinstance(at, tuple))
    return any(id(each) in own for at in others if isinstance(at, dict) for each in at.values())


def _read_json_agent(source: SourceText, root: Root) -> FileResult:
    value, marks, start, refused = read_mapping(source, parse_jsonc)
    if refused:
        return read_broken(source, ROLE, list(refused))
    stem = os.path.basename(source.path).rpartition(".")[0]
    settings = value.get("settings")
    if isinstance(settings, dict):  # they are treated like tools next to it
        value = {**value, **settings}
        marks = {**marks, **marks["settings"][1][1]}
    return _read_agent(source, root, stem, value, (start, marks), start, only_misspelled=False)


def _read_agent(
    source: SourceText, root: Root, name: str, value: Any, marks: Marks, at: int, *, only_misspelled: bool
) -> FileResult:
    """The role of an agent, and its orders."""
    subject = f"agent {quote(name)}"
    role_id = convert_to_id(name)
    if not isinstance(value, dict):
        text = f"{subject} is {describe(value)}, not a mapping"
        return read_broken_role(source, role_id, [DocumentProblem(row.WRONG_TYPE, start_of(marks), text)])
    if not 0 < len(role_id) <= MAX_NAME_LENGTH:
        text = f"the name of an agent is empty or has more than {MAX_NAME_LENGTH} characters"
        return read_broken_role(source, role_id, [DocumentProblem(row.MALFORMED_ID, at, text)])
    fields = FieldReader(value, marks, subject, at)
    is_needed = "from_repository" not in value
    role, goal, backstory = (fields.get_text(key, needed=is_needed) for key in _NEEDED)
    known = (*_AGENT_FIELDS, SUPPRESSIONS) if only_misspelled else _AGENT_FIELDS
    fields.report_unknown(known, "CrewAI", only_misspelled=only_misspelled)
    raw = _collect_tool_words(fields)
    if only_misspelled and value.get("allow_delegation", False) is None:
        text = f"`allow_delegation` of {subject} is null, not `true` or `false`"
        fields.refuse("allow_delegation", text, row=row.WRONG_TYPE)
    elif fields.get_flag("allow_delegation"):
        raw["allow_delegation"] = ["true"]
    turns = fields.get_number("max_iter", _MAX_TURNS)
    model = value.get("llm")
    if isinstance(model, dict):
        model = model.get("model")
    suppressions = tuple(read_suppressions(value, fields.marks, fields.problems)) if only_misspelled else ()
    if fields.is_refused:
        return read_broken_role(source, role_id, fields.problems)
    record = RoleProfile(
        role_id=role_id,
        role_name=role or name,
        description=goal,
        chain_of_command=ChainOfCommand(reports_to="user"),
        requirements=Requirements(preferred_model=model if isinstance(model, str) and model else None),
        doctrine=Doctrine()
        if turns is None
        else Doctrine(max_turns_without_progress=turns, salute_interval_turns=min(_INTERVAL, turns)),
        suppressions=suppressions,
    )
    below = dict(fields.marks)
    below |= {"role_id": (at, at), "name": (at, at), "role_name": below.get("role", (at, at))}
    below["description"] = below.get("goal", (at, at))
    if "llm" in below:
        below["requirements"] = (below["llm"][0], (below["llm"][0], {"preferred_model": below["llm"]}))
    if turns is not None:
        inner = {"max_turns_without_progress": below["max_iter"]}
        below["doctrine"] = (below["max_iter"][0], (below["max_iter"][0], inner))
    if SUPPRESSIONS in below:
        below["suppressions"] = below[SUPPRESSIONS]
    documents = [read_as(source, root, ROLE, record, (at, below), raw)]
    if backstory:
        order = StandingOrder(audience="role", target=role_id, body=backstory)
        order_marks = (at, {"body": fields.marks["backstory"]})
        documents.append(read_as(source, root, "standing_order", order, order_marks))
    return FileResult(
        tuple(documents), (), tuple(build_diagnostic(source, each) for each in fields.problems[:MAX_PROBLEMS])
    )


def _collect_tool_words(fields: FieldReader) -> dict[str, Any]:
    """The words under which an agent lists its tools, apps and MCP servers. The marks of these fields become marks of
    the words.
    """
    raw: dict[str, Any] = {}
    for key in ("tools", "apps", "mcps"):
        if fields.value.get(key) is None:
            continue
        listed = [(word, mark) for word, mark in fields.get_words(key) if word]
        for item, marks in fields.get_mappings(key):
            names = (item.get(each) for each in ("name", "url", "command"))
            listed.append(
                (next((each for each in names if isinstance(each, str) and each), "?"), start_of(marks))
            )
        raw[key] = [mask_urls(word) for word, _ in listed]  # CrewAI names servers by URLs with their keys
        fields.marks[key] = (fields.marks[key][0], (fields.start(key), [mark for _, mark in listed]))
    return raw


def _read_tasks(source: SourceText, root: Root) -> FileResult:
    value, marks, start, refused = read_mapping(source, parse_foreign_yaml)
    if refused:
        return read_broken(source, TASKS, list(refused))
    tasks = [(name, each, marks[name][1], marks[name][0]) for name, each in value.items()]
    return _build_tasks(source, root, tasks, (start, {}), {}, [], only_misspelled=True)


def _read_crew(source: SourceText, root: Root) -> FileResult:
    """A crew in JSONC: its agents, its tasks and its process."""
    value, marks, start, refused = read_mapping(source, parse_jsonc)
    if refused:
        return read_broken(source, "organization", list(refused))
    fields = FieldReader(value, (start, marks), "the crew")
    fields.report_unknown(_CREW_FIELDS, "CrewAI", only_misspelled=False)
    raw: dict[str, Any] = {"crew": [fields.get_text("name")], "process": [_read_process(fields)]}
    for key in ("agents", "tasks"):
        if key not in value or value[key] == ():
            text = f"the crew has no {quote(key)}"
            fields.problems.append(
                DocumentProblem(
                    row.MISSING_FIELD, fields.start(key), text, f"list at least one under {quote(key)}"
                )
            )
    agents = fields.get_words("agents")
    raw["agents"] = [word for word, _ in agents]
    if "agents" in marks:
        fields.marks["agents"] = (marks["agents"][0], (fields.start("agents"), [mark for _, mark in agents]))
    manager = value.get("manager_agent")
    if isinstance(manager, str) and manager:
        raw["manager"] = [manager]
        if manager in raw["agents"]:
            text = f"the manager {quote(manager)} is also one of the agents, which CrewAI refuses"
            fields.refuse("manager_agent", text, "remove it from `agents`")
    tasks = []
    for number, (item, below) in enumerate(fields.get_mappings("tasks"), 1):
        name = item.get("name")
        tasks.append(
            (name if isinstance(name, str) and name else f"task_{number}", item, below, start_of(below))
        )
    if isinstance(value.get("tasks"), tuple) and len(tasks) < len(value["tasks"]):
        fields.refuse("tasks", "a task of the crew is not a mapping", row=row.WRONG_TYPE)
    return _build_tasks(
        source, root, tasks, (start, fields.marks), raw, fields.problems, only_misspelled=False
    )


def _read_process(fields: FieldReader) -> str:
    process = fields.get_text("process") or SEQUENTIAL
    if process not in (SEQUENTIAL, HIERARCHICAL):
        text = f"the process {quote(process)} does not exist"
        fields.refuse("process", text, f"write `{SEQUENTIAL}` or `{HIERARCHICAL}`", row.UNKNOWN_VALUE)
    elif process == HIERARCHICAL and not (
        fields.value.get("manager_agent") or fields.value.get("manager_llm")
    ):
        text = "a hierarchical crew has neither `manager_agent` nor `manager_llm`"
        fields.refuse("process", text, "name an agent as `manager_agent`", row.MISSING_FIELD)
    return process


def _build_tasks(
    source: SourceText,
    root: Root,
    tasks: list[tuple[str, Any, Marks, int]],
    around: tuple[int, Mapping[str, tuple[int, Marks]]],
    raw: dict[str, Any],
    problems: list[DocumentProblem],
    *,
    only_misspelled: bool,
) -> FileResult:
    """The tasks as procedures, together with other facts about the crew in the file."""
    procedures: dict[str, Procedure] = {}
    below: dict[str, tuple[int, Marks]] = {}
    doing: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    for name, value, marks, at in tasks:
        task_id = convert_to_id(name)[:MAX_NAME_LENGTH]
        if not isinstance(value, dict):
            problems.append(
                DocumentProblem(
                    row.WRONG_TYPE, start_of(marks), f"task {quote(name)} is {describe(value)}, not a mapping"
                )
            )
            continue
        if task_id in procedures:
            problems.append(
                DocumentProblem(
                    row.DUPLICATE_KEY, at, f"there are two tasks {quote(name)}", "give each a unique name"
                )
            )
            continue
        fields = FieldReader(value, marks, f"task {quote(name)}", at)
        description = fields.get_text("description", needed=True)
        # CrewAI needs the field, and accepts an empty text in it.
        fields.get_text("expected_output", needed=not isinstance(value.get("expected_output"), str))
        fields.report_unknown(_TASK_FIELDS, "CrewAI", only_misspelled=only_misspelled)
        agent = fields.get_text("agent")
        # In YAML, the code of the crew gives the order of the tasks.
        known = (
            {convert_to_id(each)[:MAX_NAME_LENGTH] for each, *_ in tasks}
            if only_misspelled
            else procedures.keys()
        )
        for word, mark in fields.get_words("context"):
            if convert_to_id(word)[:MAX_NAME_LENGTH] not in known:
                what = "a task" if only_misspelled else "an earlier task"
                text = f"{fields.subject} has the context {quote(word)}, which is not {what}"
                fields.problems.append(DocumentProblem(row.INVALID_VALUE, mark, text, f"name {what}"))
        words = [(word, mark) for word, mark in fields.get_words("tools") if word]
        problems += fields.problems
        procedures[task_id] = Procedure(name=name, description=description)
        below[task_id] = (at, (start_of(marks), fields.marks))
        if agent:
            doing[task_id] = agent
        if words:
            listed[task_id] = [word for word, _ in words]
            fields.marks["tools"] = (
                fields.marks["tools"][0],
                (fields.start("tools"), [mark for _, mark in words]),
            )
    raw |= {"doing": doing, "task_tools": listed}
    full = (around[0], {**around[1], "procedures": (around[0], (around[0], below))})
    document = read_as(source, root, TASKS, ProcedureCatalog(procedures=procedures), full, raw)
    return FileResult(
        (document,), (), tuple(build_diagnostic(source, each) for each in problems[:MAX_PROBLEMS])
    )


def _read_tool_file(source: SourceText, root: Root) -> FileResult:
    """A tool that agents call `custom:NAME`: a file in `tools` that defines a class or function for it."""
    if source.problem is not None or not ("BaseTool" in source.text or "@tool" in source.text):
        return FileResult(skipped=True)
    stem = os.path.basename(source.path).removesuffix(".py")
    tool = convert_to_id(CUSTOM + stem)
    catalog = ToolCatalog(tools={tool: build_own_tool(f"The tool in tools/{stem}.py.")})
    marks = (_FIRST, {"tools": (_FIRST, (_FIRST, {tool: (_FIRST, _FIRST)}))})
    return FileResult((read_as(source, root, TOOL_KIND, catalog, marks),))
