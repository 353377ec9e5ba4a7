"""Commands that a container runs, and requests to the interface of a host of code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.shell.marks import UNKNOWN
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.wrappers import in_container

_RUN_VALUED: Final = (
    "name", "volume", "env", "env-file", "network", "net", "publish", "workdir", "user", "entrypoint", "mount", "label", "restart",
    "memory", "cpus", "platform", "hostname", "add-host", "cap-add", "cap-drop", "device", "gpus", "pull", "log-driver", "log-opt",
    "shm-size", "ulimit", "tmpfs", "dns", "ip", "ipc", "pid", "security-opt", "volumes-from", "runtime", "userns", "expose",
    "stop-signal", "stop-timeout", "health-cmd", "link", "group-add", "cidfile", "detach-keys", "index", "annotation", "pod",
    "memory-swap", "cpuset-cpus", "cgroupns", "sysctl", "label-file", "network-alias", "mac-address",
)  # fmt: skip


# Options with which a new container shares no files with others.
_SEPARATE: Final = names_in(
    """name rm i interactive t tty d detach e env env-file w workdir u user entrypoint p publish P publish-all network net platform pull q
    quiet init l label h hostname m memory cpus restart stop-timeout stop-signal shm-size dns expose add-host a attach read-only ulimit"""
)


def _run_in_container(call: ProgramCall) -> str | None:
    """`docker exec`: options, the container, and a command."""
    return _run_there(call, is_new=False)


def _run_in_new_container(call: ProgramCall) -> str | None:
    """`docker run`: options, the image, and a command."""
    return _run_there(call, is_new=True)


def _run_there(call: ProgramCall, *, is_new: bool) -> str | None:
    options = read_options(call.args, valued="euvwpmlhnac", long_valued=_RUN_VALUED, first_operand_ends=True)
    program = options.value("entrypoint")
    words = options.operands[1:]
    if program is not None and program.text:
        words = [program, *words]
    return in_container(
        call,
        words,
        is_fresh=is_new and not options.is_open and {*options.flags, *options.values} <= _SEPARATE,
    )


def _ask_web_api(call: ProgramCall) -> str | None:
    """`gh api`: a request to the interface of the host, with its method."""
    options = read_options(
        call.args,
        valued="XfFHRtqp",
        long_valued=(
            "method", "field", "raw-field", "header", "repo", "jq", "input", "template", "cache", "preview", "hostname",
        ),
    )  # fmt: skip
    method = options.value("X", "method")
    name = method.text.upper() if method else "GET"
    sends = options.has("f", "F", "field", "raw-field", "input")
    if any(word.text == "graphql" for word in options.operands):
        _read_graphql(call, [word.text for word in options.all_values("f", "F", "field", "raw-field")])
    elif name == "DELETE":
        call.found("delete_resource", "deletes through the API of the host", method)
    elif name != "GET" or (sends and method is None):
        call.unread("cannot determine what this request changes")
    return UNKNOWN


def _read_graphql(call: ProgramCall, fields: list[str]) -> None:
    query = next((text.partition("=")[2] for text in fields if text.startswith("query=")), UNKNOWN)
    if UNKNOWN in query or query.startswith("@"):
        call.unread("the query is not known until the command runs")
    elif re.search(r"\bmutation\b", query):
        if re.search(r"(?i)\b(delete|remove|archive|revert|unlink|clear|close)\w*\s*\(", query):
            call.found("delete_resource", "deletes through the API of the host")
        else:
            call.unread("cannot determine what this request changes")


READERS: Final[Mapping[str, Program]] = {
    "container": _run_in_container,
    "new_container": _run_in_new_container,
    "web_api": _ask_web_api,
}
