"""Git in all its spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from orgkernel.diagnostics.wording import listing, quote
from orgkernel.shell.marks import GLOB, PLAIN, ROOT, UNKNOWN, ShellWord, shown
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.programs.files import delete_tree
from orgkernel.shell.reader import Program, ProgramCall

_GLOBAL_VALUED: Final = ("git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env")


def _git(call: ProgramCall) -> str | None:
    options = read_options(call.args, valued="Cc", long_valued=_GLOBAL_VALUED, first_operand_ends=True)
    for setting in options.all_values("c"):
        name = setting.text.partition("=")[0].lower()
        if name.startswith("alias.") or re.search(
            r"(command|pager|editor|sshcommand|hookspath|fsmonitor|textconv|helper|external)$", name
        ):
            call.unread("what this setting runs cannot be seen", setting)
    if not options.operands:
        return UNKNOWN
    verb, args = options.operands[0], tuple(options.operands[1:])
    inner = ProgramCall(call.reader, call.name, call.args, call.word, call.stdin)
    if not verb.is_known:
        call.unread("which command of git this is, is not known until the command runs", verb)
        return None
    if any(
        word.text.startswith("ext::") or word.text.startswith(("--upload-pack", "--receive-pack", "--exec="))
        for word in args
    ):
        call.unread("what this transport runs cannot be seen", verb)
    command = _COMMANDS.get(verb.text)
    if command is not None:
        return command(inner, args)
    if verb.text not in _HARMLESS:
        call.unread(f"unknown git subcommand {quote(verb.text)}", verb)
    return UNKNOWN


_PUSH_LONGS = (
    "force", "force-with-lease", "force-if-includes", "mirror", "delete", "prune", "dry-run", "all", "tags", "follow-tags", "set-upstream",
    "no-verify", "quiet", "verbose", "atomic", "porcelain", "branches", "progress",
)  # fmt: skip


def _push(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(
        args,
        valued="o",
        long_valued=("push-option", "repo", "receive-pack", "exec", "recurse-submodules"),
        longs=_PUSH_LONGS,
    )
    if options.has("n", "dry-run", "help"):
        return
    refs = options.operands[1:]
    if options.has("f", "force", "force-with-lease"):
        call.found("force_push", "pushes by force: commits on the remote can be lost")
    if options.has("mirror", "prune"):
        call.found("force_push", "mirrors this repository to the remote: branches of other users are deleted")
    if options.has("d", "delete"):
        for ref in refs or [call.word]:
            call.found("delete_branch", f"deletes {quote(shown(ref.text))} of the remote", ref)
    for ref in refs:
        if ref.text.startswith("+"):
            call.found("force_push", f"pushes {quote(shown(ref.text[1:]))} by force", ref)
        elif ref.text.startswith(":") and len(ref.text) > 1:
            call.found("delete_branch", f"deletes {quote(shown(ref.text[1:]))} of the remote", ref)
    if options.is_open or any(ref.is_open for ref in refs):
        call.unread("whether this pushes by force is not known until the command runs")


def _reset(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(
        args,
        longs=("hard", "soft", "mixed", "keep", "merge", "quiet", "patch"),
        long_valued=("pathspec-from-file",),
    )
    if options.has("hard"):
        call.found("discard_changes", "discards all changes that are not committed, and moves the branch")
    elif options.has("merge"):
        call.unread("which changes this discards cannot be seen")
    elif options.is_open:
        call.unread("whether this discards changes is not known until the command runs")


def _branch(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    options = read_options(
        args, valued="u", long_valued=("set-upstream-to", "contains", "merged", "no-merged", "sort", "format", "points-at"),
        longs=("delete", "force", "all", "remotes", "list", "move", "copy", "verbose", "show-current"),
    )  # fmt: skip
    forced = options.has("f", "force")
    if options.has("D") or (options.has("d", "delete") and forced):
        names = listing([quote(shown(word.text)) for word in options.operands]) or "branches"
        call.found("delete_branch", f"deletes {names}, merged or not")
    elif forced and options.operands:
        call.unread("whether commits are lost when this branch is moved cannot be seen", options.operands[0])
    elif options.has("M", "C") and len(options.operands) > 1:
        call.unread("whether this replaces a branch cannot be seen", options.operands[-1])
    return UNKNOWN


def _is_everything(word: ShellWord) -> bool:
    text = shown(word.text)
    return not text.strip("./*") or text in (":/", ":/*", ":(top)", "-A") or (GLOB in word.text)


def _checkout(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    texts = [word.text for word in args]
    dashes = texts.index("--") if "--" in texts else None
    options = read_options(
        args, valued="bB", long_valued=("orphan", "conflict", "pathspec-from-file"),
        longs=("force", "detach", "track", "ours", "theirs", "patch", "quiet", "merge", "no-track", "guess"),
    )  # fmt: skip
    if options.has("f", "force"):
        call.found("discard_changes", "discards all changes that are not committed")
        return
    if options.has("p", "patch"):
        return
    if dashes is not None:
        paths = list(args[dashes + 1 :])
    elif options.has("b", "B", "orphan"):
        if options.has("B"):
            call.unread("whether commits are lost when this branch is moved cannot be seen")
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
                f"whether {quote(shown(path.text))} has changes that are not committed cannot be seen", path
            )


def _restore(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(
        args,
        valued="s",
        long_valued=("source", "conflict", "pathspec-from-file"),
        longs=("staged", "worktree", "patch"),
    )
    if options.has("p", "patch") or (options.has("S", "staged") and not options.has("W", "worktree")):
        return
    _discard(call, options.operands)


def _switch(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(
        args,
        valued="cC",
        long_valued=("create", "force-create", "orphan"),
        longs=("discard-changes", "force", "detach"),
    )
    if options.has("f", "force", "discard-changes"):
        call.found("discard_changes", "discards all changes that are not committed")
    elif options.has("C", "force-create"):
        call.unread("whether commits are lost when this branch is moved cannot be seen")


def _clean(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(
        args, valued="e", long_valued=("exclude",), longs=("force", "dry-run", "interactive", "quiet")
    )
    if not options.has("n", "dry-run", "i", "interactive", "help"):
        call.found("discard_changes", "deletes files that were never committed")


def _stash(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    verb = next((word for word in args if not word.text.startswith("-")), None)
    if verb is not None and verb.text in ("drop", "clear"):
        call.found("discard_changes", "deletes stashed changes", verb)


def _reflog(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    options = read_options(args, longs=("dry-run",), long_valued=("expire", "expire-unreachable"))
    if (
        options.operands
        and options.operands[0].text in ("expire", "delete", "drop")
        and not options.has("n", "dry-run")
    ):
        call.found(
            "rewrite_history", "deletes the log by which lost commits are found again", options.operands[0]
        )
    return UNKNOWN


def _gc(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("aggressive", "auto", "force"), long_valued=("prune",))
    value = options.value("prune")
    if value is not None and value.text in ("now", "all"):
        call.found("rewrite_history", "deletes commits that no branch reaches", value)


def _prune(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("dry-run", "verbose", "progress"), long_valued=("expire",))
    if not options.has("n", "dry-run"):
        call.found("rewrite_history", "deletes commits that no branch reaches")


def _rewrites(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    if any(word.text in ("--analyze", "--help", "--dry-run") for word in args):
        return
    call.found("rewrite_history", "rewrites all commits")
    for number, word in enumerate(args):
        if word.text.endswith("-filter") and number + 1 < len(args):
            call.script(args[number + 1], through="git filter-branch")


def _update_ref(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, valued="m")
    if options.has("d"):
        call.found("delete_branch", "deletes a reference, merged or not")
    else:
        call.unread("which references this changes cannot be seen")


def _tag(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    options = read_options(
        args,
        valued="mFun",
        long_valued=("message", "file", "sort", "format", "contains", "points-at"),
        longs=("delete", "force", "list"),
    )
    if options.has("d", "delete"):
        call.unread("whether the tag was pushed cannot be seen; otherwise it is lost")
    elif options.has("f", "force"):
        call.unread("which tag this moves cannot be seen")
    return UNKNOWN


def _worktree(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("force",))
    if options.operands and options.operands[0].text == "remove" and options.has("f", "force"):
        call.found("discard_changes", "deletes a worktree with changes that are not committed")


def _submodule(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, first_operand_ends=True)
    verb = options.operands[0].text if options.operands else ""
    rest = options.operands[1:]
    if verb == "foreach":
        words = [word for word in rest if word.text not in ("--recursive", "--quiet")]
        if words:
            call.script(
                ShellWord(" ".join(word.text for word in words), words[0].start, words[-1].end),
                through="git submodule foreach",
            )
    elif verb == "deinit" and any(word.text in ("-f", "--force") for word in rest):
        call.found("discard_changes", "deletes submodules with changes that are not committed")


def _rm(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("cached", "force", "dry-run", "quiet", "ignore-unmatch"))
    if options.has("cached", "n", "dry-run"):
        return
    for word in options.operands:
        if options.has("r") and options.has("f", "force"):
            delete_tree(call, word)
        elif call.owner(word) == "foreign" and not _is_everything(word):
            call.unread("whether this file may be deleted cannot be seen", word)


def _mv(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    """Overwrites nothing without force, and can be undone."""
    options = read_options(args, longs=("force", "dry-run", "verbose"))
    if not options.has("n", "dry-run"):
        for word in options.operands:
            call.owner(word)


def _read_tree(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("reset",))
    if options.has("reset") and options.has("u"):
        call.found("discard_changes", "discards all changes that are not committed")


def _checkout_index(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    options = read_options(args, longs=("force", "all"), long_valued=("prefix",))
    if options.has("f", "force") and not options.has("prefix"):
        call.found("discard_changes", "discards changes that are not committed")


def _bisect(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    if args and args[0].text == "run":
        call.run(args[1:], through="git bisect run")


def _rebase(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    for word in read_options(
        args, valued="xsX", long_valued=("exec", "onto", "strategy", "strategy-option")
    ).all_values("x", "exec"):
        call.script(word, through="git rebase --exec")


def _config(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    options = read_options(
        args, valued="f", long_valued=("file", "type", "get", "unset", "get-all", "get-regexp", "default")
    )
    names = [word.text.lower() for word in options.operands]
    if len(names) > 1 and (
        names[0].startswith("alias.")
        or re.search(r"(hookspath|sshcommand|pager|editor|fsmonitor|helper)$", names[0])
    ):
        call.unread("what this setting will run cannot be seen", options.operands[0])
    return UNKNOWN


def _ls_files(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    return f"x{GLOB}\n"


def _rev_parse(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    if any(word.text == "--show-toplevel" for word in args):
        return ROOT + "\n"
    return PLAIN + "\n"


def _lines(call: ProgramCall, args: tuple[ShellWord, ...]) -> str:
    return UNKNOWN + "\n"


def _send_email(call: ProgramCall, args: tuple[ShellWord, ...]) -> None:
    if not any(word.text == "--dry-run" for word in args):
        call.found("send_email", "sends patches by email")


_COMMANDS: Final[Mapping[str, Callable[[ProgramCall, tuple[ShellWord, ...]], str | None]]] = {
    "push": _push, "reset": _reset, "branch": _branch, "checkout": _checkout, "restore": _restore, "switch": _switch, "clean": _clean,
    "stash": _stash, "reflog": _reflog, "gc": _gc, "prune": _prune, "filter-branch": _rewrites, "filter-repo": _rewrites,
    "update-ref": _update_ref, "tag": _tag, "worktree": _worktree, "submodule": _submodule, "rm": _rm, "mv": _mv, "read-tree": _read_tree,
    "checkout-index": _checkout_index, "bisect": _bisect, "rebase": _rebase, "config": _config, "ls-files": _ls_files,
    "diff": _ls_files, "rev-parse": _rev_parse, "describe": _rev_parse, "for-each-ref": _lines, "send-email": _send_email,
}  # fmt: skip
_HARMLESS: Final = names_in(
    """status log show fetch pull add commit merge cherry-pick revert blame remote clone init archive shortlog grep help version
    cat-file ls-tree ls-remote rev-list name-rev merge-base diff-tree diff-index diff-files cherry count-objects fsck notes
    format-patch am apply bundle verify-commit verify-tag whatchanged range-diff sparse-checkout maintenance repack pack-refs lfs
    hash-object write-tree commit-tree symbolic-ref show-ref show-branch stripspace var mergetool difftool rerere flow annotate
    check-ignore check-attr instaweb citool gui request-pull update-index credential daemon --version interpret-trailers subtree
    cliff absorb"""
)
PROGRAMS: Final[Mapping[str, Program]] = {"git": _git, "hub": _git}
