"""What serves the tools, as the settings of a project say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.errors import BadProject, BadToolbox
from orgkernel.kernel.settings import find_project
from orgkernel.toolbox import HttpApi, McpServer, PythonFunction
from orgkernel.toolbox.settings import read_providers

SETTINGS = """
[toolbox.words]
python = "textwrap:shorten"

[toolbox.codes]
python = {encode = "json:dumps", decode = "json:loads"}

[toolbox.posts]
http = "http://127.0.0.1:1"
routes = {post = "POST /posts", read = "GET /posts/{id}"}
credential_headers = {authorization = ["posts", "Bearer "]}

[toolbox.tracker]
mcp = ["tracker", "--stdio"]
path_from = "file"

[toolbox.far]
mcp = "http://127.0.0.1:1/mcp"
tools = {read = "get_it"}
"""


def test_each_table_is_a_provider(tmp_path: Path) -> None:
    """Functions are imported, the others are values."""
    import json
    import textwrap

    (tmp_path / "orgkernel.toml").write_text(SETTINGS)
    assert read_providers(find_project(str(tmp_path)).toolbox) == {
        "words": PythonFunction(textwrap.shorten),
        "codes": PythonFunction({"encode": json.dumps, "decode": json.loads}),
        "posts": HttpApi(
            "http://127.0.0.1:1", {"post": "POST /posts", "read": "GET /posts/{id}"},
            credential_headers={"authorization": ("posts", "Bearer ")},
        ),
        "tracker": McpServer(("tracker", "--stdio"), path_from="file"),
        "far": McpServer("http://127.0.0.1:1/mcp", {"read": "get_it"}),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "`[toolbox.x]` names no provider"),
        ("a text", "`[toolbox.x]` names no provider"),
        ({"http": "http://a", "mcp": "b"}, "`[toolbox.x]` names `http`, `mcp`, of which only one can serve the tool"),
        ({"http": "http://a", "routs": "GET /"}, "`[toolbox.x]`: the setting `routs` is not known"),
        ({"http": "http://a", "url": "http://b"}, "`[toolbox.x]`: the setting `url` is not known"),
        ({"http": 3, "routes": "GET /"}, "`[toolbox.x]`: `http`: expected a string, got a number"),
        ({"http": "http://a"}, "`[toolbox.x]` lacks the field `routes`"),
        ({"mcp": [1]}, "`[toolbox.x]`: `mcp[0]`: expected a string, got a number"),
        ({"python": "json.dumps"}, "`[toolbox.x]`: `json.dumps` is not a function"),
        ({"python": 3}, "`[toolbox.x]`: `3` is not a function"),
        ({"python": "json:nothing"}, "`[toolbox.x]`: `json:nothing` cannot be imported: module 'json' has no attribute 'nothing'"),
        ({"python": "no_such_module_here:f"}, "`[toolbox.x]`: `no_such_module_here:f` cannot be imported: No module named 'no_such_module_here'"),
        ({"python": "json:__name__"}, "`[toolbox.x]`: `json:__name__` is not a function"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(table: Any, said: str) -> None:
    """With the table it stands in."""
    with pytest.raises(BadToolbox) as caught:
        read_providers({"x": table})
    assert caught.value.message == said


def test_a_toolbox_that_is_no_table_is_refused(tmp_path: Path) -> None:
    """With the other settings."""
    (tmp_path / "orgkernel.toml").write_text("toolbox = 3\n")
    with pytest.raises(BadProject, match="`toolbox` is not a table"):
        find_project(str(tmp_path))
