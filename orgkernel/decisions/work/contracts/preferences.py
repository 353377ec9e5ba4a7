"""Recognize questions about a preference, and fallbacks that only wait, from a small list of phrases.

Quoted text is ignored, because it is code or words of another author.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern

PHRASES: Final = (
    "which path should i take",
    "should i proceed",
    "awaiting confirmation",
    "confirm before i continue",
)
"""Phrases that only a session waiting for an answer uses."""
_QUOTED: Final = lazy_pattern(r"`[^`]*`|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|[“«][^”»]*[”»]")
_PREFERENCES: Final = tuple(
    lazy_pattern(pattern)
    for pattern in (
        r"\bwh(?:ich|at)(?: \w+){0,3} (?:would|do) you (?:prefer|like|want|favor)\b",
        r"\b(?:would|do) you prefer\b",
        r"\b(?:do you want|would you like) me to\b",
        r"\bi(?:'d| would) like to (?:confirm|check with you|validate|double-check)\b",
        r"\bi(?:'d| would)? (?:like|want) (?:the user|you|someone|somebody|a human|the human) to (?:validate|confirm|approve|review|sign off)\b",
        r"\b(?:shall|may|can|should) i (?:go ahead|go on|continue|proceed|start)\b",
        r"\bis (?:it|this|that) (?:ok|okay|fine|alright|all right) (?:if i|with you|to (?:go|proceed|continue))\b",
        r"\bwaiting for (?:your|the user's|user|human) (?:confirmation|approval|go-ahead|permission|feedback|answer|input)\b",
        r"\bplease (?:confirm|advise)\b",
        r"\blet me know (?:if|which|whether|how)\b",
        r"\bdoes (?:this|that|it|my) (?:approach|plan|design|idea)? ?(?:look|sound|work|make sense)\b",
        r"^thoughts\b|\bkindly (?:confirm|advise|approve|decide)\b",
        r"\b(?:what|any|your|other) (?:do you think|are your thoughts|thoughts|opinions?|objections?|preferences?|is your opinion|is your preference|would you do|would you choose|do you suggest)\b",
        r"\b(?:do you have|have you got|is there) an? (?:preference|preferred|opinion|favorite)\b",
        r"\b(?:could|can|would|will|please) ?(?:you|someone|the user)? (?:please )?(?:pick|choose|decide|confirm|approve|sign off|validate|weigh in)\b",
        r"\b(?:need|needs|want|request|requesting|seeking|awaiting) (?:a |an |your |the user's |human |some )?(?:decision|approval|go-ahead|green light|sign-?off|confirmation|opinion|preference|feedback|blessing|thumbs up|permission to (?:proceed|continue|go))\b",
        r"\b(?:good|ok|okay|fine|safe|happy|ready) (?:to (?:go|proceed|continue|start|go ahead)|with (?:this|that|it|the (?:plan|approach|design)))\b\??",
        r"\bhow would you (?:like|prefer|want|do|handle)\b",
        r"\b(?:should|shall|must|do) (?:i|we)\b[^.?!]* or\b(?! else\b)",
        r"\bwould (?:it|that) be (?:better|ok|okay|fine|nicer|preferable)\b",
        r"\b(?:which|what) (?:one|option|variant|approach|way|style|name|library|framework|color|design|layout)\b[^.?!]*\b(?:should|shall|to|do|would) (?:i|we|you|use|take|pick|choose|go)\b",
        r"\boption (?:a|1|one)\b[^.?!]*\bor\b[^.?!]*\b(?:option )?(?:b|2|two)\b",
    )
)
_IDLE: Final = lazy_pattern(
    r"(?:n/?a|none|nothing)?[ ,:;-]*(?:keep |just )?(?:wait|waiting|await|awaiting)(?: (?:and see|for|until|on|here|till)\b[^,;]*|)"
    r"|(?:none|nothing|n/?a|null|no|idle|tbd|todo|-+|\?+|pass|later|skip|skipped|defer|deferred|not applicable|unknown|\.+|…)"
    r"|(?:none|nothing|no (?:fallback|action|work))\b(?: (?:needed|required|possible|to do|available|else|yet|is|can|for|at)\b[^,;]*)?"
    r"|(?:there is|i have|i see|we have) (?:no|nothing|none)\b[^,;]*"
    r"|(?:(?:i am|i'm|i will|i'll|we are|we will|please|just|keep|keeps?|continue to|then) )*"
    r"(?:sleep|sleeping|poll|polling|check|checking|watch|watching|monitor|monitoring|refresh|refreshing|listen|listening|read|reading|re-read|re-reading|look|looking|keep waiting|remain|remaining|stay|staying|retry|retrying|try again|ask|asking|ping|pinging|remind|reminding|notify|notifying|email|emailing|message|messaging|escalate|escalating|inform|informing|contact|contacting)"
    r" (?:to |with )?(?:back|again|later|idle|waiting|blocked|for (?:an?|the|your) (?:answer|reply|response|approval|key|decision|input)|(?:the |a |my |our )?(?:user|human|inbox|messages|channel|slack|chat|owner|planner|dispatcher|sender|lead|manager|operator|person|people|team)|until\b)[^,;]*"
    r"|(?:see|same as|as in|like) (?:the |my |in )?(?:question|above|best guess|best_guess|blocker)\b[^,;]*"
    r"|(?:(?:i am|i'm|i will|i'll|we will|just) )*(?:give up|giving up|abort|aborting|quit|quitting|exit|exiting|end|ending|postpone|postponing|skip|skipping|defer|deferring|park|parking|block|blocking|blocked|stuck)"
    r"(?: (?:it|this|that|here|now|the (?:work|task|session|mission)|for now|everything|until|till)\b[^,;]*|)"
    r"|(?:(?:i am|i'm|i will|i'll|we are|we're|just) )*(?:wait|waiting|await|awaiting|idle|idling|standing by|stand by|on hold|hold|holding)"
    r"(?: (?:for|until|on|here|till)\b[^,;]*|)"
    r"|(?:(?:i am|i'm|i will|i'll|we are|just) )*(?:stop|stopping|stopped|pause|pausing|paused)"
    r"(?: (?:work|the work|here|now|everything|until|till)\b[^,;]*|)"
    r"|(?:doing|do) nothing\b[^,;]*"
)
_GOES_ON: Final = lazy_pattern(r"\b(?:while|meanwhile|and|but)\b")
_AFTER_ANSWER: Final = lazy_pattern(
    r"(?:(?:i will|i'll|we will|will) .*\b)?(?:once|after|when|as soon as|if) .*\b"
    r"(?:answer(?:s|ed)?|approv(?:es|ed|al)|confirm(?:s|ed|ation)|repl(?:y|ies|ied)|respon(?:ds|ded|se))\b.*"
)


def find_phrase(text: str) -> str:
    """The first phrase of a waiting session in a text; empty if there is none.

    >>> find_phrase("The tests are red. Should I proceed?"), find_phrase("Is `awaiting confirmation` a state?")
    ('should i proceed', '')
    """
    return find_one_of(PHRASES, text)


def find_one_of(phrases: Iterable[str], text: str) -> str:
    """The first of some phrases in a text, ignoring quoted text; empty if there is none.

    >>> find_one_of(["Shall  we ship"], "The tests pass. Shall we ship?")
    'Shall  we ship'
    """
    plain_text = _normalize(text)
    return next(
        (phrase for phrase in phrases if " ".join(phrase.replace("’", "'").lower().split()) in plain_text), ""
    )


def find_preference(text: str) -> str:
    """The words in a text that ask for a preference or a confirmation; empty if there are none."""
    plain_text = _normalize(text)
    return next((match[0] for pattern in _PREFERENCES if (match := pattern.search(plain_text))), "")


def is_idle(fallback: str) -> bool:
    """Whether a fallback only waits, or starts only after an answer.

    >>> is_idle("Waiting for the key."), is_idle("Wait for CI while I write the tests")
    (True, False)
    """
    plain_text = _normalize(fallback).strip(" .!")
    if _GOES_ON.search(plain_text) and not _AFTER_ANSWER.fullmatch(plain_text):
        return False
    return (
        not plain_text
        or _IDLE.fullmatch(plain_text) is not None
        or _AFTER_ANSWER.fullmatch(plain_text) is not None
    )


def _normalize(text: str) -> str:
    """A text in lower case, on one line, without quoted parts and without characters that a reader does not see."""
    seen = "".join(each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")
    straight = seen.replace("’", "'")
    return " ".join(_QUOTED.sub(" … ", straight).lower().split())


def say_preference(words: str) -> tuple[str, str]:
    """The finding for a blocker that asks for a decision of the worker itself."""
    message = f"the blocker asks for a preference or a confirmation ({quote(words)})"
    return message, "decide, write the decision to the log, and go on"


def say_waiting(action: str, words: str) -> tuple[str, str]:
    """The finding for a session that waits, so it has not ended."""
    message = f"the pending action {quote(action)} waits for an answer ({quote(words)})"
    return message, "decide, write the decision to the log, and list what remains to be done"
