"""Calls of tools in frameworks for agents, for a program of another environment: it prints what a model would be given.

`framework_calls.py FRAMEWORK FILE CALLS` runs a file that a page shows, lets the framework make the calls, each a tool and
its arguments, and prints the tools that a model is offered, and the results that it is handed.
"""

import asyncio
import json
import runpy
import sys
from typing import Any

Calls = list[tuple[str, dict[str, Any]]]


async def call_with_openai(shown: dict[str, Any], calls: Calls) -> dict[str, Any]:
    """Through the runner of the OpenAI Agents SDK, with a model that makes the calls."""
    from agents import Model, ModelResponse, RunConfig, Runner, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    seen: dict[str, Any] = {}

    class Scripted(Model):
        async def get_response(self, **given: Any) -> Any:
            seen["tools"] = [tool.name for tool in given["tools"]]
            results = [
                each["output"] for each in given["input"] if each.get("type") == "function_call_output"
            ]
            seen["results"] = [text_in(each) for each in results]
            said: list[Any] = [
                ResponseFunctionToolCall(
                    type="function_call", call_id=f"c{number}", name=tool, arguments=json.dumps(words)
                )
                for number, (tool, words) in enumerate(calls)
            ]
            if results:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                said = [
                    ResponseOutputMessage(
                        id="m", type="message", role="assistant", status="completed", content=[text]
                    )
                ]
            return ModelResponse(output=said, usage=Usage(), response_id=None)

        def stream_response(self, **given: Any) -> Any:
            raise NotImplementedError

    async with shown["gateway"]:
        config = RunConfig(model=Scripted(), tracing_disabled=True)
        await Runner.run(shown["agent"], "Work.", run_config=config)
    return seen


async def call_with_langgraph(shown: dict[str, Any], calls: Calls) -> dict[str, Any]:
    """Through a graph of one node."""
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    async with shown["clerk_tools"]() as node:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", node)
        graph.add_edge(START, "tools")
        asked = [
            {"name": tool, "args": words, "id": f"c{number}"} for number, (tool, words) in enumerate(calls)
        ]
        found = await graph.compile().ainvoke({"messages": [AIMessage("", tool_calls=asked)]})
        results = [text_in(each.content) for each in found["messages"][1:]]
        return {"tools": sorted(node.tools_by_name), "results": results}


def text_in(output: Any) -> str:
    """The text of what is handed to a model."""
    if isinstance(output, str):
        return output
    (block,) = output
    return str(block["text"])


if __name__ == "__main__":
    framework, file, calls = sys.argv[1:]
    call = {"openai": call_with_openai, "langgraph": call_with_langgraph}[framework]
    print(json.dumps(asyncio.run(call(runpy.run_path(file), json.loads(calls)))))
