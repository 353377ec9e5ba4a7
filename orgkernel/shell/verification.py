"""Checks whether a shell command can verify anything. It can only if its exit code depends on a program that examines
something.

Every part of a command has a set of possible exit codes, as far as they are known without running it: 0, 1 (any other
code), or both. An unknown program can end with both. A command that can end with only one of them verifies nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tree_sitter import Node

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import find_shipped, read_exit_codes
from orgkernel.shell.reader import MAX_CHARACTERS, parse_script

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_WRAPPERS: Final = frozenset(
    {"command", "builtin", "exec", "time", "nohup", "env", "nice", "timeout", "sudo", "stdbuf", "setsid"}
)
_OPTIONS_WITH_VALUE: Final = {
    "env": {"-u", "-C", "--unset", "--chdir"}, "nice": {"-n"}, "timeout": {"-k", "-s"}, "sudo": {"-u", "-g", "-C", "-h", "-p"},
    "stdbuf": {"-i", "-o", "-e"}, "exec": {"-a"},
}  # fmt: skip
_INFORMATION_OPTIONS: Final = frozenset({"--version", "--help", "-V", "-h", "-version", "-help"})
_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*=")
_SENTENCE: Final = lazy_pattern(r"[A-Z][a-z]+(?: [A-Za-z,'’]+){2,}[ A-Za-z,'’]*[.!]?\Z")
_FILE_TESTS: Final = frozenset("-" + letter for letter in "abcdefghkprstuvwxGLNORS") | {"-nt", "-ot", "-ef"}
_COMPARES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "=": str.__eq__, "==": str.__eq__, "!=": str.__ne__, "-eq": str.__eq__, "-ne": str.__ne__,
    "-lt": lambda a, b: _number(a) < _number(b), "-le": lambda a, b: _number(a) <= _number(b),
    "-gt": lambda a, b: _number(a) > _number(b), "-ge": lambda a, b: _number(a) >= _number(b),
}  # fmt: skip
_ARITHMETIC: Final = lazy_pattern(r"[\d\s+*/%<>=!&|()~^-]+\Z")
_TARGET: Final = lazy_pattern(r"\s*[A-Za-z_]\w*\s*[-+*/%]?=(?!=)")
_LEAVING_SIGNALS: Final = frozenset({"EXIT", "0", "ERR", "DEBUG", "RETURN"})
"""Names of traps whose action runs without a signal from another process."""
_UNARY: Final[Mapping[type[ast.AST], Callable[[int], int]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
_BINARY: Final[Mapping[type[ast.AST], Callable[[int, int], int]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv, ast.Mod: operator.mod,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_MAX_DEPTH: Final = 60

Codes = frozenset[int]
PASS: Final[Codes] = frozenset({0})
FAIL: Final[Codes] = frozenset({1})
EITHER: Final[Codes] = PASS | FAIL


class _Ends(NamedTuple):
    """The ways in which a part can end: exit codes with which the next part begins, and with which the whole script
    ends.
    """

    on: Codes
    out: Codes = frozenset()


_MAX_CACHED_LENGTH: Final = 500
"""Number of characters of the longest command whose reading is kept in memory."""


def why_trivial(command: str) -> str:
    """The reason why a command verifies nothing, as the rest of a sentence. Empty if it could verify something.

    >>> why_trivial("pytest -q tests"), why_trivial("npm test || true"), why_trivial("sh -c 'exit 0'")
    ('', 'can only pass', 'can only pass')
    """
    text = command.strip()
    if not text:
        return "is empty"
    if re.match(r"echo(?![\w./-])", text):
        return "starts with `echo`, which only prints"
    if _SENTENCE.match(text):
        return "is a sentence, not a command"
    if len(text) > MAX_CHARACTERS:
        return f"is longer than {MAX_CHARACTERS:,} characters; put it into a script"
    return _explain_codes(text) if len(text) > _MAX_CACHED_LENGTH else _explain_cached_codes(text)


def _explain_codes(text: str) -> str:
    codes = _Script().codes(text)
    if codes is None:
        return "cannot be read as a shell command"
    return {PASS: "can only pass", FAIL: "can only fail"}.get(codes, "")


# The briefs of a mission verify with few commands.
_explain_cached_codes = lru_cache(maxsize=1024)(_explain_codes)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


class _Script:
    """The analysis of one script, with the shell options, functions and traps that it sets."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._stops_at_failure = False
        self._pipe_fails = False
        self._passes_at_exit = False
        """Whether a trap makes the script exit with 0 in every case."""
        self.may_wait = False
        """Whether a loop of the script can run until something outside of the script changes."""
        self._functions: dict[str, Node] = {}
        self._calling: set[str] = set()

    def codes(self, text: str) -> Codes | None:
        """The exit codes of a script. None if it cannot be read."""
        tree = parse_script(text.encode("utf-8", "surrogatepass"))
        if tree is None or tree.root_node.has_error or self._depth > _MAX_DEPTH:
            return None
        ends = self._sequence(tree.root_node.children, PASS)
        return PASS | ends.out if self._passes_at_exit else ends.on | ends.out

    def _read_trap(self, args: Sequence[str | None]) -> None:
        """Record a trap that makes the script exit with 0, until another trap replaces it."""
        names = {(each or "").upper().removeprefix("SIG") for each in args[1:]}
        if not args or args[0] is None or not names & _LEAVING_SIGNALS:
            return
        tree = parse_script(args[0].encode("utf-8", "surrogatepass"))
        if args[0] == "-" or tree is None or tree.root_node.has_error:
            self._passes_at_exit = False
            return
        ends = _Script(self._depth + 1)._sequence(tree.root_node.children, FAIL)
        self._passes_at_exit = ends == _Ends(frozenset(), PASS)

    def _sequence(self, nodes: Sequence[Node], last: Codes) -> _Ends:
        on, out = last, frozenset[int]()
        for number, node in enumerate(nodes):
            if not node.is_named or node.type in ("comment", "heredoc_body"):
                continue
            if not on:
                break
            follower = nodes[number + 1].type if number + 1 < len(nodes) else ""
            is_trapped = self._passes_at_exit
            ends = self._ends(node, on)
            if is_trapped and ends.out:
                ends = _Ends(ends.on, PASS)
            if follower == "&":  # it runs in the background, and the shell continues
                on = PASS
                continue
            out |= ends.out
            on = ends.on
            # `set -e`: the script ends with the failure, and what follows runs only after a success.
            if self._stops_at_failure and 1 in on and not _is_tested(node):
                out, on = out | (PASS if self._passes_at_exit else FAIL), on - FAIL
        return _Ends(on, out)

    def _ends(self, node: Node, last: Codes) -> _Ends:
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH:
                return _Ends(EITHER)
            kind = node.type
            if kind == "command":
                return self._command(node, last)
            if kind == "list":
                return self._list(node, last)
            if kind == "compound_statement" and _source(node).startswith("(("):
                return _Ends(_test_node(node))
            if kind in ("compound_statement", "do_group", "else_clause"):
                return self._sequence(_inner(node), last)
            if kind == "subshell":
                # `set` in a subshell ends with it, and so does `exit`: both leave the outer script as it was.
                before = self._stops_at_failure, self._pipe_fails, self._passes_at_exit
                ends = self._sequence(_inner(node), last)
                codes = PASS | ends.out if self._passes_at_exit else ends.on | ends.out
                self._stops_at_failure, self._pipe_fails, self._passes_at_exit = before
                return _Ends(codes)
            if kind == "pipeline":
                return self._pipeline(node, last)
            if kind == "redirected_statement":
                body = node.child_by_field_name("body")
                return _Ends(PASS) if body is None else self._ends(body, last)
            if kind == "negated_command":
                ends = self._ends(node.named_children[-1], last)
                return _Ends(frozenset(1 - code for code in ends.on), ends.out)
            if kind in ("if_statement", "elif_clause"):
                return self._if(node, last)
            if kind in ("while_statement", "for_statement", "c_style_for_statement"):
                return self._loop(node)
            if kind == "case_statement":
                return self._case(node, last)
            if kind == "test_command":
                return _Ends(_test_node(node))
            if kind in ("variable_assignment", "variable_assignments"):
                return _Ends(self._substituted(node))
            if kind in ("declaration_command", "unset_command"):
                return _Ends(PASS)
            if kind == "function_definition":
                name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
                if name is not None and body is not None:
                    self._functions[_source(name)] = body
                return _Ends(PASS)
            return _Ends(EITHER)
        finally:
            self._depth -= 1

    def _list(self, node: Node, last: Codes) -> _Ends:
        left, right = node.named_children[0], node.named_children[-1]
        is_and = any(child.type == "&&" for child in node.children)
        first = self._ends(left, last)
        going = first.on & (PASS if is_and else FAIL)
        if not going:
            return first
        second = self._ends(right, going)
        return _Ends((first.on - going) | second.on, first.out | second.out)

    def _pipeline(self, node: Node, last: Codes) -> _Ends:
        parts = [child for child in node.named_children if child.type != "comment"]
        ends = [self._ends(part, last) for part in parts]
        codes = [each.on | each.out for each in ends]
        words = _words(_simple(parts[-1]))
        final = codes[-1]
        if words and words[0] in read_exit_codes()["operands"] and final == EITHER:
            # A filter passes its input on, and exits with 0 regardless of the program before it.
            final = PASS
        if not self._pipe_fails:
            return _Ends(final)
        every = [*codes[:-1], final]
        return _Ends(
            frozenset({1} & set().union(*every)) | (PASS if all(0 in each for each in every) else frozenset())
        )

    def _if(self, node: Node, last: Codes) -> _Ends:
        cond: list[Node] = []
        then: list[Node] = []
        otherwise: list[Node] = []
        part = cond
        for child in node.children:
            if child.type == "then":
                part = then
            elif child.type in ("elif_clause", "else_clause"):
                otherwise.append(child)
            elif child.is_named or child.type == "&":
                part.append(child)
        stops, self._stops_at_failure = self._stops_at_failure, False
        tested = self._sequence(cond, last)
        self._stops_at_failure = stops
        on, out = frozenset[int](), tested.out
        if 0 in tested.on:
            ends = self._sequence(then, PASS)
            on, out = on | ends.on, out | ends.out
        if 1 in tested.on:
            ends = self._ends(otherwise[0], FAIL) if otherwise else _Ends(PASS)
            on, out = on | ends.on, out | ends.out
            if otherwise and otherwise[0].type == "elif_clause" and len(otherwise) > 1:
                more = self._ends(otherwise[-1], FAIL)
                on, out = on | more.on, out | more.out
        return _Ends(on, out)

    def _loop(self, node: Node) -> _Ends:
        body = node.child_by_field_name("body")
        tested = _Ends(EITHER)
        if node.type == "while_statement":
            tested = self._sequence(node.children_by_field_name("condition"), PASS)
            entering = FAIL if node.children[0].type == "until" else PASS
            if not tested.on & entering:
                return _Ends(PASS, tested.out)
            self.may_wait |= tested.on == EITHER
        ends = _Ends(PASS) if body is None else self._ends(body, PASS)
        return _Ends(PASS | ends.on, tested.out & ends.out | ends.out)

    def _case(self, node: Node, last: Codes) -> _Ends:
        on, out = PASS, frozenset[int]()
        value = node.child_by_field_name("value")
        word = None if value is None else _word(value)
        for item in node.named_children:
            if item.type == "case_item":
                values = item.children_by_field_name("value")
                patterns = [_source(each) for each in values]
                if word is not None and not any(_may_match(word, each) for each in patterns):
                    continue
                ends = self._sequence([each for each in item.named_children if each not in values], last)
                on, out = on | ends.on, out | ends.out
        return _Ends(on, out)

    def _substituted(self, node: Node) -> Codes:
        """The exit code of an assignment: for `x=$(program)`, that of the program. Otherwise 0."""
        inner = [each for each in _descend(node) if each.type == "command_substitution"]
        if not inner:
            return PASS
        ends = self._sequence(_inner(inner[-1]), PASS)
        return ends.on | ends.out

    def _command(self, node: Node, last: Codes) -> _Ends:
        return self._run(_words(node), last)

    def _run(self, words: Sequence[str | None], last: Codes) -> _Ends:
        """The exit codes of a program with its words. None for an unknown program."""
        rest = list(words)
        while rest and rest[0] is not None and _ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        if not rest:
            return _Ends(PASS)
        if rest[0] is None:
            return _Ends(EITHER)
        name, args = rest[0].rpartition("/")[2] if rest[0].startswith("/") else rest[0], rest[1:]
        # A function that calls itself has no end that could be computed here, so the inner call is an unknown program.
        if name in self._functions and name not in self._calling:
            self._calling.add(name)
            ends = self._ends(self._functions[name], last)
            self._calling.discard(name)
            return ends
        if name in ("exit", "return"):
            if args and args[0] is None:
                return _Ends(frozenset(), EITHER)
            code = PASS if args and _number(args[0] or "") == 0 else FAIL if args else last
            return _Ends(frozenset(), code)
        if name == "false":
            return _Ends(FAIL)
        if name == "set":
            self._set(args)
        elif name == "trap":
            self._read_trap(args)
        if name == "wait":  # with an operand, it has the exit code of that process
            return _Ends(EITHER if args else PASS)
        if name in ("test", "["):
            return _Ends(_test(args[:-1] if name == "[" else args))
        if name == "let":
            return _Ends(_evaluate(args[-1]) if args and args[-1] is not None else EITHER)
        if name in _SHELLS and (script := _find_script(args)) is not None:
            # The depth is passed on, so nested scripts reach the same limit as nested commands.
            inner_script = _Script(self._depth + 1)
            codes = inner_script.codes(script)
            self.may_wait |= inner_script.may_wait
            return _Ends(EITHER if codes is None else codes)
        if name == "eval" and None not in args:
            codes = _Script(self._depth + 1).codes(" ".join(each or "" for each in args))
            return _Ends(EITHER if codes is None else codes)
        if name in _WRAPPERS:
            inner = _wrapped(name, args)
            ends = self._run(inner, last) if inner else _Ends(PASS)
            # `timeout` ends a loop that waits for the work with a nonzero exit code.
            return _Ends(ends.on | FAIL, ends.out) if name == "timeout" and self.may_wait else ends
        if args and len(args) == 1 and args[0] in _INFORMATION_OPTIONS:
            return _Ends(PASS)
        return _Ends(EITHER if _does_examine(name, args) else PASS)

    def _set(self, args: Sequence[str | None]) -> None:
        for number, word in enumerate(args):
            if word is None or word[:1] not in "+-" or not word:
                continue
            is_on, following = word[0] == "-", args[number + 1] if number + 1 < len(args) else None
            if "e" in word[1:] or (word[1:].endswith("o") and following == "errexit"):
                self._stops_at_failure = is_on
            if word[1:].endswith("o") and following == "pipefail":
                self._pipe_fails = is_on


