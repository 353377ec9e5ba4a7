"""Upstream servers of the gateway: each has one connection that all callers share.

A connection is made when it is first needed, and again when it is needed after it ended. If it keeps ending quickly,
calls are refused for a while, and the error says how long. Nothing that a server says or does raises anything but
`UpstreamError`, and no call is repeated that the server may have begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CompleteRequest,
    CompleteRequestParams,
    GetPromptRequest,
    GetPromptRequestParams,
    LoggingLevel,
    ReadResourceRequest,
    ReadResourceRequestParams,
    Request,
    SetLevelRequest,
    SetLevelRequestParams,
)
from pydantic_core import ValidationError

from orgkernel.runtime.own_text import fold_to_one_line
from orgkernel.toolbox.adapters.access_tokens import AccessTokens
from orgkernel.toolbox.adapters.progress import OnProgress, ProgressQueue
from orgkernel.toolbox.adapters.server_logs import LogReceiver
from orgkernel.toolbox.adapters.server_requests import (
    ANSWER_SECONDS,
    MAX_ROUNDS,
    METHODS,
    RESULTS,
    AnsweringCaller,
    RequestDenied,
    ServerRequest,
)
from orgkernel.toolbox.adapters.upstream_answers import UpstreamError, UpstreamReply, UpstreamStatus
from orgkernel.toolbox.adapters.upstream_connection import UpstreamConnection, find_first_cause
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstream_lists import LIST_KINDS, Definitions, KeptLists, ListKind, read_list
from orgkernel.toolbox.failures import describe_failure
from orgkernel.toolbox.literal_secrets import build_maskers
from orgkernel.toolbox.masking import Masker, TooDeep
from orgkernel.toolbox.path_targets import find_files_folder
from orgkernel.toolbox.providers import McpServer

__all__ = ["Upstream", "UpstreamError", "UpstreamLimits", "UpstreamReply", "UpstreamStatus"]

_Found = TypeVar("_Found")
_MAX_TEXT_LENGTH: Final = 500
_MAX_LOG_BYTES: Final = 65_536
"""The size of the longest log message that is passed on."""
_NOT_RUN: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS, HEADER_MISMATCH})
"""Error codes of servers that did not begin a call. A refused request is also answered with `INVALID_REQUEST`."""


class _Raw:
    """Stands for a result type without renaming or dropping fields. The SDK has already checked its shape."""

    @classmethod
    def model_validate(cls, raw: dict[str, Any], *, by_name: bool) -> dict[str, Any]:
        """The result that the server sent."""
        assert not by_name
        return raw


_RAW: Final[Any] = _Raw


class Upstream:
    """One server."""

    def __init__(
        self,
        name: str,
        provider: McpServer,
        limits: UpstreamLimits | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        on_change: Callable[[str], None] | None = None,
        starts: asyncio.Semaphore | None = None,
        declaration: bytes = b"",
        subject_token: str | None = None,
        has_one_caller: bool = False,
    ) -> None:
        """`secrets` are masked in all answers, like values of the provider in places of secrets. `on_change` is called with the name when a list is no longer valid.

        `starts` limits concurrent starts: servers of one gateway share it. `declaration` is what a file says about the server.
        `subject_token` is the token of the only caller that uses it, to be exchanged: empty if that caller has none, and None for
        what the gateway does in its own name. It is never sent to the server. `has_one_caller` is whether no other caller uses it, so that its
        log messages can be passed on.
        """
        limits = limits or UpstreamLimits()
        self.name = name
        self.declaration = declaration
        self._provider = provider
        self._limits = msgspec.structs.replace(limits, max_bytes=min(limits.max_bytes, provider.max_bytes))
        self._secrets = dict(secrets or {})
        self._maskers = build_maskers(provider, self._secrets)
        self._token_secrets: dict[str, str] = {}
        self._tokens: AccessTokens | None = None
        if provider.authorization is not None and isinstance(provider.server, str):
            self._tokens = AccessTokens(
                provider.authorization, provider.server, subject_token, self._mask_token
            )
        self._on_change = on_change
        self._connection: UpstreamConnection | None = None
        self._open: set[UpstreamConnection] = set()
        self._free = asyncio.Semaphore(self._limits.most_calls_at_once)
        self._starts = asyncio.Semaphore() if starts is None else starts
        self._lists = KeptLists(self._limits)
        self._reading: dict[ListKind, asyncio.Task[Definitions]] = {}
        self._quick_ends = 0
        self._retry_at = 0.0
        self._reason = ""
        self._is_closed = False
        self._has_one_caller = has_one_caller

    def follow_changes(self, on_change: Callable[[str], None]) -> None:
        """Call a function with the name when a list is no longer valid, instead of `on_change`."""
        self._on_change = on_change

    @cached_property
    def folder(self) -> str | None:
        """The folder on this machine where relative paths of the server start. None if its files are not known to be here."""
        return find_files_folder(self._provider)

    @property
    def has_sessions(self) -> bool:
        """Whether each caller has a connection of its own."""
        return self._provider.sessions == "per_caller" or self.exchanges_tokens

    @property
    def exchanges_tokens(self) -> bool:
        """Whether the server is called with a token in the name of each caller."""
        authorization = self._provider.authorization
        return authorization is not None and authorization.grant == "token_exchange"

    def is_same_as(self, other: Upstream) -> bool:
        """Whether another one is declared in the same way, so that its connection can stay."""
        return (self._provider, self._secrets) == (other._provider, other._secrets)

    def open_another(self, subject_token: str = "") -> Upstream:
        """The same server with a connection of its own, for a caller with a token."""
        return Upstream(
            self.name, self._provider, self._limits, secrets=self._secrets, starts=self._starts,
            subject_token=subject_token, has_one_caller=True,
        )  # fmt: skip

    @property
    def may_ask(self) -> bool:
        """Whether the server may ask callers for something during a call."""
        return bool(self._provider.may_ask)

    @property
    def status(self) -> UpstreamStatus:
        """The current status."""
        if self._is_closed:
            return UpstreamStatus("closed", self._reason)
        if self._connection is not None:
            return UpstreamStatus("running" if self._connection.has_started else "starting", self._reason)
        if not self._reason:
            return UpstreamStatus("not_started")
        return UpstreamStatus("waiting", self._reason, self._compute_wait())

    @property
    def era(self) -> str:
        """The version of the protocol that it speaks, or nothing while it does not run."""
        connection = self._connection
        return connection.client.protocol_version if connection and connection.has_started else ""

    async def tools(self) -> Definitions:
        """The definitions of its tools. Raises `UpstreamError`."""
        return await self._list("tools")

    async def prompts(self) -> Definitions:
        """Its prompts. Raises `UpstreamError`."""
        return await self._list("prompts")

    async def resources(self) -> Definitions:
        """Its resources. Raises `UpstreamError`."""
        return await self._list("resources")

    async def resource_templates(self) -> Definitions:
        """Its templates of resources. Raises `UpstreamError`."""
        return await self._list("resource_templates")

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A prompt. Raises `UpstreamError`."""
        params = GetPromptRequestParams(name=name, arguments=dict(arguments) if arguments else None)
        return await self._ask(self._build_sender(GetPromptRequest(params=params)))

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Read the content of a resource. Raises `UpstreamError`."""
        params = ReadResourceRequestParams(uri=uri)
        return await self._ask(self._build_sender(ReadResourceRequest(params=params)))

    async def complete(
        self, reference: Mapping[str, str], argument: Mapping[str, str], known: Mapping[str, str]
    ) -> dict[str, Any]:
        """Values for an argument of a prompt or a template. None for a server that completes nothing. Raises `UpstreamError`."""
        params = CompleteRequestParams.model_validate(
            {"ref": dict(reference), "argument": dict(argument)} | ({"context": {"arguments": dict(known)}} if known else {})
        )  # fmt: skip
        send = self._build_sender(CompleteRequest(params=params))

        async def use(connection: UpstreamConnection) -> dict[str, Any]:
            if connection.client.server_capabilities.completions is None:
                return {"completion": {"values": []}}
            return await send(connection)

        return await self._ask(use)

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
        listed: Definitions | None = None,
        caller: AnsweringCaller | None = None,
        log_receiver: LogReceiver | None = None,
    ) -> UpstreamReply:
        """Call a tool. `caller` answers requests of the server. `log_receiver` takes its log messages, if no other caller uses it. Cancelling this cancels the call at the server, and no other one. A start has its own time.

        `listed` is the list of tools that the caller has checked. If the server could have another one now, because
        it was started again or told of a change, nothing is called, and the reply is `changed`.
        """
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        logs = self._mask_logs(log_receiver) if self._has_one_caller else None
        if logs is not None:
            params["_meta"] = {LOG_LEVEL_META_KEY: logs.level}
        request = CallToolRequest(params=CallToolRequestParams.model_validate(params, by_name=False))
        progress = None if on_progress is None else ProgressQueue(self._mask_progress(on_progress))
        try:
            sender = self._build_sender(request, seconds, progress, self._mask_requests(caller), logs)
            return UpstreamReply(await self._ask(sender, listed))
        except UpstreamError as error:
            return UpstreamReply(None, error.error, error.kind, error.is_uncertain)
        finally:
            if progress is not None:
                await progress.aclose()

    async def aclose(self) -> None:
        """End its connection. Its tools can no longer be called."""
        self._is_closed = True
        await asyncio.gather(*(each.aclose() for each in tuple(self._open)))

    async def _ensure_connected(self) -> UpstreamConnection:
        """The connection, started if necessary. Raises `UpstreamError`."""
        if self._is_closed:
            raise UpstreamError("it was closed")
        connection = self._connection
        if connection is None:
            wait = self._compute_wait()
            if wait > 0:
                raise UpstreamError(f"{self._reason}; it can be tried again in {wait:.1f} seconds")
            connection = self._start()
        if not connection.ready.done():
            await asyncio.shield(connection.ready)
        if connection.ending.has_ended:
            raise UpstreamError(self._clean_text(connection.ending.reason))
        return connection

    def _start(self) -> UpstreamConnection:
        connection = UpstreamConnection(
            self._provider,
            self._limits,
            self._secrets,
            self._starts,
            self._note_change,
            self._note_end,
            self._tokens,
        )
        self._connection = connection
        self._open.add(connection)
        connection.add_end_callback(self._open.discard)
        for kind in LIST_KINDS:
            # A restarted server usually has the same lists, so this is not treated as a change.
            self._lists.drop(kind)
        return connection

    def _compute_wait(self) -> float:
        return max(0.0, self._retry_at - asyncio.get_running_loop().time())

    def _retire(self, connection: UpstreamConnection, reason: str) -> None:
        """Begin no more calls on a connection. Running calls can finish."""
        connection.retire(reason)
        self._note_end(connection)

    def _note_end(self, connection: UpstreamConnection) -> None:
        """Decide when the server can be started again."""
        if self._connection is not connection:
            return
        self._connection = None
        self._reason = self._clean_text(connection.ending.reason)
        now = asyncio.get_running_loop().time()
        lasted = now - connection.started_at
        is_quick = not connection.has_started or lasted < self._limits.quick_seconds
        self._quick_ends = self._quick_ends + 1 if is_quick else 0
        wait = 0.0
        if self._quick_ends > 1:
            doublings = min(self._quick_ends - 2, 32)
            wait = min(self._limits.first_wait * 2**doublings, self._limits.longest_wait)
        self._retry_at = now + wait

    def _note_change(self, kind: ListKind) -> None:
        if self._lists.drop(kind) and self._on_change is not None:
            self._on_change(self.name)

    async def _ask(
        self, use: Callable[[UpstreamConnection], Awaitable[_Found]], listed: Definitions | None = None
    ) -> _Found:
        """Run a use of the connection, if the server still has the `listed` tools. Raises `UpstreamError`."""
        is_again = False
        while True:
            connection = await self._ensure_connected()
            if listed is not None and self._lists.get_last("tools") is not listed:
                raise UpstreamError("its tools could have changed", "changed")
            connection.calls += 1
            try:
                return await use(connection)
            except UpstreamError:
                raise
            except Exception as error:
                cause = find_first_cause(error)
                breakage = connection.breakage.classify(cause)
                if breakage is None:
                    raise self._explain_failure(connection, cause) from None
                message = self._clean_text(str(cause))
                self._retire(connection, message)
                # A server that rejects the session has not begun the call.
                if breakage != "forgotten" or is_again:
                    raise UpstreamError(message, is_uncertain=breakage == "broken") from None
                is_again = True
            finally:
                connection.calls -= 1
                connection.end_if_unused()

    def _build_sender(
        self,
        request: Request[Any, Any],
        seconds: float | None = None,
        progress: ProgressQueue | None = None,
        caller: AnsweringCaller | None = None,
        logs: LogReceiver | None = None,
    ) -> Callable[[UpstreamConnection], Awaitable[dict[str, Any]]]:
        """Build a use of the connection that sends a request."""
        limit = self._limits.call_seconds if seconds is None else seconds
        put = None if progress is None else progress.put

        async def send(connection: UpstreamConnection) -> dict[str, Any]:
            was_sent = False
            connection.allow_answer_time(max(limit, ANSWER_SECONDS) if self._provider.may_ask else limit)
            session = connection.client.session
            answering: AnsweringCaller | None = None
            try:
                async with asyncio.timeout(limit) as deadline, self._free:
                    answering = _pause_while_answering(caller, deadline, limit)
                    connection.requests.enter(answering)
                    connection.logs.enter(logs)
                    was_sent = True
                    try:
                        if logs is not None:
                            await _tell_log_level(connection, logs.level)
                        answer = await _send_plain(connection, request, put or logs)
                        if answer is None:
                            answer = await session.send_request(request, _RAW, progress_callback=put)
                        answer = await self._answer_requests(session, request, answer, answering)
                    except MCPError as error:
                        if error.code != HEADER_MISMATCH or not connection.is_modern:
                            raise
                        # The server requires arguments in headers. The SDK learns which ones from the list.
                        await asyncio.shield(self._read("tools"))
                        answer = await session.send_request(request, _RAW, progress_callback=put)
            except TimeoutError:
                message = f"it did not answer within {limit:g} seconds"
                raise UpstreamError(message, "timeout", is_uncertain=was_sent) from None
            finally:
                if was_sent:
                    connection.requests.leave(answering)
                    await connection.logs.leave(logs)
            return self._check_result(answer)

        return send

    async def _answer_requests(
        self, session: Any, request: Request[Any, Any], answer: dict[str, Any], caller: AnsweringCaller | None
    ) -> dict[str, Any]:
        """The result of a call whose server asks for input in results: it is sent again with the answers. Raises `UpstreamError`."""
        rounds = 0
        while answer.get("resultType") == "input_required" and caller is not None:
            requests: dict[str, ServerRequest] = {}
            for key, each in dict(answer.get("inputRequests") or {}).items():
                kind = METHODS.get(each.get("method"))
                if kind not in self._provider.may_ask:
                    message = f"it asks for {kind or 'something unknown'}, which its settings do not allow"
                    raise UpstreamError(message, "protocol", is_uncertain=True)
                requests[key] = ServerRequest(each["method"], each.get("params") or {})
            try:
                answers = await caller.answer(requests)
                responses = {
                    key: RESULTS[each.method].model_validate(answers.get(key), by_name=False)
                    for key, each in requests.items()
                }
            except RequestDenied as error:
                message = f"it asks for {', '.join(METHODS[each.method] for each in requests.values())}"
                raise UpstreamError(
                    self._clean_text(f"{message}: {error}"), "failed", is_uncertain=True
                ) from None
            except ValidationError:
                raise UpstreamError(
                    "the answer to it has an unexpected form", "failed", is_uncertain=True
                ) from None
            rounds += 1
            if rounds > MAX_ROUNDS:
                raise UpstreamError(f"it asked more than {MAX_ROUNDS} times", "protocol", is_uncertain=True)
            again_with = {"input_responses": responses, "request_state": answer.get("requestState")}
            again = request.model_copy(update={"params": request.params.model_copy(update=again_with)})
            answer = await session.send_request(again, _RAW)
        return answer

    def _mask_requests(self, caller: AnsweringCaller | None) -> AnsweringCaller | None:
        if caller is None:
            return None

        async def answer(requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
            masked = {
                key: ServerRequest(each.method, self._mask(each.params, self._maskers.results))
                for key, each in requests.items()
            }
            return await caller.answer(masked)

        return caller._replace(answer=answer)

    def _mask_logs(self, receiver: LogReceiver | None) -> LogReceiver | None:
        if receiver is None:
            return None

        async def receive(level: LoggingLevel, logger: str | None, data: Any) -> None:
            # The longest part of a message that is passed on: a log is no way to send files.
            masked = self._maskers.texts.mask({"logger": logger, "data": data})
            if len(msgspec.json.encode(masked["data"])) <= _MAX_LOG_BYTES:
                await receiver.receive(level, masked["logger"], masked["data"])

        return receiver._replace(receive=receive)

    def _check_result(self, result: dict[str, Any]) -> dict[str, Any]:
        kind = result.pop("resultType", "complete")
        if kind == "input_required":
            raise UpstreamError("it asks for input, which is not supported", "protocol", is_uncertain=True)
        if kind != "complete":
            raise UpstreamError("it gave a result of an unknown type", "protocol", is_uncertain=True)
        masker = self._maskers.texts if result.get("isError") else self._maskers.results
        masked: dict[str, Any] = self._mask(result, masker)
        return masked

    def _explain_failure(self, connection: UpstreamConnection, error: BaseException) -> UpstreamError:
        """Why a request failed, and whether it may have had an effect."""
        if isinstance(error, ValidationError):
            return UpstreamError("its answer has an unexpected form", "protocol", is_uncertain=True)
        if not isinstance(error, MCPError):
            return UpstreamError(self._clean_text(describe_failure(error)), is_uncertain=True)
        if connection.ending.has_ended and error.code == CONNECTION_CLOSED:
            return UpstreamError(self._clean_text(connection.ending.reason), is_uncertain=True)
        message = f"{self._clean_text(error.message)} ({error.code})"
        return UpstreamError(message, "failed", is_uncertain=error.code not in _NOT_RUN)

    async def _list(self, kind: ListKind) -> Definitions:
        connection = await self._ensure_connected()
        now = asyncio.get_running_loop().time()
        kept = self._lists.find(kind, now, connection.announces_changes)
        if kept is not None:
            return kept
        try:
            return await asyncio.shield(self._read(kind))
        except UpstreamError as error:
            raise UpstreamError(error.error, error.kind) from None

    def _read(self, kind: ListKind) -> asyncio.Task[Definitions]:
        """Read a list once for all callers that wait for it."""
        task = self._reading.get(kind)
        if task is None or task.done():
            task = asyncio.get_running_loop().create_task(self._ask(self._build_reader(kind)))
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._reading[kind] = task
        return task

    def _build_reader(self, kind: ListKind) -> Callable[[UpstreamConnection], Awaitable[Definitions]]:
        async def read(connection: UpstreamConnection) -> Definitions:
            changes, seconds = self._lists.changes, self._limits.list_seconds
            connection.allow_answer_time(seconds)
            try:
                async with asyncio.timeout(seconds):
                    listing = await read_list(connection.client, kind, self._limits)
            except TimeoutError:
                raise UpstreamError(f"its list took more than {seconds:g} seconds", "timeout") from None
            listing = msgspec.structs.replace(
                listing, items=tuple(self._mask(list(listing.items), self._maskers.results))
            )
            if changes == self._lists.changes:
                now = asyncio.get_running_loop().time()
                self._lists.keep(kind, listing, now, connection.announces_changes)
            return listing.items

        return read

    def _mask_token(self, token: str) -> None:
        """Mask an access token from now on, and no longer the ones before the last: they have ended."""
        self._token_secrets = {
            "access token": token,
            "former token": self._token_secrets.get("access token", ""),
        }
        self._maskers = build_maskers(self._provider, {**self._secrets, **self._token_secrets})

    def _mask(self, value: Any, masker: Masker) -> Any:
        try:
            return masker.mask(value)
        except TooDeep:
            message = "its answer is nested too deeply to be searched for secrets"
            raise UpstreamError(message, "protocol", is_uncertain=True) from None

    def _clean_text(self, text: str) -> str:
        """A string from the server: without secrets and invisible characters, on one line, cut."""
        return fold_to_one_line(self._maskers.texts.mask(text)[: 4 * _MAX_TEXT_LENGTH], _MAX_TEXT_LENGTH)

    def _mask_progress(self, receiver: OnProgress) -> OnProgress:
        async def receive(progress: float, total: float | None, message: str | None) -> None:
            await receiver(progress, total, None if message is None else self._maskers.texts.mask(message))

        return receive


def _pause_while_answering(
    caller: AnsweringCaller | None, deadline: asyncio.Timeout, seconds: float
) -> AnsweringCaller | None:
    """The caller, whose answers have their own time. Afterwards the call has its `seconds` again."""
    if caller is None:
        return None
    loop = asyncio.get_running_loop()

    async def answer(requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
        deadline.reschedule(loop.time() + ANSWER_SECONDS + seconds)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await caller.answer(requests)
        except TimeoutError:
            raise RequestDenied(f"the caller did not answer within {ANSWER_SECONDS:g} seconds") from None
        finally:
            if not deadline.expired():
                deadline.reschedule(loop.time() + seconds)

    return caller._replace(answer=answer)


async def _tell_log_level(connection: UpstreamConnection, level: LoggingLevel) -> None:
    """Tell a server with a handshake which log messages it should send. Later versions say it in each request."""
    if connection.is_modern or connection.client.server_capabilities.logging is None:
        return
    if connection.logs.lower(level):
        with suppress(MCPError):  # a server that refuses it may send messages anyway
            await connection.client.session.send_request(
                SetLevelRequest(params=SetLevelRequestParams(level=level)), _RAW
            )


async def _send_plain(
    connection: UpstreamConnection, request: Request[Any, Any], put: object
) -> dict[str, Any] | None:
    """The result of a call that needs no session. None if it needs one, and nothing was sent."""
    if put is not None or not isinstance(request, CallToolRequest):
        return None
    return await connection.call_plain(request.params.name, request.params.arguments or {})
