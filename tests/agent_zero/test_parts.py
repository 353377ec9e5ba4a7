"""Parts of the adapter that are worth asking alone."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

from extension.host.calls import has_failed
from extension.host.organization import read_settings
from extension.host.tool_texts import list_served_tools
from tests.agent_zero.double import build_host
from tests.agent_zero.installing import EXTENSION, install

AGENT = SimpleNamespace(data={})
LOG = "\n".join(f"2026-01-01 12:00:{number:02} INFO worker {number} is fine" for number in range(40))


@pytest.mark.parametrize(
    "message",
    [
        "cat: notes.txt: No such file or directory",
        "bash: foo: command not found",
        'Traceback (most recent call last):\n  File "x", line 1\nValueError: no',
        "Error: cannot reach the server",
        "fatal: not a git repository",
        "mkdir: cannot create directory 'x': Permission denied",
        "Tool 'foo' not found.",
        "ERROR: connection refused",
        "requests.exceptions.ConnectTimeout: timed out",
    ],
)
def test_what_failed_is_seen(message):
    """By how it begins or ends."""
    assert has_failed(AGENT, message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        None,
        "3 files changed",
        "Tests passed: 12, no errors found",
        f"{LOG}\n2026-01-01 12:01:00 ERROR timed out",
        "The function error_format handles what is not found in the table, then returns.",
        "I found the reason for the crash",
    ],
)
def test_what_worked_is_not_taken_for_a_failure(message):
    """A long log is output, whatever its last line says."""
    assert not has_failed(AGENT, message)


def test_the_diagnosis_of_a_neighbor_counts():
    """It has read the whole answer."""
    assert has_failed(SimpleNamespace(data={"_error_diagnosis": {"error_class": "network"}}), "odd words")
    assert not has_failed(SimpleNamespace(data={"_error_diagnosis": None}), "odd words")


@pytest.mark.parametrize(
    ("name", "text", "tools"),
    [
        ("memory", "", {"memory_load", "memory_save", "memory_delete", "memory_forget"}),
        ("browser", '"tool_name": "browser_agent"', {"browser_agent"}),
        ("scheduler", '"tool_name": "scheduler:list"', {"scheduler"}),
        ("skills", '### skills_tool\n- `input`\n"tool_name": "wait"', {"skills_tool"}),
        ("wait", '### wait\n### input\n"tool_name": "scheduler"', {"wait", "input"}),
        ("new_thing", '"tool_name": "thing"', {"thing"}),
        ("new_thing", "no example at all", {"new_thing"}),
        ("bundle", "- `wait`: args seconds\n- `input`: args keyboard", {"wait", "input"}),
    ],
)
def test_which_tools_a_file_serves(name, text, tools):
    """By its name, its examples, and what it declares."""
    known = {"wait", "input", "scheduler", "browser_agent"}
    assert list_served_tools(f"agent.system.tool.{name}.md", text, known) == tools


@pytest.mark.parametrize("data", [None, {}, {"enforcement": "enforce"}])
def test_settings_that_are_not_given_are_the_defaults(data):
    """Enforced, errors pass, unlisted tools are warned of."""
    settings, remarks = read_settings(data)
    assert (settings.enforcement, settings.on_error, settings.unlisted_tools) == ("enforce", "pass", "warn")
    assert remarks == ()


def test_tests_install_what_the_installer_installs(tmp_path, generation):
    """File by file: hosts of tests are put together faster than by the script, and in the same way."""
    by_script = build_host(tmp_path / "by script", generation)
    subprocess.run(["bash", EXTENSION / "install_org_kernel.sh", by_script], check=True, capture_output=True)
    by_us = build_host(tmp_path / "by us", generation)
    install(by_us, generation)

    def contents(root):
        files = [path for path in root.rglob("*") if path.is_file()]
        documents = root / "usr/organizations"
        ours = [path for path in files if path.parent not in (documents, documents / "bundles")]
        return {
            str(path.relative_to(root)): path.read_bytes() for path in ours if path.name != "installed.json"
        }

    assert contents(by_us) == contents(by_script)
