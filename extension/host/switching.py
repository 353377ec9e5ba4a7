"""Switch the organization of a host off and on again, without losing it.

Off means that there is no `active.json`: it is renamed to `active.json.off`. Switching on renames it back. An older
file that was never switched on again is kept under a number. Installing and activating take the same lock, so no
other process changes the files in between.
"""

from __future__ import annotations

import os
import stat

from . import organization, places
from .locking import hold_folder

OFF = f"{places.ACTIVE}.off"
_WAIT = 2.0
"""Seconds to wait for a run that installs or activates."""
_AGAIN = "Activate an organization with `orgkernel host activate`."


def switch_off(folder: str = places.ORGANIZATIONS) -> str | None:
    """Switch off. The problem in words, or None if it is off now."""
    active, off = os.path.join(folder, places.ACTIVE), os.path.join(folder, OFF)
    try:
        with hold_folder(_get_root(folder), _WAIT):
            if not os.path.lexists(active):
                return "It is already off."
            if os.path.lexists(off) and not _is_same(active, off):
                os.rename(off, _free_name(off))
            os.replace(active, off)
    except OSError as error:
        return f"It cannot be switched off: {_describe_error(error)}."
    return None


def switch_on(folder: str = places.ORGANIZATIONS) -> str | None:
    """Switch the organization on again. Returns the problem, or None if it is on now."""
    active, off = os.path.join(folder, places.ACTIVE), os.path.join(folder, OFF)
    try:
        with hold_folder(_get_root(folder), _WAIT):
            if os.path.lexists(active):
                return "It is already on."
            problem = find_problem(folder)
            if problem is not None:
                return problem
            os.rename(off, active)
    except OSError as error:
        return f"It cannot be switched on: {_describe_error(error)}."
    return None


def find_problem(folder: str = places.ORGANIZATIONS) -> str | None:
    """Why nothing can be switched on. None if something can."""
    off = os.path.join(folder, OFF)
    try:
        if not stat.S_ISREG(os.lstat(off).st_mode):
            return f"There is nothing to switch on: {OFF} is not a regular file. {_AGAIN}"
    except FileNotFoundError:
        return f"There is nothing to switch on: no organization was switched off here. {_AGAIN}"
    try:
        document = organization.read_json(off)
    except organization.OrganizationError as error:
        return f"There is nothing to switch on: {error}. {_AGAIN}"
    if not isinstance(document, dict) or not isinstance(document.get("org_id"), str):
        return f"There is nothing to switch on: {OFF} is not an organization document. {_AGAIN}"
    bundle = organization.read_settings(document.get("x_orgkernel"))[0].bundle
    if bundle is not None and not os.path.isfile(os.path.join(folder, bundle)):
        return f"It cannot be switched on: its bundle `{bundle}` is missing. {_AGAIN}"
    return None


def _get_root(folder: str) -> str:
    """The root of the host, which is what installing and activating lock."""
    return os.path.dirname(os.path.dirname(folder))


def _is_same(one: str, other: str) -> bool:
    try:
        return bool(organization.read_json(one) == organization.read_json(other))
    except organization.OrganizationError:
        return False


def _free_name(off: str) -> str:
    number = 2
    while os.path.lexists(name := f"{off}{number}"):
        number += 1
    return name


def _describe_error(error: OSError) -> str:
    if isinstance(error, BlockingIOError):
        return "an installation or activation is running; try again when it has ended"
    return error.strerror or type(error).__name__
