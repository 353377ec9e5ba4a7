"""Maps the tool names of Copilot and VS Code to ids."""

from __future__ import annotations

from orgkernel.loading.formats.names import MCP, build_server_tool_id

SETS = ("agent", "browser", "edit", "execute", "read", "search", "todo", "vscode", "web")
"""Names of tool sets. The id of `SET/TOOL` is `SET.TOOL`."""
EVERY = "*"
STARTER = "agent"
"""The tool that allows an agent to start other agents."""
_ALIASES = {
    "shell": "execute", "bash": "execute", "powershell": "execute", "notebookread": "read", "multiedit": "edit",
    "write": "edit", "notebookedit": "edit", "grep": "search", "glob": "search", "custom-agent": "agent",
    "task": "agent", "view": "read", "create": "edit", "websearch": "web", "webfetch": "web", "todowrite": "todo", "todos": "todo",
}  # fmt: skip
# Names of before VS Code 1.106.
_OLDER = {
    "changes": "search.changes", "codebase": "search.codebase", "usages": "search.usages",
    "searchResults": "search.searchResults", "findTestFiles": "search.findTestFiles", "problems": "read.problems",
    "terminalLastCommand": "read.terminalLastCommand", "terminalSelection": "read.terminalSelection",
    "readCellOutput": "read.readNotebookCellOutput", "getNotebookSummary": "read.getNotebookSummary",
    "editFiles": "edit.editFiles", "editNotebook": "edit.editNotebook", "runCommands": "execute",
    "runInTerminal": "execute.runInTerminal", "getTerminalOutput": "execute.getTerminalOutput",
    "runTasks": "execute", "runTask": "execute.runTask", "runTests": "execute.runTests",
    "testFailure": "execute.testFailure", "runCell": "execute.runNotebookCell", "runNotebooks": "execute.runNotebookCell",
    "fetch": "web.fetch", "githubRepo": "web.githubRepo", "runSubagent": "agent.runSubagent",
    "extensions": "vscode.extensions", "vscodeAPI": "vscode.vscodeAPI", "new": "vscode.newWorkspace",
    "openSimpleBrowser": "vscode.openSimpleBrowser",
}  # fmt: skip


def convert_tool_id(word: str) -> str:
    """The id for a tool name: a set, a tool of a set, or a tool of an MCP server. `SERVER/*` is the server.

    >>> convert_tool_id("Bash"), convert_tool_id("search/codebase"), convert_tool_id("codebase"), convert_tool_id("github/list_issues"), convert_tool_id("github/*")
    ('execute', 'search.codebase', 'search.codebase', 'mcp__github__list_issues', 'mcp__github')
    """
    if word in _OLDER:
        return _OLDER[word]
    front, slash, rest = word.partition("/")
    lower = front.lower()
    if not slash:
        return lower if lower in SETS else _ALIASES.get(lower, word)
    if lower in SETS:
        return f"{lower}.{rest}" if rest != EVERY else lower
    if front in _OLDER and not _OLDER[front].partition(".")[2]:
        return f"{_OLDER[front]}.{rest}"
    server = build_server_tool_id(front)
    return server if rest == EVERY else f"{server}__{rest}"


def get_tool_name(tool: str) -> str:
    """The tool name of Copilot for an id.

    >>> get_tool_name("search.codebase"), get_tool_name("mcp__github__list_issues"), get_tool_name("mcp__github")
    ('search/codebase', 'github/list_issues', 'github/*')
    """
    if not tool.startswith(MCP):
        return tool.replace(".", "/", 1)
    server, _, rest = tool.removeprefix(MCP).partition("__")
    return f"{server}/{rest or EVERY}"


def holds(tool: str, other: str) -> bool:
    """Whether a set or a server contains another tool.

    >>> holds("search", "search.codebase"), holds("mcp__github", "mcp__github__list"), holds("read", "read")
    (True, True, False)
    """
    return other.startswith((f"{tool}.", f"{tool}__"))
