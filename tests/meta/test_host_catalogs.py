"""`tools.host_catalogs` tells what a package of a host has and the catalog lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.host_catalogs import list_catalog_tools, main


def _package(folder: Path, *inputs: str) -> Path:
    union = "".join(f"\n  | {each}Input" for each in inputs)
    (folder / "sdk-tools.d.ts").write_text(f"export type ToolInputSchemas ={union}\n  | ToolOutputSchemas;\n")
    (folder / "package.json").write_text(json.dumps({"version": "9.9.9"}))
    return folder


def test_a_new_tool_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name in settings; tools that the catalog has under another name are not counted."""
    assert main(_package(tmp_path, "Bash", "FileEdit", "Mcp", "Teleport")) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [each for each in lines if "package" in each] == ["only in the package 9.9.9: Teleport"]
    assert "only in the catalog: Read" in lines


def test_a_package_in_another_form_is_refused(tmp_path: Path) -> None:
    """Instead of telling that nothing is new."""
    (tmp_path / "sdk-tools.d.ts").write_text("export type Tools = 1;\n")
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises((ValueError, KeyError)):
        main(tmp_path)


def test_the_catalog_has_the_tools_of_the_last_look() -> None:
    """Those that run commands are among them."""
    assert {"Bash", "Monitor", "PowerShell", "REPL", "Workflow"} <= list_catalog_tools()
