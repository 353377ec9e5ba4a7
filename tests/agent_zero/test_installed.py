"""From nothing to a role and back: the real installer, the real commands, a host of each generation."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.agent_zero.double import build_host, running
from tests.agent_zero.installing import install
from tests.agent_zero.saying import answer, call, org_lines, shell
from tests.support.hosts import picture
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY

SCRIPT = REPOSITORY / "extension/install_org_kernel.sh"


def status(root: Path) -> dict[str, Any]:
    done = run_here("host", "status", "--agent-zero", root, "--format", "json", cwd=root.parent)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_installed_activated_used_and_taken_out(tmp_path: Path, generation: str) -> None:
    """Each step does what its page says, and at the end only the reports of the work are left."""
    root = build_host(tmp_path / "agent zero", generation)
    before = picture(root)
    subprocess.run(["bash", SCRIPT, root], check=True, capture_output=True)
    with running(root, generation) as host:
        agent = host.open_chat()
        host.say(agent, "Fix the bug in parser.py", [shell(), answer()])
        assert org_lines(agent) == []
        assert status(root)["why"] == "no organization is active"

        done = run_here("host", "activate", "software_dev", "--agent-zero", root, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        host.say(agent, "Fix the bug in parser.py", [call("browser_agent", query="x"), answer()])
        assert any(line.startswith("Role activated: Bugfix Specialist") for line in org_lines(agent))
        assert "You are the Bugfix Specialist (bugfix_specialist)" in host.seen[-1].system
        said = status(root)
        assert (said["on"], said["why"], said["behind"]) == (True, "an organization is active", False)
        assert said["loaded"] == said["digest"]

        run_here("host", "deactivate", "--agent-zero", root, cwd=tmp_path)
        host.say(agent, "Fix another bug", [answer()])
        assert agent._org_active_role is None
    subprocess.run(["bash", SCRIPT, "--uninstall", root], check=True, capture_output=True)
    shutil.rmtree(root / "usr/organizations/reports")
    (root / "usr/organizations").rmdir()
    # A folder of the first generation that the installer made holds the reports, so it could not remove it.
    left = {name for name in picture(root) if "__pycache__" not in name}
    assert left - {"usr"} == {name for name in before if name != "usr"}


def test_taken_out_in_the_other_order_nothing_is_left(tmp_path: Path, generation: str) -> None:
    """The extension first and then what activation wrote; the status says at each step what is still there."""
    root = build_host(tmp_path / "agent zero", generation)
    before = picture(root)
    subprocess.run(["bash", SCRIPT, root], check=True, capture_output=True)
    assert run_here("host", "activate", "software_dev", "--agent-zero", root, cwd=tmp_path).returncode == 0
    (root / "usr/organizations/active.json").unlink()
    assert status(root)["why"] == (
        "no organization is active; files of an activation are left; remove them with `orgkernel host deactivate`"
    )
    subprocess.run(["bash", SCRIPT, "--uninstall", root], check=True, capture_output=True)
    run_here("host", "deactivate", "--agent-zero", root, cwd=tmp_path)
    assert picture(root) == before


def test_a_plugin_that_is_switched_off_in_the_host_is_said_to_be_off(tmp_path: Path) -> None:
    """The host then runs none of its hooks."""
    root = build_host(tmp_path / "agent zero", "G3")
    subprocess.run(["bash", SCRIPT, root], check=True, capture_output=True)
    assert run_here("host", "activate", "software_dev", "--agent-zero", root, cwd=tmp_path).returncode == 0
    assert status(root)["on"]
    (root / "usr/plugins/orgkernel/.toggle-0").touch()
    said = status(root)
    assert (said["on"], said["why"]) == (False, "the plugin is disabled in the host's settings")


def test_copying_an_organization_by_hand_is_enough(tmp_path: Path, generation: str) -> None:
    """As the specification says: without orgkernel on the machine, with tools kept to."""
    root = build_host(tmp_path / "agent zero", generation)
    subprocess.run(["bash", SCRIPT, root], check=True, capture_output=True)
    folder = root / "usr/organizations"
    shutil.copy(folder / "software_dev.json", folder / "active.json")
    with running(root, generation) as host:
        agent = host.open_chat()
        host.say(agent, "Fix the bug in parser.py", [call("browser_agent", query="x"), answer()])
        assert any(line.startswith("Role activated: Bugfix Specialist") for line in org_lines(agent))
        assert "browser_agent" not in [name for name, *_ in host.ran]
    assert (status(root)["on"], status(root)["why"]) == (True, "an organization is active")


def test_the_tests_put_everything_where_the_installer_does(tmp_path: Path, generation: str) -> None:
    """What other tests of a host install is the extension as users get it, but for the organizations and the list."""
    by_hand, by_script = (build_host(tmp_path / name, generation) for name in ("by hand", "by script"))
    install(by_hand, generation)
    subprocess.run(["bash", SCRIPT, by_script], check=True, capture_output=True)
    beside = ("usr/organizations/bundles", "usr/organizations/lib/orgkernel_agent_zero/installed.json")
    installed = {
        name: what
        for name, what in picture(by_script).items()
        if not name.startswith(beside)
        and not (Path(name).parent == Path("usr/organizations") and name.endswith(".json"))
    }
    assert {name: what.split()[-1] for name, what in installed.items()} == {
        name: what.split()[-1] for name, what in picture(by_hand).items()
    }
