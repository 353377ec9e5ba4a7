"""Frameworks that load agents with their own loader, each as a process in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from orgkernel import AccessRequest, Kernel
from orgkernel.errors import OrgkernelError
from orgkernel.loading.formats.names import build_server_tool_id, derive_name
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

_LOADERS = Path(__file__).with_name("loaders")
_CREW = """\
from crewai.project import CrewBase, tool
from crewai.tools import BaseTool


class Made(BaseTool):
    name: str
    description: str = "D"

    def _run(self) -> str:
        return ""


@CrewBase
class Sample:
    @tool
    def search(self):
        return Made(name="search")

    @tool
    def write(self):
        return Made(name="write")
"""


class Framework(NamedTuple):
    """A framework, and what is compared."""

    environment: str
    """The folder in `.venv` that has its packages."""
    loader: str
    """The program in `loaders` that calls it."""
    path: str
    """The path of the compared file."""
    tools: tuple[str, ...] = ()
    """The tools that are compared."""
    others: Mapping[str, str] = {}
    """Files beside the compared one."""
    beside: tuple[str, ...] = ()
    """The agents in these files, which the framework loads only if the compared one names them."""
    are_servers: bool = False
    """Whether its agents are MCP servers. Several hosts read their file, and what one of them reads is read."""


FRAMEWORKS: Mapping[str, Framework] = {
    "crewai": Framework("crewai", "crewai_crew.py", "config/agents.yaml", ("search", "write"), {"crew.py": _CREW}),
    "adk": Framework(
        "pyreaders", "adk_agent.py", "root_agent.yaml", ("google_search", "load_memory", "exit_loop"),
        {
            "child.yaml": "name: child\ndescription: Finds papers.\ninstruction: Search well.\n",
            "below/other.yaml": "name: other\ndescription: Counts stock.\ninstruction: Count twice.\ndisallow_transfer_to_peers: true\n",
        }, ("child", "other"),
    ),
    "a2a": Framework("pyreaders", "a2a_card.py", ".well-known/agent-card.json"),
    "agent-framework": Framework("interop", "prompt_agent.py", "agent.yaml", ("search", "write")),
    "agent-spec": Framework("pyreaders", "agent_spec.py", "team.yaml", ("search", "write")),
    "autogen": Framework("pyreaders", "autogen_component.py", "team.json", ("search", "write")),
    "fastmcp": Framework("gatewaybench", "fastmcp_servers.py", "mcp.json", are_servers=True),
}  # fmt: skip


class Agent(NamedTuple):
    """One agent, or one MCP server, as a reader sees it."""

    tools: frozenset[str] = frozenset()
    """The tools that it may use, out of the compared ones."""
    delegates: frozenset[str] = frozenset()
    """The agents to which it may hand work."""
    model: str = ""
    """Empty if the file does not name one."""


class Loaded(NamedTuple):
    """What a reader makes of a file."""

    agents: Mapping[str, Agent]
    errors: tuple[str, ...] = ()
    """The messages of the errors. An agent with an error is out of service, so every call of it is refused."""
    findings: tuple[str, ...] = ()
    """The messages of all findings."""


class Loader:
    """The loader of a framework, in a process that answers for one folder after another."""

    def __init__(self, framework: Framework, process: subprocess.Popen[str]) -> None:
        self.framework, self._process = framework, process

    def read(self, folder: Path, text: str) -> Loaded:
        """The agents that the framework loads from a file with this text, by names without space around them. `folder` does not exist
        yet.
        """
        _write(folder, self.framework, text)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(str(folder)) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        compared = frozenset(self.framework.tools)
        agents = {
            build_server_tool_id(name) if self.framework.are_servers else name.strip(): Agent(
                frozenset(each.get("tools", ())) & compared,
                frozenset(each.get("delegates", ())),
                each.get("model", ""),
            )
            for name, each in answer.get("agents", {}).items()
        }
        return Loaded(agents, (answer["refusal"],) if "refusal" in answer else ())


@contextmanager
def start_loader(name: str, home: Path) -> Iterator[Loader]:
    """Start the loader of a framework. It has no network address and no account of a model."""
    framework = FRAMEWORKS[name]
    python = REPOSITORY / ".venv" / framework.environment / "bin" / "python"
    environment = {
        "HOME": str(home), "PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "none", "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
    }  # fmt: skip
    with (home / f"{name}.txt").open("w") as log:
        process = subprocess.Popen(
            [python, _LOADERS / framework.loader], cwd=home, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        try:
            yield Loader(framework, process)
        finally:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.wait(PATIENCE)
            process.stdout.close()


def read_with_orgkernel(folder: Path, framework: Framework, text: str) -> Loaded:
    """The agents of the file, and for MCP its servers. A tool counts as usable if a call of it is not denied."""
    _write(folder, framework, text)
    try:
        kernel = Kernel.open(folder)
    except OrgkernelError as error:
        return Loaded({}, (str(error),), (str(error),))
    diagnostics = kernel.check()
    errors = tuple(each.message for each in diagnostics if each.severity.value == "error")
    agents: dict[str, Agent] = {}
    for org in kernel.state.served:
        records = kernel.organization(org).snapshot.records
        if framework.are_servers:
            agents |= {tool: Agent() for tool in records.tools}
        for role_id, post in records.posts.items():
            tools = (each for each in framework.tools if _may(kernel, org, role_id, "use", f"tool:{each}"))
            below = (
                derive_name(each)
                for each in records.posts
                if each != role_id and _may(kernel, org, role_id, "handoff", f"role:{each}")
            )
            model = post.profile.requirements.preferred_model or ""
            agents[derive_name(role_id)] = Agent(frozenset(tools), frozenset(below), model)
    return Loaded(agents, errors, tuple(each.message for each in diagnostics))


def find_disagreements(framework: Framework, theirs: Loaded, own: Loaded) -> list[str]:
    """What orgkernel reads otherwise than a framework.

    An agent that the framework loads is read, or an error stands about its file. If orgkernel reads more than the framework
    gives, or another model, a finding is enough.
    """
    disagreements = []
    for name, their in theirs.agents.items():
        our = own.agents.get(name)
        if our is None:
            if not own.errors:
                disagreements.append(f"the framework loads {name!r}, orgkernel reads {sorted(own.agents)}")
            continue
        for what, gives, reads in (
            ("tools", their.tools, our.tools),
            ("delegates", their.delegates, our.delegates),
        ):
            # An agent that is out of service is handed no work.
            broken = gives - own.agents.keys() if what == "delegates" and own.errors else frozenset()
            if narrower := sorted(gives - reads - broken):
                disagreements.append(
                    f"the framework gives {name!r} the {what} {narrower}, orgkernel denies them"
                )
            if (wider := sorted(reads - gives)) and not own.findings:
                disagreements.append(
                    f"the framework denies {name!r} the {what} {wider}, orgkernel gives them"
                )
        if their.model.strip() != our.model.strip() and not own.findings:
            disagreements.append(
                f"the framework gives {name!r} the model {their.model!r}, orgkernel {our.model!r}"
            )
    more = sorted(own.agents.keys() - theirs.agents.keys() - {*framework.beside})
    if more and not own.findings and not framework.are_servers:
        disagreements.append(f"orgkernel reads {more}, the framework loads {sorted(theirs.agents)}")
    return disagreements


def _may(kernel: Kernel, org: str, role: str, action: str, resource: str) -> bool:
    return kernel.can(org, AccessRequest(f"role:{role}", action, resource)).outcome != "deny"


def _write(folder: Path, framework: Framework, text: str) -> None:
    """Write the compared file with exactly these line ends, and the files beside it."""
    for name, content in {**framework.others, framework.path: text}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
