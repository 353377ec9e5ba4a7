"""What answers the requests of clients for prompts, resources and completions, in the words of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import McpGateway
from orgkernel.mcp.gateway.passing import find_completions, find_prompt, find_resource

if TYPE_CHECKING:
    from mcp import types


class ResultAdapter(Protocol):
    """Awaits a result, and adapts it to the version of the connection. `data` is added to an error."""

    def __call__(
        self, ctx: Any, pending_result: Awaitable[Mapping[str, Any]], data: Any = None
    ) -> Awaitable[Any]:
        """The result."""


def build_reading_handlers(
    gateway: McpGateway, find_caller: Callable[[Any], GatewayCaller], answer: ResultAdapter
) -> dict[str, Any]:
    """The handlers, by the name of their argument of `Server`."""

    async def on_get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> Any:
        return await answer(ctx, find_prompt(gateway, find_caller(ctx), params.name, params.arguments or {}))

    async def on_read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        return await answer(ctx, find_resource(gateway, find_caller(ctx), uri), {"uri": uri})

    async def on_completion(ctx: Any, params: types.CompleteRequestParams) -> Any:
        reference = params.ref.model_dump(mode="json", exclude_none=True)
        argument = params.argument.model_dump(mode="json")
        known = (params.context.arguments if params.context is not None else None) or {}
        return await answer(ctx, find_completions(gateway, find_caller(ctx), reference, argument, known))

    return {
        "on_get_prompt": on_get_prompt, "on_read_resource": on_read_resource, "on_completion": on_completion,
    }  # fmt: skip
