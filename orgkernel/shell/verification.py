"""Checks whether a shell command can verify anything. It can only if its exit code depends on a program that examines
something.

Every part of a command has a set of possible exit codes, as far as they are known without running it: 0, 1 (any other
code), or both. An unknown program can end with both. A command that can end with only one of them verifies nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.reader import MOST_CHARACTERS, parse_script

_PASSES: Final = frozenset(
    {
        "true", ":", "echo", "printf", "pwd", "export", "alias", "unalias", "umask", "shift", "trap", "wait", "sleep", "date",
        "whoami", "id", "hostname", "uname", "yes", "clear", "logname", "tty", "history", "jobs", "times", "hash", "nproc",
        "uptime", "seq", "cd", "pushd", "popd", "mkdir", "touch", "shopt", "readonly", "declare", "typeset", "local", "unset", "arch", "set",
    }
)  # fmt: skip
"""Programs and builtins whose exit code does not depend on any work."""
_FILTERS: Final = frozenset(
    {"cat", "tee", "head", "tail", "wc", "sort", "uniq", "tr", "cut", "nl", "column", "fold", "rev", "tac", "less", "more", "sed", "ts", "xxd"}
)  # fmt: skip
"""Programs that pass on their input. At the end of a pipeline, they exit with 0 regardless of the program before
them."""
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_WRAPPERS: Final = frozenset(
    {"command", "builtin", "exec", "time", "nohup", "env", "nice", "timeout", "sudo", "stdbuf", "setsid"}
)
_VALUED: Final = {
    "env": {"-u", "-C", "--unset", "--chdir"}, "nice": {"-n"}, "timeout": {"-k", "-s"}, "sudo": {"-u", "-g", "-C", "-h", "-p"},
    "stdbuf": {"-i", "-o", "-e"}, "exec": {"-a"},
}  # fmt: skip
_ABOUT: Final = frozenset({"--version", "--help", "-V", "-h", "-version", "-help"})
_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*=")
_SENTENCE: Final = lazy_pattern(r"[A-Z][a-z]+(?: [A-Za-z,'’]+){2,}[ A-Za-z,'’]*[.!]?\Z")
_FILE_TESTS: Final = frozenset("-" + letter for letter in "abcdefghkprstuvwxGLNORS") | {"-nt", "-ot", "-ef"}
_COMPARES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "=": str.__eq__, "==": str.__eq__, "!=": str.__ne__, "-eq": str.__eq__, "-ne": str.__ne__,
    "-lt": lambda a, b: _number(a) < _number(b), "-le": lambda a, b: _number(a) <= _number(b),
    "-gt": lambda a, b: _number(a) > _number(b), "-ge": lambda a, b: _number(a) >= _number(b),
}  # fmt: skip
_DEEPEST: Final = 60

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
    if len(text) > MOST_CHARACTERS:
        return f"is longer than {MOST_CHARACTERS:,} characters; put it into a script"
    codes = _Script().codes(text)
    if codes is None:
        return "cannot be read as a shell command"
    return {PASS: "can only pass", FAIL: "can only fail"}.get(codes, "")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


class _Script:
    """One reading of a script, with the state that it sets while it runs."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._stops_at_failure = False
        self._pipe_fails = False
        self._functions: dict[str, Node] = {}
        self._calling: set[str] = set()

    def codes(self, text: str) -> Codes | None:
        """The exit codes of a script. None if it cannot be read."""
        tree = parse_script(text.encode("utf-8", "surrogatepass"))
        if tree is None or tree.root_node.has_error or self._depth > _DEEPEST:
            return None
        ends = self._sequence(tree.root_node.children, PASS)
        return ends.on | ends.out

    def _sequence(self, nodes: Sequence[Node], last: Codes) -> _Ends:
        on, out = last, frozenset[int]()
        for number, node in enumerate(nodes):
            if not node.is_named or node.type in ("comment", "heredoc_body"):
                continue
            if not on:
                break
            follower = nodes[number + 1].type if number + 1 < len(nodes) else ""
            ends = self._ends(node, on)
            if follower == "&":  # it runs on its own, and the shell goes on
                on = PASS
                continue
            out |= ends.out
            on = ends.on
            # `set -e`: the script ends with the failure, and what follows runs only after a success.
            if self._stops_at_failure and 1 in on and not _is_tested(node):
                out, on = out | FAIL, on - FAIL
        return _Ends(on, out)

    def _ends(self, node: Node, last: Codes) -> _Ends:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
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
                before = self._stops_at_failure, self._pipe_fails
                ends = self._sequence(_inner(node), last)
                self._stops_at_failure, self._pipe_fails = before
                return _Ends(ends.on | ends.out)
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
        if words and words[0] in _FILTERS:
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
        ends = _Ends(PASS) if body is None else self._ends(body, PASS)
        return _Ends(PASS | ends.on, ends.out)

    def _case(self, node: Node, last: Codes) -> _Ends:
        on, out = PASS, frozenset[int]()
        for item in node.named_children:
            if item.type == "case_item":
                values = item.children_by_field_name("value")
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
        if name in _PASSES:
            return _Ends(PASS)
        if name in ("test", "["):
            return _Ends(_test(args[:-1] if name == "[" else args))
        if name == "let":
            return _Ends(EITHER)
        if name in _SHELLS and (script := _find_script(args)) is not None:
            # The depth goes along, so scripts within scripts reach the same limit as nested commands.
            codes = _Script(self._depth + 1).codes(script)
            return _Ends(EITHER if codes is None else codes)
        if name == "eval" and None not in args:
            codes = _Script(self._depth + 1).codes(" ".join(each or "" for each in args))
            return _Ends(EITHER if codes is None else codes)
        if name in _WRAPPERS:
            inner = _wrapped(name, args)
            return self._run(inner, last) if inner else _Ends(PASS)
        if args and len(args) == 1 and args[0] in _ABOUT:
            return _Ends(PASS)
        return _Ends(EITHER)

    def _set(self, args: Sequence[str | None]) -> None:
        for number, word in enumerate(args):
            if word is None or word[:1] not in "+-" or not word:
                continue
            is_on, following = word[0] == "-", args[number + 1] if number + 1 < len(args) else None
            if "e" in word[1:] or (word[1:].endswith("o") and following == "errexit"):
                self._stops_at_failure = is_on
            if word[1:].endswith("o") and following == "pipefail":
                self._pipe_fails = is_on


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
    return [
        _word(child.named_children[0] if child.type == "command_name" and child.named_children else child)
        for child in node.named_children
        if child.type not in ("file_redirect", "heredoc_redirect", "herestring_redirect", "comment")
    ]


def _word(node: Node) -> str | None:
    text = _source(node)
    if node.type in ("word", "number", "variable_assignment"):
        return None if "$" in text or "`" in text else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
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
        if option in _VALUED.get(name, ()) and rest:
            rest.pop(0)
    if name == "timeout" and rest:
        rest.pop(0)
    return rest


def _test(words: Sequence[str | None]) -> Codes:
    """The exit codes of `test`: both, unless it only compares literals."""
    if words[:1] == ["!"]:
        return frozenset(1 - code for code in _test(words[1:]))
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
    if any(
        "expansion" in each.type or each.type in ("command_substitution", "regex") for each in _descend(node)
    ):
        return EITHER
    text = _source(node)
    inner = text[2:-2] if text[:2] in ("[[", "((") else text[1:-1]
    if text.startswith("(("):
        return (PASS if _number(inner) else FAIL) if re.fullmatch(r"\s*\d+\s*", inner) else EITHER
    if re.search(r"[$`*?&|<>()]", inner):
        return EITHER
    return _test([word.strip("'\"") for word in inner.split()])
