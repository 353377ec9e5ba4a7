"""Programs that delete, overwrite, move and find files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import is_safeguard
from orgkernel.shell.marks import GLOB, HOME, ONE, TEMPORARY, UNKNOWN, ShellWord, shown
from orgkernel.shell.options import read_options
from orgkernel.shell.ownership import is_sink
from orgkernel.shell.reader import PATH, Program, ProgramCall


def delete_tree(call: ProgramCall, target: ShellWord) -> None:
    """Delete a directory with everything in it."""
    owner, name = call.owner(target), quote(shown(target.text))
    if owner == "own" or call.reader.has_made(target.text):
        return
    if owner in ("temporary", "unclear"):
        call.unread(f"cannot determine whether {name} is the task's own", target)
    elif owner == "variable":
        call.found(
            "delete_directory",
            f"recursively deletes {name}, a path that is only known at run time",
            target,
        )
    else:
        call.found(
            "delete_directory", f"deletes {name} and everything in it, which is not the task's own", target
        )


def _zip(call: ProgramCall) -> None:
    options = read_options(call.args, valued="xinbt", single_dash_longs=False)
    if any(re.match(r"-TT|--un[a-z-]*", word.text) for word in call.args):
        call.unread("cannot determine what this option of `zip` runs")
    if options.has("m", "move") and any(call.owner(word) != "own" for word in options.operands[1:]):
        call.unread("cannot determine whether these files may be moved away")


def delete_file(call: ProgramCall, target: ShellWord) -> None:
    """Delete one file. It is destructive if the file is certainly not the task's own."""
    owner, name = call.owner(target), quote(shown(target.text))
    if call.reader.has_made(target.text):
        return
    is_folder_of_root = not shown(target.text).strip("*./")
    if owner == "foreign" and is_folder_of_root and ".." not in target.text:
        call.unread(f"cannot determine which files {name} names", target)
    elif owner == "foreign" and is_safeguard(target.text) and target.text.startswith("/etc/"):
        call.found("disable_safeguard", f"deletes {name}, which keeps copies or records", target)
    elif owner == "foreign":
        call.found("destroy_data", f"deletes {name}, which is not the task's own", target)
    elif owner == "variable":
        call.unread(f"cannot determine which files {name} names", target)


def _shred(call: ProgramCall) -> None:
    options = read_options(call.args, valued="ns", long_valued=("iterations", "size", "random-source"))
    for target in options.operands:
        if call.owner(target) != "own":
            call.found("destroy_data", f"erases {quote(shown(target.text))} beyond recovery", target)


def _truncate(call: ProgramCall) -> None:
    options = read_options(call.args, valued="sr", long_valued=("size", "reference"))
    size = options.value("s", "size")
    if size is not None and size.text.startswith("+"):
        return
    for target in options.operands:
        owner = call.owner(target)
        if owner in ("own", "temporary"):
            continue
        if owner == "variable":
            call.unread(f"cannot determine which file {quote(shown(target.text))} is", target)
        else:
            call.found(
                "destroy_data", f"truncates {quote(shown(target.text))}, which is not the task's own", target
            )


def _dd(call: ProgramCall) -> None:
    for word in call.args:
        key, _, value = word.text.partition("=")
        if key == "of" and not is_sink(value):
            target = word.but(value)
            owner = call.owner(target)
            if value.startswith("/dev/") or owner == "foreign":
                call.found("destroy_data", f"overwrites {quote(shown(value))}", target)
            elif owner not in ("own", "temporary"):
                call.unread(f"cannot determine what {quote(shown(value))} is", target)


def _erase_device(call: ProgramCall) -> None:
    if call.args and not read_options(call.args).has("n", "no-act", "help", "version", "V"):
        targets = [word for word in call.args if not word.text.startswith("-")]
        if targets:
            if all(call.owner(each) == "own" for each in targets[-1:]):
                return
            call.found("destroy_data", f"erases {quote(shown(targets[-1].text))}", targets[-1])


