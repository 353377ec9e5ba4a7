"""Exceptions: the tool cannot do what it was asked. Bad documents never raise; they yield diagnostics.

OrgkernelError
├── UsageError             what was asked for does not exist or does not fit
│   ├── NothingToRead      no document at the paths
│   ├── UnknownOrganization
│   ├── UnknownRole
│   ├── UnknownAgent
│   ├── UnknownBill
│   ├── AmbiguousActive    `active` was asked for and several organizations could be meant
│   ├── BadProject         orgkernel.toml cannot be used
│   ├── BadToolbox         what serves a tool cannot do so as it is set up
│   └── BadBaseline        a baseline cannot be read, written, or is none
├── NotServed              the organization exists and has errors, so it is not answered for
├── NoAnswer               a server did not answer in time, cannot be reached, or failed
├── StoreError             the state could not be read or written; nothing of what was asked is remembered
│   ├── BadStore           the store cannot be used as it is: no database, a folder, read-only, another version
│   ├── StoreBusy          somebody else held the store for too long
│   └── StoreFull          there is no room left
└── Refused                the state, as it is, does not allow what was asked
    ├── UnknownRecord      no agent, grant, request, lock or key of that id
    ├── Conflict           it is not in the state this needs: not pending, locked by another, a stale token
    ├── TooManyRequests    a rate limit of requests for access
    └── PermitRefused      a tool was called without a permit for exactly this call
"""

from __future__ import annotations


class OrgkernelError(Exception):
    """The root; `code` is stable, `help` is what to do about it.

    >>> from orgkernel import Kernel
    >>> try:
    ...     Kernel.open().dispatch("software_dv", "bugfix")
    ... except OrgkernelError as error:
    ...     print(error.code, error.help)
    UNKNOWN_ORGANIZATION did you mean `software_dev`?
    """

    code = "ERROR"

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class UsageError(OrgkernelError):
    """What was asked for does not exist or does not fit."""

    code = "USAGE"


class NothingToRead(UsageError):
    """There is no document at the paths."""

    code = "NOTHING_TO_READ"


class UnknownOrganization(UsageError):
    """No organization of that id was read."""

    code = "UNKNOWN_ORGANIZATION"


class UnknownRole(UsageError):
    """The organization has no role of that id."""

    code = "UNKNOWN_ROLE"


class UnknownAgent(UsageError):
    """No roster declares an agent of that id in the organization."""

    code = "UNKNOWN_AGENT"


class UnknownBill(UsageError):
    """The organization sees no bill of that name."""

    code = "UNKNOWN_BILL"


class AmbiguousActive(UsageError):
    """`active` was asked for, and it is not clear which organization that is."""

    code = "AMBIGUOUS_ACTIVE"


class BadProject(UsageError):
    """`orgkernel.toml` cannot be used."""

    code = "BAD_PROJECT"


class BadToolbox(UsageError):
    """What serves a tool cannot do so as it is set up."""

    code = "BAD_TOOLBOX"


class BadBaseline(UsageError):
    """A baseline cannot be read or written, or the file is none."""

    code = "BAD_BASELINE"


class NotServed(OrgkernelError):
    """The organization was read and has errors, and there is no earlier good version."""

    code = "NOT_SERVED"


class NoAnswer(OrgkernelError):
    """A server did not answer in time, cannot be reached, or failed. A change could have been made all the same."""

    code = "NO_ANSWER"


class StoreError(OrgkernelError):
    """The state could not be read or written; nothing of what was asked is remembered."""

    code = "STORE_FAILED"


class BadStore(StoreError):
    """The store cannot be used as it is: no database, a folder, read-only, another version."""

    code = "BAD_STORE"


NOT_IN_TIME = "the store did not answer in time"
PERHAPS_WRITTEN = "it is not known whether the change was written"


class StoreBusy(StoreError):
    """Somebody else held the store for too long."""

    code = "STORE_BUSY"


class StoreFull(StoreError):
    """There is no room left."""

    code = "STORE_FULL"


class Refused(OrgkernelError):
    """The state, as it is, does not allow what was asked; `code` says which rule."""

    code = "REFUSED"

    def __init__(self, message: str, help: str = "", code: str = "") -> None:
        super().__init__(message, help)
        self.code = code or type(self).code


class UnknownRecord(Refused):
    """There is no agent, grant, request, lock or key of that id."""

    code = "UNKNOWN_RECORD"


class Conflict(Refused):
    """The record is not in the state this needs: not pending, locked by another, a stale token."""

    code = "CONFLICT"


class TooManyRequests(Refused):
    """A rate limit of requests for access."""

    code = "TOO_MANY_REQUESTS"


class PermitRefused(Refused):
    """A tool was called without a permit for exactly this call: used, expired, forged, or for something else."""

    code = "PERMIT_REFUSED"
