"""What a change is called, how it is classified, and which lines it names."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from orgkernel.decisions.reasons import Why
from orgkernel.diff.changes import Change, summarize
from orgkernel.diff.normal_form import normalize
from orgkernel.diff.render_diff import WIDTH, render_github, render_markdown, render_summary, render_text
from orgkernel.manifest.v1 import OrganizationManifest, RoleManifest
from tests.support.compared import compare_versions, report_of
from tests.support.edited_trees import Documents, small_documents, versions_of

PLANS = {"_schema": "orgkernel:plan_catalog", "plans": {"write": {"tools": ["text_editor"]}}}
EQUIPPED = {"tools": [{"tool": "text_editor", "level": "read"}]}


def profile(**fields: Any) -> Documents:
    return small_documents() | {
        "roles/b.json": {"_schema": "orgkernel:role_profile", "role_id": "b", **fields}
    }


def organization(**fields: Any) -> Documents:
    documents = small_documents()
    return documents | {"org.json": {**documents["org.json"], **fields}}


def able(**fields: Any) -> Documents:
    return profile(capabilities=fields) | {"plans.json": PLANS}


def differences(old: Documents, new: Documents) -> list[str]:
    """Sign and sentence of every change, findings left out."""
    signs = {"widened": "+", "narrowed": "-", "unclear": "?", "neutral": "~"}
    return [
        f"{signs[each.classification]} {each.sentence}"
        for each in compare_versions(versions_of(old), versions_of(new))
        if not each.subject.startswith("finding:")
    ]


CASES: dict[str, tuple[Documents, Documents, list[str]]] = {
    "a domain": (
        profile(),
        able(bst_domains=["codegen"]),
        ["~ small gains domain codegen, which goes to b", "+ b gains domain codegen"],
    ),
    "a tool": (
        profile(),
        able(tools_primary=["text_editor"]),
        ["+ b gains tool text_editor"],
    ),
    "a tool that destroys, with what comes along": (
        profile(),
        able(tools_primary=["code_execution_tool"]),
        ["+ b gains essential tool input (destructive)", "+ b gains tool code_execution_tool (destructive)"],
    ),
    "a tool at a level, and a higher one": (
        able(**EQUIPPED),
        able(tools=[{"tool": "text_editor", "level": "write"}]),
        [
            "+ b may now use actions write, patch of tool text_editor",
            "+ b holds tool text_editor at level write instead of read",
        ],
    ),
    "a tool that is essential and then listed": (
        profile(),
        able(tools_primary=["response"]),
        ["~ b loses essential tool response", "~ b gains tool response"],
    ),
    "an essential tool that is listed at a lower level": (
        profile(),
        able(tools=[{"tool": "response", "level": "read"}]),
        ["~ b loses essential tool response", "~ b gains tool response"],
    ),
    "a plan that cannot be run, and then can": (
        able(htn_plans=["write"]),
        able(htn_plans=["write"], tools_primary=["text_editor"]),
        ["+ b can now run plan write", "+ b gains tool text_editor"],
    ),
    "a plan it cannot run": (
        able(),
        able(htn_plans=["write"]),
        ["~ b gains plan write, which it cannot run: it lacks text_editor"],
    ),
    "a skill": (
        able(),
        able(skills=["collaboration"]),
        ["~ b gains required skill collaboration (at least 1)"],
    ),
    "the right to delegate": (
        profile(),
        profile(chain_of_command={"can_delegate": True}),
        ["+ b gains essential tool call_subordinate", "+ b may now delegate"],
    ),
    "authority": (
        profile(chain_of_command={"authority_level": 2}),
        profile(),
        ["- b: authority_level is `1` instead of `2`"],
    ),
    "probation": (
        profile(),
        profile(open_to_probation=True),
        ["+ b is now open to agents on probation"],
    ),
    "clearance": (
        profile(clearance="basic"),
        profile(clearance="oracle"),
        ["+ b: clearance is `oracle` instead of `basic`"],
    ),
    "a hand-off target": (
        profile(),
        profile(handoff={"may_to": ["c"]}),
        ["+ b gains hand-off target c", "~ c gains hand-off source b"],
    ),
    "rights to grant": (
        profile(may_grant=[{"tool": "browser_agent"}, {"tool": "text_editor", "level": "read"}]),
        profile(may_grant=[{"tool": "text_editor", "level": "write"}, {"tool": "memory_load"}]),
        [
            "- b loses right to grant browser_agent up to level full",
            "+ b gains right to grant memory_load up to level full",
            "+ b may grant text_editor up to level write instead of read",
        ],
    ),
    "examples": (
        profile(examples=["Fix it."]),
        profile(examples=["Mend it."], not_examples=["Break it."]),
        [
            "~ b loses example `Fix it.`",
            "~ b gains example `Mend it.`",
            "~ b gains counterexample `Break it.`",
        ],
    ),
    "credentials and data": (
        profile(credentials=["github"]),
        profile(data=["bugs"]),
        ["- b loses credential github", "+ b gains data bugs"],
    ),
    "the first path of a scope, which was open before": (
        profile(),
        profile(file_scope=["src/"]),
        ["- b gains file scope `src/`"],
    ),
    "one more path of a scope": (
        profile(file_scope=["src/"]),
        profile(file_scope=["src/", "docs/"]),
        ["+ b gains file scope `docs/`"],
    ),
    "the order of tools": (
        able(tools_primary=["text_editor", "search_engine"]),
        able(tools_primary=["search_engine", "text_editor"]),
        ["~ b: the order of tools is now search_engine, text_editor"],
    ),
    "words": (
        profile(description="One", requirements={"required_extensions": ["x"]}, standing_orders=["Ask."]),
        profile(description="Two", requirements={"required_extensions": ["y"]}, role_name="Chief"),
        [
            "~ b: description is `Two` instead of `One`",
            "~ b: requirements.required_extensions gained `y`, lost `x`",
            "~ b: role_name is `Chief` instead of `B`",
            "~ b loses standing order `Ask.`",
        ],
    ),
    "a failure plan": (
        profile(pace_plan={"contingent": {"action": "escalate", "escalate_to": "a"}}),
        profile(pace_plan={"contingent": {"action": "escalate", "escalate_to": "c"}}),
        ["~ b loses escalation to a at tier contingent", "~ b gains escalation to c at tier contingent"],
    ),
    "a department and a layer": (
        organization(layers=["low"]),
        organization(layers=["low"]) | {"roles/b.json": {**profile(layer="low")["roles/b.json"]}},
        ["~ b gains layer low"],
    ),
    "limits of the organization": (
        organization(limits={"delegation": "strict", "max_children": 5}),
        organization(limits={"delegation": "envelope", "max_children": 4}),
        [
            "+ small: limits.delegation is `envelope` instead of `strict`",
            "~ small: limits.max_children is `4` instead of `5`",
        ],
    ),
    "a hand-off edge": (
        organization(layers=["top", "low"]),
        organization(layers=["top", "low"], dispatch_edges=[{"from": "top", "to": "low"}]),
        ["+ small gains hand-off edge top>low"],
    ),
    "the mode": (
        organization(),
        organization(mode="macrocosm", description="New."),
        [
            "~ small: description is `New.` instead of nothing",
            "~ small: mode is `macrocosm` instead of `microcosm`",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    """Every difference is said, in these words, with this effect; and nothing else."""
    old, new, expected = CASES[name]
    assert [each for each in differences(old, new) if "execution." not in each] == expected


def test_every_field_of_the_shape_is_compared() -> None:
    """A field of the manifest is in the normal form, or is one of those that say where and which version."""
    (version,) = versions_of(small_documents()).values()
    form = normalize(version.manifest)
    for struct, record in ((OrganizationManifest, form), (RoleManifest, form["roles"][0])):
        left_out = {each.encode_name for each in msgspec.structs.fields(struct)} - record.keys()
        assert left_out == {"why", "snapshot", "state_version", "_schema", "_version", "manifest_of"} | (
            {"chain_of_command"} if struct is RoleManifest else set()
        )
    assert {"superior", "chain", "pace_current"} <= form["roles"][0].keys()


def test_lines_that_caused_it() -> None:
    """A plan that can be run names the tool that was missing, an action the catalog that allows it."""
    old, new = able(htn_plans=["write"]), able(htn_plans=["write"], tools_primary=["text_editor"])
    changes = compare_versions(versions_of(old), versions_of(new))
    (plan,) = [each for each in changes if each.subject == "plan:write"]
    assert plan.why_after[0].text == "role b is equipped with tool text_editor"
    assert plan.why_before[0].text == "tools of plan write"
    assert plan.why_before[0].file == "plans.json"


def test_a_swap_of_two_names() -> None:
    """Roles renamed at the same time are told apart by their superior, and keep being theirs."""
    documents = small_documents()
    new = {
        "org.json": {**documents["org.json"], "hierarchy": {"a": {"subordinates": ["x"]}, "x": {"subordinates": ["y"]}, "y": {}}},
        "roles/a.json": documents["roles/a.json"],
        **{f"roles/{role}.json": {"_schema": "orgkernel:role_profile", "role_id": role} for role in ("x", "y")},
    }  # fmt: skip
    old = {**documents, "org.json": {**documents["org.json"], "hierarchy": {"a": {"subordinates": ["b"]}, "b": {"subordinates": ["c"]}, "c": {}}}}  # fmt: skip
    assert differences(old, new) == ["~ b is renamed x", "~ c is renamed y"]


def test_a_role_that_changes_with_its_id() -> None:
    """A role with another profile is another role."""
    old = organization(hierarchy={"a": {"subordinates": ["b"]}, "b": {}})
    new = organization(hierarchy={"a": {"subordinates": ["c"]}, "c": {}})
    new["roles/c.json"] = {**new["roles/c.json"], "credentials": ["github"]}
    assert [each for each in differences(old, new) if " is " in each] == [
        "- b is removed: specialist under a",
        "+ c is added: specialist under a, with credential github",
    ]


def test_summary() -> None:
    """Counts are of organizations, roles and effects; nothing to count is said plainly."""
    old, new = (
        versions_of(profile(**fields))
        for fields in ({"description": "x"}, {"description": "y", "data": ["z"]})
    )
    changes = compare_versions(old, new)
    assert (
        render_summary(report_of(changes)) == "2 changes in 1 organization: 1 widened, 0 narrowed, 1 neutral"
    )
    assert summarize(changes).kinds == {"changed": 1, "gained": 1}
    assert render_summary(report_of(())) == "no change"
    assert render_text(report_of(())) == "no change\n"
    assert render_github(report_of(())) == ""
    assert render_markdown(report_of(())) == "### What the organization allows now\n\nNo change.\n"


def said(sentence: str, file: str = "org.yaml", effect: str = "widened") -> Change:
    return Change(
        org_id="small", role_id="b", kind="gained", path=("roles", "b", "tools", "x"), sentence=sentence,
        classification=effect, why_after=(Why("x", file, 7),),
    )  # fmt: skip


def test_text_is_at_most_100_columns_wide() -> None:
    """Long sentences are broken at spaces, longer words inside, and wide characters count twice."""
    for sentence in ("word " * 60, "x" * 500, "漢字" * 150, "a " + "b" * 99):
        shown = render_text(report_of([said(sentence, "folder/" * 30 + "org.yaml")]))
        assert max(sum(1 + (ord(each) > 0x2E80) for each in line) for line in shown.splitlines()) <= WIDTH
        assert "".join(sentence.split()) in "".join(shown.split())


def test_workflow_commands_are_escaped() -> None:
    """Neither a sentence nor the name of a file can end a workflow command or begin another one."""
    (line,) = render_github(report_of([said("100% of\r\n::error::x", "a,b:c.yaml")])).splitlines()
    assert line == (
        "::warning file=a%2Cb%3Ac.yaml,line=7,title=orgkernel diff%3A widened::100%25 of\\r\\n::error::x"
    )


def test_markdown_is_escaped_and_bounded() -> None:
    """A text stays text in a cell, and a summary stays short."""
    text = render_markdown(report_of([said("gains `x` | <b> @all #1 *y* [z](https://e.org)")]))
    assert (
        "gains &#96;x&#96; &#124; &#60;b&#62; &#64;all &#35;1 &#42;y&#42; &#91;z&#93;(https:&#47;/e.org)"
        in text
    )
    many = render_markdown(report_of([said("x")] * 300 + [said("y", effect="neutral")] * 300))
    assert len(many.splitlines()) < 420
    assert "And 100 widened more" in many
    assert "And 100 other more" in many
