"""Subcommands of git whose words are paths or references, depending on what the repository contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import GLOB, PLAIN, ROOT, UNKNOWN, ShellWord, shown
from orgkernel.shell.options import read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.files import delete_tree


def _is_everything(word: ShellWord) -> bool:
    text = shown(word.text)
    return not text.strip("./*") or text in (":/", ":/*", ":(top)", "-A") or (GLOB in word.text)


def _checkout(call: ProgramCall) -> None:
    texts = [word.text for word in call.args]
    dashes = texts.index("--") if "--" in texts else None
    options = read_options(
        call.args, valued="bB", long_valued=("orphan", "conflict", "pathspec-from-file"),
        longs=("force", "detach", "track", "ours", "theirs", "patch", "quiet", "merge", "no-track", "guess"),
    )  # fmt: skip
    if options.has("f", "force"):
        call.found("discard_changes", "discards all changes that are not committed")
        return
    if options.has("p", "patch"):
        return
    if dashes is not None:
        paths = list(call.args[dashes + 1 :])
    elif options.has("b", "B", "orphan"):
        if options.has("B"):
            call.unread("cannot determine whether commits are lost when this branch is moved")
        return
    else:
        paths = [word for word in options.operands if _is_everything(word) and word.text not in ("-", "..")]
        if not paths and len(options.operands) > 1:
            paths = list(options.operands[1:])
    _discard(call, paths)


def _discard(call: ProgramCall, paths: list[ShellWord]) -> None:
    for path in paths:
        if _is_everything(path) or path.text.endswith("/"):
            call.found(
                "discard_changes",
                f"discards all changes of {quote(shown(path.text))} that are not committed",
                path,
            )
        else:
            call.unread(
                f"cannot determine whether {quote(shown(path.text))} has changes that are not committed", path
            )


def _restore(call: ProgramCall) -> None:
    options = read_options(
        call.args,
        valued="s",
        long_valued=("source", "conflict", "pathspec-from-file"),
        longs=("staged", "worktree", "patch"),
    )
    if options.has("p", "patch") or (options.has("S", "staged") and not options.has("W", "worktree")):
        return
    _discard(call, options.operands)


def _rm(call: ProgramCall) -> None:
    options = read_options(call.args, longs=("cached", "force", "dry-run", "quiet", "ignore-unmatch"))
    if options.has("cached", "n", "dry-run"):
        return
    for word in options.operands:
        if options.has("r") and options.has("f", "force"):
            delete_tree(call, word)
        elif call.owner(word) == "foreign" and not _is_everything(word):
            call.unread("cannot determine whether this file may be deleted", word)


def _run_in_submodules(call: ProgramCall) -> str | None:
    """`git submodule foreach`: a script of a shell."""
    words = [word for word in call.args if word.text not in ("--recursive", "--quiet")]
    if not words:
        return None
    text = " ".join(word.text for word in words)
    return call.script(ShellWord(text, words[0].start, words[-1].end), through="git submodule foreach")


def _print_paths(call: ProgramCall) -> str:
    for word in read_options(call.args, long_valued=("output",)).all_values("output"):
        call.reader.write(word, UNKNOWN, appends=False)
    return f"x{GLOB}\n"


def _print_one_word(call: ProgramCall) -> str:
    if any(word.text == "--show-toplevel" for word in call.args):
        return ROOT + "\n"
    return PLAIN + "\n"


def _print_lines(call: ProgramCall) -> str:
    return UNKNOWN + "\n"


READERS: Final[Mapping[str, Program]] = {
    "git_checkout": _checkout,
    "git_restore": _restore,
    "git_rm": _rm,
    "git_foreach": _run_in_submodules,
    "git_paths": _print_paths,
    "git_one_word": _print_one_word,
    "git_lines": _print_lines,
}