def _copy(call: ProgramCall) -> None:
    """`cp`, `mv`, `install`, `ln -f`: the files that they can overwrite, and the files that `mv` removes."""
    name = call.name.removeprefix("g")  # GNU programs on other systems: `gmv`
    # `ln -n` is about links to folders.
    no_clobber = () if name == "ln" else ("n", "no-clobber")
    keeping = ("b", "backup", "i", "interactive", "help", "version", *no_clobber)
    options = read_options(
        call.args,
        valued="tSmog",
        long_valued=("target-directory", "suffix", "mode", "owner", "group"),
        longs=("no-clobber", "force"),
    )
    if options.has(*keeping) and name != "mv":
        return
    if name == "install" and options.has("d", "directory"):
        return
    operands = list(options.operands)
    folder = options.value("t", "target-directory")
    target = folder or (operands.pop() if len(operands) > 1 else None)
    if name == "mv":
        for source in operands:
            owner = call.owner(source)
            if owner == "foreign" and source.text.startswith(("/", HOME, "../")):
                call.unread(f"cannot determine whether {quote(shown(source.text))} may be moved away", source)
    if target is None or is_sink(target.text):
        if name == "mv" and target is not None and target.text == "/dev/null":
            call.found("destroy_data", "moves a file onto /dev/null, which deletes it", target)
        return
    if target.text.startswith("/dev/"):
        call.found("destroy_data", f"overwrites {quote(shown(target.text))}", target)
        return
    if name == "ln":
        # What is behind a link in a folder was not made with the folder.
        call.reader.made = {each for each in call.reader.made if each.kind != PATH}
    owner = call.owner(target)
    source_is_empty = [each.text for each in operands] == ["/dev/null"]
    if source_is_empty and owner == "foreign":
        call.found(
            "destroy_data", f"empties {quote(shown(target.text))}, which is not the task's own", target
        )
    elif (
        owner in ("foreign", "variable")
        and not call.reader.has_made(target.text)
        and not is_own_root(target.text)
        and not (name == "ln" and not options.has("f", "force"))
    ):
        call.unread(
            f"cannot determine whether {quote(shown(target.text))} overwrites a file of another owner",
            target,
        )
    elif name == "cp" and len(operands) == 1:
        call.reader.write(target, call.reader.read_file(operands[0].text), appends=False)


def is_own_root(path: str) -> bool:
    """Whether a path is the folder in which the command runs."""
    return not path.startswith("/") and not shown(path).strip("./") and ".." not in path


def _tee(call: ProgramCall) -> str | None:
    options = read_options(call.args, longs=("append",))
    text = call.stdin or ""
    for target in options.operands:
        call.reader.write(target, text, appends=options.has("a", "append"), is_empty=not text.strip())
    return text


def _rsync(call: ProgramCall) -> None:
    options = read_options(
        call.args, valued="efBMT", long_valued=(
            "rsh", "exclude", "include", "filter", "exclude-from", "include-from", "files-from", "backup-dir", "suffix",
            "port", "bwlimit", "password-file", "log-file", "rsync-path", "chmod", "chown", "max-size", "min-size", "timeout",
            "link-dest", "compare-dest", "copy-dest", "partial-dir", "temp-dir", "out-format", "info",
        ),
        longs=(
            "delete", "delete-before", "delete-during", "delete-delay", "delete-after", "delete-excluded", "dry-run",
            "remove-source-files", "remove-sent-files", "delete-missing-args",
        ),
    )  # fmt: skip
    if options.has("n", "dry-run", "list-only"):
        return
    shell = options.value("e", "rsh")
    if shell is not None and not re.fullmatch(r"ssh( .*)?", shell.text):
        call.unread("cannot determine what this remote shell does", shell)
    program = options.value("rsync-path")
    if program is not None and not re.fullmatch(r"(sudo (-n )?)?[\w./-]*rsync", program.text):
        call.unread("cannot determine what this runs on the other machine", program)
    if any(name.startswith("del") for name in options.flags) and options.operands:
        target = options.operands[-1]
        if re.match(r"[^/]*:", target.text):
            call.found(
                "delete_directory",
                f"deletes files of {quote(shown(target.text))} that the source does not have",
                target,
            )
        else:
            delete_tree(call, target)
    elif len(options.operands) > 1 and not re.match(r"[^/]*:", options.operands[-1].text):
        call.owner(options.operands[-1])
    if options.has("remove-source-files", "remove-sent-files"):
        for source in options.operands[:-1]:
            if re.match(r"[^/]*:", source.text) or call.owner(source) != "own":
                call.found("destroy_data", f"deletes {quote(shown(source.text))} after copying", source)


