"""Parsing of triggers: what is accepted, and where and how the rest is refused."""

import pytest

from orgkernel.runtime.trigger_names import ALIASES, NAMES
from orgkernel.runtime.trigger_parser import parse_trigger
from orgkernel.runtime.trigger_problems import NameUse, TriggerProblem
from orgkernel.runtime.triggers import check_tree

FAILURES = ["name", "consecutive_tool_failures"]
FILL = ["name", "context_fill"]
MAX = ["name", "max"]
ERROR = ["flag", "unrecoverable_error"]
FULL = ["flag", "context_exhausted"]


def over(name: list[str], limit: float) -> list[object]:
    return [">", name, ["number", limit]]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("consecutive_tool_failures >= 3", [">=", FAILURES, ["number", 3]]),
        (
            "consecutive_tool_failures >= 5 OR context_fill > 0.85",
            ["or", [">=", FAILURES, ["number", 5]], over(FILL, 0.85)],
        ),
        (
            "unrecoverable_error OR turns_without_progress > max * 1.5",
            ["or", ERROR, [">", ["name", "turns_without_progress"], ["*", MAX, ["number", 1.5]]]],
        ),
    ],
)
def test_the_triggers_of_the_specification(text, tree):
    """The three triggers of the kernel specification compile as written, without any alias."""
    parsed = parse_trigger(text)
    assert (parsed.tree, parsed.problems) == (tree, ())
    assert not any(use.is_alias for use in parsed.uses)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("unrecoverable_error", ERROR),
        ("((unrecoverable_error))", ERROR),
        ("NOT unrecoverable_error", ["not", ERROR]),
        ("not Not NOT unrecoverable_error", ["not", ["not", ["not", ERROR]]]),
        ("unrecoverable_error or context_exhausted OR unrecoverable_error", ["or", ERROR, FULL, ERROR]),
        ("unrecoverable_error And context_exhausted", ["and", ERROR, FULL]),
        (
            "unrecoverable_error OR context_exhausted AND unrecoverable_error",
            ["or", ERROR, ["and", FULL, ERROR]],
        ),
        (
            "(unrecoverable_error OR context_exhausted) AND unrecoverable_error",
            ["and", ["or", ERROR, FULL], ERROR],
        ),
        (
            "unrecoverable_error OR (context_exhausted OR unrecoverable_error)",
            ["or", ERROR, ["or", FULL, ERROR]],
        ),
        ("NOT unrecoverable_error AND context_exhausted", ["and", ["not", ERROR], FULL]),
        ("NOT max > 5", ["not", over(MAX, 5)]),
        ("5<max", ["<", ["number", 5], MAX]),
        ("max>5\r\n\tOR max>6\n", ["or", over(MAX, 5), over(MAX, 6)]),
        ("max > -5", [">", MAX, ["neg", ["number", 5]]]),
        ("max > --5", [">", MAX, ["neg", ["neg", ["number", 5]]]]),
        ("max > 1 - 2 - 3", [">", MAX, ["-", ["-", ["number", 1], ["number", 2]], ["number", 3]]]),
        ("max > 1 + 2 * 3", [">", MAX, ["+", ["number", 1], ["*", ["number", 2], ["number", 3]]]]),
        ("max > (1 + 2) / 3", [">", MAX, ["/", ["+", ["number", 1], ["number", 2]], ["number", 3]]]),
        ("max > -1 * 3", [">", MAX, ["*", ["neg", ["number", 1]], ["number", 3]]]),
        ("max == 1", ["==", MAX, ["number", 1]]),
        ("max != 1", ["!=", MAX, ["number", 1]]),
        ("max <= 007.50", ["<=", MAX, ["number", 7.5]]),
        ("max < 9007199254740992", ["<", MAX, ["number", 2**53]]),
    ],
)
def test_the_language(text, tree):
    """Words in any case, precedence, grouping and numbers compile to the documented tree."""
    assert parse_trigger(text).tree == tree
    check_tree(tree)


def test_a_number_keeps_its_kind():
    """A whole number stays whole and a decimal stays a decimal."""
    parsed = parse_trigger("max > 5 OR max > 5.0")
    assert parsed.tree is not None
    assert [type(branch[2][1]) for branch in parsed.tree[1:]] == [int, float]


