"""A permit: leave to make one call, which a server has decided and this process makes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import add_input, decode_input, encode_input
from orgkernel.errors import PermitRefused, Refused, UsageError

SECONDS = 10.0
"""Seconds between the decision and the call."""


class NotAllowed(Refused):
    """A tool may not be called. `decision` says why, and `why` of the client says what would allow it.

    >>> from orgkernel import AccessRequest, Kernel, NotAllowed, CallPermit
    >>> request = AccessRequest("role:research_xo", "terminal", "tool:code_execution_tool")
    >>> try:
    ...     CallPermit(request, Kernel.open().can("software_dev", request), {})
    ... except NotAllowed as error:
    ...     print(error.code, error.decision.outcome)
    NOT_BOUND_TO_ROLE deny
    """

    code = "NOT_ALLOWED"

    def __init__(self, request: AccessRequest, decision: AccessDecision) -> None:
        text = f"{request.subject} may not {request.action} {request.resource}: {decision.outcome}, {', '.join(decision.codes)}"
        super().__init__(text, "ask `why` for the reasons and the remedies", decision.code)
        self.decision = decision


class CallPermit:
    """Leave to call one tool once, with the input that was decided about. It expires after ten seconds.

    A permit holds in the process that asked for it. It does not stop code that calls the tool without one.

    >>> from orgkernel import AccessRequest, Kernel, CallPermit
    >>> request = AccessRequest("role:co", "use", "tool:scheduler")
    >>> permit = CallPermit(request, Kernel.open().can("software_dev", request), {"text": "stand-up"})
    >>> permit.call(lambda text: text.upper())
    'STAND-UP'
    """

    def __init__(
        self, request: AccessRequest, decision: AccessDecision, tool_input: Mapping[str, Any]
    ) -> None:
        """Raises `NotAllowed` unless the outcome of the decision is `allow`."""
        if decision.outcome != "allow":
            raise NotAllowed(request, decision)
        self.request = request
        self.decision = decision
        self._input = encode_input(tool_input)
        self._until = time.monotonic() + SECONDS
        self._process = os.getpid()
        self._unused = threading.Lock()

    def call(self, function: Callable[..., Any]) -> Any:
        """Call the function with the input as keyword arguments. Raises `PermitRefused` if the permit was used or has
        expired, and what the function raises.
        """
        return function(**self.redeem())

    def redeem(self) -> dict[str, Any]:
        """Use the permit up. Returns a copy of the input that was decided about. Raises `PermitRefused`."""
        if not self._unused.acquire(blocking=False) or self._process != os.getpid():
            raise PermitRefused(f"the permit for {self.request.resource} was used", "ask for another one")
        if time.monotonic() >= self._until:
            raise PermitRefused(f"the permit for {self.request.resource} has expired", "ask for another one")
        return decode_input(self._input)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raises `TypeError`, because a copy could be used a second time."""
        raise TypeError("a permit cannot be copied or stored")


def state_input(request: AccessRequest, tool_input: Mapping[str, Any]) -> AccessRequest:
    """The request with the input of the call. Raises `UsageError` for an input that is not JSON."""
    try:
        return add_input(request, encode_input(tool_input))
    except ValueError as error:
        raise UsageError(f"the input of {request.resource} is not JSON: {error}") from error
