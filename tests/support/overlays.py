"""An organization of ours over a project of Claude Code, for tests."""

from __future__ import annotations

from pathlib import Path

from tests.support.claude_trees import AGENTS, agent
from tests.support.trees import write_tree

ORG = """\
_schema: orgkernel:organization
org_id: shop
sources:
  - {format: claude-code, path: ../team}
hierarchy:
  lead: {subordinates: [code-reviewer]}
departments: {quality: {}}
overrides:
  code-reviewer: {department: quality}
rank_matrix: levels
"""
REVIEWER = """\
_schema: orgkernel:role_profile
role_id: code-reviewer
overlay: true
capabilities:
  bst_domains: [review]
doctrine: {salute_interval_turns: 3}
entry_rank: lieutenant
"""
FILES = {
    f"team/{AGENTS}/lead.md": agent("lead", "Leads the crew. Use for anything bigger.", "Read"),
    f"team/{AGENTS}/reviewer.md": agent("code-reviewer", "Reviews a diff. Use after code was written.", "Read, Grep", "Rank what you find."),
    f"team/{AGENTS}/fixer.md": agent("fixer", "Fixes what a review found. Use when something is broken.", "Bash, mcp__tracker__open"),
    "team/.claude/skills/release/SKILL.md": "---\nname: release\ndescription: How to release.\n---\nSteps.\n",
    "team/.mcp.json": '{"mcpServers": {"tracker": {"command": "x"}}}\n',
    "org/org.yaml": ORG,
    "org/roles/reviewer.yaml": REVIEWER,
    "org/roles/lead.yaml": "_schema: orgkernel:role_profile\nrole_id: lead\noverlay: true\nrole_type: executive\nhandoff: {may_to: [fixer]}\n",
    "org/roles/fixer.yaml": "_schema: orgkernel:role_profile\nrole_id: fixer\noverlay: true\nchain_of_command: {reports_to: lead}\n",
    "org/domains.yaml": "_schema: orgkernel:domain_catalog\ndomains: {review: {description: Reviews of code.}}\n",
    "org/ranks.yaml": "_schema: orgkernel:rank_ladder\nranks: [{id: ensign}, {id: lieutenant}]\nmatrices:\n  levels: [{name: all, levels: {lieutenant: full}}]\n",
}  # fmt: skip


def laid_over(folder: Path) -> Path:
    """`org` names `team` as its source, and adds ranks, a domain, a department and superiors."""
    return write_tree(folder, FILES)
