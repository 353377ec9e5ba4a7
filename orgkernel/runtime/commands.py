"""Compares shell commands with command prefixes, such as `git push`, for policies that restrict part of a tool that
runs commands.

A command is read as words, regardless of pipes, lists, lines and plain quotes between them. If every program that it
could run is among its words, and the words of a prefix do not occur in it in their order, it does not match the
prefix. If a shell would build words only at run time (variables, substitutions, wildcards, braces, escapes), or a
program takes words from elsewhere (`sh`, `eval`, `xargs`, `alias`), a match cannot be ruled out.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from .lazy_patterns import lazy_pattern

MOST_CHARACTERS = 10_000
_QUOTED = r"'[^'\"$`\\!\x00-\x08\x0b-\x1f\x7f]*'|\"[^'\"$`\\!\x00-\x08\x0b-\x1f\x7f]*\""
_JOINING = r"[ \t\n;|&<>]"
_PLAIN = r"[A-Za-z0-9_./:@%+,=~-]+"
# A quoted string is separate from other words, or follows a `=`. Otherwise it would be part of another word.
_READABLE = lazy_pattern(
    rf"(?:{_JOINING}|{_PLAIN}(?=\Z|{_JOINING}|(?<==)['\"])|(?:{_QUOTED})(?=\Z|{_JOINING}))*\Z"
)
# These characters in a quoted string have a meaning for a shell that reads it again, such as the shell of `ssh` or
# `su`.
_TEXTS = lazy_pattern(_QUOTED)
_MEANING = lazy_pattern(r"[*?\[\]{}()#^]|[^\x00-\x7f]")
_WORD = lazy_pattern(r"[A-Za-z0-9_./:@%+,~-]+")
_PARTS = lazy_pattern(r"[/:,@]")
# Programs that run words which are not in the command: shells, and programs that build commands from their input.
_RUNS_MORE = lazy_pattern(
    r"(?:(?:r?ba|da|z|[mp]?dk|[lmo]?k|a|c|tc|fi|ya|po|xon|elvi|pw)?sh|powershell|eval|source|xargs|parallel|fd|fdfind|alias)(?:[0-9.-]*)(?:\.exe)?\Z"
)
# The shell's other word for `source`: a dot before the name of a file.
_SOURCES = lazy_pattern(r"(?:\A|[ \t\n;|&])\.[ \t]+(?:--|[^ \t\n;|&<>-])")
_RUNS_TEXT = frozenset({"su", "ssh", "watch", "script", "flock", "tmux", "screen", "entr", "expect"})


def may_begin(command: str, beginning: str) -> bool:
    """Whether a command, or a command inside it, could begin with some words. False only if it certainly does not.

    >>> may_begin("git push -f", "git push"), may_begin("cd a && /usr/bin/git -C b push", "git push"), may_begin("g$x push", "git push")
    (True, True, True)
    >>> may_begin("git status | grep 'a*'", "git push"), may_begin("echo push && git log", "git push")
    (False, False)
    >>> may_begin("rmdir a", "rm"), may_begin("rm /etc/passwd", "rm /etc"), may_begin("ls | xargs wc", "rm")
    (True, True, True)
    """
    return may_begin_with(read_words(command), beginning)


def may_begin_with(words: tuple[str, ...] | None, beginning: str) -> bool:
    """Like `may_begin`, for a command that was read before."""
    if words is None:
        return True
    rest, names = iter(words), _list_names(beginning)
    # Each word is searched for after the one before it. Prefixes are compared as strings, so the last word can
    # continue: `rm` is a prefix of `rmdir`.
    for name in names[:-1]:
        if not any(_is_in(name, word, is_whole=True) for word in rest):
            return False
    return not names or any(_is_in(names[-1], word, is_whole=False) for word in rest)


def read_words(command: str) -> tuple[str, ...] | None:
    """The words of a command, folded like names on a case-insensitive file system. None if the command could run
    other words.
    """
    if len(command) > MOST_CHARACTERS or not _READABLE.match(command) or _SOURCES.search(command):
        return None
    words = tuple(word.casefold() for word in _WORD.findall(command))
    names = {part for word in words for part in word.split("/")}
    if any(map(_RUNS_MORE.match, names)):
        return None
    if not _RUNS_TEXT.isdisjoint(names) and any(map(_MEANING.search, _TEXTS.findall(command))):
        return None
    return words


def _list_names(beginning: str) -> list[str]:
    """The names of the words of a prefix, without their folders."""
    part_lists = (
        [part for part in _PARTS.split(word.casefold()) if part.strip(".")]
        for word in _WORD.findall(beginning)
    )
    return [parts[-1] for parts in part_lists if parts]


def _is_in(name: str, word: str, *, is_whole: bool) -> bool:
    """Whether a word is a name, contains it as a path component, or, for the last of several, begins with it.

    A word such as `-xrm` can contain the name directly after its option letters.
    """
    parts = _PARTS.split(word)
    if name in parts or (not is_whole and any(part.startswith(name) for part in parts)):
        return True
    return word[:1] == "-" and word[:2] != "--" and name in word