def test_uses_are_placed_and_resolved():
    """Every occurrence of a name is listed with its place and what it stands for; the tree has listed names only."""
    parsed = parse_trigger("failures >= 2 OR critical_failure OR max > 5")
    assert parsed.uses == (
        NameUse("failures", 0, 8, "consecutive_tool_failures", True),
        NameUse("critical_failure", 17, 33, "unrecoverable_error", True),
        NameUse("max", 37, 40, "max", False),
    )
    assert parsed.tree == ["or", [">=", FAILURES, ["number", 2]], ERROR, over(MAX, 5)]


def test_uses_are_listed_even_when_names_are_wrong():
    """A trigger with an unknown name still tells every name it uses."""
    parsed = parse_trigger("failures >= 2 OR zebra > 1")
    assert parsed.tree is None
    assert parsed.uses == (
        NameUse("failures", 0, 8, "consecutive_tool_failures", True),
        NameUse("zebra", 17, 22, None, False),
    )


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases_lead_to_listed_names(alias):
    """Each alias has one listed target and is not itself listed."""
    assert ALIASES[alias] in NAMES
    assert alias not in NAMES


@pytest.mark.parametrize("name", [*NAMES, *ALIASES])
def test_every_listed_word_parses(name):
    """No listed name or alias collides with the grammar."""
    kind = NAMES[ALIASES.get(name, name)].kind
    assert parse_trigger(name if kind == "flag" else f"{name} > 0").problems == ()


EMPTY_HELP = "leave `trigger` out, or write a condition"
NUMBER_HELP = "write digits with at most one decimal point, such as `0.85`"
NAME_HELP = "use only lower-case letters, digits and underscores"
OPERAND_HELP = "add a name, a number or a condition"
OPERATOR_HELP = "join conditions with AND or OR"


