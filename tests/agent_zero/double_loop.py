"""The loop of Agent-Zero: the hooks in their order, what reaches which model call, what ends a turn.

The model is a script: a list of tool requests, or of functions from the prompt of the call to one. Tools are
functions of their arguments. Everything else is as plain as the facts allow.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.agent_zero.double_loader import Loader

Request = Mapping[str, Any]
Turn = Request | Callable[["Prompt"], Request]
_LONGEST_HEADING = 120
LOG_TYPES = frozenset(
    [
        "info",
        "warning",
        "error",
        "hint",
        "util",
        "tool",
        "agent",
        "progress",
        "response",
        "user",
        "input",
        "browser",
        "code_exe",
    ]
)


_chats = itertools.count(1)


class RepairableException(Exception):
    """What a tool raises so that the model hears of it and the loop goes on."""


class InterventionException(Exception):
    """The user has spoken in the middle of a turn; the rest of the iteration is skipped."""


class HandledException(Exception):
    """A turn has ended in an error."""


@dataclass
class Response:
    """What a tool answers."""

    message: str
    break_loop: bool = False


@dataclass(frozen=True)
class Prompt:
    """What one model call saw."""

    system: str
    history: list[dict[str, Any]]
    extras: str
    entries: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join([self.system, json.dumps(self.history), self.extras])


class LoopData:
    """New for every user turn."""

    def __init__(self, **kwargs: Any) -> None:
        self.iteration = -1
        self.system: list[str] = []
        self.user_message: Any = None
        self.history_output: list[dict[str, Any]] = []
        self.extras_temporary: dict[str, Any] = {}
        self.extras_persistent: dict[str, Any] = {}
        self.params_temporary: dict[str, Any] = {}
        self.params_persistent: dict[str, Any] = {}
        self.last_response = ""
        self.current_tool: Any = None
        for key, value in kwargs.items():
            setattr(self, key, value)


@dataclass
class Message:
    """A message of the history."""

    ai: bool
    content: Any


class History:
    """Messages; has no length, as in the host."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    def add(self, message: Message) -> Message:
        self._messages.append(message)
        return message

    def output(self) -> list[dict[str, Any]]:
        return [{"ai": each.ai, "content": each.content} for each in self._messages]

    def __len__(self) -> int:
        raise TypeError("a history has no length")


