"""The PACE trigger language: its names, its parser, and what can be proven about a trigger.

Evaluation is in `orgkernel.runtime.triggers`, because it also runs inside hosts. Importing this package does not import
lark; the first parse does.
"""

from orgkernel.triggers.names import ALIASES, NAMES, TriggerName, find_trigger_name, suggest_trigger_name
from orgkernel.triggers.parse import MAX_LENGTH, parse_trigger
from orgkernel.triggers.parsed import NameUse, ParsedTrigger, TriggerProblem
from orgkernel.triggers.ranges import Vacuous, find_vacuous, is_implied, thresholds

__all__ = [
    "ALIASES",
    "MAX_LENGTH",
    "NAMES",
    "NameUse",
    "ParsedTrigger",
    "TriggerName",
    "TriggerProblem",
    "Vacuous",
    "find_trigger_name",
    "find_vacuous",
    "is_implied",
    "parse_trigger",
    "suggest_trigger_name",
    "thresholds",
]
