"""The toolbox: the only code that calls a tool, in the caller's process, with a one-use permit (docs/architecture.md)."""

from orgkernel.toolbox.cascade import Gap
from orgkernel.toolbox.context import AvailableTool, ToolContext
from orgkernel.toolbox.parts import Handover
from orgkernel.toolbox.providers import HttpApi, McpServer, PythonFunction
from orgkernel.toolbox.result import Step, ToolResult
from orgkernel.toolbox.toolbox import Toolbox

__all__ = [
    "AvailableTool",
    "Gap",
    "Handover",
    "HttpApi",
    "McpServer",
    "PythonFunction",
    "Step",
    "ToolContext",
    "ToolResult",
    "Toolbox",
]
