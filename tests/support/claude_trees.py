"""Projects of Claude Code for tests, made up here: a well-kept one, and agents in any number."""

from __future__ import annotations

from pathlib import Path

from tests.support.trees import write_tree

AGENTS = ".claude/agents"

_KEPT = {
    "api-designer": (
        "Designs HTTP interfaces before they are built. Use when an endpoint is added or changed.",
        "Read, Grep, Glob, Write",
        "Write the interface first. Hand the result to the `backend-developer` agent.",
    ),
    "backend-developer": (
        "Writes server code and its tests. Use PROACTIVELY for changes below `server/`.",
        "Read, Edit, Write, Bash, Grep, Glob",
        "Small commits. When the code stands, the code-reviewer agent looks at it.",
    ),
    "code-reviewer": (
        "Reviews a diff for faults, style and missing tests. Use immediately after code was written.",
        "Read, Grep, Glob, Bash",
        "Look at the diff only. Rank what you find.",
    ),
    "database-migrator": (
        "Plans and writes migrations of the schema. Use before a column or table changes.",
        "Read, Write, Bash, mcp__postgres__query",
        "Every migration can be undone.",
    ),
    "docs-writer": (
        "Keeps guides and the changelog true. Use after a feature is merged.",
        "Read, Edit, Write, Grep, Glob",
        "Short sentences.",
    ),
    "frontend-developer": (
        "Builds pages and components. Use for changes below `web/`.",
        "Read, Edit, Write, Bash, Grep, Glob",
        "Check that keyboards reach everything.",
    ),
    "incident-responder": (
        "Finds out why production fails. Use when an alert fires or a user reports an outage.",
        "Read, Bash, Grep, mcp__sentry",
        "State what you know, then what you guess.",
    ),
    "release-manager": (
        "Cuts versions and publishes them. Use when a release is asked for.",
        "Read, Edit, Bash, Skill",
        "Follow the skill `release`. Never skip a step.",
    ),
    "security-auditor": (
        "Looks for injections, leaked secrets and weak permissions. Use before a release.",
        "Read, Grep, Glob, WebSearch",
        "Name the file and the line.",
    ),
    "test-runner": (
        "Runs the tests and explains failures. Use whenever code has changed.",
        "Read, Bash, Grep, Glob",
        "Mend nothing yourself: ask @agent-backend-developer.",
    ),
}


def agent(name: str, description: str, tools: str = "Read", body: str = "", more: str = "") -> str:
    """The file of an agent."""
    return f"---\nname: {name}\ndescription: {description}\ntools: {tools}\n{more}---\n\n{body}\n"


def well_kept(folder: Path) -> Path:
    """A project with ten agents, a skill and two servers, as a careful team keeps it."""
    files = {f"{AGENTS}/{name}.md": agent(name, *said) for name, said in _KEPT.items()}
    files[f"{AGENTS}/release-manager.md"] = agent(
        "release-manager", *_KEPT["release-manager"], more="model: sonnet\nskills: release\nmaxTurns: 30\n"
    )
    files[f"{AGENTS}/README.md"] = "# Our agents\n"
    files[".claude/skills/release/SKILL.md"] = (
        "---\nname: release\ndescription: How a version is cut. Use when releasing.\nallowed-tools: Read, Bash\n"
        "disable-model-invocation: true\n---\nSteps.\n"
    )
    files[".mcp.json"] = (
        '{"mcpServers": {"postgres": {"command": "pg"}, "sentry": {"type": "http", "url": "https://sentry.example"}}}\n'
    )
    files["package.json"] = '{"name": "shop"}\n'
    files["server/config.yaml"] = "port: 80\n"
    return write_tree(folder, files)


def many(folder: Path, count: int) -> Path:
    """A project with so many agents."""
    texts = {
        f"{AGENTS}/group-{number % 10}/agent-{number}.md": agent(
            f"agent-{number}",
            f"Does work {number} of area {number * 7} for team {number * 13}. Use when number {number} comes up.",
            "Read, Edit, Write, Bash, Grep, Glob",
            "You do your work.\n\n## Steps\n\n"
            + "\n".join(f"- Step {step} of the work." for step in range(30)),
            "model: sonnet\ncolor: blue\n",
        )
        for number in range(count)
    }
    return write_tree(folder, texts)
