"""`make sbom`: a software bill of materials of a lock file, in the JSON form of CycloneDX.

cyclonedx-py reads the lock with its hashes. What it lacks is added: which packages orgkernel itself requires, and under which
condition a package is installed (the property `orgkernel:marker`, PEP 508). A package can be locked in several versions, each
with its condition.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "pyproject.toml"
_MARKER = re.compile(r"==\S+ ; (.*?)(?=\s--hash=|\Z)", re.DOTALL)


def build_bill(lock: Path) -> dict[str, Any]:
    """The bill of a lock file, which is the same for the same lock."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements"]
    options = ["--pyproject", PROJECT, "--output-reproducible", "--spec-version", "1.6", "-o", "-"]
    done = subprocess.run([*command, *options, str(lock)], check=True, capture_output=True, text=True)
    bill: dict[str, Any] = json.loads(done.stdout)
    parts = bill["components"]
    for part in parts:
        part["bom-ref"] = part["purl"]
        # The line of the lock, which the hashes say again, except for its condition.
        line = part.pop("description")
        if marker := _MARKER.search(line):
            part["properties"] = [{"name": "orgkernel:marker", "value": marker[1].strip()}]
    root = bill["metadata"]["component"]["bom-ref"]
    project = tomllib.loads(Path(PROJECT).read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    required = {
        canonicalize_name(Requirement(each).name) for each in sum(optional, [*project["dependencies"]])
    }
    direct = sorted(part["purl"] for part in parts if canonicalize_name(part["name"]) in required)
    bill["dependencies"] = [
        {"ref": root, "dependsOn": direct},
        *({"ref": part["purl"]} for part in parts),
    ]
    return bill


def main(lock: str, target: str) -> None:
    """Write the bill of `lock` to `target`."""
    Path(target).write_text(json.dumps(build_bill(Path(lock)), indent=2) + "\n", encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
