"""Ids as names of agents and skills elsewhere: lowercase letters, digits and single hyphens, as a person would write them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from orgkernel.loading.formats.names import derive_name

MAX_NAME_LENGTH = 64
_OTHERS = re.compile(r"[^a-z0-9]+")
_DIGITS = (6, 12, 24, 48)
"""Numbers of hexadecimal digits that tell names apart. The first with which all names differ is used."""


def map_names(ids: Iterable[str]) -> Mapping[str, str]:
    """The name of each id: what the id is made of, in lower case, without accents, and with hyphens between words.

    No two ids have one name, and a name does not depend on the order of the ids. Of ids with the same name, one that is this
    name keeps it, and the others end in digits of their digest, and so do names that would be too long.

    >>> dict(map_names(["code_reviewer", "QA", "SE_3a__20_Playwright_20_Tester", "a_b", "a-b"]))
    {'code_reviewer': 'code-reviewer', 'QA': 'qa', 'SE_3a__20_Playwright_20_Tester': 'se-playwright-tester', 'a_b': 'a-b-648fa9', 'a-b': 'a-b'}
    """
    plain = {each: simplify_name(derive_name(each)) for each in ids}
    shared = Counter(plain.values())
    names: dict[str, str] = {}
    for digits in _DIGITS:
        names = {
            each: name
            if name and len(name) <= MAX_NAME_LENGTH and (each == name or shared[name] == 1)
            else _add_digest(each, name, digits)
            for each, name in plain.items()
        }
        if len(set(names.values())) == len(names):
            break
    return names


def simplify_name(name: str) -> str:
    """A name in lowercase letters, digits and single hyphens. Empty if none of its characters has such a form.

    >>> simplify_name("SE: Playwright Tester"), simplify_name("Über_Prüfer"), simplify_name("C++ & C#")
    ('se-playwright-tester', 'uber-prufer', 'c-c')
    """
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _OTHERS.sub("-", letters).strip("-")


def _add_digest(each: str, name: str, digits: int) -> str:
    digest = hashlib.sha256(each.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    beginning = (name or "agent")[: MAX_NAME_LENGTH - digits - 1].rstrip("-")
    return f"{beginning}-{digest}"
