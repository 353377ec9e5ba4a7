"""Exceptions: orgkernel cannot do what was requested. Invalid documents never raise; they yield diagnostics.

OrgkernelError
├── UsageError             the requested thing does not exist, or an argument is not valid
│   ├── NothingToRead      no document at the paths
│   ├── UnknownOrganization
│   ├── UnknownRole
│   ├── UnknownAgent
│   ├── UnknownBill
│   ├── AmbiguousActive    `active` was requested, and several organizations could be meant
│   ├── BadProject         orgkernel.toml cannot be used
│   ├── BadToolbox         the settings of a tool's provider cannot be used
│   └── BadBaseline        a baseline cannot be read or written, or is not a baseline
├── NotServed              the organization exists and has errors, so it is not served
├── NoAnswer               a server did not answer in time, cannot be reached, or failed
├── StoreError             the state could not be read or written; the requested change was not stored
│   ├── BadStore           the store cannot be used: not a database, a folder, read-only
│   │   └── OtherStoreVersion  the store was made or upgraded by an older or a newer program
│   ├── StoreBusy          another process held the store for too long
│   └── StoreFull          the disk has no free space left
└── Refused                the current state does not allow the request
    ├── UnknownRecord      no agent, grant, request, lock or key has this id
    ├── Conflict           the record is in another state than required: not pending, locked, a stale token
    ├── TooManyRequests    the rate limit for access requests was exceeded
    └── PermitRefused      a tool was called without a valid permit for exactly this call
"""

from __future__ import annotations


class OrgkernelError(Exception):
    """The root of all errors. `code` is stable; `help` states the remedy.

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
    """The requested thing does not exist, or an argument is not valid."""

    code = "USAGE"


class NothingToRead(UsageError):
    """No document exists at the paths."""

    code = "NOTHING_TO_READ"


class UnknownOrganization(UsageError):
    """No organization with this id was read."""

    code = "UNKNOWN_ORGANIZATION"


class UnknownRole(UsageError):
    """The organization has no role with this id."""

    code = "UNKNOWN_ROLE"


class UnknownAgent(UsageError):
    """No roster of the organization declares an agent with this id."""

    code = "UNKNOWN_AGENT"


class UnknownBill(UsageError):
    """The organization sees no bill with this name."""

    code = "UNKNOWN_BILL"


class AmbiguousActive(UsageError):
    """`active` was requested, and several organizations could be meant."""

    code = "AMBIGUOUS_ACTIVE"


class BadProject(UsageError):
    """`orgkernel.toml` cannot be used."""

    code = "BAD_PROJECT"


class BadToolbox(UsageError):
    """The settings of a tool's provider cannot be used."""

    code = "BAD_TOOLBOX"


class BadBaseline(UsageError):
    """A baseline cannot be read or written, or the file is not a baseline."""

    code = "BAD_BASELINE"


class NotServed(OrgkernelError):
    """The organization was read and has errors, and there is no earlier good version."""

    code = "NOT_SERVED"


class NoAnswer(OrgkernelError):
    """A server did not answer in time, cannot be reached, or failed. A change could have been made all the same."""

    code = "NO_ANSWER"


class StoreError(OrgkernelError):
    """The state could not be read or written. The requested change was not stored."""

    code = "STORE_FAILED"


class BadStore(StoreError):
    """The store cannot be used: not a database, a folder, or read-only."""

    code = "BAD_STORE"


class OtherStoreVersion(BadStore):
    """The store does not have the version that this program needs, so it is neither read nor written."""

    code = "STORE_VERSION"


NOT_IN_TIME = "the store did not answer in time"
PERHAPS_WRITTEN = "it is not known whether the change was written"


class StoreBusy(StoreError):
    """Another process held the store for too long."""

    code = "STORE_BUSY"


class StoreFull(StoreError):
    """The disk has no free space left."""

    code = "STORE_FULL"


class Refused(OrgkernelError):
    """The current state does not allow the request; `code` names the reason."""

    code = "REFUSED"

    def __init__(self, message: str, help: str = "", code: str = "") -> None:
        super().__init__(message, help)
        self.code = code or type(self).code


class UnknownRecord(Refused):
    """No agent, grant, request, lock or key has this id."""

    code = "UNKNOWN_RECORD"


class Conflict(Refused):
    """The record is in another state than required: not pending, locked by another holder, a stale token."""

    code = "CONFLICT"


class TooManyRequests(Refused):
    """The rate limit for access requests was exceeded."""

    code = "TOO_MANY_REQUESTS"


class PermitRefused(Refused):
    """A tool was called without a valid permit for exactly this call: it was used, expired, forged, or for another
    call.
    """

    code = "PERMIT_REFUSED"
