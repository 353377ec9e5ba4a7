"""Exceptions: the tool cannot do what it was asked. Bad documents never raise; they yield diagnostics.

OrgkernelError
├── UsageError             what was asked for does not exist or does not fit
│   ├── NothingToRead      no document at the paths
│   ├── UnknownOrganization
│   ├── UnknownRole
│   ├── AmbiguousActive    `active` was asked for and several organisations could be meant
│   ├── BadProject         orgkernel.toml cannot be used
│   └── BadBaseline        a baseline cannot be read, written, or is none
└── NotServed              the organisation exists and has errors, so it is not answered for
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
    """No organisation of that id was read."""

    code = "UNKNOWN_ORGANIZATION"


class UnknownRole(UsageError):
    """The organisation has no role of that id."""

    code = "UNKNOWN_ROLE"


class AmbiguousActive(UsageError):
    """`active` was asked for, and it is not clear which organisation that is."""

    code = "AMBIGUOUS_ACTIVE"


class BadProject(UsageError):
    """`orgkernel.toml` cannot be used."""

    code = "BAD_PROJECT"


class BadBaseline(UsageError):
    """A baseline cannot be read or written, or the file is none."""

    code = "BAD_BASELINE"


class NotServed(OrgkernelError):
    """The organisation was read and has errors, and there is no earlier good version."""

    code = "NOT_SERVED"
