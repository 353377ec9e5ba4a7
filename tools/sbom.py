"""`make sbom`: a software bill of materials of a lock file, in the JSON form of CycloneDX.

cyclonedx-py reads the lock with its hashes. What it lacks is added: which packages orgkernel itself requires.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "pyproject.toml"


def build_bill(lock: Path) -> dict[str, Any]:
    """The bill of a lock file, which is the same for the same lock."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements"]
    options = ["--pyproject", PROJECT, "--output-reproducible", "--spec-version", "1.6", "-o", "-"]
    done = subprocess.run([*command, *options, str(lock)], check=True, capture_output=True, text=True)
    bill: dict[str, Any] = json.loads(done.stdout)
    parts = {canonicalize_name(part["name"]): part for part in bill["components"]}
    renamed = {}
    for part in parts.values():
        renamed[part["bom-ref"]] = part["bom-ref"] = part["purl"]
        del part["description"]  # the line of the lock, which the hashes say again
    root = bill["metadata"]["component"]["bom-ref"]
    project = tomllib.loads(Path(PROJECT).read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    required = {
        canonicalize_name(Requirement(each).name) for each in sum(optional, [*project["dependencies"]])
    }
    direct = sorted(parts[name]["purl"] for name in required & parts.keys())
    bill["dependencies"] = [
        {"ref": root, "dependsOn": direct},
        *({"ref": part["purl"]} for part in parts.values()),
    ]
    return bill


def main(lock: str, target: str) -> None:
    """Write the bill of `lock` to `target`."""
    Path(target).write_text(json.dumps(build_bill(Path(lock)), indent=2) + "\n", encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
