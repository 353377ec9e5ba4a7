"""Parses the options of a program in all spellings: `-rf`, `-r -f`, `--recursive`, `--rec`, `--name=value`, `--`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orgkernel.shell.marks import ShellWord


@dataclass(slots=True)
class Options:
    """The options of a program."""

    flags: set[str] = field(default_factory=set)
    """Resolved letters and long names, without dashes."""
    values: dict[str, list[ShellWord]] = field(default_factory=dict)
    operands: list[ShellWord] = field(default_factory=list)
    is_open: bool = False
    """Whether an unknown word could contain options."""

    def has(self, *names: str) -> bool:
        return any(name in self.flags or name in self.values for name in names)

    def value(self, *names: str) -> ShellWord | None:
        """The last value of the first of these options that has one."""
        return next((self.values[name][-1] for name in names if name in self.values), None)

    def all_values(self, *names: str) -> list[ShellWord]:
        return [value for name in names for value in self.values.get(name, ())]


def names_in(text: str) -> frozenset[str]:
    """The names in a string that lists them."""
    return frozenset(text.split())


def read_options(
    args: Sequence[ShellWord],
    *,
    valued: str = "",
    long_valued: Sequence[str] = (),
    longs: Sequence[str] = (),
    first_operand_ends: bool = False,
    single_dash_longs: bool = False,
) -> Options:
    """Parse options and operands.

    `valued` are the letters that take a value, and `long_valued` the long options that do. `longs` are the long
    options without a value that may be abbreviated. With `first_operand_ends`, the words after the first operand are
    another command. With `single_dash_longs`, `-name` is a long option.
    """
    options = Options()
    words = list(args)
    number = 0
    while number < len(words):
        word = words[number]
        text = word.text
        number += 1
        if text == "--":
            options.operands += words[number:]
            break
        is_single_dash = single_dash_longs and text[:1] == "-" and len(text) > 2
        if is_single_dash and text[1] in valued and text[1:].partition("=")[0] not in (*longs, *long_valued):
            is_single_dash = False  # the value of a letter: `-ofile`
        if text.startswith("--") or is_single_dash:
            name, equals, value = text.lstrip("-").partition("=")
            name = _unabbreviated(name, longs, long_valued)
            if equals:
                options.values.setdefault(name, []).append(word.but(value))
            elif name in long_valued and number < len(words):
                options.values.setdefault(name, []).append(words[number])
                number += 1
            else:
                # An abbreviation that fits several options can be any of them.
                if name not in longs:
                    options.flags.update(each for each in longs if name and each.startswith(name))
                options.flags.add(name)
        elif text[:1] == "-" and len(text) > 1:
            number = _letters(options, words, number, word, valued)
        else:
            # A word that is known only at run time could begin with a dash, and then be any option.
            options.is_open |= word.is_open and text[0] != "\ue000"
            options.operands.append(word)
            if first_operand_ends:
                options.operands += words[number:]
                break
    return options


def _letters(options: Options, words: list[ShellWord], number: int, word: ShellWord, valued: str) -> int:
    letters = word.text[1:]
    for place, letter in enumerate(letters):
        if letter in valued:
            rest = letters[place + 1 :]
            # `-ofile`: the rest of the word is the value, whatever letters it has.
            if rest:
                options.values.setdefault(letter, []).append(word.but(rest.removeprefix("=")))
            elif number < len(words):
                options.values.setdefault(letter, []).append(words[number])
                return number + 1
            else:
                options.flags.add(letter)
            return number
        if "\ue000" <= letter <= "\ue001":
            options.is_open = True
        options.flags.add(letter)
    return number


def _unabbreviated(name: str, *known: Sequence[str]) -> str:
    names = [each for some in known for each in some]
    if not name or name in names:
        return name
    # As GNU getopt: `--rec` is `--recursive` if no other option begins so.
    full = {each for each in names if each.startswith(name)}
    return full.pop() if len(full) == 1 else name