@pytest.mark.parametrize(
    ("text", "message", "start", "end", "advice"),
    [
        ("", "trigger is empty", 0, 0, EMPTY_HELP),
        (" \n\t", "trigger is empty", 0, 3, EMPTY_HELP),
        ("max > 1 && max > 2", "`&&` is not an operator of triggers", 8, 10, "write `AND`"),
        ("max > 1 || max > 2", "`||` is not an operator of triggers", 8, 10, "write `OR`"),
        ("max > 1 & max > 2", "`&` is not an operator of triggers", 8, 9, "write `AND`"),
        ("!unrecoverable_error", "`!` is not an operator of triggers", 0, 1, "write `NOT`"),
        ("max = 1", "`=` is not an operator of triggers", 4, 5, "write `==`"),
        ("max => 1", "`=>` is not an operator of triggers", 4, 6, "write `>=`"),
        ("max ≥ 1", "`≥` is not an operator of triggers", 4, 5, "write `>=`"),
        ("context_fill > 85%", "`85%` is a percentage", 15, 18, "write `0.85`"),
        ("context_fill > 7.5 %", "`7.5 %` is a percentage", 15, 20, "write `0.075`"),
        ("context_fill > 100%", "`100%` is a percentage", 15, 19, "write `1`"),
        ("context_fill > 0%", "`0%` is a percentage", 15, 17, "write `0`"),
        (
            "context_fill > 12345678%",
            "`12345678%` is a percentage",
            15,
            24,
            "write a fraction between 0 and 1",
        ),
        ("max % 2 > 1", "`%` is a percentage", 4, 5, "write a fraction between 0 and 1"),
        ("context_fill > .85", "`.85` is not a number", 15, 18, NUMBER_HELP),
        ("context_fill > 1e5", "`1e5` is not a number", 15, 18, NUMBER_HELP),
        ("context_fill > 1.", "`1.` is not a number", 15, 17, NUMBER_HELP),
        ("context_fill > 1_0", "`1_0` is not a number", 15, 18, NUMBER_HELP),
        ("max > 5OR max > 6", "`5OR` is not a number", 6, 9, NUMBER_HELP),
        ("x.__class__ > 1", "`x.__class__` is not a name", 0, 11, NAME_HELP),
        ("Context_Fill > 1", "`Context_Fill` is not a name", 0, 12, "write `context_fill`"),
        ("FAILURES > 1", "`FAILURES` is not a name", 0, 8, "write `consecutive_tool_failures`"),
        ("max > 1 OR Zebra", "`Zebra` is not a name", 11, 16, NAME_HELP),
        ("max > 'x'", "`'` has no meaning in a trigger", 6, 7, None),
        ("max > é", "`é` has no meaning in a trigger", 6, 7, None),
        ("max > ٣", "`٣` has no meaning in a trigger", 6, 7, None),
        ("max\u00a0> 3", "`U+00A0` has no meaning in a trigger", 3, 4, None),
        ("max\x00", "`U+0000` has no meaning in a trigger", 3, 4, None),
        ("max > \ud800", "`U+D800` has no meaning in a trigger", 6, 7, None),
        ("max >", "trigger ends after `>`", 5, 5, OPERAND_HELP),
        ("max > 1 OR  ", "trigger ends after `OR`", 10, 10, OPERAND_HELP),
        ("max > 1 >=", "trigger ends after `>=`", 10, 10, OPERAND_HELP),
        ("NOT", "trigger ends after `NOT`", 3, 3, OPERAND_HELP),
        ("(", "trigger ends after `(`", 1, 1, OPERAND_HELP),
        ("((max > 1)", "`(` is never closed", 0, 1, "add `)`"),
        ("(max > 1 OR (max > 2", "`(` is never closed", 12, 13, "add `)`"),
        ("max > 1)", "`)` has no matching `(`", 7, 8, "remove it, or add `(` before it"),
        ("()", "`)` is in the place of a name or a number", 1, 2, None),
        ("or max > 1", "`or` is in the place of a name or a number", 0, 2, None),
        ("max > 1 OR and max > 2", "`and` is in the place of a name or a number", 11, 14, None),
        ("max > NOT 5", "`NOT` is in the place of a name or a number", 6, 9, None),
        ("max <> 5", "`>` is in the place of a name or a number", 5, 6, None),
        ("max > 1 max > 2", "`max` is in the place of an operator", 8, 11, OPERATOR_HELP),
        ("max 5", "`5` is in the place of an operator", 4, 5, OPERATOR_HELP),
        ("max > 1 (max > 2)", "`(` is in the place of an operator", 8, 9, OPERATOR_HELP),
        ("max > 9007199254740993", "number `9007199254740993` is larger than 9007199254740992", 6, 22, None),
    ],
)
def test_syntax_errors(text, message, start, end, advice):
    """Text outside the language is one syntax error that says where and, when that is plain, what to write."""
    parsed = parse_trigger(text)
    assert parsed.problems == (TriggerProblem("syntax", message, start, end, advice),)
    assert parsed.tree is None


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "consecutive_tol_failures >= 3",
            [("unknown-name", "name `consecutive_tol_failures` is unknown in triggers", 0, 24,
              "did you mean `consecutive_tool_failures`?")],
        ),
        (
            "critical_failur",
            [("unknown-name", "name `critical_failur` is unknown in triggers", 0, 15,
              "did you mean `unrecoverable_error`?")],
        ),
        (
            "max > 1 OR zzz",
            [("unknown-name", "name `zzz` is unknown in triggers", 11, 14,
              "use one of `consecutive_tool_failures`, `total_tool_failures`, `context_fill`, "
              "`turns_without_progress`, `turns_elapsed` and 4 more")],
        ),
        (
            "context_fil > 1 AND max AND unrecoverable_error > 1",
            [
                ("unknown-name", "name `context_fil` is unknown in triggers", 0, 11, "did you mean `context_fill`?"),
                ("type", "`max` is a number, not a condition", 20, 23,
                 "compare it with a limit, as in `max >= …`"),
                ("type", "`unrecoverable_error` is a flag, not a number", 28, 47,
                 "write `unrecoverable_error` alone, or `NOT unrecoverable_error`"),
            ],
        ),
    ],
)  # fmt: skip
def test_unknown_names_and_every_other_problem_are_reported(text, problems):
    """Once the syntax is sound, all misspelled names and misused kinds are reported, in reading order."""
    assert parse_trigger(text).problems == tuple(TriggerProblem(*problem) for problem in problems)