def _does_examine(name: str, args: Sequence[str | None]) -> bool:
    """Whether the exit code of a program can depend on the work, by the table of exit codes in the catalog."""
    table = read_exit_codes()
    if None in args and name not in table["constant"]:
        return True
    words = [each or "" for each in args]
    names = {name, f"{name} {_find_subcommand(name, words)}"}
    if any(_has_option(words, table["tests_with"].get(each, ())) for each in names):
        return True
    if names & {*table["constant"]} or _has_option(words, table["fails_never"]):
        return False
    if any(_has_option(words, table["constant_with"].get(each, ())) for each in names):
        return False
    operands = [each for each in words if not each.startswith("-")]
    options = table["code_options"].get(name.rstrip("0123456789."))
    if options is not None:
        code = _find_code(words, options)
        if code is not None:
            return not _is_idle(code)
        return operands[:1] != ["/dev/null"]
    if name in table["operands"]:
        if name in table["leading_operands"]:
            first = next((number for number, each in enumerate(words) if each.startswith("-")), len(words))
            operands = words[:first]
        return not all(map(_exists_everywhere, operands))
    return not (name in _SHELLS and operands == ["/dev/null"])


def _find_subcommand(name: str, words: Sequence[str]) -> str:
    """The first word of a program that is neither an option nor the value of one."""
    values = (find_shipped(name) or {}).get("values", {})
    valued = {each for options in values.values() for each in options}
    rest = iter(words)
    for word in rest:
        if word in valued:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _has_option(words: Sequence[str], options: Sequence[str]) -> bool:
    """Whether one of some options is given, also as a letter among others: `-sn`."""
    letters = {each[1] for each in options if len(each) == 2}
    return any(
        word.partition("=")[0] in options or (re.fullmatch(r"-[A-Za-z]+", word) and letters & {*word[1:]})
        for word in words
    )


