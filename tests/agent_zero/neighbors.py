"""The layers beside ours, as far as we and they read each other: they store where real ones store."""

from __future__ import annotations

from pathlib import Path

from tests.agent_zero.double_loader import GENERATIONS

HOME = dict(zip(GENERATIONS, ("python/extensions", "usr/extensions", "usr/extensions/python"), strict=True))

_HEAD = """try:
    from helpers.extension import Extension
except ImportError:
    from python.helpers.extension import Extension

"""

TRACKER = """
import json
import re

WORDS = {"bug": "bugfix", "git": "git_ops", "module": "codegen", "docker": "docker_ops", "owns": "osint",
    "monday": "osint"}


class BeliefStateTracker(Extension):
    async def execute(self, loop_data=None, **kwargs):
        store = getattr(self.agent, "_bst_store", None)
        if store is None:
            store = self.agent._bst_store = {}
        # Whatever the loop hands on as a user message: a tool result, a refusal or a warning as well as a request.
        heard = [item["content"] for item in loop_data.history_output if not item["ai"]]
        text = (heard[-1] if isinstance(heard[-1], str) else json.dumps(heard[-1])).lower() if heard else ""
        if len(text.split()) <= 6 and re.search(r"\\b(it|that|this)\\b", text):
            return
        for word, domain in WORDS.items():
            if re.search(rf"\\b{word}\\b", text):
                store["__bst_belief_state__"] = {"domain": domain, "confidence": 0.9, "turn": 0, "slots": {}}
                return
        store.pop("__bst_belief_state__", None)
"""

SELECTOR = """
PLANS = {"bug": "bugfix_workflow", "git": "git_feature_branch", "module": "codegen_module"}


class PlanSelector(Extension):
    async def execute(self, loop_data=None, **kwargs):
        if getattr(self.agent, "_htn_state", None) is not None or loop_data.iteration > 0:
            return
        allowed = self.agent.get_data("_org_htn_allowed_plans")
        text = str(self.agent.last_user_message.content.get("user_message", "")).lower()
        for word, plan in PLANS.items():
            if word in text and (allowed is None or plan in allowed):
                self.agent._htn_state = {"plan_id": plan, "plan_name": plan, "mode": "linear", "current_step": 1,
                    "total_steps": 4, "steps_completed": [0], "steps_failed": [], "turns_since_progress": 0}
                return
"""

FALLBACK = """
class FallbackChain(Extension):
    async def execute(self, tool_name="", response=None, **kwargs):
        known = self.agent.get_data("_tool_failures") or {"consecutive": {}, "history": []}
        if "No such file" in response.message:
            known["consecutive"][tool_name] = known["consecutive"].get(tool_name, 0) + 1
        else:
            known["consecutive"][tool_name] = 0
        self.agent.set_data("_tool_failures", known)
"""

WATCHDOG = """
class ContextWatchdog(Extension):
    async def execute(self, loop_data=None, **kwargs):
        tokens = self.agent.get_data("ctx_window")["tokens"]
        loop_data.params_temporary["context_token_count"] = tokens
        loop_data.params_temporary["context_utilization"] = tokens / 100000
"""

REWRITER = """
import re

from agent import raw_prompt, tool_files

MARK = "## Tools available:"


class TieredTools(Extension):
    async def execute(self, loop_data=None, **kwargs):
        place = next((n for n, entry in enumerate(loop_data.system) if MARK in entry), None)
        if place is None:
            return
        menu, whole = [], {}
        for name in tool_files(self.agent):
            text = raw_prompt(self.agent, name)
            said = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
            for tool in re.findall(r"^### (\\w+)", text, re.M):
                menu.append(f"- **{tool}**: {said[0][:120]}")
                whole[tool] = text
        parts = [MARK, "Select a tool from the list below.\\n", "\\n".join(menu)]
        seen = self.agent.get_data("_tiered_tools_seen") or []
        last = re.search(r'"tool_name": "(\\w+)', loop_data.last_response or "")
        if last and last[1] in whole and last[1] not in seen:
            seen = [*seen, last[1]]
            self.agent.set_data("_tiered_tools_seen", seen)
        for tool in ("code_execution_tool", "response", *sorted(seen)):
            parts.append(f"\\n---\\n**{tool} (full spec):**\\n{whole[tool]}")
        loop_data.system[place] = "\\n".join(parts)
"""
"""A published neighbor of the second generation: once the prompt is there, it replaces the tool section by a menu of all
tools and the whole text of those that were used."""

LAYERS = {
    "before_main_llm_call/_11_belief_state_tracker": TRACKER,
    "before_main_llm_call/_15_htn_plan_selector": SELECTOR,
    "before_main_llm_call/_20_context_watchdog": WATCHDOG,
    "tool_execute_after/_30_tool_fallback": FALLBACK,
}


def add_neighbors(root: Path, generation: str, *only: str) -> None:
    """Install the layers beside ours; all of them, or those with one of these words in their name."""
    for name, text in LAYERS.items():
        if not only or any(word in name for word in only):
            file = root / HOME[generation] / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_HEAD + text, encoding="utf-8")


def add_rewriter(root: Path, generation: str, name: str = "_95_tiered_tool_injection") -> None:
    """Install the neighbor that rewrites the tool section."""
    file = root / HOME[generation] / "message_loop_prompts_after" / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_HEAD + REWRITER, encoding="utf-8")


def publish_plain_warnings(root: Path) -> None:
    """Install the prompt file by which a published neighbor turns every warning into a plain string."""
    (root / "prompts/fw.warning.md").write_text("[SYSTEM] {{message}}", encoding="utf-8")
