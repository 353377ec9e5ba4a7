"""What the surface may cost and reach."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from inspect import signature

from manifest_api.questions import read_crew_question
from orgkernel.manifest.crew import AgentFilter
from orgkernel.manifest.filters import RoleFilter
from tests.support.trees import REPOSITORY


def test_every_filter_of_the_kernel_can_be_asked_for() -> None:
    """Every condition of `RoleFilter` and of `AgentFilter` is a parameter of the route."""
    assert set(signature(read_crew_question).parameters) == {
        *(field.name for field in fields(RoleFilter)),
        *AgentFilter.__struct_fields__,
        "cursor",
        "limit",
    }


def test_importing_the_package_is_light() -> None:
    """Importing `manifest_api` imports neither FastAPI nor uvicorn; touching `create_app` does."""
    program = (
        "import sys, manifest_api\n"
        "assert not {'fastapi', 'starlette', 'uvicorn', 'watchfiles', 'pydantic'} & set(sys.modules)\n"
        "assert callable(manifest_api.create_app) and 'fastapi' in sys.modules\n"
        "assert 'uvicorn' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
