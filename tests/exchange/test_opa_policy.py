"""The Rego policy that an export to OPA brings: OPA's own programs accept it, where they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from orgkernel.exchange.opa.export import POLICY

CHECKS = {
    "format": ("opa", "fmt", "--fail", "--diff"),
    "check": ("opa", "check", "--strict"),
    "faults": ("regal", "lint", "--disable-all", "--enable-category", "bugs"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("check", CHECKS)
def test_programs_of_opa_accept_the_policy(check: str) -> None:
    """It is laid out by `opa fmt`, compiles in strict mode, and regal sees no fault in it."""
    program, *arguments = CHECKS[check]
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([path, *arguments, str(POLICY)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout if check == "format" else "") == (0, ""), done.stdout + done.stderr


def test_an_engine_of_rego_compiles_the_policy() -> None:
    """Regorus, which reads Rego 1.0, knows each rule; without data and a question nothing is allowed."""
    regorus = pytest.importorskip("regorus")
    engine = regorus.Engine()
    assert engine.add_policy("policy.rego", POLICY.read_text(encoding="utf-8")) == "data.orgkernel.access"
    assert engine.eval_rule_as_json("data.orgkernel.access.outcome") == '"undecided"'
    assert engine.eval_rule_as_json("data.orgkernel.access.allow") == "false"


def test_the_policy_is_laid_out_as_opa_does() -> None:
    """Tabs, no white space at the end of a line, no two empty lines, and one end of line at the end."""
    text = POLICY.read_text(encoding="utf-8")
    assert not re.search(r"^\t* +\S|[ \t]$|\n\n\n|\r", text, re.MULTILINE)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