MAX_ROOTS: Final = 50
"""Further directories of `find` are treated as one unknown directory."""
_FIND_VALUED: Final = frozenset(
    {
        "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-type", "-mtime", "-mmin", "-atime",
        "-amin", "-ctime", "-cmin", "-newer", "-size", "-user", "-group", "-perm", "-maxdepth", "-mindepth", "-printf", "-fstype",
        "-links", "-inum", "-regextype", "-samefile", "-newermt", "-used", "-uid", "-gid", "-xtype", "-context",
    }
)  # fmt: skip
_FIND_NAMED: Final = ("-name", "-iname", "-path", "-ipath", "-wholename")
_FIND_NARROWED: Final = (
    "-mtime", "-mmin", "-size", "-newer", "-newermt", "-regex", "-iregex", "-user", "-atime", "-ctime", "-cmin", "-amin",
    "-perm", "-lname", "-group",
)  # fmt: skip


def _find(call: ProgramCall) -> str:
    args = list(call.args)
    while args and args[0].text in ("-H", "-L", "-P", "-E", "-x", "-X"):
        args.pop(0)
    number = 0
    while number < len(args) and not (
        args[number].text.startswith("-") or args[number].text in ("(", ")", "!")
    ):
        number += 1
    roots, expression = args[:number] or [call.word.but(".")], args[number:]
    filters: list[str] = []
    is_narrowed = is_negated = only_empty = has_type = is_deleting = False
    actions: list[tuple[str, list[ShellWord]]] = []
    index = 0
    while index < len(expression):
        text = expression[index].text
        index += 1
        if text in ("!", "-not"):
            is_negated = True
            continue
        if text in _FIND_VALUED:
            value = expression[index].text if index < len(expression) else ""
            index += 1
            # `! -name x` matches everything else, so a negated filter narrows nothing.
            if text in _FIND_NAMED and not is_negated:
                filters.append(
                    value if "path" not in text and text != "-wholename" else value.rsplit("/", 1)[-1] or "x"
                )
            is_narrowed |= text in _FIND_NARROWED and not is_negated
            has_type |= text == "-type"
        elif text == "-empty":
            only_empty = not is_negated
        elif text == "-delete":
            is_deleting = True
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next(
                (n for n in range(index, len(expression)) if expression[n].text in (";", "+")),
                len(expression),
            )
            actions.append((text, expression[index:end]))
            index = end + 1
        elif text in ("-fprint", "-fprint0", "-fls", "-fprintf") and index < len(expression):
            call.reader.write(expression[index], UNKNOWN, appends=False)
            index += 1
        is_negated = False
    # The rest is replaced by an unknown path instead of being dropped, because it could be a folder of others.
    if len(roots) > MAX_ROOTS:
        roots = [*roots[:MAX_ROOTS], call.word.but(UNKNOWN)]
    paths = [
        each for root in roots for each in _found_by(root, filters, is_narrowed=is_narrowed or only_empty)
    ]
    # Empty files and folders have no content to lose.
    if is_deleting and not only_empty:
        for each in paths:
            delete_tree(call, each)
    for name, words in actions:
        for each in paths:
            replaced = [word.but(word.text.replace("{}", each.text)) for word in words]
            if (
                not any("{}" in word.text for word in words)
                and words
                and words[0].is_known
                and len(words) == 1
            ):
                replaced = [*words]
            call.run(replaced, through=f"{call.name} {name}")
    return "".join(f"{each.text}\n" for each in paths)


def _found_by(root: ShellWord, filters: Sequence[str], *, is_narrowed: bool) -> list[ShellWord]:
    base = root.text.rstrip("/")
    names = []
    for each in filters:
        wild = each.replace("*", GLOB).replace("?", ONE)
        names.append(wild if wild.strip(GLOB) else "")
    if filters and all(names):
        return [root.but(f"{base}/{GLOB}/{name}") for name in names]
    if is_narrowed:
        # An unknown part of the directory, with the same ownership as the directory.
        return [root.but(f"{base}/{UNKNOWN}" if base in (".", "") and root.text != "/" else f"{base}/{GLOB}")]
    return [root.but(f"{base}/{GLOB}" if base not in (".",) else ".")]