class Log:
    """The log of a chat; refuses a type that a generation does not know, and cuts headings as every generation does."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    def log(
        self,
        type: str,
        heading: str | None = None,
        content: str | None = None,
        kvps: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> SimpleNamespace:
        assert type in LOG_TYPES, type
        if heading is not None and len(heading) > _LONGEST_HEADING:
            heading = f"{heading[: _LONGEST_HEADING - 3]}..."
        self.entries.append((type, "; ".join(filter(None, (heading, content)))))
        return SimpleNamespace(update=lambda **_: None)


class Tool:
    """A tool that the host made for a call; while it runs, `loop_data.current_tool` is this object."""

    def __init__(self, name: str, method: str | None, args: dict[str, Any]) -> None:
        self.name = name
        self.method = method
        self.args = args
        self.progress = ""


class Unknown(Tool):
    """What a host makes of a name for which it has no tool. Its answer is the whole tool section, nothing trimmed."""


class Context:
    """A chat: shared by its agents. Builds after 1.7 give each subordinate one of its own."""

    def __init__(self, host: Host) -> None:
        self.id = f"chat{next(_chats):04}"
        self.host = host
        self.data: dict[str, Any] = {}
        self.output_data: dict[str, Any] = {}
        self.agent0: Agent | None = None
        self.log = Log()
        self.task: Any = SimpleNamespace(is_alive=lambda: True)

    def get_data(self, key: str, recursive: bool = True) -> Any:
        return self.data.get(key)

    def set_data(self, key: str, value: Any, recursive: bool = True) -> None:
        self.data[key] = value

    def get_output_data(self, key: str) -> Any:
        return self.output_data.get(key)


class Agent:
    """One agent of a chat, as far as extensions see it."""

    def __init__(self, number: int, context: Context, profile: str = "agent0") -> None:
        host = context.host
        self.number = number
        self.agent_name = f"A{number}"
        self.context = context
        self.config = SimpleNamespace(profile=profile, additional={}, mcp_servers="")
        if host.loader.generation != "G3":
            self.config.chat_model = SimpleNamespace(
                provider="openrouter",
                name="example/large",
                ctx_length=host.window,
                vision=False,
                kwargs={"api_key": "sk-never-write-this-anywhere-0123456789"},
            )
        self.history = History()
        self.last_user_message: Message | None = None
        self.intervention: str | None = None
        self.data: dict[str, Any] = {}
        self.loop_data = LoopData()
        host.loader.call_plain("agent_init", self)

    def get_data(self, key: str) -> Any:
        return self.data.get(key)

    def set_data(self, key: str, value: Any) -> None:
        self.data[key] = value

    def read_prompt(self, file: str, **kwargs: Any) -> str:
        return self.context.host.prompts.read(self, file, **kwargs)

    # History

    def _add(self, ai: bool, content: Any) -> Message:
        data = {"content": content}
        self.context.host.loader.call_plain("hist_add_before", self, content_data=data, ai=ai)
        return self.history.add(Message(ai, data["content"]))

    def hist_add_user_message(self, text: str) -> Message:
        self.last_user_message = self._add(False, {"user_message": text})
        return self.last_user_message

    def hist_add_ai_response(self, message: str) -> Message:
        self.loop_data.last_response = message
        return self._add(True, message)

    def hist_add_warning(self, message: str) -> Message:
        try:  # a prompt file that is not valid JSON makes it a string
            return self._add(False, self.read_prompt("fw.warning.md", message=message))
        except FileNotFoundError:
            return self._add(False, {"system_warning": message})

    def hist_add_tool_result(self, tool_name: str, tool_result: str, **kwargs: Any) -> Message:
        data = {"tool_name": tool_name, "tool_result": tool_result, **kwargs}
        self.context.host.loader.call_plain("hist_add_tool_result", self, data=data)
        return self._add(False, data)

    # The loop

    def _handle_intervention(self) -> None:
        text, self.intervention = self.intervention, None
        if text is not None:
            self.last_user_message = self._add(False, {"user_intervention": text})
            raise InterventionException(text)

    async def call(self, hook: str, **kwargs: Any) -> None:
        self.context.host.hooks_called.append((self.number, hook))
        await self.context.host.loader.call(hook, self, **kwargs)

    async def monologue(self) -> str:
        retries = 0
        while True:
            try:
                self.loop_data = LoopData(user_message=self.last_user_message)
                await self.call("monologue_start", loop_data=self.loop_data)
                while True:
                    self.loop_data.iteration += 1
                    self.loop_data.params_temporary = {}
                    await self.call("message_loop_start", loop_data=self.loop_data)
                    try:
                        answer = await self._iterate()
                        if answer is not None:
                            return answer
                        retries = 0
                    except InterventionException:
                        retries = 0
                    except RepairableException as error:
                        msg = {"message": _format_error(error)}
                        await self.call("error_format", msg=msg)
                        self.hist_add_warning(msg["message"])
                        self.context.log.log(type="warning", content=msg["message"])
                    except Exception as error:
                        retries = self._retry(error, retries)
                    finally:
                        await self._end("message_loop_end")
            except HandledException:
                raise
            except Exception as error:
                retries = self._retry(error, retries)
            finally:
                await self._end("monologue_end")

    async def _iterate(self) -> str | None:
        prompt = await self._prepare_prompt()
        await self.call("before_main_llm_call", loop_data=self.loop_data)
        self._handle_intervention()
        request = self.context.host.model(prompt)
        answer = json.dumps(request)
        await self.call("reasoning_stream_end", loop_data=self.loop_data)
        await self.call("response_stream_end", loop_data=self.loop_data)
        if self.loop_data.last_response == answer:
            self.hist_add_ai_response(answer)
            self.hist_add_warning("You have sent the same message again. You have to do something else!")
            return None
        self.hist_add_ai_response(answer)
        return await self._process_tools(request)

    async def _prepare_prompt(self) -> Prompt:
        loop_data = self.loop_data
        await self.call("message_loop_prompts_before", loop_data=loop_data)
        system: list[str] = []
        await self.call("system_prompt", system_prompt=system, loop_data=loop_data)
        loop_data.system = system
        loop_data.history_output = self.history.output()
        await self.call("message_loop_prompts_after", loop_data=loop_data)
        extras = json.dumps({**loop_data.extras_persistent, **loop_data.extras_temporary})
        loop_data.extras_temporary.clear()
        prompt = Prompt(
            "\n\n".join(loop_data.system), list(loop_data.history_output), extras, tuple(loop_data.system)
        )
        self.set_data("ctx_window", {"text": prompt.text, "tokens": len(prompt.text) // 4})
        return prompt

    async def _process_tools(self, request: Request) -> str | None:
        raw = str(request.get("tool_name", ""))
        args = dict(request.get("tool_args", {}))
        name, _, method = raw.partition(":")
        if self.context.host.newest and method:
            args.setdefault("action", method)
            method = ""
        response = await self._execute(raw, name, method or None, args)
        if response.break_loop:
            return response.message
        self.hist_add_tool_result(name, response.message)
        return None

    async def _execute(self, raw: str, name: str, method: str | None, args: dict[str, Any]) -> Response:
        host = self.context.host
        tool = self.get_tool(name, method, args)
        self.loop_data.current_tool = tool
        try:
            # A call without arguments: what extensions see is not the mapping that the tool gets.
            await self.call("tool_execute_before", tool_args=args or {}, tool_name=name)
            if isinstance(tool, Unknown):
                response = Response(host.prompts.not_found(self, name))
            elif name == "call_subordinate":
                response = Response(await self._call_subordinate(args))
            elif name == "parallel" and host.newest:
                response = Response(await self._parallel(args))
            else:
                host.ran.append((self.number, raw))
                done = host.tools[name](**args)
                response = done if isinstance(done, Response) else Response(str(done))
            self._handle_intervention()
            await self.call("tool_execute_after", response=response, tool_name=name)
            return response
        finally:
            self.loop_data.current_tool = None

    def get_tool(self, name: str, method: str | None, args: dict[str, Any], **_: Any) -> Any:
        """The tool of a name; a host makes an object of another class where it has none."""
        host = self.context.host
        own = {"call_subordinate", *(("parallel",) if host.newest else ())}
        has = name in host.tools or name in own
        return (Tool if has else host.unknown)(name, method, args)

    async def _call_subordinate(self, args: Mapping[str, Any]) -> str:
        host = self.context.host
        host.ran.append((self.number, "call_subordinate"))
        subordinate = self._find_or_make_subordinate(args)
        subordinate.hist_add_user_message(str(args.get("message", "")))
        answer: str = await subordinate.monologue()
        return answer

    def _find_or_make_subordinate(self, args: Mapping[str, Any]) -> Agent:
        """Old builds take any profile, and look at it only for a new agent; newer ones check both."""
        host = self.context.host
        profile = str(args.get("profile", args.get("agent_profile", "")) or "")
        reset = str(args.get("reset", "")).lower().strip() == "true"
        existing = self.data.get("_subordinate")
        if host.newest:
            if profile and profile not in host.profiles():
                raise RepairableException(f"Agent profile '{profile}' not found.")
            children = self.data.setdefault("_subordinates", {})
            wanted = str(args.get("context_id") or args.get("agent_id") or "")
            if wanted and wanted not in children:
                raise RepairableException(f"Subordinate context '{wanted}' was not found.")
            existing = children[wanted] if wanted else next(reversed(children.values()), existing)
            if existing is not None and not reset and profile and existing.config.profile != profile:
                raise RepairableException(f"Subordinate already uses profile '{existing.config.profile}'.")
        if existing is not None and not reset:
            return existing  # type: ignore[no-any-return]
        context = Context(host) if host.newest else self.context
        subordinate = Agent(self.number + 1, context, profile or "agent0")
        subordinate.set_data("_superior", self)
        if host.newest:
            context.agent0 = subordinate
            context.output_data.update(parent_context_id=self.context.id, parent_agent_number=self.number)
            children[context.id] = subordinate
        else:
            self.set_data("_subordinate", subordinate)
        return subordinate

    async def _parallel(self, args: Mapping[str, Any]) -> str:
        """Several calls at once: a subordinate without any hook, another tool by an agent of a new chat."""
        host = self.context.host
        calls = next((args[key] for key in ("tool_calls", "calls", "items") if key in args), [])
        calls = json.loads(calls) if isinstance(calls, str) else calls
        answers = []
        for each in calls:
            name = str(each.get("tool_name") or each.get("tool") or "").partition(":")[0]
            inner = dict(each.get("tool_args") or each.get("args") or {})
            if name == "call_subordinate":
                answers.append(await self._call_subordinate(inner))
            else:
                worker = Agent(0, Context(host), self.config.profile)
                answers.append((await worker._execute(name, name, None, inner)).message)
        return json.dumps(answers)

    async def _end(self, hook: str) -> None:
        alive = self.context.task is not None and self.context.task.is_alive()
        if self.context.host.loader.generation == "G1" or alive:
            await self.call(hook, loop_data=self.loop_data)

    def _retry(self, error: Exception, retries: int) -> int:
        """G1 gives up at once, later ones after one more try (they wait three seconds)."""
        if isinstance(error, HandledException) or self.context.host.loader.generation == "G1" or retries >= 1:
            self.context.log.log(type="error", content=_format_error(error))
            raise HandledException(error) from error
        self.context.log.log(
            type="warning", heading="Critical error occurred, retrying...", content=_format_error(error)
        )
        self.hist_add_warning(f"A critical error occurred: {_format_error(error)}")
        return retries + 1


def _format_error(error: BaseException) -> str:
    """With its trace, as hosts do it."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()


