"""`make sbom`: a software bill of materials of a lock file, in the JSON form of CycloneDX.

cyclonedx-py reads the lock with its hashes. What it lacks is added: which packages orgkernel itself requires, and under which
condition a package is installed (the property `orgkernel:marker`, PEP 508). A package can be locked in several versions, each
with its condition. The page is built, so the packages of npm that its sources import are part of the wheel, and are listed.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "pyproject.toml"
PAGE = Path("manifest_api/page/src")
_IMPORT = re.compile(r"""(?:from|import) ["']((?:@[\w.-]+/)?[a-z][\w.-]*)[^"']*["']""")
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
    bundled = list(list_page_packages())
    parts += bundled
    root = bill["metadata"]["component"]["bom-ref"]
    project = tomllib.loads(Path(PROJECT).read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    required = {
        canonicalize_name(Requirement(each).name) for each in sum(optional, [*project["dependencies"]])
    }
    named = (part["purl"] for part in parts if canonicalize_name(part["name"]) in required)
    direct = sorted({*named, *(part["purl"] for part in bundled)})
    bill["dependencies"] = [
        {"ref": root, "dependsOn": direct},
        *({"ref": part["purl"]} for part in parts),
    ]
    return bill


def list_page_packages() -> Iterator[dict[str, Any]]:
    """The packages of npm that the sources of the page import, with the hashes of the lock file."""
    sources = (path.read_text("utf-8") for path in sorted(PAGE.glob("**/*.ts*")))
    imported = {name for text in sources for name in _IMPORT.findall(text)}
    locked = json.loads(Path("requirements/page/package-lock.json").read_text("utf-8"))["packages"]
    for name in sorted(imported):
        package = locked[f"node_modules/{name}"]
        algorithm, _, digest = package["integrity"].partition("-")
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        content = {"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}
        url = f"https://registry.npmjs.org/{name}/-/{name.rpartition('/')[2]}-{package['version']}.tgz"
        yield {
            "type": "library", "name": name, "version": package["version"], "purl": purl, "bom-ref": purl,
            "externalReferences": [{"type": "distribution", "url": url, "hashes": [content]}],
        }  # fmt: skip


def main(lock: str, target: str) -> None:
    """Write the bill of `lock` to `target`."""
    Path(target).write_text(json.dumps(build_bill(Path(lock)), indent=2) + "\n", encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
