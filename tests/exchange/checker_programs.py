"""The checkers of other ecosystems, run in the environment that has them; prints what they say as JSON.

Called with the folder of the exports, `FORMAT/ORGANIZATION/…`. One process checks all of them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import warnings
from pathlib import Path


def check_agent_spec(folder: Path) -> dict[str, object]:
    """Components by file, and what the deserializer says against them."""
    from pyagentspec.llms import OpenAiCompatibleConfig
    from pyagentspec.managerworkers import ManagerWorkers
    from pyagentspec.serialization import AgentSpecDeserializer

    def seen(component):
        if isinstance(component, ManagerWorkers):
            manager = component.group_manager
            return {"manager": seen(manager), "workers": [seen(each) for each in component.workers]}
        tools = {each.name: each.requires_confirmation for each in component.tools}
        return {"name": component.name, "description": component.description, "inputs": component.inputs, "tools": tools}  # fmt: skip

    said: dict[str, object] = {}
    for path in sorted(folder.glob("*/*.yaml")):
        text = path.read_text("utf-8")
        models = set(re.findall(r'"\$component_ref": (llm|"llm[^"\n]*")', text))
        known = {
            each.strip('"'): OpenAiCompatibleConfig(name="model", model_id="m", url="http://127.0.0.1")
            for each in models
        }
        try:
            said[_key(folder, path)] = seen(
                AgentSpecDeserializer().from_yaml(text, components_registry=known)
            )
        except Exception as error:
            said[_key(folder, path)] = f"{type(error).__name__}: {error}"
    return said


class _Refuse(logging.Handler):
    """Nothing may be taken for an expression, so nothing may be evaluated or warned of."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[str] = []

    def emit(self, record):
        self.records.append(record.getMessage())


def check_agent_framework(folder: Path) -> dict[str, object]:
    """Agents by file, and what the factory says against them."""
    from agent_framework_declarative import AgentFactory
    from agent_framework_declarative._models import logger

    handler = _Refuse()
    logger.addHandler(handler)
    said: dict[str, object] = {}
    for path in sorted(folder.glob("*/agents/*.yaml")):
        try:
            agent = AgentFactory(client=object()).create_agent_from_yaml(path.read_text("utf-8"))
            tools = [each.name for each in agent.default_options.get("tools") or ()]
            said[_key(folder, path)] = {"name": agent.name, "description": agent.description, "tools": tools}
        except Exception as error:
            said[_key(folder, path)] = f"{type(error).__name__}: {error}"
    if handler.records:
        said["expressions"] = f"{handler.records}"
    return said


def check_with_skillsaw(folder: Path) -> dict[str, object]:
    """What the linter of agents and skills says, by organization, without its taste in descriptions."""
    from skillsaw.context import RepositoryContext
    from skillsaw.linter import Linter

    said: dict[str, object] = {}
    for repository in sorted(folder.iterdir()):
        found = Linter(RepositoryContext(repository)).run()
        said[repository.name] = sorted(
            f"{each.rule_id} {each.file_path}: {each.message}"
            for each in found
            if each.rule_id != "content-description-routing" and each.severity.value != "info"
        )
    return said


def check_crews(folder: Path) -> dict[str, object]:
    """What CrewAI says of each crew. The tools of the project, which its users write, are there and empty."""
    from crewai.project.json_loader import validate_crew_project

    said: dict[str, object] = {}
    for crew in sorted(folder.glob("*/crew.jsonc")):
        tools = crew.parent / "tools"
        tools.mkdir(exist_ok=True)
        for path in crew.parent.glob("agents/*.jsonc"):
            for name in re.findall(r'"custom:(\w+)"', path.read_text("utf-8")):
                (tools / f"{name}.py").touch()
        try:
            said[crew.parent.name] = sorted(validate_crew_project(crew).agents)
        except Exception as error:
            said[crew.parent.name] = f"{type(error).__name__}: {error}"
    return said


def _key(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


CHECKS = {
    "agent-spec": check_agent_spec,
    "agent-framework": check_agent_framework,
    "claude-code": check_with_skillsaw,
    "copilot": check_with_skillsaw,
    "skills": check_with_skillsaw,
    "crewai": check_crews,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["OTEL_SDK_DISABLED"] = os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
    top = Path(sys.argv[1])
    # Libraries print when they are imported.
    out, sys.stdout = sys.stdout, sys.stderr
    answers = {name: CHECKS[name](top / name) for name in sys.argv[2:]}
    print(json.dumps(answers), file=out)
