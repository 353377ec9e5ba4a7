"""From the installer to a refused call and back, as a user does it."""

from __future__ import annotations

import shutil
import subprocess

from orgkernel.exchange.agent_zero.activation import deactivate
from orgkernel.exchange.agent_zero.status import read_status
from tests.agent_zero.double import build_host, running
from tests.agent_zero.installing import EXTENSION, activate
from tests.agent_zero.saying import answer, call, org_lines, reports

BUG = "Fix the bug in parser.py"
TURNS = [call("browser_agent", query="x"), answer("fixed")]


def script(root, *options):
    done = subprocess.run(
        ["bash", EXTENSION / "install_org_kernel.sh", *options, root],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def one_turn(root, generation, said=BUG):
    with running(root, generation) as host:
        agent = host.open_chat()
        host.say(agent, said, TURNS)
        return [tool for _, tool in host.ran], [prompt.system for prompt in host.seen], org_lines(agent)


def test_installed_copied_by_hand_run_activated_run_and_taken_out(tmp_path, generation):
    """At each step the host does what the status says; in the end it is as it was in the beginning."""
    root = build_host(tmp_path / "agent zero", generation)
    files_before = sorted(path.relative_to(root) for path in root.rglob("*"))
    before = one_turn(root, generation)
    script(root)
    assert one_turn(root, generation) == before
    assert not read_status(str(root)).on

    folder = root / "usr/organizations"
    shutil.copyfile(folder / "software_dev.json", folder / "active.json")
    ran, _, lines = one_turn(root, generation)
    assert ran == ["response"]
    assert lines[0].startswith("Role activated: Bugfix Specialist")
    status = read_status(str(root))
    assert status.on
    assert status.loaded == status.digest
    assert status.last_error is None

    activate(root, "sigint_alpha", enforcement="trim")
    ran, systems, lines = one_turn(root, generation, "Write a script that decodes the frames")
    assert ran == ["browser_agent", "response"]
    assert lines[0].startswith("Role activated: Codegen Specialist")
    assert all(len(shown) < len(stock) for shown, stock in zip(systems, before[1], strict=True))
    assert any(line.startswith("Would refuse `browser_agent`") for line in lines)
    assert read_status(str(root)).organization == "sigint_alpha"

    deactivate(str(root))
    assert one_turn(root, generation) == before
    assert set(reports(root)) == {"bugfix_specialist", "codegen_specialist"}
    script(root, "--uninstall")
    shutil.rmtree(folder / "reports")
    for left in folder.glob("active.json.kept*"):
        left.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    assert one_turn(root, generation) == before
    assert sorted(path.relative_to(root) for path in root.rglob("*")) == files_before
