"""Mistakes that people reported about agents of several hosts, each as a small tree: every one is told, at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import write_tree


def _agent(name: str, description: str, more: str = "tools: Read", text: str = "Work.") -> str:
    return f"---\nname: {name}\ndescription: {description} Use it first.\n{more}\n---\n{text}\n"


CREW = {
    "src/desk/config/agents.yaml": "writer:\n  role: Writer\n  goal: Write\n  backstory: Writes.\n",
    "src/desk/config/tasks.yaml": "draft:\n  description: Draft it\n  expected_output: Text\n  agent: writer\n",
    "src/desk/crew.py": """from crewai import Agent, Crew
from crewai.project import CrewBase, agent


@CrewBase
class Desk:
    agents_config = "config/agents.yaml"
    tasks_config = "config/tasks.yaml"

    @agent
    def writer(self) -> Agent:
        return Agent(config=self.agents_config["writer"])

    @agent
    def editor(self) -> Agent:
        return Agent(config=self.agents_config["editor"])
""",
}
REPORTS = {
    "two agents of one name": (
        {".claude/agents/a.md": _agent("x", "Does a."), ".claude/agents/b/a.md": _agent("x", "Does b.")},
        ("ORG217", ".claude/agents/b/a.md", 2),
    ),
    "two names that become one": (
        {".claude/agents/a.md": _agent("x-y", "Does a."), ".claude/agents/b.md": _agent("x_y", "Does b.")},
        ("ORG727", ".claude/agents/b.md", 2),
    ),
    "keys in code that the YAML lacks": (CREW, ("ORG771", "src/desk/crew.py", 16)),
    "a path of Windows in a rule": (
        {
            ".claude/agents/a.md": _agent("a", "Does a."),
            ".claude/settings.json": '{"permissions": {"deny": ["Read(C:\\\\keys\\\\**)"]}}\n',
        },
        ("ORG032", ".claude/settings.json", 1),
    ),
    "tools that the host drops": (
        {".claude/agents/a.md": _agent("a", "Does a.", "tools: Read, read_file")},
        ("ORG752", ".claude/agents/a.md", 4),
    ),
    "a list that is omitted": (
        {".claude/agents/a.md": _agent("a", "Does a.", "model: haiku")},
        ("ORG750", ".claude/agents/a.md", 2),
    ),
    "a coordinator that writes": (
        {
            ".claude/agents/lead.md": _agent("lead", "Coordinates the others.", "tools: Task, Edit"),
            ".claude/agents/coder.md": _agent("coder", "Writes code.", "tools: Edit"),
        },
        ("ORG758", ".claude/agents/lead.md", 4),
    ),
    "a coordinator without a tool that edits": (
        {
            ".opencode/agents/lead.md": "---\ndescription: Coordinates. Use it first.\npermission: {edit: deny}\n---\nPlan.\n"
        },
        ("ORG728", ".opencode/agents/lead.md", 2),
    ),
    "the path of a hook": (
        {
            ".claude/agents/a.md": _agent("a", "Does a."),
            ".claude/settings.json": '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "bash hooks/check.sh"}]}]}}\n',
            ".claude/hooks/check.sh": "exit 2\n",
        },
        ("ORG032", ".claude/settings.json", 1),
    ),
    "the folder of a skill": (
        {
            ".claude/agents/a.md": _agent("a", "Does a.", "tools: Read\nskills: ship"),
            ".claude/skills/release/SKILL.md": "---\nname: ship\ndescription: Ships. Use it to ship.\n---\nShip.\n",
        },
        ("ORG621", ".claude/skills/release/SKILL.md", 2),
    ),
    "a server with two commands": (
        {
            ".claude/agents/a.md": _agent("a", "Does a.", "tools: Read, mcp__files"),
            ".mcp.json": '{"mcpServers": {"files": {"command": "files-mcp"}}}\n',
            ".vscode/mcp.json": '{"servers": {"files": {"command": "other-mcp"}}}\n',
            "sub/.claude/agents/b.md": _agent("b", "Does b.", "tools: Read, mcp__files"),
            "sub/.mcp.json": '{"mcpServers": {"files": {"command": "another-mcp"}}}\n',
        },
        ("ORG746", "sub/.mcp.json", 1),
    ),
    "a server of an agent under the name of a shared one": (
        {
            ".claude/agents/a.md": _agent(
                "a", "Does a.", "mcpServers:\n  - files: {command: other-mcp}\ntools: mcp__files"
            ),
            ".mcp.json": '{"mcpServers": {"files": {"command": "files-mcp"}}}\n',
        },
        ("ORG746", ".claude/agents/a.md", 4),
    ),
    "the tools of an agent of Cursor": (
        {".cursor/agents/a.md": _agent("a", "Does a.")},
        ("ORG032", ".cursor/agents/a.md", 4),
    ),
    "an agent in the configuration of Codex": (
        {
            ".codex/agents/ok.toml": 'name = "ok"\ndescription = "Does it. Use it."\ndeveloper_instructions = "Do it."\n',
            ".codex/config.toml": '[agents.rev]\ndescription = "Reviews."\nconfig_file = "roles/rev.toml"\n',
        },
        ("ORG108", ".codex/config.toml", 3),
    ),
    "a list that no host enforces": (
        {
            ".claude/agents/a.md": _agent("a", "Does a.", "tools: Read, Task\nagents: [b]"),
            ".claude/agents/b.md": _agent("b", "Does b."),
        },
        ("ORG032", ".claude/agents/a.md", 5),
    ),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_reported_mistake_is_told(
    tmp_path: Path, report: tuple[dict[str, str], tuple[str, str, int]]
) -> None:
    """With its code, its file and its line."""
    files, (code, file, line) = report
    done = run_here("check", "--format", "json", cwd=write_tree(tmp_path, files))
    found = [(each["code"], each["file"], each["line"]) for each in json.loads(done.stdout)]
    assert (code, file, line) in found, found


def test_tools_in_the_code_of_a_crew_are_read(tmp_path: Path) -> None:
    """Classes of the library, methods of the crew, and classes of the project; a hand-off by YAML stays as it is."""
    code = CREW["src/desk/crew.py"].replace(
        'config=self.agents_config["writer"])',
        'config=self.agents_config["writer"], tools=[SerperDevTool(), self.look(), Printer()])',
    )
    code = code.replace(
        "    @agent\n", "    @tool\n    def look(self):\n        return Look()\n\n    @agent\n", 1
    )
    agents = (
        CREW["src/desk/config/agents.yaml"] + "editor:\n  role: Editor\n  goal: Edit\n  backstory: Edits.\n"
    )
    tree = write_tree(tmp_path, {**CREW, "src/desk/crew.py": code, "src/desk/config/agents.yaml": agents})
    effects = {
        (role, tool): run_here("can", f"role:{role}", "use", f"tool:{tool}", cwd=tree).stdout.partition(":")[
            0
        ]
        for role in ("writer", "editor")
        for tool in ("SerperDevTool", "look", "Printer", "FileReadTool")
    }
    assert {each for each, effect in effects.items() if effect == "allow"} == {
        ("writer", "SerperDevTool"), ("writer", "look"), ("writer", "Printer"),
    }  # fmt: skip
    assert "ORG773" not in run_here("check", cwd=tree).stdout


def test_an_unknown_context_takes_out_one_task(tmp_path: Path) -> None:
    """It is an error, and the agents answer."""
    tasks = CREW["src/desk/config/tasks.yaml"] + "  context: [research]\n"
    code = CREW["src/desk/crew.py"].replace('"editor"', '"writer"')
    tree = write_tree(tmp_path, {**CREW, "src/desk/crew.py": code, "src/desk/config/tasks.yaml": tasks})
    done = run_here("check", "--format", "concise", cwd=tree)
    assert "task `draft` has the context `research`, which is not a task" in done.stdout
    assert run_here("can", "role:writer", "use", "tool:SerperDevTool", cwd=tree).returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/hooks/x.sh',
        "/opt/x.sh",
        "~/x.sh",
        "prettier --write .",
        "jq -r .x",
        "curl https://x.example/y",
        "A=b/c x",
    ],
)
def test_a_hook_that_is_always_found_is_no_finding(tmp_path: Path, command: str) -> None:
    """Absolute paths, paths from the folder of the project, and programs by name."""
    settings = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    }
    files = {".claude/agents/a.md": _agent("a", "Does a."), ".claude/settings.json": json.dumps(settings)}
    assert run_here("check", cwd=write_tree(tmp_path, files)).stdout == ""


def test_a_misspelled_key_of_settings_is_told(tmp_path: Path) -> None:
    """Its rules would deny nothing."""
    files = {
        ".claude/agents/a.md": _agent("a", "Does a."),
        ".claude/settings.json": '{"permisions": {"deny": ["Bash"]}}\n',
    }
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert "the field `permisions` is unknown to Claude Code" in done.stdout


def test_a_skill_with_the_name_of_a_person_stays_in_service(tmp_path: Path) -> None:
    """Claude Code loads it, so its name is only a warning; the same skill in a folder for every host is an error."""
    skill = "---\nname: Writing Rules\ndescription: How to write rules. Use when rules change.\n---\nWrite.\n"
    files = {
        ".claude/agents/a.md": "---\nname: a\ndescription: Does a. Use it.\ntools: Read, Skill\n---\nDo it.\n",
        ".claude/skills/rules/SKILL.md": skill,
    }
    tree = write_tree(tmp_path / "host", files)
    done = run_here("check", cwd=tree)
    assert (done.returncode, "warning[ORG621]" in done.stdout) == (0, True)
    assert "Writing Rules" in run_here("manifest", "a", cwd=tree).stdout
    every = write_tree(tmp_path / "every", {"skills/rules/SKILL.md": skill})
    done = run_here("check", cwd=every)
    assert (done.returncode, "error[ORG621]" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("written", "codes"), [("|", set()), ("''", set()), ("", {"ORG101"}), ("3", {"ORG103"})]
)
def test_an_empty_output_of_a_task_is_accepted(tmp_path: Path, written: str, codes: set[str]) -> None:
    """As CrewAI does; a missing one, and another type, are errors."""
    tasks = f"draft:\n  description: Draft it\n  agent: writer\n  expected_output: {written}\n"
    files = {**CREW, "src/desk/config/tasks.yaml": tasks}
    files["src/desk/crew.py"] = CREW["src/desk/crew.py"].replace("editor", "writer")
    done = run_here("check", "--format", "json", cwd=write_tree(tmp_path, files))
    assert {each["code"] for each in json.loads(done.stdout) if each["file"].endswith("tasks.yaml")} == codes
