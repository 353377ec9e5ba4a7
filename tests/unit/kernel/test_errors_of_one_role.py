"""What is wrong with one role leaves the rest of its organization served (docs/adr/0031)."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.errors import NotServed
from tests.cli.running import SHOP
from tests.support.trees import write_tree

DEV = SHOP["roles/dev.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[codegen]", "[codegen, nowhere]", "ORG301"),
        ("[codegen_module]", "[codegen_module, nowhere]", "ORG302"),
        ("text_editor, ", "text_editor, nowhere, ", "ORG303"),
        ("  tools_primary", "  skills: [nowhere]\n  tools_primary", "ORG304"),
    ],
)
def test_an_unknown_name_is_an_error_for_the_role_and_gives_it_nothing(
    tmp_path: Path, old: str, new: str, code: str
) -> None:
    """The others are served, and so is what the role declares correctly."""
    shop = write_tree(tmp_path / "shop", SHOP | {"roles/dev.yaml": DEV.replace(old, new)})
    kernel = Kernel.open(shop)
    assert [(found.code, found.severity.value, found.subject) for found in kernel.check()] == [
        (code, "error", "role:dev")
    ]
    assert not kernel.state.refused
    assert kernel.dispatch("shop", "docker_ops").role_id == "ops"
    taken = kernel.dispatch("shop", "codegen")
    assert (taken.role_id, taken.allowed_plans) == ("dev", ("codegen_module",))
    assert "nowhere" not in (*taken.tools, *taken.plans)
    assert kernel.dispatch("shop", "nowhere").outcome == "not_applicable"
    assert kernel.can("shop", AccessRequest("role:dev", "use", "tool:nowhere")).outcome == "deny"
    manifest = kernel.manifest("shop", "dev")
    assert "nowhere" not in [tool.id for tool in manifest.tools]
    assert [plan.id for plan in manifest.plans if plan.runnable] == ["codegen_module"]
    assert [found.id for found in manifest.findings] == [code]


def test_an_unknown_name_that_may_take_something_away_refuses_the_organization(tmp_path: Path) -> None:
    """A misspelled tool in a policy would otherwise not be denied."""
    policies = (
        "_schema: orgkernel:access_policies\npolicies:\n  careful:\n    effect: deny\n"
        "    permissions: {tools: [code_execution_tol]}\n"
    )
    shop = write_tree(tmp_path / "shop", SHOP | {"policies.yaml": policies})
    with pytest.raises(NotServed):
        Kernel.open(shop).dispatch("shop", "codegen")


def test_a_new_version_with_such_an_error_answers(tmp_path: Path) -> None:
    """A restriction in another file applies even if a role has a misspelled name."""
    shop = write_tree(tmp_path / "shop", SHOP)
    kernel = Kernel.open(shop)
    write_tree(
        shop,
        {
            "roles/dev.yaml": DEV.replace("[codegen]", "[codegen, nowhere]"),
            "roles/ops.yaml": SHOP["roles/ops.yaml"].replace("code_execution_tool", "memory_load"),
        },
    )
    assert kernel.reload().updated == ("shop",)
    assert kernel.dispatch("shop", "docker_ops").tools == ("memory_load",)
