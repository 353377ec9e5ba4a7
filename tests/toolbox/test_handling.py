"""A procedure whose tool is out of order: its skill takes over, then the cascade of the toolbox."""

from __future__ import annotations

from pathlib import Path

from orgkernel.kernel.kernel import Kernel
from orgkernel.toolbox import PythonFunction, Toolbox
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

PRESS = Path(__file__).parents[1] / "decisions" / "capability_corpus" / "press.yaml"


def out_of_order() -> None:
    """The tool of the procedure."""
    raise ConnectionRefusedError("the server is down")


def test_a_failed_step_leads_to_the_skill_and_then_up(tmp_path: Path) -> None:
    """The procedure is chosen, its tool fails, the next ways are asked for, and the superior is named."""
    files = read_yaml_file(PRESS)["files"]
    skill = files["press/skills/write-posts/SKILL.md"].replace('min-proficiency: "3"', "min-proficiency: 1")
    kernel = Kernel.open(write_tree(tmp_path, files | {"press/skills/write-posts/SKILL.md": skill}))
    toolbox = Toolbox(kernel, {"post_api": PythonFunction(out_of_order)})
    tools = toolbox.context("press", "agent:ann")
    way = tools.handle("create_post")
    assert (way.tier, way.name, way.without_model) == ("executable_skill", "publish_post", True)
    (check,) = way.tools
    result = tools.invoke_blocking(check.tool, {}, action=check.action)
    assert not result.ok
    way = tools.handle("create_post", failed=["executable_skill:publish_post"])
    assert (way.tier, way.name) == ("cognitive_skill", "write-posts")
    way = tools.handle("create_post", failed=["executable_skill:publish_post", "cognitive_skill:write-posts"])
    assert way.tier == "reasoning"
    assert [each.tier for each in way.fallbacks] == ["own_reasoning", "peer", "superior", "top"]
    tools.refresh(pace="emergency")
    assert tools.handle("create_post").reasons[0].code == "PACE_CAP"
    tools.refresh(pace=None, via=("role:nobody",))
    assert tools.handle("create_post").reasons[0].code == "UNKNOWN_PRINCIPAL"
