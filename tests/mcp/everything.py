"""A server that has every tool, prompt and resource that the conformance suite asks for, on the official SDK.

The names and the texts are those of the suite. Run as `python everything.py` it speaks on standard input and output, and
as `python everything.py http` over HTTP on a free port, which it prints.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import sys
import warnings
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    InputResponses,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)

# Logging and sampling are deprecated in the newer era, and still have to pass in the older one.
warnings.simplefilter("ignore")

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
SILENCE = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"
).decode()
_STEP = 0.05

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
SCHEMA_OF_HEADERS: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
    "required": ["region"],
}


def _with_schema(name: str, description: str, schema: dict[str, Any]) -> Tool:
    """A tool whose schema of arguments is given as it is, and which answers with `done`."""

    def tool() -> str:
        return "done"

    made = Tool.from_function(tool, name=name, description=description, structured_output=False)
    return made.model_copy(update={"parameters": schema})


server = MCPServer(
    "everything",
    version="1.0.0",
    log_level="ERROR",
    tools=[
        _with_schema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", SCHEMA_2020_12),
        _with_schema("test_region_header", "A tool with an argument in a header", SCHEMA_OF_HEADERS),
    ],
)


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def picture() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str, words: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=words)
    )


# What a tool returns


@server.tool(description="Returns text", structured_output=False)
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@server.tool(description="Returns a picture", structured_output=False)
def test_image_content() -> list[Any]:
    return [picture()]


@server.tool(description="Returns a sound", structured_output=False)
def test_audio_content() -> list[Any]:
    return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


@server.tool(description="Returns a resource", structured_output=False)
def test_embedded_resource() -> list[Any]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@server.tool(description="Returns text, a picture and a resource", structured_output=False)
def test_multiple_content_types() -> list[Any]:
    data = json.dumps({"test": "data", "value": 123})
    return [
        text("Multiple content types test:"),
        picture(),
        embedded("test://mixed-content-resource", data, "application/json"),
    ]


@server.tool(description="Always fails", structured_output=False)
def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


# What a tool tells while it runs


@server.tool(description="Tells what it does", structured_output=False)
async def test_tool_with_logging(ctx: Context) -> str:
    await ctx.info("Tool execution started")
    await asyncio.sleep(_STEP)
    await ctx.info("Tool processing data")
    await asyncio.sleep(_STEP)
    await ctx.info("Tool execution completed")
    return "The tool with logging is done"


@server.tool(description="Tells one thing", structured_output=False)
async def test_logging_tool(ctx: Context) -> str:
    await ctx.info("This is only for who asked for it")
    return "The tool is done"


@server.tool(description="Tells how far it is", structured_output=False)
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(_STEP)
    return "The tool with progress is done"


@server.tool(description="Closes its stream and goes on", structured_output=False)
async def test_reconnection(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await asyncio.sleep(2 * _STEP)
    return "The tool was connected again"


@server.tool(description="Says that the list of tools has changed", structured_output=False)
async def test_trigger_tool_change(ctx: Context) -> str:
    await ctx.notify_tools_changed()
    return "done"


@server.tool(description="Says that the list of prompts has changed", structured_output=False)
async def test_trigger_prompt_change(ctx: Context) -> str:
    await ctx.notify_prompts_changed()
    return "done"


# What a tool asks the client in the era of 2025-11-25


@server.tool(description="Asks the client's model", structured_output=False)
async def test_sampling(prompt: str, ctx: Context) -> str:
    said = await ctx.session.create_message(
        [SamplingMessage(role="user", content=text(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {_words_of(said)}"


async def _ask_user(ctx: Context, message: str, schema: dict[str, Any]) -> str:
    found = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"action={found.action}, content={json.dumps(found.content)}"


@server.tool(description="Asks the user", structured_output=False)
async def test_elicitation(message: str, ctx: Context) -> str:
    schema = _object(
        {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        }
    )
    return f"User response: {await _ask_user(ctx, message, schema)}"


@server.tool(description="Asks the user, with defaults", structured_output=False)
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    found = await _ask_user(ctx, "Please review the defaults", {"type": "object", "properties": properties})
    return f"Elicitation completed: {found}"


@server.tool(description="Asks the user to choose", structured_output=False)
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    plain = ["option1", "option2", "option3"]
    titled = [
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]
    properties = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    found = await _ask_user(ctx, "Please choose", {"type": "object", "properties": properties})
    return f"Elicitation completed: {found}"


# What a tool asks the client in the era of 2026-07-28: the result says what is missing


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def elicit(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema = _object({name: {"type": kind}})
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str, tokens: int = 100) -> CreateMessageRequest:
    messages = [SamplingMessage(role="user", content=text(prompt))]
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=tokens))


def _words_of(said: CreateMessageResult) -> str:
    return said.content.text if isinstance(said.content, TextContent) else "no text"


def answer_to(responses: InputResponses | None, key: str, name: str) -> Any:
    """What the user entered; None if nothing usable was."""
    found = (responses or {}).get(key)
    if isinstance(found, ElicitResult) and found.action == "accept" and found.content:
        return found.content.get(name)
    return None


Answer = str | InputRequiredResult


@server.tool(description="Asks for a name", structured_output=False)
def test_input_required_result_elicitation(ctx: Context) -> Answer:
    name = answer_to(ctx.input_responses, "user_name", "name")
    if not isinstance(name, str):
        return InputRequiredResult(input_requests={"user_name": elicit("What is your name?", "name")})
    return f"Hello, {name}!"


@server.tool(description="Asks for a name in a stream", structured_output=False)
def test_streaming_elicitation(ctx: Context) -> Answer:
    return test_input_required_result_elicitation(ctx)


@server.tool(description="Asks the client's model", structured_output=False)
def test_input_required_result_sampling(ctx: Context) -> Answer:
    said = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(said, CreateMessageResult):
        return InputRequiredResult(
            input_requests={"capital_question": sample("What is the capital of France?")}
        )
    return _words_of(said)


@server.tool(description="Asks for the client's folders", structured_output=False)
def test_input_required_result_list_roots(ctx: Context) -> Answer:
    found = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(found, ListRootsResult):
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
    return f"Roots: {', '.join(str(each.uri) for each in found.roots)}"


@server.tool(description="Asks with a state", structured_output=False)
def test_input_required_result_request_state(ctx: Context) -> Answer:
    if ctx.request_state != "waiting" or answer_to(ctx.input_responses, "confirm", "ok") is None:
        return InputRequiredResult(
            input_requests={"confirm": elicit("Please confirm", "ok", "boolean")}, request_state="waiting"
        )
    return "state-ok"


@server.tool(description="Asks with a state that nobody may change", structured_output=False)
def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    return test_input_required_result_request_state(ctx)


@server.tool(description="Asks for three things", structured_output=False)
def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    responses = ctx.input_responses or {}
    if ctx.request_state != "waiting" or not {"user_name", "greeting", "client_roots"} <= responses.keys():
        return InputRequiredResult(
            input_requests={
                "user_name": elicit("What is your name?", "name"),
                "greeting": sample("Generate a greeting", 50),
                "client_roots": ListRootsRequest(),
            },
            request_state="waiting",
        )
    return f"All of it for {answer_to(responses, 'user_name', 'name')}"


@server.tool(description="Asks twice", structured_output=False)
def test_input_required_result_multi_round(ctx: Context) -> Answer:
    state = json.loads(ctx.request_state or "{}")
    if "name" in state:
        color = answer_to(ctx.input_responses, "step2", "color")
        if color is not None:
            return f"{state['name']} likes {color}"
    name = state.get("name") or answer_to(ctx.input_responses, "step1", "name")
    if name is None:
        return InputRequiredResult(
            input_requests={"step1": elicit("Step 1: What is your name?", "name")},
            request_state=json.dumps({"step": 1}),
        )
    return InputRequiredResult(
        input_requests={"step2": elicit("Step 2: What is your favorite color?", "color")},
        request_state=json.dumps({"step": 2, "name": name}),
    )


@server.tool(description="Asks only what the client can answer", structured_output=False)
def test_input_required_result_capabilities(ctx: Context) -> Answer:
    can = ctx.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["greeting"] = sample("Generate a greeting")
    if can is not None and can.elicitation is not None:
        requests["user_name"] = elicit("What is your name?", "name")
    if not requests or ctx.input_responses:
        return "done"
    return InputRequiredResult(input_requests=requests)


@server.tool(description="Needs the client's model", structured_output=False)
def test_missing_capability(ctx: Context) -> str:
    can = ctx.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="the tool needs sampling",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "done"


# Prompts


@server.prompt(description="Text")
def test_simple_prompt() -> list[UserMessage]:
    return [UserMessage(text("This is a simple prompt for testing."))]


@server.prompt(description="Text with two arguments")
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@server.prompt(description="A resource, and text")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    return [
        UserMessage(embedded(resourceUri, "Embedded resource content for testing.")),
        UserMessage(text("Please process the embedded resource above.")),
    ]


@server.prompt(description="A picture, and text")
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(picture()), UserMessage(text("Please analyze the image above."))]


@server.prompt(description="Asks first")
def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    found = answer_to(ctx.input_responses, "user_context", "context")
    if found is None:
        asked = elicit("What context should the prompt use?", "context")
        return InputRequiredResult(input_requests={"user_context": asked})
    return [UserMessage(text(f"The context is {found}"))]


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=["paris", "park", "party"], total=3, has_more=False)


# Resources


@server.resource("test://static-text", description="Text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", description="A picture", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", description="Data by number", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource", description="Text to subscribe to", mime_type="text/plain")
def watched() -> str:
    return "This is what is watched."


async def nothing(ctx: Any, params: Any) -> EmptyResult:
    return EmptyResult()


# The older era has three more methods, for which MCPServer has no decorator.
for method, kind in (
    ("logging/setLevel", SetLevelRequestParams),
    ("resources/subscribe", SubscribeRequestParams),
    ("resources/unsubscribe", UnsubscribeRequestParams),
):
    server._lowlevel_server.add_request_handler(method, kind, nothing)


def main() -> None:
    """Serve."""
    if sys.argv[1:] != ["http"]:
        server.run()
        return
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listener])


if __name__ == "__main__":
    main()
