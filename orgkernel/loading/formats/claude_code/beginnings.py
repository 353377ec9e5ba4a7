"""Tells from the beginning of a Markdown file whether it is an agent of Claude Code."""

from __future__ import annotations

import os

from orgkernel.loading.files import MARKDOWN, NOTES

# Markdown files of other kinds, by their suffixes.
_OTHER_SUFFIXES = (".agent.md", ".chatmode.md", ".prompt.md", ".instructions.md")
# Other files, by their names without the suffix.
_OTHER_NAMES = NOTES | {"skill"}
# Keys of front matter that only other kinds of Markdown files have: pages of a site, commands, rules, agents of others.
_OTHER_KEYS = (
    b"title", b"layout", b"permalink", b"date", b"slug", b"about", b"labels", b"globs", b"alwaysApply", b"applyTo", b"mode",
    b"allowed-tools", b"argument-hint", b"kind", b"on", b"permissions", b"safe-outputs", b"tags", b"sidebar_position", b"sidebar_label", b"nav_order", b"weight",
)  # fmt: skip


_TOOLS = b"tools:"


def can_be_agent(name: str) -> bool:
    """Whether a Markdown file with this name can be an agent outside of the folders of agents.

    >>> can_be_agent("reviewer.md"), can_be_agent("README.md"), can_be_agent("a.prompt.md")
    (True, False, False)
    """
    stem, suffix = os.path.splitext(name)
    return suffix == MARKDOWN and stem.casefold() not in _OTHER_NAMES and not name.endswith(_OTHER_SUFFIXES)


def begins_like_agent(head: bytes) -> bool:
    r"""Whether a Markdown file begins with the front matter of an agent: a name and a description, or one of them with
    tools or a model, and no key of another kind of file.

    >>> begins_like_agent(b"---\nname: reviewer\ndescription: Reviews code.\n---\n")
    True
    >>> begins_like_agent(b"---\nname: Guide\ntitle: A guide\ndescription: How to.\n---\n")
    False
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()
    if not lines or lines[0].rstrip() != b"---":
        return False
    keys = set()
    for line in lines[1:]:
        if line.startswith(b"---"):
            break
        key, colon, _ = line.partition(b":")
        if colon and key and not key[:1].isspace():
            keys.add(key.strip())
    has_both = len(keys & {b"name", b"description"}) + (not keys.isdisjoint((b"tools", b"model"))) > 1
    return has_both and keys.isdisjoint(_OTHER_KEYS)


def list_tools_in_head(head: bytes) -> list[str]:
    r"""The words of the list of tools in the beginning of a file, whichever way it is written.

    >>> list_tools_in_head(b"---\nname: a\ntools: Read, Bash(git:*)\n---\n")
    ['Read', 'Bash(git:*)']
    >>> list_tools_in_head(b"---\ntools:\n  - read_file\n  - glob\nmodel: x\n---\n"), list_tools_in_head(b"---\ntools: [a, 'b']\n")
    (['read_file', 'glob'], ['a', 'b'])
    """
    words: list[bytes] = []
    is_inside = False
    for line in head.splitlines()[1:]:
        if line.startswith(b"---"):
            break
        if line.startswith(_TOOLS):
            is_inside = True
            words += line[len(_TOOLS) :].split(b",")
        elif is_inside and line.lstrip().startswith(b"-"):
            words.append(line.lstrip()[1:])
        elif line[:1].strip():
            is_inside = False
    plain = (each.strip(b" \t[]\"'").decode("utf-8", "replace") for each in words)
    return [each for each in plain if each]