def _find_code(words: Sequence[str], options: Sequence[str]) -> str | None:
    """The code in the words of an interpreter: the value of `-c`, `-ic` or `--eval`."""
    letters = {each[1] for each in options if len(each) == 2}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in options:
            return value if equals else following
        if re.fullmatch(r"-[A-Za-z]+", word) and word[-1] in letters:
            return following
        if not word.startswith("-"):
            return None
    return None


def _is_idle(code: str) -> bool:
    """Whether every statement of some code does nothing that work could change."""
    statements = [each.strip() for each in re.split(r"[;\n]", code)]
    idle = re.compile("|".join(f"(?:{each})" for each in read_exit_codes()["idle_code"]))
    return all(idle.fullmatch(each) for each in statements if each and not each.startswith("#"))


def _exists_everywhere(path: str) -> bool:
    """Whether a path exists on every machine."""
    plain = re.sub(r"(?<=.)/+\Z", "", re.sub(r"/+(\./+)*", "/", path).removeprefix("./")) or "."
    return plain in read_exit_codes()["standing_paths"]


def _may_match(word: str, pattern: str) -> bool:
    """Whether a word may match a pattern of `case`."""
    return any(each in pattern for each in "*?[$`\\") or word == pattern.strip("'\"")


def _evaluate(expression: str) -> Codes:
    """The exit code of arithmetic: 0 for another number than 0. Both if it has variables."""
    value = re.sub(_TARGET.pattern, "", expression)
    if not _ARITHMETIC.match(value):
        return EITHER
    plain = re.sub(r"!(?!=)", " not ", value.replace("&&", " and ").replace("||", " or "))
    numbers = re.sub(r"\b0+(?=\d)", "", plain)
    if re.search(r"\*\*|<<|[\d)]\s*\(|\)\s*\d", numbers) or len(numbers) > 200:
        return EITHER
    try:
        return PASS if _compute(ast.parse(numbers.strip(), mode="eval").body) else FAIL
    except (SyntaxError, ArithmeticError, TypeError, ValueError):
        return EITHER


