"""Compare the catalog of Claude Code's tools with what its package says: `python -m tools.host_catalogs FOLDER`.

The folder is an unpacked package, such as `npm pack @anthropic-ai/claude-code` gives. Prints each tool that only one of both has, and
ends with 1 if the catalog lacks one. The person who adds it looks up its effects and updates the date in `ontology/hosts/claude_code.yaml`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.claude_code.host_table import read_host_table

_UNION = re.compile(r"export type ToolInputSchemas =(.*?);", re.DOTALL)
_NAME = re.compile(r"\| (\w+)Input\b")


def list_package_tools(folder: Path) -> set[str]:
    """The names of the tools that the package declares. Raises `ValueError` if its declarations have another form."""
    text = (folder / "sdk-tools.d.ts").read_text("utf-8")
    union = _UNION.search(text)
    if union is None:
        raise ValueError("sdk-tools.d.ts has no ToolInputSchemas")
    names = read_host_table()["package_names"]
    return {names.get(each, each) for each in _NAME.findall(union[1])} - {""}


def list_catalog_tools() -> set[str]:
    """The names of the tools in the catalog."""
    return set(read_built_in_tools("claude-code"))


def main(folder: Path) -> int:
    """Print the differences. Returns the exit code."""
    version = json.loads((folder / "package.json").read_text("utf-8"))["version"]
    there, here = list_package_tools(folder), list_catalog_tools()
    for each in sorted(there - here):
        print(f"only in the package {version}: {each}")
    for each in sorted(here - there):
        print(f"only in the catalog: {each}")
    return 1 if there - here else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
