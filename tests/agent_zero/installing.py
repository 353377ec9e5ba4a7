"""Our extension in a host, and an organisation in force there."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from orgkernel import Kernel
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.runtime.bundle import checksum_of
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
    """The bundle of a shipped organisation."""
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
    """Put an organisation in force; `change` edits its bundle first."""
    folder = root / "usr/organizations"
    (folder / "bundles").mkdir(parents=True, exist_ok=True)
    bundle = copy.deepcopy(compiled(org_id))
    if change is not None:
        change(bundle)
        bundle["checksum"] = checksum_of(bundle)
    (folder / "bundles" / f"{org_id}.json").write_text(json.dumps(bundle), encoding="utf-8")
    document = dict(bundle["organization"]["document"])
    document["x_orgkernel"] = {"bundle": f"bundles/{org_id}.json", **settings}
    (folder / "active.json").write_text(json.dumps(document), encoding="utf-8")


def deactivate(root: Path) -> None:
    """Take it out of force."""
    (root / "usr/organizations/active.json").unlink()