def _is_off(about: Path) -> bool:
    return about.is_file() and "enabled: false" in about.read_text(encoding="utf-8")


@dataclass
class Host:
    """A running Agent-Zero of one generation: its folder, its loader, a scripted model and tools."""

    root: Path
    loader: Loader
    prompts: Any
    tools: dict[str, Callable[..., Any]] = field(default_factory=dict)
    window: int = 100_000
    script: list[Turn] = field(default_factory=list)
    seen: list[Prompt] = field(default_factory=list)
    ran: list[tuple[int, str]] = field(default_factory=list)
    hooks_called: list[tuple[int, str]] = field(default_factory=list)
    newest: bool = False
    """Builds after 1.7: subordinates in chats of their own, profiles that are checked, several calls at once."""
    unknown: type[Unknown] = Unknown

    def profiles(self) -> set[str]:
        """The profiles that a call may name in a build that checks them."""
        homes = (self.root / "agents", self.root / "usr" / "agents")
        folders = [path for home in homes for path in home.glob("*") if path.is_dir()]
        off = [path for path in folders if _is_off(path / "agent.yaml")]
        return {path.name for path in folders if path not in off}

    def model(self, prompt: Prompt) -> Request:
        """The next answer of the script; a script that is used up ends the turn."""
        self.seen.append(prompt)
        turn = self.script.pop(0) if self.script else {"tool_name": "response", "tool_args": {"text": "done"}}
        return turn(prompt) if callable(turn) else turn

    def open_chat(self) -> Agent:
        """A new chat with its main agent."""
        context = Context(self)
        context.agent0 = Agent(0, context)
        return context.agent0

    def say(self, agent: Agent, text: str, turns: Iterable[Turn] = ()) -> str:
        """One user turn: what the agent answers in the end."""
        self.script = list(turns)
        agent.hist_add_user_message(text)
        return asyncio.run(agent.monologue())