@pytest.mark.parametrize(
    ("text", "message", "start", "end", "advice"),
    [
        ("max", "`max` is a number, not a condition", 0, 3, "compare it with a limit, as in `max >= …`"),
        ("NOT max", "`max` is a number, not a condition", 4, 7, "compare it with a limit, as in `max >= …`"),
        ("max > 1 OR 5", "`5` is a number, not a condition", 11, 12, "compare it with a limit, as in `5 >= …`"),
        (
            "(max +\n 2) AND max > 1", "`(max + 2)` is a number, not a condition", 0, 10,
            "compare it with a limit, as in `(max + 2) >= …`",
        ),
        (
            "-context_exhausted > 1", "`context_exhausted` is a flag, not a number", 1, 18,
            "write `context_exhausted` alone, or `NOT context_exhausted`",
        ),
        (
            "max * context_exhausted > 1", "`context_exhausted` is a flag, not a number", 6, 23,
            "write `context_exhausted` alone, or `NOT context_exhausted`",
        ),
        (
            "critical_failure == 1", "`critical_failure` is a flag, not a number", 0, 16,
            "write `critical_failure` alone, or `NOT critical_failure`",
        ),
        ("(max > 1) > 2", "`(max > 1)` is a condition, not a number", 0, 9, "join conditions with AND or OR"),
        (
            "1 < max < 5", "`1 < max < 5` chains 2 comparisons", 0, 11,
            "write `1 < max AND max < 5`",
        ),
        (
            "unrecoverable_error OR 1 < max + 1 <= 5 == 5", "`1 < max + 1 <= 5 == 5` chains 3 comparisons", 23, 44,
            "write `1 < max + 1 AND max + 1 <= 5 AND 5 == 5`",
        ),
    ],
)  # fmt: skip
def test_kinds_that_do_not_fit(text, message, start, end, advice):
    """A flag is no number, a number is no condition, and comparisons do not chain."""
    assert parse_trigger(text).problems == (TriggerProblem("type", message, start, end, advice),)


def test_a_truth_value_is_one_problem():
    """Comparing a flag with `true` is one mistake, reported at `true`."""
    assert parse_trigger("unrecoverable_error == true").problems == (
        TriggerProblem(
            "unknown-name",
            "name `true` is unknown in triggers",
            23,
            27,
            "write the flag alone, or `NOT` before it",
        ),
    )


def test_length_is_capped():
    """A thousand characters are read and one more is refused where the limit is."""
    text = "max > 1".ljust(1000)
    assert parse_trigger(text).problems == ()
    assert parse_trigger(text + " ").problems == (
        TriggerProblem("syntax", "trigger is 1001 characters long, more than 1000", 1000, 1001),
    )


def test_parentheses_are_capped():
    """Fifty parentheses are read and the next is refused in its place."""
    assert parse_trigger("(" * 50 + "max > 1" + ")" * 50).problems == ()
    assert parse_trigger("(" * 51 + "max > 1" + ")" * 51).problems == (
        TriggerProblem("syntax", "parentheses nest more than 50 levels deep", 50, 51),
    )


@pytest.mark.parametrize(
    ("shallow", "deep", "start", "end"),
    [
        ("NOT " * 48 + "max > 1", "NOT " * 49 + "max > 1", 0, 203),
        ("-" * 48 + "max > 1", "-" * 49 + "max > 1", 0, 56),
        ("max > " + "+".join("1" * 49), "max > " + "+".join("1" * 50), 0, 105),
        ("NOT " * 48 + "max > 1", "NOT " * 240 + "max > 1", 764, 967),
        ("-" * 48 + "max > 1", "-" * 900 + "max > 1", 850, 903),
    ],
)
def test_nesting_is_capped(shallow, deep, start, end):
    """Fifty levels are read and the first part with more is refused, without exhausting Python's stack."""
    parsed = parse_trigger(shallow)
    assert parsed.problems == ()
    check_tree(parsed.tree)
    assert parse_trigger(deep).problems == (
        TriggerProblem("syntax", "trigger nests more than 50 levels deep", start, end),
    )


def test_a_long_list_of_branches_is_not_deep():
    """Branches of one OR stand side by side, however many."""
    parsed = parse_trigger(" OR ".join(["max > 1"] * 90))
    assert parsed.tree == ["or", *([over(MAX, 1)] * 90)]


@pytest.mark.parametrize("text", ["-" * 900 + "max > 1", "NOT " * 240 + "max > 1", "max > 1" + " - 1" * 200])
def test_a_trigger_as_long_as_allowed_is_read_without_recursion(text: str):
    """Whatever repeats in it, reading ends with a tree or with words about its depth."""
    parsed = parse_trigger(text)
    assert parsed.problems[0].message == "trigger nests more than 50 levels deep"
