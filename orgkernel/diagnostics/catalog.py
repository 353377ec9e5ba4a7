"""Reading and shape errors, families 0 and 1: one row each. Rules have their own files."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orgkernel.diagnostics.diagnostic import Diagnostic, Place, Severity


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of finding about reading or validating a file, with the text of its page."""

    code: str
    name: str
    severity: Severity
    what: str
    """What the finding reports about the file."""
    why: str
    """Why the file is refused or reported."""
    instead: str
    """The correct form."""

    def at(self, place: Place, message: str, help: str = "", subject: str = "") -> Diagnostic:
        """Build the finding at a place."""
        return Diagnostic(place, self.code, self.name, self.severity, message, help, subject)


_E, _W = Severity.ERROR, Severity.WARNING

UNREADABLE = Row(
    "ORG001", "unreadable-file", _E,
    "The file or folder cannot be opened: it is missing, not permitted, not a regular file, or a loop of links.",
    "A file that cannot be read cannot be checked, and skipping it silently would hide the roles it declares.",
    "Fix the link or the permissions, or remove this path from the arguments or settings.",
)  # fmt: skip
NOT_UTF8 = Row(
    "ORG002", "not-utf8", _E,
    "The file is not UTF-8 text.",
    "Any other encoding would have to be guessed, and a wrong guess silently changes ids.",
    "Save the file as UTF-8.",
)  # fmt: skip
TOO_LARGE = Row(
    "ORG003", "file-too-large", _E,
    "The file is larger than 16 MiB (a Markdown document: 256 KiB), or contains more than 100,000 keys and values or too many anchors or lines.",
    "The limit applies before anything is parsed, so one file cannot stop a server.",
    "Split the documents into several files; orgkernel reads a whole folder.",
)  # fmt: skip
EMPTY = Row(
    "ORG004", "empty-document", _E,
    "The file contains no document.",
    "An empty file in an organization's folder is nearly always an interrupted edit.",
    "Write the document, or delete the file.",
)  # fmt: skip
BAD_YAML = Row(
    "ORG005", "invalid-yaml", _E,
    "The file is not valid YAML.",
    "Nothing after the error can be trusted.",
    "Correct the syntax at the reported place; indentation and unquoted `:` or `#` are the usual causes.",
)  # fmt: skip
DUPLICATE_KEY = Row(
    "ORG006", "duplicate-key", _E,
    "A mapping contains the same key twice.",
    "Most YAML readers silently keep the last value, so half of what was written is lost.",
    "Keep one of the two, or merge them.",
)  # fmt: skip
TAG = Row(
    "ORG007", "tag-refused", _E,
    "A value has a YAML tag such as `!!python/object` or `!!str`.",
    "Tags choose how a value is built, but documents are only data. Quotes mark strings.",
    "Remove the tag. Put the value in quotes if it is a string.",
)  # fmt: skip
MERGE_KEY = Row(
    "ORG008", "merge-key-refused", _E,
    "A mapping uses the merge key `<<`.",
    "It is not part of YAML 1.2, and roles do not inherit from roles: each file is complete.",
    "Write the values out.",
)  # fmt: skip
NON_STRING_KEY = Row(
    "ORG009", "non-string-key", _E,
    "A key is a number, a boolean, null or a collection.",
    "Ids are strings, and readers disagree on the meaning of `1` and `true` as keys.",
    "Put the key in quotes.",
)  # fmt: skip
ALIAS_CYCLE = Row(
    "ORG010", "alias-cycle", _E,
    "An alias refers to a value that contains it.",
    "The document would be infinite.",
    "Write the value out.",
)  # fmt: skip
ALIAS_EXPANSION = Row(
    "ORG011", "alias-expansion", _E,
    "Aliases repeat so many values that the document would exceed its limit.",
    "A few lines of nested aliases can expand to billions of values.",
    "Write the values out, or split the document.",
)  # fmt: skip
TOO_DEEP = Row(
    "ORG012", "nesting-too-deep", _E,
    "Values are nested more than 40 levels deep.",
    "No kind of document needs more, and unlimited depth can exhaust the reader's stack.",
    "Flatten the value.",
)  # fmt: skip
NUMBER = Row(
    "ORG013", "number-out-of-range", _E,
    "A number does not fit in 64 bits, or is not finite.",
    "Other systems would read a different number.",
    "Write a smaller number, or put it in quotes if it is a string.",
)  # fmt: skip
BAD_JSON = Row(
    "ORG014", "invalid-json", _E,
    "A `.json` file is not valid JSON.",
    "Nothing after the error can be trusted.",
    "Correct the syntax at the reported place; JSON has no trailing commas and no comments.",
)  # fmt: skip
CHARACTER = Row(
    "ORG015", "unprintable-character", _E,
    "The file contains a control character, a lone surrogate or a Unicode line separator.",
    "Readers disagree on whether such a character ends a line, and terminals obey control characters. In the text below the front matter of an agent or a skill of another host it is only a warning, because the host loads the file.",
    "Remove the character, or write it as an escape inside double quotes.",
)  # fmt: skip
UNDEFINED_ALIAS = Row(
    "ORG016", "undefined-alias", _E,
    "An alias refers to an anchor that is not defined before it.",
    "The alias has no value.",
    "Define the anchor first, or put a string that begins with `*` in quotes.",
)  # fmt: skip
NOT_A_MAPPING = Row(
    "ORG017", "not-a-mapping", _E,
    "The document is a list or a single value.",
    "Every document is a mapping that begins with `_schema`.",
    "Begin the document with `_schema: orgkernel:KIND`.",
)  # fmt: skip
NO_SCHEMA = Row(
    "ORG018", "missing-schema", _E,
    "The document has the fields of an orgkernel document, or is in a folder with such documents, but has no `_schema`.",
    "A document without `_schema` is not read, so the role it declares would be missing without any message.",
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
    "`_schema` names a kind that this version knows but does not read.",
    "The declarations in the document have no effect.",
    "Keep the file for a later version, or remove it.",
)  # fmt: skip
NEWER_VERSION = Row(
    "ORG021", "newer-version", _W,
    "`_version` is a newer minor version of the format than this program knows.",
    "Fields that this program does not know have no effect.",
    "Upgrade orgkernel.",
)  # fmt: skip
UNSUPPORTED_VERSION = Row(
    "ORG022", "unsupported-version", _E,
    "`_version` is not written as `MAJOR.MINOR`, or belongs to another major version of the format.",
    "The same fields can have another meaning in that version.",
    "Write `_version: \"1.0\"`.",
)  # fmt: skip
LINK_LEAVES = Row(
    "ORG023", "link-leaves-root", _E,
    "A link leads out of the folders that are read, and the settings do not allow it.",
    "A link can come with a commit. Following it could expose any file that orgkernel is able to open.",
    "Copy the file or folder, name it in `paths`, or name its folder in the setting `links` of `orgkernel.toml`.",
)  # fmt: skip
NO_FRONT_MATTER = Row(
    "ORG024", "no-front-matter", _E,
    "A SKILL.md, or a Claude Code agent, does not begin with front matter: YAML between two lines `---`.",
    "Hosts find a skill or an agent only by its `name` and `description`.",
    "Begin the file with `---`, `name`, `description` and `---`.",
)  # fmt: skip
LOOSE_FRONT_MATTER = Row(
    "ORG025", "loose-front-matter", _W,
    "The front matter of a Claude Code agent is not valid YAML, so it was read line by line.",
    "Claude Code reads such a file, so orgkernel reads the role too. Other programs refuse the whole file, and the end of a value is only a guess.",
    "Put the value in quotes, or write it as a block that begins with `>-`. The usual cause is `: ` or ` #` in a plain string.",
)  # fmt: skip
UNREAD_PYTHON = Row(
    "ORG026", "unread-python", _W,
    "The Python file of a CrewAI crew cannot be parsed, or is larger than 512 KiB.",
    "The file defines the tools and the manager of the crew. If it cannot be read, orgkernel treats the agents as having none of these tools.",
    "Correct the syntax. orgkernel reads the file and never runs it.",
)  # fmt: skip
INCOMPLETE_TOOL_LIST = Row(
    "ORG028", "incomplete-tool-list", _W,
    "A saved answer to `tools/list` of an MCP server has a `nextCursor`, so it is only one of several pages.",
    "The tools on the other pages are unknown, so no role has them.",
    "Save the tools of all pages in one list, or let `orgkernel mcp tools FILE --connect` ask the server.",
)  # fmt: skip
UNUSABLE_SOURCE = Row(
    "ORG030", "unusable-source", _E,
    "An organization names a source that does not exist, is outside the folders that are read, or is in a format that this version does not read.",
    "Its roles would be missing, so every answer would be about a different organization. A document that comes with a project must not choose which other files are read on this machine.",
    "Correct the path, which starts at the folder of the document. Allow a folder outside under `links` in the settings, or name it on the command line.",
)  # fmt: skip
EMPTY_SOURCE = Row(
    "ORG031", "empty-source", _E,
    "An organization names a source that contains no files of its format.",
    "A source without roles, tools and skills is nearly always a wrong path or a wrong format.",
    "Correct the path or the format, or remove the source.",
)  # fmt: skip
EFFECTLESS_PERMISSION = Row(
    "ORG032", "effectless-permission", _W,
    "A permission of Claude Code, Codex, Copilot, Cursor or Kiro looks like protection and never applies: a rule that cannot match, an unknown key, field or mode, a field that only the session can set, or a hook that is not always found.",
    "The host ignores it silently, so it looks like protection. orgkernel applies the rules that it can read, but a host without orgkernel's hook does not.",
    "For files, write `Edit(PATH)` and `Read(PATH)` with forward slashes. Name a server in a rule for its tools, and begin the path of a hook with `$CLAUDE_PROJECT_DIR`. The message names the mistake.",
)  # fmt: skip
CUT_FRONT_MATTER = Row(
    "ORG033", "cut-front-matter", _W,
    "A host ends the front matter of a file earlier than its author intended.",
    "Claude Code ends it at the first three dashes, in the middle of a value too, and OpenCode and Gemini CLI at the first line that begins with them. The host reads the fields below that point as text: an agent whose `tools` are there gets every tool. orgkernel reads such a file as its host does.",
    "Write one or two dashes instead of three.",
)  # fmt: skip
MISSING_FIELD = Row(
    "ORG101", "missing-field", _E,
    "A mapping lacks a field that has no default.",
    "There is no value to assume.",
    "Add the field.",
)  # fmt: skip
UNKNOWN_FIELD = Row(
    "ORG102", "unknown-field", _W,
    "A mapping has an unknown field.",
    "A misspelled field has no effect, and the default silently takes its place.",
    "Correct the spelling, move the field to its right place, or start its name with `x_` if it is your own field.",
)  # fmt: skip
WRONG_TYPE = Row(
    "ORG103", "wrong-type", _E,
    "A value has another type than its field.",
    "Values are not converted: `\"2\"` is a string and `2` is a number.",
    "Write a value of the field's type; `orgkernel schema KIND` shows it.",
)  # fmt: skip
UNKNOWN_VALUE = Row(
    "ORG104", "unknown-value", _E,
    "A value is not one of the values that its field allows.",
    "The value has no meaning.",
    "Use one of the listed values.",
)  # fmt: skip
MALFORMED_ID = Row(
    "ORG105", "malformed-id", _E,
    "An id contains a character that is not allowed in ids, or is too long.",
    "Ids appear in URLs, file names and messages: ASCII letters, digits, `_` and `-`, at most 100 characters.",
    "Use snake_case.",
)  # fmt: skip
OUT_OF_RANGE = Row(
    "ORG106", "out-of-range", _E,
    "A number is lower or higher than its field allows.",
    "The value has no meaning.",
    "Use a number within the reported limits.",
)  # fmt: skip
WRONG_LENGTH = Row(
    "ORG107", "wrong-length", _E,
    "A string or list is shorter or longer than its field allows.",
    "The value has no meaning.",
    "Use a length within the reported limits.",
)  # fmt: skip
INVALID_VALUE = Row(
    "ORG108", "invalid-value", _E,
    "A value does not fit its field for another reason.",
    "The value has no meaning.",
    "Follow the message; `orgkernel schema KIND` shows what the field allows.",
)  # fmt: skip
INVALID_INPUT_SCHEMA = Row(
    "ORG109", "invalid-input-schema", _E,
    "The input schema of a tool is not valid JSON Schema (2020-12).",
    "Inputs of the tool cannot be checked.",
    "Correct the schema at the reported place.",
)  # fmt: skip

ROWS: dict[str, Row] = {row.code: row for row in list(globals().values()) if isinstance(row, Row)}
CHARACTER_IN_TEXT = replace(CHARACTER, severity=_W)
"""The same finding in a text that has no effect on what an agent may do."""
