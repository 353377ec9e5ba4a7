"""The codes of the reasons that dispatch gives. `tests/meta/test_reason_codes.py` compares them with the modules that use them."""

from __future__ import annotations

from typing import Final

DISPATCH_CODES: Final = frozenset(
    {
        "ALIAS", "BROADER_DOMAIN", "DECLARED_FIRST", "DOMAIN_ROUTING", "DOMAIN_UNKNOWN", "DOMAIN_UNMAPPED", "EXACT_DOMAIN",
        "EXAMPLE", "FEWER_DOMAINS", "HANDLES_DOMAIN", "HIGHER_SCORE", "LACKS_TOOL", "LEARNED_WORK", "LOWER_SCORE", "NAMED",
        "NO_ROLE_EQUIPPED", "NO_ROLE_HANDLES", "NO_ROLE_SERVES", "ONLY_CANDIDATE", "OWN_NAME", "RELATED_WORD", "ROLE_TYPE",
        "SERVES_INTENT", "SIMILAR_MEANING", "TEXT_AMBIGUOUS", "TEXT_FITS", "TEXT_LANGUAGE", "TEXT_SMALL_TALK",
        "TEXT_TOO_WEAK", "TEXT_WITHOUT_TASK", "TRIGGER", "WORD",
    }
)  # fmt: skip