def _compute(node: ast.expr) -> int:
    """The value of an expression of numbers. Raises `ValueError` for another one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_compute(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_compute(node.left), _compute(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BINARY:
        return _BINARY[type(node.ops[0])](_compute(node.left), _compute(node.comparators[0]))
    if isinstance(node, ast.BoolOp):
        is_true = all if isinstance(node.op, ast.And) else any
        return int(is_true(_compute(each) for each in node.values))
    raise ValueError("not an expression of numbers")


def _is_tested(node: Node) -> bool:
    """Whether `set -e` ignores the failure of a part: after `!`, and in all but the last part of `&&` and `||`."""
    return node.type == "negated_command"


def _inner(node: Node) -> list[Node]:
    return [child for child in node.children if child.is_named or child.type == "&"]


def _descend(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        yield child
        yield from _descend(child)


def _simple(node: Node) -> Node:
    """The program of a statement with redirections."""
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    return node if body is None else body


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _words(node: Node) -> list[str | None]:
    """The words of a program. None for words that only a run would show."""
    if node.type != "command":
        return []
    words: list[str | None] = []
    for child in node.named_children:
        if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment"):
            continue
        word = child.named_children[0] if child.type == "command_name" and child.named_children else child
        text = _word(word)
        # Outside of quotes, the output of a command is as many words as it has.
        words += text.split() if text is not None and word.type == "command_substitution" else [text]
    return words


def _find_output(node: Node) -> str | None:
    """The output of a command substitution; None if only a run would show it."""
    commands = [child for child in node.named_children if child.type != "comment"]
    words = _words(commands[0]) if len(commands) == 1 else []
    if not words or None in words:
        return None
    known = [word or "" for word in words]
    if known[0] in ("true", ":"):
        return ""
    if known[0] in ("echo", "printf") and not any(each.startswith("-") or "%" in each for each in known[1:]):
        return " ".join(known[1:])
    return None


def _word(node: Node) -> str | None:
    text = _source(node)
    if node.type in ("word", "number", "variable_assignment"):
        return None if "$" in text or "`" in text else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "command_substitution":
        return _find_output(node)
    if node.type == "string":
        if len(node.named_children) == 1 and node.named_children[0].type == "command_substitution":
            return (
                _find_output(node.named_children[0])
                if text[1:-1] == _source(node.named_children[0])
                else None
            )
        if any(child.type != "string_content" for child in node.named_children):
            return None
        return re.sub(r'\\([$`"\\\n])', r"\1", text[1:-1])
    if node.type == "concatenation":
        parts = [_word(child) for child in node.children]
        return None if None in parts else "".join(part or "" for part in parts)
    if node.type in ("[", "]", "command_name"):
        return text
    return None


def _find_script(args: Sequence[str | None]) -> str | None:
    """The script of `sh -c SCRIPT`."""
    for number, word in enumerate(args):
        if word is None or not word.startswith("-"):
            return None
        if not word.startswith("--") and "c" in word:
            return args[number + 1] if number + 1 < len(args) else None
    return None


def _wrapped(name: str, args: Sequence[str | None]) -> list[str | None]:
    """The program that a wrapper starts, with its words."""
    rest = list(args)
    while rest and rest[0] is not None and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        option = rest.pop(0)
        if option in _OPTIONS_WITH_VALUE.get(name, ()) and rest:
            rest.pop(0)
    if name == "timeout" and rest:
        rest.pop(0)
    return rest


def _test(words: Sequence[str | None]) -> Codes:
    """The exit codes of `test`: both, unless it only compares literals."""
    if words[:1] == ["!"]:
        return frozenset(1 - code for code in _test(words[1:]))
    if len(words) == 2 and words[0] in _FILE_TESTS and words[1] is not None and _exists_everywhere(words[1]):
        return FAIL if words[0] in ("-f", "-h", "-L", "-p") else PASS
    if None in words or any(word in _FILE_TESTS or word in ("-a", "-o", "(", "-v", "-t") for word in words):
        return EITHER
    known = [word or "" for word in words]
    if len(known) == 3 and known[1] in _COMPARES:
        return PASS if _COMPARES[known[1]](known[0], known[2]) else FAIL
    if len(known) == 2 and known[0] in ("-n", "-z"):
        return PASS if bool(known[1]) == (known[0] == "-n") else FAIL
    if len(known) <= 1:
        return PASS if known and known[0] else FAIL
    return EITHER


def _test_node(node: Node) -> Codes:
    """`[ … ]`, `[[ … ]]` and `(( … ))`."""
    if not _source(node).startswith(("[[", "((")) and any(
        each.type == "command_substitution" for each in _descend(node)
    ):
        codes = _Script().codes(f"test {_source(node)[1:-1]}")
        return EITHER if codes is None else codes
    if any(
        "expansion" in each.type or each.type in ("command_substitution", "regex") for each in _descend(node)
    ):
        return EITHER
    text = _source(node)
    inner = text[2:-2] if text[:2] in ("[[", "((") else text[1:-1]
    if text.startswith("(("):
        return _evaluate(inner)
    if re.search(r"[$`*?&|<>()]", inner):
        return EITHER
    return _test([word.strip("'\"") for word in inner.split()])
