"""Reading and shape errors, families 0 and 1: one row each (style guide §6). Rules have their own files."""

from __future__ import annotations

from dataclasses import dataclass

from orgkernel.diagnostics.diagnostic import Diagnostic, Place, Severity


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of finding that reading or validating a file can make, with the text of its page."""

    code: str
    name: str
    severity: Severity
    what: str
    """What it says about the file."""
    why: str
    """Why it is refused or reported."""
    instead: str
    """What to write instead."""

    def at(self, place: Place, message: str, help: str = "", subject: str = "") -> Diagnostic:
        """The finding at a place."""
        return Diagnostic(place, self.code, self.name, self.severity, message, help, subject)


_E, _W = Severity.ERROR, Severity.WARNING

UNREADABLE = Row(
    "ORG001", "unreadable-file", _E,
    "The file or folder cannot be opened: it is gone, not permitted, not a regular file, or a loop of links.",
    "What cannot be read cannot be checked, and leaving it out silently would hide the roles it declares.",
    "Mend the link or the permissions, or take the path out of what is checked.",
)  # fmt: skip
NOT_UTF8 = Row(
    "ORG002", "not-utf8", _E,
    "The file is not UTF-8 text.",
    "Any other encoding would be guessed, and a wrong guess changes ids without anybody noticing.",
    "Save the file as UTF-8.",
)  # fmt: skip
TOO_LARGE = Row(
    "ORG003", "file-too-large", _E,
    "The file is larger than 16 MiB, or holds more than a million values.",
    "A limit that holds before anything is parsed keeps one file from stopping a server.",
    "Split the documents over several files; a folder is read whole.",
)  # fmt: skip
EMPTY = Row(
    "ORG004", "empty-document", _E,
    "The file holds no document.",
    "An empty file in an organization's folder is nearly always an edit that was cut short.",
    "Write the document, or delete the file.",
)  # fmt: skip
BAD_YAML = Row(
    "ORG005", "invalid-yaml", _E,
    "The text is not YAML.",
    "Nothing after the mistake can be trusted.",
    "Correct the syntax at the place named; indentation and unquoted `:` or `#` are the usual causes.",
)  # fmt: skip
DUPLICATE_KEY = Row(
    "ORG006", "duplicate-key", _E,
    "A mapping holds the same key twice.",
    "Most YAML readers silently keep the last one, so half of what was written is lost.",
    "Keep one of them, or merge the two.",
)  # fmt: skip
TAG = Row(
    "ORG007", "tag-refused", _E,
    "A value carries a YAML tag such as `!!python/object` or `!!str`.",
    "Tags choose how a value is built; documents are data, and quotes say what is text.",
    "Remove the tag; put the value in quotes if it is text.",
)  # fmt: skip
MERGE_KEY = Row(
    "ORG008", "merge-key-refused", _E,
    "A mapping uses the merge key `<<`.",
    "It was never part of YAML 1.2, and roles do not inherit from roles: each file says what it means.",
    "Write the values out.",
)  # fmt: skip
NON_STRING_KEY = Row(
    "ORG009", "non-string-key", _E,
    "A key is a number, a boolean, null or a collection.",
    "Ids are text; readers disagree on what `1` and `true` mean as keys.",
    "Put the key in quotes.",
)  # fmt: skip
ALIAS_CYCLE = Row(
    "ORG010", "alias-cycle", _E,
    "An alias refers to a value that contains it.",
    "The document would have no end.",
    "Write the value out.",
)  # fmt: skip
ALIAS_EXPANSION = Row(
    "ORG011", "alias-expansion", _E,
    "Aliases repeat so much that the document would grow beyond its budget.",
    "A few lines of nested aliases can stand for billions of values.",
    "Write the values out, or split the document.",
)  # fmt: skip
TOO_DEEP = Row(
    "ORG012", "nesting-too-deep", _E,
    "Values are nested more than 40 levels deep.",
    "No document of ours needs it, and unbounded depth can exhaust the reader's stack.",
    "Flatten the value.",
)  # fmt: skip
NUMBER = Row(
    "ORG013", "number-out-of-range", _E,
    "A number does not fit 64 bits, or is not finite.",
    "It would be changed on the way to another system.",
    "Write a smaller number, or put it in quotes if it is text.",
)  # fmt: skip
BAD_JSON = Row(
    "ORG014", "invalid-json", _E,
    "The text of a `.json` file is not JSON.",
    "Nothing after the mistake can be trusted.",
    "Correct the syntax at the place named; trailing commas and comments are not JSON.",
)  # fmt: skip
CHARACTER = Row(
    "ORG015", "unprintable-character", _E,
    "The text holds a control character, a lone surrogate or a Unicode line separator.",
    "Readers disagree on where lines end there, and terminals act on control characters.",
    "Remove the character, or write it as an escape inside double quotes.",
)  # fmt: skip
UNDEFINED_ALIAS = Row(
    "ORG016", "undefined-alias", _E,
    "An alias refers to an anchor that is not defined before it.",
    "There is nothing it could stand for.",
    "Define the anchor first; put text that begins with `*` in quotes.",
)  # fmt: skip
NOT_A_MAPPING = Row(
    "ORG017", "not-a-mapping", _E,
    "The document is a list or a single value.",
    "Every document is a mapping that begins with `_schema`.",
    "Begin the document with `_schema: orgkernel:KIND`.",
)  # fmt: skip
NO_SCHEMA = Row(
    "ORG018", "missing-schema", _E,
    "The document has the fields of one of our kinds, or stands among our documents, but does not say what it is.",
    "A document without `_schema` is not read, so the role it declares would be missing without a word.",
    "Add `_schema: orgkernel:KIND` as its first field.",
)  # fmt: skip
UNKNOWN_KIND = Row(
    "ORG019", "unknown-kind", _E,
    "`_schema` names a kind that does not exist.",
    "The document cannot be read.",
    "Use one of the kinds listed by `orgkernel schema`.",
)  # fmt: skip
LATER_KIND = Row(
    "ORG020", "kind-not-read", _W,
    "`_schema` names a kind that this version knows of but does not read.",
    "What the document declares has no effect, and you should know.",
    "Keep the file for a later version, or leave it out.",
)  # fmt: skip
NEWER_VERSION = Row(
    "ORG021", "newer-version", _W,
    "`_version` is a newer minor version of the format than this program knows.",
    "Fields it does not know have no effect.",
    "Upgrade the program.",
)  # fmt: skip
UNSUPPORTED_VERSION = Row(
    "ORG022", "unsupported-version", _E,
    "`_version` is not `MAJOR.MINOR`, or of another major version of the format.",
    "The document may mean something else than it says here.",
    "Write `_version: \"1.0\"`.",
)  # fmt: skip
MISSING_FIELD = Row(
    "ORG101", "missing-field", _E,
    "A mapping lacks a field that has no default.",
    "There is no value that could be assumed.",
    "Add the field.",
)  # fmt: skip
UNKNOWN_FIELD = Row(
    "ORG102", "unknown-field", _W,
    "A mapping has a field nobody reads.",
    "A misspelled field has no effect, and its default silently takes its place.",
    "Correct the spelling, move the field to where it belongs, or give it a name that starts with `x_` if it is yours.",
)  # fmt: skip
WRONG_TYPE = Row(
    "ORG103", "wrong-type", _E,
    "A value is of another type than the field holds.",
    "Values are not converted: `\"2\"` is text and `2` a number.",
    "Write the type the field holds; `orgkernel schema KIND` shows it.",
)  # fmt: skip
UNKNOWN_VALUE = Row(
    "ORG104", "unknown-value", _E,
    "A value is not one of those the field allows.",
    "There is no meaning for it.",
    "Use one of the values listed.",
)  # fmt: skip
MALFORMED_ID = Row(
    "ORG105", "malformed-id", _E,
    "An id has characters that ids do not have, or is too long.",
    "Ids stand in URLs, file names and messages: ASCII letters, digits, `_` and `-`, at most 100 characters.",
    "Use snake_case.",
)  # fmt: skip
OUT_OF_RANGE = Row(
    "ORG106", "out-of-range", _E,
    "A number is below or above what the field allows.",
    "There is no meaning for it.",
    "Use a number within the bounds named.",
)  # fmt: skip
WRONG_LENGTH = Row(
    "ORG107", "wrong-length", _E,
    "A text or list is shorter or longer than the field allows.",
    "There is no meaning for it.",
    "Use the length named.",
)  # fmt: skip
INVALID_VALUE = Row(
    "ORG108", "invalid-value", _E,
    "A value does not fit its field in another way.",
    "There is no meaning for it.",
    "See the message; `orgkernel schema KIND` shows what the field holds.",
)  # fmt: skip
INVALID_INPUT_SCHEMA = Row(
    "ORG109", "invalid-input-schema", _E,
    "The input schema of a tool is not valid JSON Schema (2020-12).",
    "No input could be checked against it.",
    "Correct the schema at the place named.",
)  # fmt: skip

ROWS: dict[str, Row] = {row.code: row for row in list(globals().values()) if isinstance(row, Row)}
