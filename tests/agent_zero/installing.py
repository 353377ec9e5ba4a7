"""Our extension in a host, and an organization in force there."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from orgkernel import Kernel
from orgkernel.exchange.agent_zero.activation import activate as write_activation
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.exchange.agent_zero.host import CHOICES
from orgkernel.runtime.bundle import compute_checksum_of
from tests.agent_zero.double_loader import EXTENSION_HOME
from tests.support.trees import REPOSITORY

EXTENSION = REPOSITORY / "extension"
LIBRARY = "usr/organizations/lib/orgkernel_agent_zero"


def install(root: Path, generation: str) -> None:
    """Put every part where its installer puts it."""
    home = root / EXTENSION_HOME[generation]
    for shim in sorted((EXTENSION / "shims").glob("*/*.py")):
        target = home / shim.parent.name / shim.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shim, target)
    if generation == "G3":
        shutil.copytree(EXTENSION / "plugin", root / "usr/plugins/orgkernel", dirs_exist_ok=True)
    library = root / LIBRARY
    skip = shutil.ignore_patterns("__pycache__", "runtime.py")
    shutil.copytree(EXTENSION / "host", library, ignore=skip, dirs_exist_ok=True)
    shutil.copytree(
        REPOSITORY / "orgkernel" / "runtime", library / "runtime", ignore=skip, dirs_exist_ok=True
    )


@cache
def compiled(org_id: str) -> dict[str, Any]:
    """The bundle of a shipped organization."""
    view = Kernel.open().latest(org_id).index
    bundle: dict[str, Any] = json.loads(json.dumps(compile_bundle(view, "orgkernel tests")))
    return bundle


def activate(
    root: Path,
    org_id: str = "software_dev",
    *,
    change: Callable[[dict[str, Any]], None] | None = None,
    **settings: str,
) -> None:
    """Put an organization in force; `change` edits its bundle first."""
    bundle = compiled(org_id)
    if change is not None:
        bundle = copy.deepcopy(bundle)
        change(bundle)
        bundle["checksum"] = compute_checksum_of(bundle)
    write_activation(str(root), bundle, settings)
    if wrong := {name: word for name, word in settings.items() if word not in CHOICES[name]}:
        path = root / "usr/organizations/active.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        document["x_orgkernel"].update(wrong)
        path.write_text(json.dumps(document), encoding="utf-8")


def bundle_file(root: Path) -> Path:
    """The bundle in force."""
    folder = root / "usr/organizations"
    document = json.loads((folder / "active.json").read_text(encoding="utf-8"))
    path: Path = folder / document["x_orgkernel"]["bundle"]
    return path


def deactivate(root: Path) -> None:
    """Take it out of force."""
    (root / "usr/organizations/active.json").unlink()
