"""British spellings that the project does not use: every text is written in American English."""

from __future__ import annotations

import re

# Stems of verbs that Americans write with `z`, without the ending.
_VERBS = (
    "apologis", "authoris", "capitalis", "categoris", "centralis", "characteris", "criticis", "customis",
    "economis", "emphasis", "equalis", "finalis", "formalis", "generalis", "globalis", "initialis", "localis",
    "maximis", "memoris", "minimis", "modernis", "neutralis", "normalis", "optimis", "organis", "parallelis",
    "penalis", "prioritis", "randomis", "realis", "recognis", "sanitis", "serialis", "specialis", "stabilis",
    "standardis", "summaris", "synchronis", "tokenis", "utilis", "visualis", "analys", "catalys", "paralys",
)  # fmt: skip
_NOUNS = (
    "armour", "behaviour", "colour", "endeavour", "favour", "flavour", "harbour", "honour", "humour", "labour",
    "neighbour", "rumour", "vapour",
)  # fmt: skip
_WORDS = (
    "ageing", "amongst", "artefacts?", "catalogue[ds]?", "centre[ds]?", "cheques?", "defence", "enrolment",
    "fibres?", "fulfil", "fulfilment", "fulfils", "grey", "judgements?", "labell(?:ed|ing)", "learnt",
    "licences?", "manoeuvre[ds]?", "modell(?:ed|ing)", "mould", "offence", "plough", "programmes?",
    "sceptic(?:al)?", "signall(?:ed|ing)", "spelt", "theatres?", "travell(?:ed|ing|ers?)", "whilst",
)  # fmt: skip
_BRITISH = re.compile(
    rf"""(?<![A-Za-z])(?:
        (?:re|un|mis|dis)?(?:{"|".join(_VERBS)})(?:e|ed|er|ers|es|ing|ation|ations|able)
        | (?:{"|".join(_NOUNS)})(?:s|ed|ing|al|able|ite|ites|ful|less|hood|ly)*
        | {"|".join(_WORDS)}
    )(?![a-z])""",
    re.IGNORECASE | re.VERBOSE,
)


def find_british(text: str) -> list[str]:
    """The British spellings in a text, in their order."""
    return [found[0] for found in _BRITISH.finditer(text)]
