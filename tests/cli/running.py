"""The command as its users run it: the console script, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.patience import PATIENCE

ORGKERNEL = str(Path(sys.executable).with_name("orgkernel"))

# Three roles, without a finding.
SHOP = {
    "org.yaml": """\
_schema: orgkernel:organization
_version: "1.0"
org_id: shop
org_name: Corner Shop
hierarchy:
  co:
    subordinates: [dev, ops]
  dev: {}
  ops: {}
domains: [codegen, docker_ops]
""",
    "roles/co.yaml": """\
_schema: orgkernel:role_profile
role_id: co
role_type: commander
description: Leads.
capabilities: {tools_primary: [call_subordinate]}
""",
    "roles/dev.yaml": """\
_schema: orgkernel:role_profile
role_id: dev
description: Writes code.
capabilities:
  bst_domains: [codegen]
  htn_plans: [codegen_module]
  tools_primary: [code_execution_tool, text_editor, memory_load]
""",
    "roles/ops.yaml": """\
_schema: orgkernel:role_profile
role_id: ops
description: Keeps it running.
capabilities:
  bst_domains: [docker_ops]
  tools_primary: [code_execution_tool]
""",
}


def run(
    *arguments: str | os.PathLike[str], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the console script and wait for it; whatever happens, it must not be a traceback."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("ORGKERNEL", "PYTHON"))
    }
    done = subprocess.run(
        [ORGKERNEL, *map(os.fspath, arguments)],
        cwd=cwd,
        env=clean | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done
