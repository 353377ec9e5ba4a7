"""The list of tools in a profile: ids and mappings say the same."""

from __future__ import annotations

from pathlib import Path

from orgkernel import AccessRequest, Kernel
from tests.support.trees import write_tree

_ORG = "_schema: orgkernel:organization\norg_id: demo\nhierarchy: {codegen: {}}\n"
_PROFILE = "_schema: orgkernel:role_profile\nrole_id: codegen\ndescription: Writes code.\ncapabilities:\n  tools: [TOOL]\n"


def open_with(folder: Path, tool: str) -> Kernel:
    """An organization whose only role has one entry in `tools`."""
    files = {"org.yaml": _ORG, "roles/codegen.yaml": _PROFILE.replace("TOOL", tool)}
    return Kernel.open(write_tree(folder, files))


def test_an_id_is_the_tool_at_full_level(tmp_path: Path) -> None:
    """`tools: [text_editor]` gives the same levels and decisions as `{tool: text_editor, level: full}`."""
    by_id = open_with(tmp_path / "id", "text_editor")
    by_mapping = open_with(tmp_path / "mapping", "{tool: text_editor, level: full}")
    assert by_id.check() == by_mapping.check() == ()
    assert by_id.what_can("demo", "role:codegen") == by_mapping.what_can("demo", "role:codegen")
    request = AccessRequest("role:codegen", "use", "tool:text_editor")
    assert by_id.can("demo", request).level_effective == "full"
    assert by_id.manifest("demo", "codegen").tools[0].preference == "stated"


def test_an_invalid_id_is_refused_at_its_place(tmp_path: Path) -> None:
    """A text that cannot be an id is a finding at the text, and so is an entry of another type."""
    (text,) = open_with(tmp_path / "text", '"two words"').check()
    assert (text.code, text.place.line, text.place.column) == ("ORG105", 5, 11)
    (number,) = open_with(tmp_path / "number", "7").check()
    assert (number.code, number.place.line, number.place.column) == ("ORG103", 5, 11)
