"""Compile an organization into the answers that the hook of Claude Code looks up.

For every role and every host tool, a row has the answer of the access decision and the usual explanation: the
reason with file and line, the smallest change, and who can do it or grant it. Paths and commands are known only at
the call, so an answer that depends on a scope has one part for paths in it and one for others. An answer that
depends on circumstances unknown to the hook is never "allow": the hook asks a person if the call could be allowed.

Stored grants apply until they end. After that, only the documents apply.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import msgspec

from orgkernel.decisions.access.decide import may_require_approvals
from orgkernel.decisions.access.decision import AccessExplanation
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.layers.file_scope import WRITE_OUT_OF_FILE_SCOPE
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import HANDOFF
from orgkernel.decisions.evidence.state_view import Grant, StateView
from orgkernel.decisions.handoff.decide import decide_handoff_permission
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.diagnostics.wording import listing, printable
from orgkernel.exchange.claude_code.compiled_rows import CLEAR, CompiledRow, choose_strictest
from orgkernel.exchange.claude_code.host_names import (
    find_action,
    group_tools_by_host_name,
    has_every_tool,
    list_command_arguments,
    list_path_arguments,
    map_agent_names,
    map_plugin_agents,
)
from orgkernel.exchange.claude_code.own_rules import own_parts
from orgkernel.graph.schema import EdgeKind
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.project.hooks.claude_hook.activated import SCHEMA, SHOWN_OF_DIGEST, VERSION
from orgkernel.project.hooks.claude_hook.deciding import HANDOFF_TOOLS, PLACEHOLDER
from orgkernel.runtime.paths import is_inside, may_touch
from orgkernel.shell.writing_options import find_writing_options

ExplanationText = Callable[[str, AccessExplanation], str]
"""A function that renders the explanation of a question as text."""
_PLAIN_COMMAND: Final = "0orgkernel0plain0command"
"""A command that does not begin like any command that a policy names."""
_READ_ONLY_EFFECTS: Final = ("none", "read")
_MAX_EXPLAINED_ROLES: Final = 40
_BY_SEVERAL: Final = (
    "\n  the host would ask one person, and a policy requires approvals of certain or several subjects"
)
"""From this number of roles, refusals to start an agent are not explained for every pair."""
_MAX_QUESTIONS_WITH_REMEDIES: Final = 2_000
"""From this number of questions, refusals do not list remedies, because searching for remedies is slow."""


class CompiledHook(NamedTuple):
    """The result of compiling: the files to write, and the messages to print."""

    data: Mapping[str, Any]
    """Further content of `active.json`, besides the settings."""
    files: Mapping[str, bytes]
    """The answers of each role, by the name of their file."""
    remarks: tuple[str, ...]
    """Sentences about facts that the hook cannot know."""


def compile_hook(
    org_access: OrganizationAccess, render_text: ExplanationText, compiled_by: str, project: str | None = None
) -> CompiledHook:
    """Compile the answers for an organization without errors.

    In its `project`, Claude Code also applies the rules of its own settings.
    """
    view = org_access.view
    names = {
        name: tools for name, tools in group_tools_by_host_name(view).items() if name not in HANDOFF_TOOLS
    }
    compiler = _Compiler(
        org_access,
        render_text,
        own_parts(view, project),
        is_long=len(names) * len(view.roles) > _MAX_QUESTIONS_WITH_REMEDIES,
    )
    files: dict[str, bytes] = {}
    roles: dict[str, str] = {}
    handoffs = {role: dict(compiler.compile_handoffs(role)) for role in view.roles}
    above = _map_senders(handoffs) if view.records.organization.limits.delegation == "strict" else {}
    for role in view.roles:
        answers = {
            "role": role,
            "tools": {
                name: compiler.row(role, name, tools, above.get(role, ())) for name, tools in names.items()
            },
            "handoffs": handoffs[role],
        }
        content = _encode_json(answers).encode()
        roles[role] = f"{hashlib.sha256(content).hexdigest()[:SHOWN_OF_DIGEST]}.json"
        files[roles[role]] = content
    organization = view.records.organization
    data = {
        "_schema": SCHEMA,
        "_version": VERSION,
        "org_id": view.org_id,
        "org_name": printable(organization.name or view.org_id),
        "digest": view.digest,
        "compiled_by": compiled_by,
        "agents": {**map_agent_names(view.roles), **map_plugin_agents(view)},
        "roles": roles,
        "names": {role: view.records.posts[role].profile.name for role in view.roles},
        "superiors": {role: view.superiors.get(role) for role in view.roles},
        "tools": {name: {} for name in names},
        "unlimited_roles": [role for role in view.roles if has_every_tool(view, role)],
        "reporting": [
            role
            for role in view.roles
            if view.records.posts[role].profile.doctrine.report_on_completion is not False
        ],
    }
    return CompiledHook(data, files, tuple(compiler.remarks()))


class _Compiler:
    """Asks every question that is compiled, and collects remarks about facts that the hook cannot know."""

    def __init__(
        self, org_access: OrganizationAccess, render_text: ExplanationText, own: Set[str], *, is_long: bool
    ) -> None:
        self.view, self._render_text, self._is_long = org_access.view, render_text, is_long
        self._own = own
        # Reports, locks and agents are left out, because they change while the hook uses the compiled answers.
        state = org_access.state
        self._state = StateView(
            version=state.version,
            # A table cannot represent grants for one session, one input or a number of uses. A grant for one version of
            # the documents is left out too: the table stays while documents are edited, so it would keep allowing.
            grants={
                subject: tuple(each for each in grants if each.uses_left is None and not _is_bound(each))
                for subject, grants in state.grants.items()
            },
            restrictions=state.restrictions,
            expired=state.expired,
            status=state.status,
        )
        self._without_grants = msgspec.structs.replace(self._state, grants={})
        self._context: AccessContext = org_access.build_current_context()
        self._name = ""
        self._root = self.view.records.organization.workspace_root
        self._unknown: dict[str, dict[str, None]] = {}
        self._grants = {
            each.grant_id: each for grants in self._state.grants.values() for each in grants if each.grant_id
        }

    def row(self, role: str, name: str, tools: Sequence[str], above: Sequence[str]) -> CompiledRow:
        """The answer for a tool of the host: the strictest answer of the declared tools behind it.

        `above` are the roles that could have handed work to this one, in organizations where an agent may do no more
        than its senders.
        """
        row = choose_strictest(self._compile_tool(role, name, tool_id, "", above) for tool_id in tools)
        if "(" in name and all(
            self.view.records.tools[each].record.side_effects in _READ_ONLY_EFFECTS for each in tools
        ):
            # With some options, a program that only reads writes. The prefix does not cover them.
            row = {**row, "writing": find_writing_options(name.partition("(")[2].removesuffix(")"))}
        tool = self.view.records.tools[tools[0]].record
        if tool.type != "mcp_server" or len(tools) > 1 or len(tool.actions) < 2:
            return row
        # The tools of a server are actions of one declared tool.
        actions = {action: self._compile_tool(role, name, tools[0], action, above) for action in tool.actions}
        return {**row, "actions": actions}

    def _compile_tool(
        self, role: str, name: str, tool_id: str, action: str, above: Sequence[str]
    ) -> CompiledRow:
        self._name = f"{name}__{action}" if action else name
        tool = self.view.records.tools[tool_id].record
        request = AccessRequest(
            f"role:{role}", action or find_action(name, tool), f"tool:{tool_id}", self._context
        )
        chains = [(), *((f"role:{each}",) for each in above)]
        return choose_strictest(
            self._answer(
                msgspec.structs.replace(request, via=via), list_path_arguments(name, tool), self._state
            )
            for via in chains
        )

    def _answer(self, request: AccessRequest, arguments: tuple[str, ...], state: StateView) -> CompiledRow:
        """The row of a request. If it depends on a grant that expires, the row also has the end and the answer
        after it.
        """
        explanation = self._explain(request, state)
        row = self._compile_conditions(request, arguments, state, explanation)
        lasting = [each for each in map(self._grants.get, explanation.decision.grants) if each is not None]
        ends = [each.expires_at for each in lasting if each.expires_at is not None]
        if not ends or state is self._without_grants:
            return row
        return {**row, "until": min(ends), "after": self._answer(request, arguments, self._without_grants)}

    def _compile_conditions(
        self,
        request: AccessRequest,
        arguments: tuple[str, ...],
        state: StateView,
        explanation: AccessExplanation,
    ) -> CompiledRow:
        rows = what_can(self.view, request.subject, request=request, state=state)
        # The row itself contains the end of a grant.
        ends = bool(explanation.decision.grants)
        conditions = {
            each for row in rows for each in row.conditions if not (ends and each.startswith("until:"))
        }
        if not conditions:
            return self._compile_plain(request, explanation)
        role = request.subject.partition(":")[2]
        globs = self.view.records.posts[role].profile.file_scope
        if {row.code for row in rows} == {WRITE_OUT_OF_FILE_SCOPE.name} and conditions == {
            f"path:{glob}" for glob in globs
        }:
            return self._compile_scope(request, arguments, state, explanation, globs)
        row = self._compile_plain(request, explanation)
        if row["outcome"] == "allow":
            what = listing(sorted(conditions))
            outcome, beside = "ask", ""
            if may_require_approvals(self.view, request):
                outcome, beside = "deny", _BY_SEVERAL
            row = {
                "outcome": outcome,
                "text": f"{self._describe_question(request, outcome)}\n  because it depends on {what}{beside}",
            }
        if arguments and all(each.startswith("path:") for each in conditions):
            return {**row, **self._compile_parts(request, arguments, state, sorted(conditions))}
        if all(each.startswith("command:") for each in conditions) and self._can_state(request):
            return {**row, **self._compile_beginnings(request, state, sorted(conditions))}
        for each in conditions:
            self._unknown.setdefault(each, {})[request.resource.partition(":")[2]] = None
        return row

    def _compile_parts(
        self, request: AccessRequest, arguments: tuple[str, ...], state: StateView, conditions: Sequence[str]
    ) -> CompiledRow:
        """The answers for paths that are in one glob alone, and for those that touch none."""
        globs = [each.removeprefix("path:") for each in conditions]
        parts: dict[str, CompiledRow] = {}
        for glob in globs:
            path = _build_example_path(glob)
            others = (each for each in globs if each != glob)
            if is_inside(path, glob, self._root) and not any(
                may_touch(path, each, self._root) for each in others
            ):
                parts[glob] = _generalize_row(self._compile_path(request, path, state), path, globs)
        clear = {
            name: _generalize_row(self._compile_path(request, path, state), path, globs)
            for name, path in CLEAR.items()
            if not any(may_touch(path, glob, self._root) for glob in self._list_comparable_globs(globs, path))
        }
        row = {"arguments": list(arguments), **self._render_root(), "globs": globs, "parts": parts, **clear}
        if self._own >= set(globs):
            row["own"] = True
            if row.get("elsewhere", {}).get("outcome") == "deny":
                del row[
                    "elsewhere"
                ]  # such a path cannot be compared, and the host applies the same rules itself
        return row

    def _can_state(self, request: AccessRequest) -> bool:
        """Whether a question can be asked for an input that contains only a command."""
        return self.view.records.tools[request.resource.partition(":")[2]].record.input_schema is None

    def _compile_beginnings(
        self, request: AccessRequest, state: StateView, conditions: Sequence[str]
    ) -> CompiledRow:
        """The answers for commands with each known beginning, and for all other commands.

        If several beginnings match, the strictest answer applies, because restrictions of parts add up.
        """
        tool = self.view.records.tools[request.resource.partition(":")[2]].record
        argument = tool.command_arguments[0]
        beginnings = [each.removeprefix("command:") for each in conditions]

        def answer(command: str) -> CompiledRow:
            stated = msgspec.structs.replace(request.context, input={argument: command})
            command_request = msgspec.structs.replace(request, context=stated)
            return self._compile_plain(command_request, self._explain(command_request, state))

        return {
            "arguments": list(list_command_arguments(self._name, tool)),
            **({} if tool.command_lists is None else {"lists": tool.command_lists}),
            "beginnings": beginnings,
            "parts": {
                each: answer(each) | ({"own": True} if each in self._own else {}) for each in beginnings
            },
            "clear": answer(_PLAIN_COMMAND),
        }

    def _list_comparable_globs(self, globs: Iterable[str], path: str) -> Iterable[str]:
        """The globs that a path can be compared with.

        Without a root, an absolute path cannot be compared with relative globs; the answer for it takes that into
        account.
        """
        if self._root is None and path.startswith("/"):
            return (each for each in globs if each.startswith("/"))
        return globs

    def _compile_scope(
        self,
        request: AccessRequest,
        arguments: tuple[str, ...],
        state: StateView,
        explanation: AccessExplanation,
        globs: Sequence[str],
    ) -> CompiledRow:
        root = self._root
        row = self._compile_plain(request, explanation)
        outside = self._compile_path(request, PLACEHOLDER, state)
        examples = (_build_example_path(glob) for glob in globs)
        inside = next((each for each in examples if any(is_inside(each, glob, root) for glob in globs)), None)
        if inside is None or not arguments:
            return row
        return {
            **row,
            "arguments": list(arguments),
            **self._render_root(),
            "globs": list(globs),
            "inside": self._compile_path(request, inside, state),
            "outside": row if outside["outcome"] == "allow" else outside,
        }

    def _render_root(self) -> CompiledRow:
        """The root of relative paths, if it is not the project."""
        return {"root": self._root} if self._root is not None and self._root.startswith("/") else {}

    def _compile_path(self, request: AccessRequest, path: str, state: StateView) -> CompiledRow:
        at = msgspec.structs.replace(request, resource=f"{request.resource}:{path}")
        return self._compile_plain(at, self._explain(at, state))

    def _explain(self, request: AccessRequest, state: StateView) -> AccessExplanation:
        return explain_access(self.view, request, state, remedies=not self._is_long)

    def _compile_plain(self, request: AccessRequest, explanation: AccessExplanation) -> CompiledRow:
        outcome = explanation.decision.outcome
        if outcome == "allow":
            return {"outcome": "allow"}
        text = self._render_text(self._describe_question(request), explanation).rstrip("\n")
        grantors = self._list_grantors(request.resource.split(":")[1])
        who = f"\n  who can grant: {grantors}" if request.resource.startswith("tool:") else ""
        if outcome in ("ask", "conditional") and may_require_approvals(self.view, request):
            return {"outcome": "deny", "text": text + _BY_SEVERAL + who}
        return {"outcome": "ask" if outcome == "conditional" else outcome, "text": text + who}

    def _describe_question(self, request: AccessRequest, outcome: str = "") -> str:
        text = f"{request.subject} {request.action} {request.resource} (`{printable(self._name)}` in Claude Code)"
        return f"{outcome}: {text}" if outcome else text

    def _list_grantors(self, tool_id: str) -> str:
        roles = [f"role:{each}" for each in self.view.list_sources_to(EdgeKind.MAY_GRANT, tool_id)]
        return ", ".join([*roles, "an operator"])

    def compile_handoffs(self, role: str) -> Iterator[tuple[str, CompiledRow]]:
        """The roles that a role may start. In a large organization, refusals are not explained for each role."""
        roles: Iterable[str] = self.view.roles
        if len(self.view.roles) > _MAX_EXPLAINED_ROLES:
            rows = what_can(self.view, f"role:{role}", state=self._state, kinds=("role",))
            roles = [row.resource.partition(":")[2] for row in rows if HANDOFF in row.actions]
        for other in roles:
            question = HandoffQuestion(sender=f"role:{role}", receiver=f"role:{other}", context=self._context)
            permission = decide_handoff_permission(self.view, question, self._state)
            if permission.outcome == "allow":
                yield other, {"outcome": "allow"}
                continue
            lines = [f"{permission.outcome}: role:{role} handoff role:{other}".replace("cannot_tell", "ask")]
            for each in permission.findings or permission.reasons:
                lines.append(f"  because {each.text}")
                lines += dict.fromkeys(f"      {why.file}:{why.line}" for why in each.why)
                lines += [f"  would be allowed by: {way}" for way in getattr(each, "remedies", ())]
            above = self.view.superiors.get(other)
            lines += [f"  who can: role:{above}"] if above in self.view.records.posts else []
            text = "\n".join(map(printable, lines))
            yield other, {"outcome": "deny" if permission.outcome == "deny" else "ask", "text": text}

    def remarks(self) -> Iterator[str]:
        """Sentences about facts that the hook cannot know."""
        tools_of: dict[str, dict[str, None]] = {}
        for condition, tools in self._unknown.items():
            tools_of.setdefault(condition, {}).update(tools)
        for condition, tools in sorted(tools_of.items()):
            yield f"{listing(tools)}: it depends on {printable(condition)}, which the hook does not know, so a person is asked or it is refused"


def _generalize_row(row: CompiledRow, path: str, globs: Iterable[str]) -> CompiledRow:
    """A row for all paths like one: its message names the path of the call instead."""
    if "text" not in row or path in globs:
        return row
    return {**row, "text": row["text"].replace(path, PLACEHOLDER)}


def _map_senders(handoffs: Mapping[str, Mapping[str, CompiledRow]]) -> dict[str, tuple[str, ...]]:
    """The roles from which each role can be reached by hand-offs that are allowed, or that a person may allow."""
    direct = {
        role: [other for other, rows in handoffs.items() if other != role and rows[role]["outcome"] != "deny"]
        for role in handoffs
    }
    superiors_by_role = {}
    for role in handoffs:
        seen: dict[str, None] = {}
        waiting = list(direct[role])
        while waiting:
            each = waiting.pop()
            if each not in seen and each != role:
                seen[each] = None
                waiting += direct[each]
        superiors_by_role[role] = tuple(seen)
    return superiors_by_role


def _is_bound(grant: Grant) -> bool:
    bonds = grant.channel, grant.session, grant.input_digest, grant.snapshot
    return any(each is not None for each in bonds)


def _build_example_path(glob: str) -> str:
    """A path in a glob."""
    names = [
        "orgkernel" if each == "**" else each.replace("*", "orgkernel").replace("?", "x")
        for each in glob.split("/")
    ]
    return "/".join(names)


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
