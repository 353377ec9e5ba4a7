"""Reads the fields of a mapping in another format one by one. A value of the wrong type is reported with its
position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe

_ON, _OFF = ("yes", "on", "true", "y"), ("no", "off", "false", "n")


class FieldReader:
    """A mapping, the marks (packed source positions) of its fields, and the problems found in them."""

    def __init__(self, value: Mapping[str, Any], marks: Marks, subject: str, at: int | None = None) -> None:
        self.value = value
        self.marks: dict[str, tuple[int, Marks]] = dict(marks[1])
        self.at = start_of(marks) if at is None else at
        """The mark that findings about the mapping itself point to."""
        self.subject = subject
        """Name of the mapping in messages."""
        self.problems: list[DocumentProblem] = []

    def start(self, key: str) -> int:
        """Mark of the value of a field, or of the mapping if the field is missing."""
        return start_of(self.marks[key][1]) if key in self.marks else self.at

    def get_text(self, key: str, *, needed: bool = False) -> str:
        """The string in a field, without surrounding space. Empty if the field is missing."""
        written = self.value.get(key)
        if isinstance(written, str) and written.strip():
            return written.strip()
        if written is not None and not isinstance(written, str):
            self._report_wrong_type(key, "a string")
        elif needed:
            at = self.marks[key][0] if key in self.marks else self.at
            text = f"{self.subject} has no {quote(key)}"
            self.problems.append(DocumentProblem(row.MISSING_FIELD, at, text, f"write {quote(key)}"))
        return ""

    def get_words(self, key: str) -> list[tuple[str, int]]:
        """The strings of a list, each with its mark. Mappings in the list are left to the caller."""
        written = self.value.get(key)
        if written is None:
            return []
        if not isinstance(written, tuple):
            self._report_wrong_type(key, "a list")
            return []
        marked_words = []
        for item, marks in zip(written, self.marks[key][1][1], strict=True):
            if isinstance(item, str):
                marked_words.append((item, start_of(marks)))
            elif not isinstance(item, dict):
                text = f"{quote(key)} of {self.subject} lists {describe(item)}, not a string"
                self.problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text, "write a name"))
        return marked_words

    def get_only_mappings(self, key: str, field: str) -> list[tuple[dict[str, Any], Marks]]:
        """The mappings of a list. Any other item is refused. For a string, the help proposes a mapping with it in
        the given `field`.
        """
        for word, mark in self.get_words(key):
            text = f"{quote(key)} of {self.subject} lists the text {quote(word)}, not a mapping"
            self.problems.append(
                DocumentProblem(row.WRONG_TYPE, mark, text, f"write it as {quote(field)} of a mapping")
            )
        return self.get_mappings(key)

    def get_mappings(self, key: str) -> list[tuple[dict[str, Any], Marks]]:
        """The mappings of a list, each with its marks."""
        written = self.value.get(key)
        if not isinstance(written, tuple):
            return []
        pairs = zip(written, self.marks[key][1][1], strict=True)
        return [(item, marks) for item, marks in pairs if isinstance(item, dict)]

    def get_flag(self, key: str) -> bool | None:
        """A boolean, including the words that YAML 1.1 accepts."""
        written = self.value.get(key)
        if written is None or isinstance(written, bool):
            return written
        if isinstance(written, str) and written.casefold() in (*_ON, *_OFF):
            return written.casefold() in _ON
        self._report_wrong_type(key, "`true` or `false`")
        return None

    def get_number(self, key: str, most: int) -> int | None:
        """A whole number from 1 to `most`."""
        written = self.value.get(key)
        if written is None:
            return None
        if isinstance(written, int) and not isinstance(written, bool) and 0 < written <= most:
            return written
        text = f"{quote(key)} of {self.subject} is {describe(written)}, not a number from 1 to {most:,}"
        self.problems.append(DocumentProblem(row.OUT_OF_RANGE, self.start(key), text))
        return None

    def report_unknown(
        self, known: Iterable[str], reader: str, *, only_misspelled: bool, way_out: str = "remove it"
    ) -> None:
        """Refuse fields that the reader of the format does not know, or with `only_misspelled`, only those similar to
        known ones.
        """
        for key in self.value:
            if len(self.problems) >= MAX_PROBLEMS:
                return
            if key in known:
                continue
            # A known field that the mapping already has cannot be what was meant.
            help = did_you_mean(key, [each for each in known if each not in self.value])
            if help or not only_misspelled:
                text = f"the field {quote(key)} is unknown to {reader}"
                self.problems.append(
                    DocumentProblem(row.UNKNOWN_FIELD, self.marks[key][0], text, help or way_out)
                )

    def check_identifier(self, key: str, host: str) -> None:
        """Refuse a name that is not a Python identifier, as some hosts do."""
        name = self.value.get(key)
        if isinstance(name, str) and name.strip() and not name.isidentifier():
            self.refuse(key, f"{host} refuses the name {quote(name)}", "write letters, digits and `_`")

    def refuse(self, key: str, text: str, help: str = "", row: row.Row = row.INVALID_VALUE) -> None:
        """Refuse the value of a field for a specific reason."""
        self.problems.append(DocumentProblem(row, self.start(key), text, help))

    @property
    def is_refused(self) -> bool:
        """Whether any problem is an error."""
        return any(each.is_error for each in self.problems)

    def _report_wrong_type(self, key: str, wanted: str) -> None:
        text = f"{quote(key)} of {self.subject} is {describe(self.value[key])}, not {wanted}"
        self.problems.append(DocumentProblem(row.WRONG_TYPE, self.start(key), text))