def _fd(call: ProgramCall) -> str:
    texts = [word.text for word in call.args]
    at = next(
        (number for number, text in enumerate(texts) if text in ("-x", "-X", "--exec", "--exec-batch")),
        len(texts),
    )
    options = read_options(
        call.args[:at],
        valued="eEtdcjSo",
        long_valued=("extension", "exclude", "type", "max-depth", "color", "base-directory"),
    )
    folders = options.operands[1:] + options.all_values("base-directory") or [call.word.but(".")]
    if (
        options.has("e", "extension")
        and len(options.operands) == 1
        and call.owner(options.operands[0]) != "own"
    ):
        folders = options.operands
    paths = [folder.but(f"{folder.text.rstrip('/')}/x{GLOB}") for folder in folders]
    words = list(call.args[at + 1 :])
    for each in paths if words else ():
        if any("{" in word.text for word in words):
            call.run([word.but(word.text.replace("{}", each.text)) for word in words], through=call.name)
        else:
            call.run([*words, each], through=call.name)
    return "".join(f"{each.text}\n" for each in paths)


def _mktemp(call: ProgramCall) -> str:
    return TEMPORARY + "\n"


def _ls(call: ProgramCall) -> str:
    options = read_options(
        call.args, valued="IwT", long_valued=("ignore", "color", "sort", "time-style", "format", "time")
    )
    lines = []
    for word in options.operands:
        if options.has("d", "directory") or (GLOB in word.text and "." in word.text.rsplit("/", 1)[-1]):
            lines.append(word.text)
        elif GLOB in word.text:
            lines += [word.text, f"x{GLOB}"]
        else:
            lines.append(f"{GLOB}" if "." not in word.text.rsplit("/", 1)[-1] else word.text)
    return "\n".join(lines or [GLOB]) + "\n"


def _permissions(call: ProgramCall) -> None:
    options = read_options(call.args, long_valued=("reference", "from"), longs=("recursive",))
    mode = call.args[0].text if call.args else ""
    for target in options.operands or call.args[1:]:
        if (
            re.fullmatch(r"[augo]*-[rwx]*x[rwx]*|0?[0246]00|000", mode)
            and is_safeguard(target.text)
            and call.owner(target) == "foreign"
        ):
            call.found("disable_safeguard", f"makes {quote(shown(target.text))} impossible to run", target)
    if not options.has("R", "recursive"):
        return
    for target in options.operands if options.has("reference") else options.operands[1:]:
        owner = call.owner(target)
        if owner in ("foreign", "variable") and not is_own_root(target.text):
            call.unread("the former permissions of everything there would be lost", target)


def _archive(call: ProgramCall) -> None:
    """`tar`: extraction over foreign directories, and programs that it runs."""
    text = " ".join(word.text for word in call.args)
    if re.search(
        r"--(to-c|checkpoint-a|use-c|remove-f|recursive-u|overwrite-d|rsh-c|rmt-c|info-s|new-v)"
        r"|(^|\s)-[A-Za-z]*[IF](\s|$|\W)|(^|\s)-[IF]",
        text,
    ):
        call.unread("cannot determine what this option of `tar` runs or deletes")
    first = call.args[0].text.lstrip("-") if call.args else ""
    if "x" in first or "--extract" in text:
        options = read_options(call.args, valued="Cf", long_valued=("directory", "file", "exclude"))
        folder = options.value("C", "directory")
        if (
            folder is not None
            and call.owner(folder) in ("foreign", "variable")
            and not is_own_root(folder.text)
        ):
            call.unread("cannot determine whether this overwrites files of another owner", folder)


def _sed(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="efl",
        long_valued=("expression", "file", "line-length"),
        longs=("in-place", "quiet", "regexp-extended"),
    )
    scripts = options.all_values("e", "expression")
    operands = list(options.operands)
    is_in_place = options.has("in-place") or any(
        re.match(r"-[nErsuz]*i", word.text)
        for word in call.args
        if word.text.startswith("-") and word.text[:2] != "--"
    )
    if not scripts and operands and not options.has("f", "file"):
        scripts = [operands.pop(0)]
        if not scripts[0].text and operands:  # `sed -i '' …` of BSD
            scripts = [operands.pop(0)]
    for file in options.all_values("f", "file"):
        text = (
            (call.stdin or UNKNOWN) if file.text in ("-", "/dev/stdin") else call.reader.read_file(file.text)
        )
        if text == UNKNOWN:
            call.unread("cannot determine what this script of `sed` does", file)
        else:
            scripts = [*scripts, file.but(text)]
    for script in scripts:
        if _runs_code(script.text):
            call.unread("this script of `sed` runs unknown commands", script)
        for match in _SED_WRITES.finditer(script.text):
            call.reader.write(script.but(match[2].strip()), UNKNOWN, appends=False)
    if is_in_place:
        for target in operands:
            change_file(call, target)
    return None if operands else _filtered(call)


