"""Interpreters of other languages. Code on the command line is harmless only if that is obvious."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.marks import PRIVATE, UNKNOWN, ShellWord, is_unclear
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.files import change_file, delete_tree
from orgkernel.shell.readers.messages import fill_folder
from orgkernel.shell.readers.wrappers import judge_script, run_file

if TYPE_CHECKING:
    import ast

MAX_CODE_LENGTH: Final = 8_000
_PLAIN_NAMES: Final = ("__version__", "__file__", "__doc__", "__name__")
_SAFE_MODULES: Final = names_in(
    """abc argparse array ast base64 bisect calendar cmath collections colorsys contextlib copy csv dataclasses datetime decimal difflib
    dis enum errno fnmatch fractions functools glob graphlib hashlib heapq hmac html inspect io itertools json keyword locale math
    numbers operator os pathlib platform pprint random re secrets site stat statistics string struct sys sysconfig textwrap time timeit
    token tokenize tomllib traceback types typing unicodedata urllib uuid warnings zlib zoneinfo numpy pandas scipy sklearn matplotlib
    torch tensorflow polars yaml toml requests httpx django flask fastapi pydantic sqlalchemy pyarrow duckdb seaborn PIL cv2 transformers
    jinja2 click rich dotenv packaging pkg_resources importlib setuptools attr bs4 lxml networkx"""
)
_DANGEROUS: Final = names_in(
    """system popen remove unlink rmtree rmdir removedirs kill killpg run call Popen check_call check_output getoutput exec eval compile
    __import__ import_module execv execve execvp spawn spawnl rename renames replace_ truncate write_text write_bytes write open_ rmdir
    delete post put patch send sendmail send_message execute executemany executescript drop drop_all putenv chmod chown fork pickle
    loads_ getattr setattr globals locals vars __builtins__ breakpoint input to_sql create_subprocess_shell startfile connect
    urlretrieve move copyfile copytree symlink link mkfifo terminate urlopen"""
)


def _python(call: ProgramCall) -> str | None:
    words = list(call.args)
    number = 0
    while number < len(words) and words[number].text.startswith("-") and words[number].text != "-":
        text = words[number].text
        number += 1
        if text in ("-V", "--version", "-h", "--help", "-VV"):
            return UNKNOWN
        if text in ("-W", "-X", "--check-hash-based-pycs"):
            number += 1
        elif re.fullmatch(r"-[BbdEiIOPqRsSuvx]*c", text):
            return _python_code(call, words[number]) if number < len(words) else None
        elif re.fullmatch(r"-[BbdEiIOPqRsSuvx]*m", text):
            return _python_module(call, words[number:])
    if number < len(words) and words[number].text != "-":
        return _python_file(call, words[number], words[number + 1 :])
    if call.stdin:
        return _python_code(call, call.word.but(call.stdin))
    return None


def _python_file(call: ProgramCall, path: ShellWord, args: list[ShellWord]) -> str | None:
    if path.text.rsplit("/", 1)[-1] == "manage.py":
        return call.run([path.but("manage.py"), *args])
    text = call.reader.read_file(path.text)
    if text != UNKNOWN:
        return _python_code(call, path.but(text))
    judge_script(call, path)
    return UNKNOWN


# Modules of the standard library, and those of packages whose programs have other names.
_SAFE_RUNS: Final = names_in(
    """ast build cProfile calendar compileall dis doctest ensurepip http ipykernel json notebook platform profile py_compile pydoc site
    sphinx sysconfig tabnanny tarfile this timeit tokenize torch trace unittest venv wheel zipfile django hatchling dbt cyclonedx_py"""
)
_NO_MODULES: Final = names_in("build test site install time calendar")


def _python_module(call: ProgramCall, words: list[ShellWord]) -> str | None:
    if not words:
        return None
    name = words[0].text
    program = name.replace("_", "-")
    if call.reader.programs.get(program) is not None and program not in _NO_MODULES:
        return call.run([words[0].but(program), *words[1:]])
    if name in _RUNNERS:
        return _run_measured(call, name, words[1:])
    if name in ("zipfile", "tarfile") and words[1:2] and words[1].text in ("-e", "--extract"):
        for folder in words[3:4]:
            fill_folder(call, folder)
    if name == "venv":
        _remake_folders(call, words[1:])
    if name.split(".")[0] not in _SAFE_RUNS:
        judge_script(call, words[0].but(name.replace(".", "/")))
    return UNKNOWN


_RUNNERS: Final = ("timeit", "cProfile", "profile", "pdb", "trace")


def _run_measured(call: ProgramCall, name: str, args: list[ShellWord]) -> str | None:
    """`python -m timeit CODE` and `python -m cProfile FILE`."""
    options = read_options(
        args,
        valued={"timeit": "nrsu", "pdb": "c", "trace": "fCd"}.get(name, "os"),
        long_valued=("setup", "number", "repeat", "unit", "command", "ignore-module", "ignore-dir", "file", "coverdir"),
        first_operand_ends=name != "timeit",
    )  # fmt: skip
    if name == "timeit":
        for code in [*options.operands, *options.all_values("s", "setup")]:
            _python_code(call, code)
    elif name == "pdb" and options.has("c", "command"):
        call.unread("cannot determine what these commands of the debugger do")
    elif options.has("m", "module"):
        return _python_module(call, list(options.operands))
    elif options.operands:
        return _python_file(call, options.operands[0], list(options.operands[1:]))
    return UNKNOWN


def _remake_folders(call: ProgramCall, args: list[ShellWord]) -> None:
    """`python -m venv --clear FOLDER` deletes what is in the folder."""
    options = read_options(args, long_valued=("prompt",), longs=("clear", "upgrade"))
    for folder in options.operands if options.has("clear") else ():
        delete_tree(call, folder)


def _python_code(call: ProgramCall, code: ShellWord) -> str | None:
    import ast  # few commands have code of Python

    text = code.text
    if len(text) > MAX_CODE_LENGTH or is_unclear(text) or PRIVATE.search(text):
        call.unread("this code is not known until the command runs", code)
        return UNKNOWN
    try:
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call.unread("this Python code cannot be read", code)
        return UNKNOWN
    is_plain = True
    for node in nodes:
        if isinstance(node, ast.Import):
            is_plain &= all(
                alias.name.split(".")[0] in _SAFE_MODULES | {"shutil", "subprocess"} for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            is_plain &= (node.module or "").split(".")[0] in _SAFE_MODULES and not any(
                each.name in _DANGEROUS for each in node.names
            )
        elif isinstance(node, ast.Attribute):
            is_plain &= node.attr not in _DANGEROUS and (
                not node.attr.startswith("__") or node.attr in _PLAIN_NAMES
            )
        elif isinstance(node, ast.Name):
            is_plain &= node.id not in _DANGEROUS
        if isinstance(node, ast.Call):
            is_plain &= _python_call(call, code, node)
    if not is_plain:
        call.unread("cannot determine what this code does", code)
    return UNKNOWN


def _python_call(call: ProgramCall, code: ShellWord, node: ast.Call) -> bool:
    """Record the effect of a call. Returns whether the call is harmless."""
    import ast

    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    values = [each.value for each in node.args if isinstance(each, ast.Constant)]
    first = values[0] if values and node.args and isinstance(node.args[0], ast.Constant) else None
    if name == "rmtree":
        if isinstance(first, str):
            delete_tree(call, code.but(first))
        else:
            call.unread("cannot determine which directory this deletes", code)
    elif name in ("system", "popen", "getoutput", "run", "call", "check_call", "check_output", "Popen"):
        argument = node.args[0] if node.args else None
        if isinstance(first, str):
            call.script(code.but(first), through=call.name)
        elif isinstance(argument, ast.List) and all(isinstance(each, ast.Constant) for each in argument.elts):
            call.run(
                [code.but(str(each.value)) for each in argument.elts if isinstance(each, ast.Constant)],
                through=call.name,
            )
    elif (
        name == "kill"
        and any(isinstance(each, ast.Attribute) and each.attr == "SIGKILL" for each in node.args)
    ) or (name == "kill" and 9 in values):
        call.found("force_kill", "kills a process by force", code)
    elif name == "open":
        modes = [
            *values[1:2],
            *(
                each.value.value
                for each in node.keywords
                if each.arg == "mode" and isinstance(each.value, ast.Constant)
            ),
        ]
        if len(node.args) > 1 and len(values) < 2:
            return False
        if any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes):
            if not isinstance(first, str):
                return False
            call.reader.write(code.but(first), UNKNOWN, appends=False)
    return True


_RUNS_SHELL: Final = lazy_pattern(
    r"\b(?:system|exec|execSync|spawnSync|shell_exec|passthru|popen|qx)\s*\(?\s*(?:'([^'\\]*)'|\"([^\"\\]*)\"|\{([^}]*)\})|`([^`]*)`"
)
_JS_WORDS: Final = names_in(
    """console node log error warn info table dir require JSON stringify parse process version versions argv env platform arch Object keys
    values entries map filter reduce forEach join split slice length sort Math max min round floor random Number String Array isArray
    Date now toISOString const let var return if else for of in new function true false null undefined typeof from includes replace
    toString trim Intl parseInt parseFloat Boolean Set Map size has get name scripts dependencies devDependencies engines cwd memoryUsage
    uptime hrtime concat flat some every find indexOf toUpperCase toLowerCase padStart padEnd repeat match test i x y a b n s k v e
    performance Buffer byteLength crypto randomUUID randomBytes hex readFileSync fs path resolve basename dirname os cpus stdout write
    exit main type license author description homepage keywords match pkg p r async await then catch Promise"""
)
_OTHER_WORDS: Final = names_in(
    """print puts p printf say echo if unless while for foreach my join split map grep sort reverse length substr uc lc int abs sum scalar
    keys values each push shift print_r var_dump phpversion phpinfo json_encode json_decode count implode explode date strlen PHP_VERSION
    RUBY_VERSION upcase downcase to_s to_i size times do end ARGV ENV STDIN gets chomp require json yaml JSON YAML parse load use strict
    warnings List Util Data Dumper Time HiRes time localtime strftime BEGIN END and or not eq ne lt gt summary read csv head tail str
    nrow ncol names mean median sd table library dim print cat paste paste0 plot hist x y z i n a b c df data c seq rep round sessionInfo
    installed packages Sys R version string colnames is na TRUE FALSE NULL function return else in rev range min max sqrt pi exp log
    rand echo_ PHP_EOL true false null File read_ puts inspect pp aggregate by apply sapply lapply quantile var cor lm glm formula"""
)


# Libraries that only offer functions.
_KNOWN_LIBRARIES: Final = names_in(
    """strict warnings utf8 feature JSON JSON::PP JSON::XS YAML Data::Dumper List::Util Scalar::Util POSIX Time::HiRes Time::Local
    Time::Piece Encode MIME::Base64 Digest::MD5 Digest::SHA File::Basename File::Spec Cwd Math::BigInt integer bigint autodie
    Text::Wrap open locale constant 5.010 json yaml set date time csv pp digest uri securerandom English bundler/setup rubygems
    dotenv/config ts-node/register tsx source-map-support/register esbuild-register @swc-node/register @babel/register"""
)


def _doubt_loading(call: ProgramCall, text: str, words: list[ShellWord]) -> None:
    """Report an option that loads a library which could do anything: `perl -M…`, `ruby -r…`, `node --require …`."""
    name = ""
    if match := re.fullmatch(r"--(?:require|import|loader|experimental-loader)(?:=(.*))?", text):
        name = words[-1].text if match[1] is None else match[1]
    elif call.name.startswith("perl") and re.match(r"-[MmdD]:?[A-Za-z]", text):
        name = re.split(r"[=,\s]", text[2:].lstrip("-:"))[0]
    elif call.name.startswith("ruby") and text.startswith("-r"):
        name = text[2:] or words[-1].text
    elif call.name in ("node", "nodejs") and text == "-r":
        name = words[-1].text
    if name and name not in _KNOWN_LIBRARIES:
        call.unread("cannot determine what this library does", words[0])


def _inline(call: ProgramCall) -> str | None:
    """`node -e`, `perl -e`, `ruby -e`, `php -r`, `Rscript -e`."""
    letters = {
        "node": "ep",
        "bun": "e",
        "deno": "",
        "perl": "eE",
        "ruby": "e",
        "php": "r",
        "Rscript": "e",
        "lua": "e",
        "julia": "eE",
    }
    valued = letters.get(call.name, "e")
    words = list(call.args)
    if call.name == "php" and words and words[0].text.rsplit("/", 1)[-1] in ("artisan", "console"):
        return call.run([words[0].but("artisan"), *words[1:]])
    number = 0
    had_code = False
    while (
        number < len(words) and words[number].text.startswith("-") and words[number].text not in ("-", "--")
    ):
        text = words[number].text
        number += 1
        _doubt_loading(call, text, words[number - 1 : number + 1])
        letter = text[-1]
        is_code = text in ("--eval", "--print", "--run", "-pe", "-ne") or (
            text[:2] != "--" and letter in valued
        )
        if is_code and number < len(words):
            _code(call, words[number])
            had_code = True
            number += 1
        elif text.startswith("--eval="):
            _code(call, words[number - 1].but(text.partition("=")[2]))
            had_code = True
        elif (
            text in ("-r", "--require", "--import", "--loader", "-I", "-M", "-C", "--env-file")
            and call.name == "node"
        ):
            number += 1
        elif text in ("-v", "--version", "-V", "-h", "--help", "--test", "--check", "-l"):
            return UNKNOWN
    if had_code:
        if call.name in ("perl", "ruby") and any(
            re.match(r"-[a-hj-zA-Z0-9]*i", word.text) for word in call.args
        ):
            for word in words[number:]:
                change_file(call, word)
        return UNKNOWN
    if number < len(words) and words[number].text not in ("-", "--"):
        text = call.reader.read_file(words[number].text)
        if text != UNKNOWN:
            return _code(call, words[number].but(text))
        judge_script(call, words[number])
    elif call.stdin:
        _code(call, call.word.but(call.stdin))
    return UNKNOWN


def _code(call: ProgramCall, code: ShellWord) -> str | None:
    text = code.text
    if len(text) > MAX_CODE_LENGTH or PRIVATE.search(text):
        call.unread("this code is not known until the command runs", code)
        return UNKNOWN
    for match in _RUNS_SHELL.finditer(text):
        script = next((group for group in match.groups() if group), "")
        if (script and call.name not in ("node", "bun", "deno")) or (match[4] is None and script):
            call.script(code.but(script))
    removed = re.search(r"\brm(?:dir)?Sync\s*\(\s*['\"]([^'\"]*)['\"].*recursive", text)
    if removed:
        delete_tree(call, code.but(removed[1]))
    if not _is_plain(call.name, text):
        call.unread("cannot determine what this code does", code)
    return UNKNOWN


def _is_plain(name: str, text: str) -> bool:
    if (
        name == "perl"
        and re.fullmatch(r"\s*(s|tr|y)([/|#!,]).*\2.*\2[gimsxr]*\s*;?\s*", text, re.DOTALL)
        and "(?{" not in text
        and "@{[" not in text
    ):
        return True
    if "`" in text or (name != "perl" and "#{" in text):
        return False
    code = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", '""', text)
    if name in ("node", "bun", "deno", "ts-node", "tsx"):
        modules = re.findall(r"\brequire\s*\(\s*['\"]([^'\"]*)['\"]", text)
        if any(
            not re.fullmatch(r"(\.{1,2}/)*[\w./@-]+\.json|(node:)?(os|path|fs|crypto|url|util)", each)
            for each in modules
        ):
            return False
        if re.search(r"\b(write(?!\()|write\w+|unlink|rm|rmdir|rename|append)", code) or (
            "require" in code and len(modules) != code.count("require")
        ):
            return False
        return set(re.findall(r"[A-Za-z_$][\w$]*", code)) <= _JS_WORDS
    code = re.sub(r"/(?:[^/\\\n]|\\.)+/[a-z]*", "//", code)
    if (
        re.search(r"/[gimsx]*e", code)
        or "|" in code.replace("||", "").replace("|>", "")
        or re.search(r"[^-=<]>\s*\"", code)
    ):
        return False
    return {
        word for word in re.findall(r"[A-Za-z_]\w*", code) if not re.search(rf"[$@%]{word}\b", code)
    } <= _OTHER_WORDS


def _powershell(call: ProgramCall) -> str | None:
    call.unread("PowerShell code is not analyzed")
    return UNKNOWN


def _java(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="",
        long_valued=("class-path", "module-path"),
        single_dash_longs=True,
        first_operand_ends=True,
    )
    if options.has("version", "help"):
        return UNKNOWN
    jar = options.value("jar")
    path = jar or (options.operands[0] if options.operands else None)
    if path is not None:
        judge_script(call, path)
    return UNKNOWN


def run_program_of_project(call: ProgramCall) -> str | None:
    """`./scripts/build.sh`: a program by its path."""
    base = call.name.rpartition("/")[2]
    program = call.reader.programs.get(base)
    if program is not None and call.name.startswith(("/opt/", "/snap/", "/home/")):
        return program(ProgramCall(call.reader, base, call.args, call.word, call.stdin))
    return run_file(call, call.word, call.args)


def _run_same_program(call: ProgramCall) -> str | None:
    """`cargo +nightly …`: the program again, with the words behind this one."""
    return call.run([call.word, *call.args])


READERS: Final[Mapping[str, Program]] = {
    "same_program": _run_same_program,
    "python": _python,
    "inline_code": _inline,
    "powershell": _powershell,
    "java": _java,
    "./": run_program_of_project,
}