def change_file(call: ProgramCall, target: ShellWord) -> None:
    """Change a file in place."""
    if call.owner(target) == "foreign" and not is_own_root(target.text):
        call.unread("cannot determine what this changes in a file of another owner", target)


_SED_WRITES: Final = lazy_pattern(
    r"(?:^|[;{}\n])\s*(?:(?:\d+|\$|/(?:\\.|[^/\n])*/)[,!\s]*)*"
    r"(?:[wW]|s([^\w\s])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImM0-9]*w)[ \t]+([^\n;}]+)"
)


def _runs_code(script: str) -> bool:
    """Whether a script of `sed` has the command `e`, or `s` with the flag `e`."""
    for line in re.split(r"[;\n{}]", script):
        command = line.lstrip("0123456789,$ !/\t")
        if command[:1] == "s" and len(command) > 1:
            flags = command.rsplit(command[1], 1)[-1].strip()
            if "e" in flags and not flags.strip("gpiImMe0123456789"):
                return True
        elif command == "e" or command.startswith("e "):
            return True
    return False


def _filtered(call: ProgramCall) -> str:
    """The output of a program that can change or drop text."""
    return UNKNOWN if (call.stdin or "").strip() else ""


def _sort(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="okStTz", long_valued=("output", "key", "field-separator", "compress-program")
    )
    if options.has("compress-program"):
        call.unread("cannot determine what this program does")
    target = options.value("o", "output")
    if target is not None:
        call.reader.write(target, UNKNOWN, appends=False)
    return call.stdin if not options.operands else UNKNOWN


def _awk(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="FfvileE",
        long_valued=("file", "exec", "field-separator", "assign", "include", "load", "source"),
    )
    for library in options.all_values("l", "load", "i", "include"):
        if library.text not in ("inplace", "readfile", "filefuncs", "time"):
            call.unread("cannot determine what this library of `awk` does", library)
    programs = options.all_values("e", "source")
    for file in options.all_values("f", "file", "E", "exec"):
        text = (
            (call.stdin or UNKNOWN) if file.text in ("-", "/dev/stdin") else call.reader.read_file(file.text)
        )
        if text == UNKNOWN:
            call.unread("cannot determine what this program of `awk` does", file)
        else:
            programs.append(file.but(text))
    targets = options.operands
    if not options.has("e", "source", "f", "file", "E", "exec"):
        programs, targets = options.operands[:1], options.operands[1:]
    if any(word.text == "inplace" for word in options.all_values("i", "include")):
        for target in targets:
            change_file(call, target)
    for program in programs:
        code = re.sub(r'"(\\.|[^"\\])*"', '""', program.text)
        if re.search(r"\bsystem\s*\(|\|&?\s*(getline|\"\"|\w)|\bgetline\b", code.replace("||", "")):
            call.unread("this program of `awk` runs unknown commands", program)
        if re.search(r"@(load|include)\b|\bprint[^;}]*[^=<>]>>?\s*[$A-Za-z(]", code):
            call.unread("cannot determine what this program of `awk` loads or writes", program)
        for match in re.finditer(r'>>?\s*"([^"]*)"', program.text):
            call.reader.write(program.but(match[1]), UNKNOWN, appends=False)
    return UNKNOWN if targets or call.stdin else ""


READERS: Final[Mapping[str, Program]] = {
    "shred": _shred,
    "truncate": _truncate,
    "dd": _dd,
    "erase_device": _erase_device,
    "copy": _copy,
    "tee": _tee,
    "rsync": _rsync,
    "zip": _zip,
    "find": _find,
    "fd": _fd,
    "mktemp": _mktemp,
    "ls": _ls,
    "permissions": _permissions,
    "tar": _archive,
    "sed": _sed,
    "sort": _sort,
    "awk": _awk,
}
